//! URI templates: which resources an entry of the registry is about.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use thiserror::Error;

mod overlap;
#[cfg(test)]
mod tests;
pub(crate) mod uri;

pub use overlap::{Overlap, overlaps};
pub use uri::{Uri, UriFault};

/// The values of a template's variables, percent-decoded.
pub type Variables = BTreeMap<String, String>;

/// A URI or a URI template (RFC 6570, level 1, and `{+name}` of level 2).
///
/// A variable stands for one or more characters within one segment, which ends at `/`, `?` or `#`; `{+name}` may span
/// segments, and stands at most once. A segment holds one variable at most, so that a URI has one reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    pieces: Vec<Piece>,
    /// The pieces with the host in lower case.
    folded: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// In the normal form of [`Uri`].
    Literal(String),
    Variable {
        name: String,
        spans: bool,
    },
}

/// Why a text is not a template that Aldgate matches.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateFault {
    /// The text without its variables is not a URI.
    #[error("`{text}` is not a URI or a template of one: {fault}")]
    Uri {
        /// The text.
        text: String,
        /// What of it is not.
        fault: UriFault,
    },
    /// A `{` or `}` without the other.
    #[error("`{text}` has a `{{` or `}}` without the other; write `{{name}}`, or percent-encode the brace")]
    Brace {
        /// The text.
        text: String,
    },
    /// Something else than `{name}` and `{+name}`.
    #[error(
        "`{{{found}}}` is not supported; expected `{{name}}` for a part of one segment or `{{+name}}` for several \
         segments, with letters, digits, `_` and `.` in the name"
    )]
    Expression {
        /// What stands between the braces.
        found: String,
    },
    /// A variable occurs twice.
    #[error("the variable `{name}` occurs twice; give each its own name")]
    Repeated {
        /// The variable.
        name: String,
    },
    /// A URI could be read in two ways.
    #[error(
        "the variable `{name}` can run into the one before it; put a `/` between them, and use `{{+name}}` only once"
    )]
    Ambiguous {
        /// The later variable.
        name: String,
    },
    /// The template is longer than any that is matched.
    #[error("the template has more than {max} characters", max = uri::MAX_LENGTH)]
    TooLong,
}

/// What ends a segment.
const DELIMITERS: [char; 3] = ['/', '?', '#'];

