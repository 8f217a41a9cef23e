//! The fixed content of the system: faults, manual sections, part kinds, names and texts, read from `data/*.json`.

use serde::Deserialize;
use thiserror::Error;

/// The letters of the machine variants, in the order in which they are generated.
pub(crate) const VARIANTS: [&str; 3] = ["A", "B", "S"];

/// All content files, parsed.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) faults: Vec<Fault>,
    pub(crate) sections: Vec<Section>,
    pub(crate) parts: Vec<PartKind>,
    pub(crate) world: World,
}

/// One fault: what it is, what repairs it, and how people describe it.
#[derive(Debug, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: String,
    pub(crate) title: String,
    pub(crate) category: String,
    /// Shortest and longest repair time in minutes.
    pub(crate) minutes: [u64; 2],
    pub(crate) cause: String,
    pub(crate) fix: String,
    pub(crate) phrases: Vec<String>,
}

/// One section of a manual, with `{unit:number}` placeholders for figures.
#[derive(Debug, Deserialize)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) doc: String,
    pub(crate) title: String,
    pub(crate) kind: String,
    pub(crate) by_variant: bool,
    pub(crate) text: String,
}

/// One component category of the catalogue.
#[derive(Debug, Deserialize)]
pub(crate) struct PartKind {
    pub(crate) category: String,
    pub(crate) code: String,
    pub(crate) name: String,
    /// Price of the reference family in cents.
    pub(crate) price: u64,
    /// Whether variants A and B take different parts (S always has its own).
    pub(crate) split: bool,
}

/// One machine family.
#[derive(Debug, Deserialize)]
pub(crate) struct Family {
    pub(crate) code: String,
    /// Size relative to the reference family.
    pub(crate) factor: f64,
}

/// Invented people, companies and sentences.
#[derive(Debug, Deserialize)]
pub(crate) struct World {
    pub(crate) families: Vec<Family>,
    pub(crate) company_heads: Vec<String>,
    pub(crate) company_tails: Vec<String>,
    pub(crate) cities: Vec<String>,
    pub(crate) streets: Vec<String>,
    pub(crate) first_names: Vec<String>,
    pub(crate) last_names: Vec<String>,
    pub(crate) engineers: Vec<String>,
    pub(crate) openers: Vec<String>,
    pub(crate) closers: Vec<String>,
    pub(crate) customer_texts: Vec<String>,
    pub(crate) injections: Vec<String>,
    pub(crate) note_templates: Vec<String>,
}

/// A content file that cannot be read.
#[derive(Debug, Error)]
#[error("the built-in content file `{file}` cannot be read; rebuild from an unmodified source tree")]
pub struct ContentFault {
    file: &'static str,
    #[source]
    source: serde_json::Error,
}

impl Content {
    pub(crate) fn load() -> Result<Content, ContentFault> {
        Ok(Content {
            faults: parse("data/faults.json", include_str!("../data/faults.json"))?,
            sections: parse("data/manuals.json", include_str!("../data/manuals.json"))?,
            parts: parse("data/parts.json", include_str!("../data/parts.json"))?,
            world: parse("data/world.json", include_str!("../data/world.json"))?,
        })
    }

    /// All model variants, such as `AC-250-S`, in a fixed order.
    pub(crate) fn model_variants(&self) -> Vec<String> {
        self.world
            .families
            .iter()
            .flat_map(|family| VARIANTS.iter().map(|variant| format!("{}-{variant}", family.code)))
            .collect()
    }
}

pub(crate) fn parse<T: for<'de> Deserialize<'de>>(file: &'static str, text: &str) -> Result<T, ContentFault> {
    serde_json::from_str(text).map_err(|source| ContentFault { file, source })
}
