//! Lexical search: SQLite FTS5 with BM25 and porter stemming, widened by a table of the trade's synonyms.

mod query;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::content::ContentFault;
use crate::store::{ClosedTicket, Passage, Store, StoreFault};

pub(crate) use query::Widener;

/// The search engine, as results name it.
pub(crate) const BACKEND: &str = "sqlite-fts5-bm25+porter+synonyms";

/// Weight of a synonym beside a word that the caller used.
const SYNONYM: f64 = 0.7;
/// Weight of a fault's whole history beside the one ticket.
const FAULT: f64 = 2.0;
/// How many tickets the full-text index may contribute before ranking.
const CANDIDATES: i64 = 60;
/// How many of the best faults contribute their newest tickets.
const BEST_FAULTS: usize = 6;

/// Searches tickets and manuals.
#[derive(Debug)]
pub(crate) struct Search {
    widener: Widener,
}

/// A result with its score; greater is better, and scores of different queries do not compare.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Scored<T> {
    #[serde(flatten)]
    pub(crate) item: T,
    pub(crate) score: f64,
}

impl Search {
    pub(crate) fn new() -> Result<Search, ContentFault> {
        Ok(Search { widener: Widener::load()? })
    }

    /// Closed tickets of a model variant, ranked by how closely their symptom, and the symptoms of all tickets with
    /// the same fault, match the words of `symptom`.
    pub(crate) async fn tickets(
        &self,
        store: &Store,
        model_variant: &str,
        fault_code: Option<&str>,
        symptom: &str,
        limit: i64,
    ) -> Result<Vec<Scored<ClosedTicket>>, StoreFault> {
        let query = self.widener.widen(symptom);
        let mut faults: HashMap<String, f64> = HashMap::new();
        let mut found: BTreeMap<i64, (ClosedTicket, f64)> = BTreeMap::new();
        for (words, weight) in query.parts(SYNONYM) {
            for (code, score) in store.matching_faults(words).await? {
                *faults.entry(code).or_default() += weight * score;
            }
            for (ticket, score) in store.matching_closed(model_variant, fault_code, words, CANDIDATES).await?
            {
                found.entry(ticket.ord).or_insert((ticket, 0.0)).1 += weight * score;
            }
        }
        let mut best: Vec<(&String, &f64)> = faults
            .iter()
            .filter(|(code, _)| fault_code.is_none_or(|wanted| wanted == code.as_str()))
            .collect();
        best.sort_by(|a, b| b.1.total_cmp(a.1).then_with(|| a.0.cmp(b.0)));
        for (code, _) in best.iter().take(BEST_FAULTS) {
            for ticket in store.newest_closed(model_variant, Some(code), limit).await? {
                found.entry(ticket.ord).or_insert((ticket, 0.0));
            }
        }
        let mut ranked: Vec<Scored<ClosedTicket>> = found
            .into_values()
            .map(|(ticket, own)| {
                let fault = faults.get(&ticket.fault_code).copied().unwrap_or(0.0);
                Scored { score: round(own + FAULT * fault), item: ticket }
            })
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.item.ord.cmp(&b.item.ord)));
        ranked.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(ranked)
    }

    /// Passages of the manuals, best first; of two revisions with the same words the current one comes first.
    pub(crate) async fn passages(
        &self,
        store: &Store,
        family: Option<&str>,
        variant: Option<&str>,
        question: &str,
        k: i64,
    ) -> Result<Vec<Scored<Passage>>, StoreFault> {
        let query = self.widener.widen(question);
        let mut found: BTreeMap<i64, (Passage, f64)> = BTreeMap::new();
        for (words, weight) in query.parts(SYNONYM) {
            for (passage, score) in store.matching_passages(family, variant, words, CANDIDATES).await? {
                found.entry(passage.id).or_insert((passage, 0.0)).1 += weight * score;
            }
        }
        let mut ranked: Vec<Scored<Passage>> =
            found.into_values().map(|(item, score)| Scored { item, score: round(score) }).collect();
        ranked.sort_by(|a, b| {
            let revision = a.item.superseded.cmp(&b.item.superseded);
            b.score.total_cmp(&a.score).then(revision).then(a.item.id.cmp(&b.item.id))
        });
        ranked.truncate(usize::try_from(k).unwrap_or(0));
        Ok(ranked)
    }
}

/// Three decimal places are enough to compare, and keep results readable.
fn round(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}
