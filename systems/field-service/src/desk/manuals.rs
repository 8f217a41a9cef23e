//! Manual search: passages with document, page and revision, and the pages as resources.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{
    Answer, Call, Completion, CompletionOf, Desk, DeskFault, Features, beginning_with, icon, integer,
    refused, text,
};
use crate::contracts::ServerContract;
use crate::hub::Hub;
use crate::search::{BACKEND, Search};
use crate::store::Store;

/// Passages returned by `search_manual` when `k` is absent.
const DEFAULT_K: i64 = 5;
const TEMPLATE: &str = "manual://{document}/{revision}/{page}";

/// The server of the technical manuals.
pub(crate) struct Manuals {
    pub(crate) contract: ServerContract,
    pub(crate) store: Arc<Store>,
    pub(crate) search: Arc<Search>,
    pub(crate) hub: Hub,
    pub(crate) families: Vec<String>,
}

#[async_trait]
impl Desk for Manuals {
    fn contract(&self) -> &ServerContract {
        &self.contract
    }

    fn features(&self) -> Features {
        Features { resources: true, prompts: false }
    }

    fn instructions(&self) -> &'static str {
        "Operator and field-maintenance manuals. Prefer passages that are not superseded and cite document, revision \
         and page."
    }

    fn icon(&self) -> Value {
        icon("M4 4h7l1 1 1-1h7v15h-7l-1 1-1-1H4zM12 5v15")
    }

    fn hub(&self) -> &Hub {
        &self.hub
    }

    async fn call(&self, call: Call) -> Result<Answer, DeskFault> {
        match call.tool.as_str() {
            "search_manual" => self.search(&call.arguments).await,
            other => Err(DeskFault::params(format!("unknown tool `{other}`, see tools/list"))),
        }
    }

    /// The first page of the current revision of each manual.
    async fn resources(&self) -> Result<Vec<Value>, DeskFault> {
        let pages = self.store.first_pages().await?;
        Ok(pages
            .into_iter()
            .map(|page| {
                json!({
                    "uri": format!("manual://{}/{}/{}", page.document, page.revision, page.page),
                    "name": format!("{} {} page {}", page.document, page.revision, page.page),
                    "title": format!("{}, revision {}: {}", page.document, page.revision, page.title),
                    "mimeType": "text/plain",
                    "icons": [self.icon()],
                })
            })
            .collect())
    }

    fn templates(&self) -> Vec<Value> {
        vec![json!({
            "uriTemplate": TEMPLATE,
            "name": "manual_page",
            "title": "One page of a manual",
            "description": "For example manual://FM-AC-250/R2/12. FM is a field-maintenance manual, OM an operator manual.",
            "mimeType": "text/plain",
            "icons": [self.icon()],
        })]
    }

    async fn read(&self, uri: &str) -> Result<Vec<Value>, DeskFault> {
        let unknown = || DeskFault::no_resource(uri);
        let mut parts = uri.strip_prefix("manual://").ok_or_else(unknown)?.split('/');
        let (Some(document), Some(revision), Some(page), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unknown());
        };
        if page.starts_with(['+', '0']) {
            return Err(unknown());
        }
        let page: i64 = page.parse().map_err(|_| unknown())?;
        let passages = self.store.page(document, revision, page).await?;
        if passages.is_empty() {
            return Err(unknown());
        }
        let text = passages
            .iter()
            .map(|passage| format!("{}\n\n{}", passage.title, passage.passage))
            .collect::<Vec<_>>()
            .join("\n\n");
        Ok(vec![json!({ "uri": uri, "mimeType": "text/plain", "text": text })])
    }

    fn complete(&self, wanted: &Completion) -> Result<Vec<String>, DeskFault> {
        let CompletionOf::Template(uri) = &wanted.of else {
            let (CompletionOf::Prompt(name) | CompletionOf::Template(name)) = &wanted.of;
            return Err(DeskFault::no_prompt(name));
        };
        if uri != TEMPLATE {
            return Err(DeskFault::no_resource(uri));
        }
        let values = match wanted.argument.as_str() {
            "document" => ["FM", "OM"]
                .iter()
                .flat_map(|kind| self.families.iter().map(|family| crate::generate::document(kind, family)))
                .collect(),
            "revision" => vec!["R2".to_owned(), "R1".to_owned()],
            "page" => Vec::new(),
            other => {
                return Err(DeskFault::params(format!("template `{TEMPLATE}` has no argument `{other}`")));
            }
        };
        Ok(beginning_with(values, &wanted.value))
    }
}

impl Manuals {
    async fn search(&self, arguments: &Map<String, Value>) -> Result<Answer, DeskFault> {
        let query = text(arguments, "query").unwrap_or_default();
        if query.trim().is_empty() {
            return Ok(refused("argument `query` is empty, expected a question in words"));
        }
        let family = text(arguments, "product_family");
        if let Some(family) = family.filter(|family| !self.families.iter().any(|known| known == family)) {
            return Ok(refused(format!(
                "no manuals of family `{family}` exist, expected one of {}",
                self.families.join(", ")
            )));
        }
        let k = integer(arguments, "k").unwrap_or(DEFAULT_K);
        let passages =
            self.search.passages(&self.store, family, text(arguments, "variant"), query, k).await?;
        Ok(Answer::Done(json!({ "backend": BACKEND, "passages": passages })))
    }
}