impl Template {
    /// Reads a URI or a template.
    ///
    /// # Errors
    /// See [`TemplateFault`].
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        if text.len() > uri::MAX_LENGTH {
            return Err(TemplateFault::TooLong);
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, after) = match rest.split_once('{') {
                Some((literal, after)) => (literal, Some(after)),
                None => (rest, None),
            };
            if literal.contains('}') {
                return Err(TemplateFault::Brace { text: text.to_owned() });
            }
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            let Some(after) = after else { break };
            let (expression, after) =
                after.split_once('}').ok_or_else(|| TemplateFault::Brace { text: text.to_owned() })?;
            pieces.push(variable(expression)?);
            rest = after;
        }
        let example: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(literal) => literal.as_str(),
                Piece::Variable { .. } => "x",
            })
            .collect();
        // The scheme must be written out: a variable in it could be anything.
        let plain = match pieces.first() {
            Some(Piece::Literal(first)) if first.contains(':') => Uri::parse(&example),
            _ => Err(UriFault::Scheme),
        };
        plain.map_err(|fault| TemplateFault::Uri { text: text.to_owned(), fault })?;
        unambiguous(&pieces)?;
        let pieces: Vec<_> =
            pieces.into_iter().enumerate().map(|(index, piece)| piece.normal(index == 0)).collect();
        let mut folded = pieces.clone();
        if let Some(Piece::Literal(first)) = folded.first_mut() {
            *first = uri::folded(first);
        }
        Ok(Self { text: text.to_owned(), pieces, folded })
    }

    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name.as_str()),
            Piece::Literal(_) => None,
        })
    }

    /// Whether it is one URI: it has no variable.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.variables().next().is_none()
    }

    /// The values of the variables, where the URI is one that the template stands for.
    #[must_use]
    pub fn matches(&self, uri: &Uri) -> Option<Variables> {
        let mut found = Variables::new();
        matched(&self.pieces, uri.normal(), &mut found).then_some(found)
    }

    /// Whether one of the spellings that [`uri::alike`] gives may be meant by it, in whatever case its host is written.
    pub(crate) fn means(&self, spellings: &[Uri]) -> bool {
        spellings.iter().any(|one| matched(&self.folded, one.normal(), &mut Variables::new()))
    }

    /// How much of a URI it leaves open, least first.
    pub(crate) fn openness(&self) -> (bool, std::cmp::Reverse<usize>) {
        let spans = self.pieces.iter().any(|piece| matches!(piece, Piece::Variable { spans: true, .. }));
        let literal = self.pieces.iter().map(|piece| match piece {
            Piece::Literal(literal) => literal.len(),
            Piece::Variable { .. } => 0,
        });
        (spans, std::cmp::Reverse(literal.sum()))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Piece {
    fn normal(self, first: bool) -> Self {
        match self {
            Self::Literal(literal) => {
                let normal = uri::normal(&literal);
                match normal.split_once(':') {
                    Some((scheme, rest)) if first => {
                        Self::Literal(format!("{}:{rest}", scheme.to_ascii_lowercase()))
                    }
                    _ => Self::Literal(normal),
                }
            }
            variable => variable,
        }
    }
}

fn variable(expression: &str) -> Result<Piece, TemplateFault> {
    let (name, spans) = match expression.strip_prefix('+') {
        Some(name) => (name, true),
        None => (expression, false),
    };
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(named) {
        return Err(TemplateFault::Expression { found: expression.to_owned() });
    }
    Ok(Piece::Variable { name: name.to_owned(), spans })
}

/// Whether every URI has at most one reading.
fn unambiguous(pieces: &[Piece]) -> Result<(), TemplateFault> {
    let mut names = BTreeSet::new();
    let (mut apart, mut spanned) = (true, false);
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => apart |= literal.contains(DELIMITERS),
            Piece::Variable { name, spans } => {
                if !names.insert(name) {
                    return Err(TemplateFault::Repeated { name: name.clone() });
                }
                if !apart || (spanned && *spans) {
                    return Err(TemplateFault::Ambiguous { name: name.clone() });
                }
                apart = false;
                spanned |= spans;
            }
        }
    }
    Ok(())
}

/// Whether the pieces stand for the whole text. The depth of the recursion is the number of variables that span
/// segments, which is one at most.
fn matched(pieces: &[Piece], text: &str, found: &mut Variables) -> bool {
    let mut rest = text;
    let mut pieces = pieces;
    while let Some((piece, after)) = pieces.split_first() {
        match piece {
            Piece::Literal(literal) => match rest.strip_prefix(literal.as_str()) {
                Some(stripped) => rest = stripped,
                None => return false,
            },
            Piece::Variable { name, spans: false } => {
                let run = rest.split(DELIMITERS).next().unwrap_or_default();
                // What the template writes out behind the variable, in the same segment.
                let behind = match after.first() {
                    Some(Piece::Literal(literal)) => literal.split(DELIMITERS).next().unwrap_or_default(),
                    _ => "",
                };
                let value = run.strip_suffix(behind).unwrap_or_default();
                let decoded = uri::decoded(value).filter(|value| !value.contains(['/', '\\']));
                let (Some(decoded), Some(stripped)) = (decoded, rest.strip_prefix(value)) else {
                    return false;
                };
                if decoded.is_empty() {
                    return false;
                }
                found.insert(name.clone(), decoded);
                rest = stripped;
            }
            Piece::Variable { name, spans: true } => {
                return spanning(name, after, rest, found);
            }
        }
        pieces = after;
    }
    rest.is_empty()
}

/// A variable over segments: what is behind it fixes where it ends.
fn spanning(name: &str, behind: &[Piece], text: &str, found: &mut Variables) -> bool {
    (1..=text.len()).rev().any(|end| {
        let Some((value, rest)) = text.split_at_checked(end) else { return false };
        let mut inner = Variables::new();
        let Some(decoded) = matched(behind, rest, &mut inner).then(|| uri::decoded(value)).flatten() else {
            return false;
        };
        found.append(&mut inner);
        found.insert(name.to_owned(), decoded);
        true
    })
}
