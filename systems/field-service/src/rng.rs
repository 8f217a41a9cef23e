//! A small deterministic generator of pseudo-random numbers (SplitMix64), so that a seed always gives the same data.

/// SplitMix64, see Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// A stream of its own for each (seed, stream, index).
    pub(crate) fn for_item(seed: u64, stream: u64, index: u64) -> Rng {
        let mut rng = Rng(seed ^ stream.wrapping_mul(0xA076_1D64_78BD_642F));
        let mixed = rng.next() ^ index.wrapping_mul(0xE703_7ED1_A0B4_28DB);
        Rng(mixed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `bound` - 1; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of the texts; the empty text for an empty list.
    pub(crate) fn pick<'a>(&mut self, from: &'a [String]) -> &'a str {
        let index = self.below(from.len() as u64) as usize;
        from.get(index).map_or("", String::as_str)
    }
}
