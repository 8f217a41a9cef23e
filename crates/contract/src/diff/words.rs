//! The difference of two texts, word by word.

use std::collections::HashMap;

use serde_json::Value;

use super::{Change, Word};

/// Cells of the table of one comparison; texts that differ in more are told as a whole.
const MAX_CELLS: usize = 1 << 20;
/// Cells for all texts of two definitions.
const MAX_IN_ALL: usize = 1 << 22;

/// Both texts, as a whole.
pub(super) fn whole(before: &str, after: &str) -> Vec<Word> {
    let told = |text: &str, is: fn(String) -> Word| (!text.is_empty()).then(|| is(text.to_owned()));
    told(before, Word::Gone).into_iter().chain(told(after, Word::New)).collect()
}

/// Tells of all changes of text which words differ, as long as that does not take too long.
pub(super) fn refine(changes: &mut [Change]) {
    let mut left = MAX_IN_ALL;
    for change in changes.iter_mut().filter(|change| !change.words.is_empty()) {
        if let (Some(Value::String(before)), Some(Value::String(after))) = (&change.before, &change.after) {
            change.words = words(before, after, &mut left);
        }
    }
}

/// Runs of words that both texts have, and that one has. The runs of `Same` and `Gone` are the text before, those of
/// `Same` and `New` the text after. At most `left` cells are taken, and taken off.
pub(super) fn words(before: &str, after: &str, left: &mut usize) -> Vec<Word> {
    let (old, new) = (tokens(before), tokens(after));
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - end).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - end).unwrap_or_default();
    let mut runs = Runs::default();
    old.iter().take(start).for_each(|word| runs.push(Is::Same, word));
    middle(old_middle, new_middle, left, &mut runs);
    old_rest.iter().skip(old_middle.len()).for_each(|word| runs.push(Is::Same, word));
    runs.done
}

/// Words, and what is between them: a run of letters and digits, a run of white space, or another character.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        _ if letter.is_alphanumeric() || letter == '_' => 0,
        _ if letter.is_whitespace() => 1,
        _ => 2,
    };
    let (mut tokens, mut from, mut last) = (Vec::new(), 0, None);
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        if last.is_some_and(|last| last != now || now == 2) {
            tokens.extend(text.get(from..at));
            from = at;
        }
        last = Some(now);
    }
    tokens.extend(text.get(from..).filter(|rest| !rest.is_empty()));
    tokens
}

/// The longest common subsequence, where its table is not too large.
fn middle(old: &[&str], new: &[&str], left: &mut usize, runs: &mut Runs) {
    let width = new.len() + 1;
    let cells = width.saturating_mul(old.len());
    if cells > MAX_CELLS.min(*left) {
        old.iter().for_each(|word| runs.push(Is::Gone, word));
        new.iter().for_each(|word| runs.push(Is::New, word));
        return;
    }
    *left -= cells;
    let mut known = HashMap::new();
    let mut numbers: Vec<usize> = Vec::with_capacity(old.len() + new.len());
    for word in old.iter().chain(new) {
        let next = known.len();
        numbers.push(*known.entry(*word).or_insert(next));
    }
    let (olds, news) = numbers.split_at(old.len());
    // How much is common from each pair of places on.
    let mut common = vec![0_u32; cells];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in olds.iter().enumerate().rev() {
        for (j, b) in news.iter().enumerate().rev() {
            let most = if a == b {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = most;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                runs.push(Is::Same, a);
                (i, j) = (i + 1, j + 1);
            }
            // Nothing that is common is lost with it.
            (Some(a), _) if at(&common, i + 1, j) == at(&common, i, j) => {
                runs.push(Is::Gone, a);
                i += 1;
            }
            (_, Some(b)) => {
                runs.push(Is::New, b);
                j += 1;
            }
            _ => break,
        }
    }
}

#[derive(Clone, Copy)]
enum Is {
    Same,
    Gone,
    New,
}

#[derive(Default)]
struct Runs {
    done: Vec<Word>,
}

impl Runs {
    fn push(&mut self, is: Is, word: &str) {
        match (is, self.done.last_mut()) {
            (Is::Same, Some(Word::Same(text)))
            | (Is::Gone, Some(Word::Gone(text)))
            | (Is::New, Some(Word::New(text))) => text.push_str(word),
            (Is::Same, _) => self.done.push(Word::Same(word.to_owned())),
            (Is::Gone, _) => self.done.push(Word::Gone(word.to_owned())),
            (Is::New, _) => self.done.push(Word::New(word.to_owned())),
        }
    }
}
