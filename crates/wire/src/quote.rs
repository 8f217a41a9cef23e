use std::fmt;

/// Foreign text inside a message: in backticks, control characters escaped, cut after 80 characters.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

const LONGEST: usize = 80;

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for c in self.0.chars().take(LONGEST) {
            match c {
                '"' | '\'' => write!(f, "{c}")?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        if self.0.chars().nth(LONGEST).is_some() {
            f.write_str("…")?;
        }
        f.write_str("`")
    }
}

/// The beginning of foreign text, short enough to keep in an error.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(LONGEST + 1).collect()
}
