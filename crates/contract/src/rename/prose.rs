//! How alike two descriptions are.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::contrast::Signs;
use super::vocabulary::{COMMON, STOP};
use super::words::{canonical, words};

/// How often each word occurs in the descriptions that are compared: what stands in all of them tells nothing.
pub(super) struct Corpus<'a> {
    counts: HashMap<&'a str, usize>,
}

/// The words of a description that say something, in all forms that matter.
#[derive(Debug, Clone, Default)]
pub(super) struct Prose {
    /// All words, in order.
    pub(super) words: Vec<String>,
    telling: HashSet<String>,
    /// Whether it says more than words that are in the names of many properties.
    pub(super) tells: bool,
    pub(super) signs: Signs,
}

/// Descriptions that were taken apart: references let one stand at many places.
#[derive(Default)]
pub(super) struct Proses<'a> {
    known: HashMap<Option<&'a str>, Rc<Prose>>,
}

impl<'a> Proses<'a> {
    pub(super) fn of(&mut self, text: Option<&'a str>) -> Rc<Prose> {
        Rc::clone(self.known.entry(text).or_insert_with(|| Rc::new(Prose::new(text))))
    }
}

impl Prose {
    pub(super) fn new(text: Option<&str>) -> Self {
        let words = text.map(words).unwrap_or_default();
        let telling = words.iter().filter(|word| !STOP.contains(&word.as_str()));
        let telling = telling.map(|word| canonical(word)).collect();
        let says = |word: &String| !STOP.contains(&word.as_str()) && !COMMON.contains(&word.as_str());
        let (tells, signs) = (words.iter().any(says), Signs::of_text(&words));
        Self { words, telling, tells, signs }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.telling.is_empty()
    }

    /// Whether one of some words is in it.
    pub(super) fn holds_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.holds(&canonical(word)))
    }

    /// Whether all of some words are in it.
    pub(super) fn holds_all(&self, words: &[String]) -> bool {
        !words.is_empty() && words.iter().all(|word| self.holds(&canonical(word)))
    }

    fn holds(&self, word: &str) -> bool {
        self.telling.contains(word)
    }
}

impl<'a> Corpus<'a> {
    pub(super) fn new(texts: impl Iterator<Item = &'a Prose>) -> Self {
        let mut counts = HashMap::new();
        for word in texts.flat_map(|text| &text.telling) {
            *counts.entry(word.as_str()).or_insert(0) += 1;
        }
        Self { counts }
    }

    /// How much a word tells: 1 where it stands in no description but the two that are compared.
    fn weight(&self, word: &str) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "at most 1024")]
        let found = self.counts.get(word).copied().unwrap_or(1) as f64;
        (2.0 / found).min(1.0)
    }

    /// From 0 to 1, and how much both say; `None` where one says nothing.
    pub(super) fn similarity(&self, a: &Prose, b: &Prose) -> Option<(f64, f64)> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let sum = |words: &HashSet<String>| words.iter().map(|word| self.weight(word)).sum::<f64>();
        let common = a.telling.iter().filter(|word| b.holds(word)).map(|word| self.weight(word)).sum::<f64>();
        let (of_a, of_b) = (sum(&a.telling), sum(&b.telling));
        let dice = (2.0 * common / (of_a + of_b)).min(1.0);
        let covered = (common / of_a.min(of_b)).min(1.0);
        Some(((0.65 * dice + 0.35 * covered) * (common / 2.0).min(1.0), common))
    }

    /// How much of some words of a name a description holds, from 0 to 1.
    pub(super) fn mentions(&self, text: &Prose, name: &[&str]) -> f64 {
        let telling = name.iter().filter(|word| !STOP.contains(word));
        let telling: Vec<String> = telling.map(|word| canonical(word)).collect();
        let held = telling.iter().filter(|word| text.holds(word)).map(|word| self.weight(word)).sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "at most 12")]
        let all = telling.len().max(1) as f64;
        held / all
    }
}
