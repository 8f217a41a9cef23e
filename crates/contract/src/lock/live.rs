use std::collections::BTreeMap;

use crate::kind::Kind;

/// What an upstream serves now: a list for each kind that was asked for, with names and whole definitions as JSON text.
///
/// A kind without a list was not asked for, and is neither pinned nor compared. A kind of which the upstream has
/// nothing has an empty list.
#[derive(Debug, Clone, Default)]
pub struct Live<'a> {
    pub(super) lists: BTreeMap<Kind, Vec<(&'a str, &'a str)>>,
}

impl<'a> Live<'a> {
    /// The same with the list of this kind, which replaces an earlier one.
    #[must_use]
    pub fn with(mut self, kind: Kind, list: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.lists.insert(kind, list.into_iter().collect());
        self
    }
}

/// Pairs alone are tools.
impl<'a, I: IntoIterator<Item = (&'a str, &'a str)>> From<I> for Live<'a> {
    fn from(tools: I) -> Self {
        Self::default().with(Kind::Tool, tools)
    }
}
