//! How alike two names are.

use super::contrast::is_side;
use super::vocabulary::HANDLES;
use super::words::{Meaning, Name, alike};

/// Two names, word beside word.
pub(super) struct Match<'a> {
    /// From 0 to 1: how much the names alone speak for one meaning.
    pub(super) similarity: f64,
    /// The words of the first that have none in the second, and say something.
    pub(super) left: Vec<&'a str>,
    /// Those of the second.
    pub(super) right: Vec<&'a str>,
    /// Whether nothing is in both but words that many names have.
    pub(super) is_common: bool,
}

impl<'a> Match<'a> {
    pub(super) fn of(a: &'a Name, b: &'a Name) -> Self {
        let words = Words::of(a, b);
        let similarity = if a.is_respelled(b) {
            1.0
        } else {
            let phrase = if a.is_same_phrase(b) { 0.88 } else { 0.0 };
            aligned(a, b, &words).max(initials(a, b)).max(initials(b, a)).max(phrase)
        };
        let telling = |words: &[(&'a str, &Meaning)]| -> Vec<&'a str> {
            words.iter().filter(|(_, meaning)| meaning.tells()).map(|(word, _)| *word).collect()
        };
        let (left, right) = (telling(&words.left), telling(&words.right));
        Self { similarity, left, right, is_common: words.is_common }
    }
}

fn aligned(a: &Name, b: &Name, words: &Words<'_>) -> f64 {
    let Words { share, weight, weakest, left, right, .. } = words;
    if *weight == 0.0 {
        return 0.0;
    }
    // A word that only may mean the same makes the whole no surer than that.
    let base = if *weakest < 0.8 { (share / weight).min(weakest + 0.06) } else { share / weight };
    let (more_left, more_right): (f64, f64) = (total(left), total(right));
    if left.is_empty() && right.is_empty() {
        return if a.tokens == b.tokens { 0.98 } else { base * 0.98 };
    }
    if more_left <= 0.35 && more_right <= 0.35 {
        return base * if left.is_empty() || right.is_empty() { 0.93 } else { 0.86 };
    }
    if !left.is_empty() && !right.is_empty() && more_left.min(more_right) > 0.35 {
        return 0.45 * share / (weight + more_left + more_right);
    }
    let more = left.iter().chain(right).filter(|(_, meaning)| meaning.tells());
    let more: Vec<&str> = more.map(|(word, _)| *word).collect();
    if more.iter().any(|word| is_side(word)) {
        return base * 0.55;
    }
    if words.heads {
        #[expect(clippy::cast_precision_loss, reason = "at most 8")]
        let further = 0.04 * more.len().saturating_sub(1) as f64;
        return base * if words.is_common { 0.8 - further } else { 0.89 - further };
    }
    if more.iter().all(|word| HANDLES.contains(word)) { base * 0.74 } else { base * 0.42 }
}

struct Words<'a> {
    /// Of the words that were matched, the sum of likeness times weight.
    share: f64,
    weight: f64,
    /// The least likeness of two words that were matched.
    weakest: f64,
    /// Words that have none in the other name.
    left: Vec<(&'a str, &'a Meaning)>,
    right: Vec<(&'a str, &'a Meaning)>,
    /// Whether the words that say what kind of thing is named were matched to each other.
    heads: bool,
    /// Whether all that were matched are in many names.
    is_common: bool,
}

impl<'a> Words<'a> {
    /// Matches the words of two names one to one, the likest first.
    fn of(a: &'a Name, b: &'a Name) -> Self {
        let pieces = |name: &'a Name| -> Vec<(&'a str, &'a Meaning)> {
            name.tokens.iter().map(String::as_str).zip(&name.meanings).collect()
        };
        let (of_a, of_b) = (pieces(a), pieces(b));
        let mut pairs = Vec::new();
        for (i, one) in of_a.iter().enumerate() {
            for (j, other) in of_b.iter().enumerate() {
                let like = alike(*one, *other);
                if like > 0.0 {
                    pairs.push((like, i, j));
                }
            }
        }
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
        let (mut taken_a, mut taken_b) = (vec![false; of_a.len()], vec![false; of_b.len()]);
        let (head_a, head_b) = (a.head(), b.head());
        let (mut share, mut weight, mut weakest) = (0.0, 0.0, 1.0_f64);
        let (mut heads, mut is_common) = (false, true);
        for (like, i, j) in pairs {
            let (Some(in_a), Some(in_b)) = (taken_a.get_mut(i), taken_b.get_mut(j)) else { continue };
            let (Some((one, left)), Some((other, right))) = (of_a.get(i), of_b.get(j)) else { continue };
            if *in_a || *in_b {
                continue;
            }
            (*in_a, *in_b) = (true, true);
            let worth = left.weight.max(right.weight);
            share += like * worth;
            weight += worth;
            weakest = weakest.min(like);
            heads |= head_a == Some(*one) && head_b == Some(*other);
            is_common &= left.is_common || !left.tells();
        }
        let rest = |all: Vec<(&'a str, &'a Meaning)>, taken: &[bool]| -> Vec<(&'a str, &'a Meaning)> {
            all.into_iter().zip(taken).filter(|(_, taken)| !**taken).map(|(word, _)| word).collect()
        };
        let (left, right) = (rest(of_a, &taken_a), rest(of_b, &taken_b));
        Self { share, weight, weakest, left, right, heads, is_common }
    }
}

fn total(words: &[(&str, &Meaning)]) -> f64 {
    words.iter().map(|(_, meaning)| meaning.weight).sum()
}

/// `pr` of `pull_request`.
fn initials(short: &Name, long: &Name) -> f64 {
    let [word] = short.tokens.as_slice() else { return 0.0 };
    if long.tokens.len() < 2 || word.len() > long.tokens.len() * 4 {
        return 0.0;
    }
    let first = long.tokens.iter().filter_map(|token| token.chars().next());
    if first.eq(word.chars()) { 0.84 } else { 0.0 }
}
