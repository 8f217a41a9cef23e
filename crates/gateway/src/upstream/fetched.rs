//! What an upstream answered to the gateway's own request.

use aldgate_wire::code;
use aldgate_wire::list::{self, ListKind};
use aldgate_wire::response::{Answer, ResultKind, ResultView};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The answer to a [`crate::catalog::HostFetch`].
pub(crate) struct Fetched(Answer);

/// A result.
pub(crate) struct FetchedResult<'a>(&'a ResultView);

/// One page of a live list.
pub(crate) struct LivePage {
    pub(crate) items: Vec<(String, Box<RawValue>)>,
    /// Place, name where there is one, and why the element could not be read.
    pub(crate) refused: Vec<(usize, Option<String>, String)>,
    pub(crate) next_cursor: Option<String>,
}

/// What an upstream says that it can, as far as the gateway asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    /// It tells when its tools, prompts or resources change.
    pub(crate) tells_tools: bool,
    pub(crate) tells_prompts: bool,
    pub(crate) tells_resources: bool,
    /// It tells when a resource that somebody asked for changes.
    pub(crate) subscribe: bool,
}

impl Fetched {
    pub(super) fn new(answer: Answer) -> Self {
        Self(answer)
    }

    /// Whether the upstream does not know the method.
    pub(crate) fn is_unknown_method(&self) -> bool {
        matches!(self.0, Answer::Error { code: code::METHOD_NOT_FOUND, .. })
    }

    /// The complete result.
    pub(crate) fn result(&self) -> Result<FetchedResult<'_>, String> {
        match &self.0 {
            Answer::Result(view) if view.kind == ResultKind::Complete => Ok(FetchedResult(view)),
            Answer::Result(_) => Err("a result that is not complete".to_owned()),
            Answer::Error { code, message, .. } => {
                let message: String =
                    message.chars().filter(|letter| !letter.is_control()).take(200).collect();
                Err(format!("the error {code} `{message}`"))
            }
        }
    }

    /// One page of a list.
    pub(crate) fn page(&self, kind: ListKind) -> Result<LivePage, String> {
        let result = self.result()?;
        let page = list::read(kind, result.0.raw()).map_err(|fault| fault.to_string())?;
        let refused =
            page.refused.into_iter().map(|refused| (refused.index, refused.key, refused.fault.to_string()));
        Ok(LivePage {
            items: page.items.into_iter().map(|item| (item.key, item.raw)).collect(),
            refused: refused.collect(),
            next_cursor: page.next_cursor,
        })
    }
}

impl FetchedResult<'_> {
    /// `serverInfo.name` of the result's `_meta`.
    pub(crate) fn server_name(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/serverInfo")]
            server: Option<Server>,
        }
        #[derive(Deserialize)]
        struct Server {
            name: String,
        }
        let meta: Meta = serde_json::from_str(self.0.meta()?).ok()?;
        meta.server
            .map(|server| server.name.chars().filter(|letter| !letter.is_control()).take(200).collect())
    }

    /// The members of `capabilities` that the gateway looks at. What has another form is not declared.
    pub(crate) fn abilities(&self) -> Abilities {
        let result: serde_json::Value = serde_json::from_str(self.0.raw().get()).unwrap_or_default();
        let has = |path: &str| result.pointer(path).is_some_and(serde_json::Value::is_object);
        let says = |path: &str| result.pointer(path).and_then(serde_json::Value::as_bool) == Some(true);
        Abilities {
            prompts: has("/capabilities/prompts"),
            resources: has("/capabilities/resources"),
            tells_tools: says("/capabilities/tools/listChanged"),
            tells_prompts: says("/capabilities/prompts/listChanged"),
            tells_resources: says("/capabilities/resources/listChanged"),
            subscribe: says("/capabilities/resources/subscribe"),
        }
    }
}
