//! White space in JSON texts: taken out and put in, every token left as it is spelled.

#[cfg(test)]
mod tests;

/// The text without white space between tokens. The text must be JSON.
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    walk(json, |piece| match piece {
        Piece::String(text) => out.push_str(text),
        Piece::Other(c) => out.push(c),
    });
    out
}

/// The text with one member or element a line, indented by two spaces, and a line feed at the end. The text must be
/// JSON; [`compact`] gives the same for the result as for the text.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut just_opened = false;
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    walk(json, |piece| {
        let closes = matches!(piece, Piece::Other('}' | ']'));
        if closes {
            depth = depth.saturating_sub(1);
        }
        if just_opened != closes {
            line(&mut out, depth);
        }
        just_opened = matches!(piece, Piece::Other('{' | '['));
        match piece {
            Piece::String(text) => out.push_str(text),
            Piece::Other(c) => out.push(c),
        }
        match piece {
            Piece::Other('{' | '[') => depth += 1,
            Piece::Other(',') => line(&mut out, depth),
            Piece::Other(':') => out.push(' '),
            _ => {}
        }
    });
    out.push('\n');
    out
}

/// A string with its quotes, or one character outside of strings.
#[derive(Clone, Copy)]
enum Piece<'a> {
    String(&'a str),
    Other(char),
}

fn walk<'a>(json: &'a str, mut take: impl FnMut(Piece<'a>)) {
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        let length = if c == '"' { string_length(rest) } else { c.len_utf8() };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match c {
            '"' => take(Piece::String(token)),
            ' ' | '\t' | '\n' | '\r' => {}
            _ => take(Piece::Other(c)),
        }
        rest = after;
    }
}

/// The bytes of the string that a text begins with, both quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, b)| {
        let ends = *b == b'"' && !escaped;
        escaped = *b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
