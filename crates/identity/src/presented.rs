//! What a request shows of who sent it, and where.

/// What of the gateway a request goes to. Each is a protected resource of its own (RFC 9728), with an audience of its own:
/// a token for one is refused at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Door {
    /// The MCP endpoint.
    Mcp,
    /// The evidence server.
    Evidence,
    /// The admin API but for decisions.
    Admin,
    /// The decisions of the admin API.
    Decisions,
}

/// The URLs of the doors: audiences of tokens (RFC 8707 §2), without a slash at their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doors {
    /// Of the MCP endpoint, such as `https://gateway.example.com/mcp`.
    pub mcp: String,
    /// Of the evidence server.
    pub evidence: String,
    /// Of the admin API.
    pub admin: String,
    /// Of the decisions, below the admin API.
    pub decisions: String,
}

impl Doors {
    /// The doors of a gateway that agents reach at one base URL, and people at another.
    #[must_use]
    pub fn at(public: &str, admin: &str) -> Self {
        Self {
            mcp: format!("{public}/mcp"),
            evidence: format!("{public}/evidence/mcp"),
            admin: format!("{admin}/v1"),
            decisions: format!("{admin}/v1/approvals"),
        }
    }

    /// The URL of one.
    #[must_use]
    pub fn url(&self, door: Door) -> &str {
        match door {
            Door::Mcp => &self.mcp,
            Door::Evidence => &self.evidence,
            Door::Admin => &self.admin,
            Door::Decisions => &self.decisions,
        }
    }

    /// The door of a URL, which has to be equal to the last letter.
    #[must_use]
    pub fn door(&self, url: &str) -> Option<Door> {
        [Door::Mcp, Door::Evidence, Door::Admin, Door::Decisions]
            .into_iter()
            .find(|door| self.url(*door) == url)
    }
}

/// A proof of possession (RFC 9449 §4).
#[derive(Clone, Copy)]
pub enum Proof<'a> {
    /// What the request's one `DPoP` header holds.
    Sent(Option<&'a [u8]>),
    /// It was checked when the request came; now the credentials are looked at again.
    Checked,
}

/// What a request shows.
#[derive(Clone, Copy)]
pub struct Presented<'a> {
    /// The value of the one `Authorization` header.
    pub authorization: Option<&'a [u8]>,
    /// The proof of possession.
    pub proof: Proof<'a>,
    /// The method of the request, such as `POST`.
    pub method: &'a str,
    /// The URL of the request as the gateway is known outside, without query: what a proof of possession is bound to.
    pub url: &'a str,
    /// Where it goes.
    pub door: Door,
}

/// Nothing of a proof is shown: within its time it is as good as a key.
impl std::fmt::Debug for Proof<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Sent(None) => "Sent(None)",
            Self::Sent(Some(_)) => "Sent(…)",
            Self::Checked => "Checked",
        })
    }
}

/// Nothing of a token is shown.
impl std::fmt::Debug for Presented<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Presented")
            .field("authorization", &self.authorization.map(|_| "…"))
            .field("proof", &self.proof)
            .field("method", &self.method)
            .field("url", &self.url)
            .field("door", &self.door)
            .finish()
    }
}
