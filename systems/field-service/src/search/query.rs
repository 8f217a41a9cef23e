//! From a sentence to full-text queries: words without stop words, and their synonyms.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use crate::content::{ContentFault, parse};

/// Words that say nothing about a fault or a procedure.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "but", "by", "can", "could", "d", "did", "do", "does", "don", "down", "each", "else",
    "ever", "every", "few", "for", "from", "get", "gets", "go", "goes", "had", "has", "have", "he", "here",
    "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "know", "like", "ll", "m", "made",
    "make", "makes", "many", "may", "me", "more", "much", "must", "my", "no", "not", "now", "of", "on",
    "one", "only", "or", "our", "out", "re", "s", "shall", "she", "should", "so", "some", "such", "t",
    "take", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "up", "us", "ve", "very", "was", "we", "well", "were", "what", "when", "where",
    "which", "while", "who", "why", "will", "with", "would", "yet", "you", "your",
];
/// Longest query: the input schemas bound the text already, this bounds the number of terms.
const MOST_WORDS: usize = 64;

/// One entry of the synonym table: whoever says one of `said` may mean one of `meant`.
#[derive(Debug, Deserialize)]
struct Entry {
    said: Vec<String>,
    meant: Vec<String>,
}

/// Widens queries by the synonym table.
#[derive(Debug)]
pub(crate) struct Widener {
    meant: HashMap<String, Vec<String>>,
}

/// The full-text queries for one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    words: String,
    synonyms: String,
}

impl Widener {
    pub(crate) fn load() -> Result<Widener, ContentFault> {
        let entries: Vec<Entry> = parse("data/synonyms.json", include_str!("../../data/synonyms.json"))?;
        let mut meant: HashMap<String, Vec<String>> = HashMap::new();
        for entry in entries {
            for said in &entry.said {
                meant.entry(key(said)).or_default().extend(entry.meant.iter().cloned());
            }
        }
        Ok(Widener { meant })
    }

    /// Splits a sentence into words and looks up their synonyms, also those of two words in a row.
    pub(crate) fn widen(&self, sentence: &str) -> Query {
        let all = words_of(sentence);
        let words: Vec<&String> = all.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).collect();
        let mut synonyms: BTreeSet<&str> = BTreeSet::new();
        let pairs = all.iter().zip(all.iter().skip(1)).map(|(a, b)| format!("{} {}", stem(a), stem(b)));
        for said in words.iter().map(|word| stem(word)).chain(pairs) {
            synonyms.extend(self.meant.get(&said).into_iter().flatten().map(String::as_str));
        }
        for word in &words {
            synonyms.remove(word.as_str());
        }
        Query { words: any_of(words.into_iter().map(String::as_str)), synonyms: any_of(synonyms.into_iter()) }
    }
}

impl Query {
    /// The queries that are not empty, with their weights.
    pub(crate) fn parts(&self, synonym_weight: f64) -> impl Iterator<Item = (&str, f64)> {
        let both = [(self.words.as_str(), 1.0), (self.synonyms.as_str(), synonym_weight)];
        both.into_iter().filter(|(query, _)| !query.is_empty())
    }
}

/// Lower-case words; everything that is not a letter or digit separates, so no query syntax gets through.
fn words_of(sentence: &str) -> Vec<String> {
    sentence
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .map(str::to_lowercase)
        .collect()
}

fn any_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let quoted: BTreeSet<String> = words.map(|word| format!("\"{word}\"")).collect();
    quoted.into_iter().collect::<Vec<_>>().join(" OR ")
}

fn key(said: &str) -> String {
    words_of(said).iter().map(|word| stem(word)).collect::<Vec<_>>().join(" ")
}

/// A light stem, only for looking words up in the table; the index has its own porter stemmer.
fn stem(word: &str) -> String {
    for ending in ["ing", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 3
        {
            return stem.trim_end_matches('e').to_owned();
        }
    }
    word.trim_end_matches('e').to_owned()
}
