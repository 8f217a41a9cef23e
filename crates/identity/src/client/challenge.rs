//! What a resource says when it refuses a request: `WWW-Authenticate` (RFC 9110 §11.6.1).

#[cfg(test)]
mod tests;

use crate::Scopes;

/// One challenge. Headers may hold several, and one header may hold several as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme, in small letters.
    pub scheme: String,
    /// Name in small letters and value, in the order of the header.
    pub parameters: Vec<(String, String)>,
}

impl Challenge {
    /// The value of a parameter. None where it stands twice: nobody can tell which one was meant.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut found = self.parameters.iter().filter(|(one, _)| one == name);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }

    /// Where the metadata of the resource are (RFC 9728 §5.1).
    #[must_use]
    pub fn resource_metadata(&self) -> Option<&str> {
        self.parameter("resource_metadata")
    }

    /// The scopes that the operation needs (RFC 6750 §3). None where they are not given or are none.
    #[must_use]
    pub fn scope(&self) -> Option<Scopes> {
        self.parameter("scope")
            .and_then(|scope| Scopes::parse(scope).ok())
            .filter(|scopes| !scopes.is_empty())
    }

    /// Whether a good token lacks scopes (RFC 6750 §3.1).
    #[must_use]
    pub fn is_insufficient_scope(&self) -> bool {
        self.parameter("error") == Some("insufficient_scope")
    }

    /// The one that OAuth is about: the first of the schemes `Bearer` and `DPoP`, one that names metadata before others.
    #[must_use]
    pub fn of_oauth<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut ours: Vec<Self> = values
            .into_iter()
            .flat_map(challenges)
            .filter(|challenge| matches!(challenge.scheme.as_str(), "bearer" | "dpop"))
            .collect();
        ours.sort_by_key(|challenge| challenge.resource_metadata().is_none());
        ours.into_iter().next()
    }
}

/// Reads one value of `WWW-Authenticate`. Reading ends where the value breaks the grammar; what stands before counts.
#[must_use]
pub fn challenges(value: &str) -> Vec<Challenge> {
    let mut rest = value;
    let mut found: Vec<Challenge> = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (name, after) = token(rest);
        if name.is_empty() {
            return found;
        }
        let spaced = after.trim_start_matches([' ', '\t']);
        // `name = value` belongs to the challenge before it; a name without `=` begins another one.
        if let (Some(after), Some(challenge)) = (equals(spaced), found.last_mut()) {
            let Some((value, after)) = parameter_value(after) else { return found };
            challenge.parameters.push((name.to_ascii_lowercase(), value));
            rest = after;
            continue;
        }
        if equals(spaced).is_some() {
            return found;
        }
        found.push(Challenge { scheme: name.to_ascii_lowercase(), parameters: Vec::new() });
        rest = after_token68(spaced);
    }
}

/// What follows one `=` of a parameter.
fn equals(text: &str) -> Option<&str> {
    text.strip_prefix('=').filter(|after| !after.starts_with('='))
}

/// Skips credentials that are not parameters, such as those of `Negotiate`.
fn after_token68(text: &str) -> &str {
    let of_it = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/".contains(letter);
    let after = text.trim_start_matches(of_it).trim_start_matches('=');
    let ends = after.trim_start_matches([' ', '\t']);
    let is_whole = ends.is_empty() || ends.starts_with(',');
    // A single token before a comma is another challenge's scheme only after that comma.
    if is_whole && !text.is_empty() && !text.starts_with(',') { ends } else { text }
}

fn token(text: &str) -> (&str, &str) {
    let of_it = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    text.split_at(text.find(|letter| !of_it(letter)).unwrap_or(text.len()))
}

fn parameter_value(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, after) = token(text);
        return (!value.is_empty()).then(|| (value.to_owned(), after));
    };
    let mut value = String::new();
    let mut letters = quoted.chars();
    loop {
        match letters.next()? {
            '"' => return Some((value, letters.as_str())),
            '\\' => value.push(letters.next()?),
            letter => value.push(letter),
        }
    }
}
