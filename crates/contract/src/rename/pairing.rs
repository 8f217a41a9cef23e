//! One-to-one pairs out of all that are possible.

/// What is not even this sure is no candidate.
pub(super) const LEAST: f64 = 0.25;
/// Unconfirmed, nothing is surer.
pub(super) const MOST: f64 = 0.99;
/// By how much the best has to be better than the next best; what is missing is taken off.
const MARGIN: f64 = 0.12;

/// A pair of two numbers, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) confidence: f64,
}

/// Takes the surest pair, then the surest of what is left, and so on. Where another pair of one end is nearly as sure,
/// the one that is taken is less sure. Equally sure ones are taken in the order in which they are given.
pub(super) fn one_to_one(mut possible: Vec<Pair>) -> Vec<Pair> {
    possible.retain(|pair| pair.confidence >= LEAST);
    possible.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut taken: Vec<Pair> = Vec::new();
    let mut free = possible.clone();
    while let Some(best) = free.first().copied() {
        let rival = free.iter().skip(1).filter(|pair| pair.left == best.left || pair.right == best.right);
        let next = rival.map(|pair| pair.confidence).fold(0.0, f64::max);
        let missing = (MARGIN - (best.confidence - next)).max(0.0);
        taken.push(Pair { confidence: rounded(best.confidence - missing), ..best });
        free.retain(|pair| pair.left != best.left && pair.right != best.right);
    }
    taken
}

/// Two decimals: more would pretend to know more.
fn rounded(confidence: f64) -> f64 {
    (confidence.clamp(0.0, MOST) * 100.0).round() / 100.0
}
