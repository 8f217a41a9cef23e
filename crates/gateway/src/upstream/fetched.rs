//! What an upstream answered to the gateway's own request.

use aldgate_wire::list::read_tools;
use aldgate_wire::response::{Answer, ResultKind, ResultView};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The answer to a [`crate::catalog::HostFetch`].
pub(crate) struct Fetched(Answer);

/// A result.
pub(crate) struct FetchedResult<'a>(&'a ResultView);

/// One page of a live list.
pub(crate) struct LivePage {
    pub(crate) tools: Vec<(String, Box<RawValue>)>,
    pub(crate) unreadable: Vec<String>,
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) next_cursor: Option<String>,
}

impl Fetched {
    pub(super) fn new(answer: Answer) -> Self {
        Self(answer)
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

    /// The tools of a `tools/list` result.
    pub(crate) fn tools(&self) -> Result<LivePage, String> {
        let result = self.result()?;
        let page = read_tools(result.0.raw()).map_err(|fault| fault.to_string())?;
        let unreadable = page.refused.iter().map(|refused| {
            let name = refused.key.clone().unwrap_or_else(|| format!("number {}", refused.index));
            format!("{name}: {}", refused.fault)
        });
        let named =
            page.refused.iter().filter_map(|refused| Some((refused.key.clone()?, refused.fault.to_string())));
        Ok(LivePage {
            tools: page.items.into_iter().map(|tool| (tool.key, tool.raw)).collect(),
            unreadable: unreadable.collect(),
            refused: named.collect(),
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
}
