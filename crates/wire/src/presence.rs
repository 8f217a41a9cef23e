/// A member that may be absent, `null`, or hold a value; MCP gives the three different meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Presence<T> {
    /// The member is not there.
    #[default]
    Absent,
    /// The member is there and `null`.
    Null,
    /// The member holds a value other than `null`.
    Value(T),
}

impl<T> Presence<T> {
    /// The value, where there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}
