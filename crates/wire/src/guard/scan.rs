use std::borrow::Cow;

use super::{GuardFault, Limits};
use crate::decimal;
use crate::quote::shortened;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Everything.
    Strict,
    /// Size, encoding, syntax and depth.
    Shape,
}

pub(super) fn run(body: &[u8], limits: &Limits, rules: Rules) -> Result<(), GuardFault> {
    if body.len() > limits.max_bytes {
        return Err(GuardFault::TooLarge { found: body.len(), limit: limits.max_bytes });
    }
    if body.starts_with(b"\xEF\xBB\xBF") {
        return Err(GuardFault::ByteOrderMark);
    }
    let text = std::str::from_utf8(body).map_err(|e| GuardFault::NotUtf8 { at: e.valid_up_to() })?;
    let mut scanner = Scanner {
        text,
        bytes: body,
        at: 0,
        rules,
        max_depth: limits.max_depth,
        open: Vec::new(),
        keys: Vec::new(),
    };
    scanner.document()
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    rules: Rules,
    max_depth: usize,
    open: Vec<Container>,
    /// The keys of all open objects, innermost last.
    keys: Vec<Key<'a>>,
}

#[derive(Clone, Copy)]
enum Container {
    Array,
    Object { first_key: usize },
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    text: Cow<'a, str>,
    at: usize,
}

enum Expect {
    Value,
    ElementOrEnd,
    Key,
    KeyOrEnd,
    Separator,
}

/// How many bytes of a string come before one that ends it, escapes, or may not be in it.
fn plain(rest: &[u8]) -> Option<usize> {
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    // Without a branch for each byte, so that several are looked at at once.
    let clean = |block: &&[u8]| !block.iter().fold(false, |found, byte| found | special(byte));
    let passed = rest.chunks_exact(16).take_while(clean).count() * 16;
    Some(passed + rest.get(passed..)?.iter().position(special)?)
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), GuardFault> {
        let mut expect = Expect::Value;
        loop {
            self.skip_whitespace();
            expect = match expect {
                Expect::ElementOrEnd if self.peek() == Some(b']') => self.close()?,
                Expect::KeyOrEnd if self.peek() == Some(b'}') => self.close()?,
                Expect::Value | Expect::ElementOrEnd => self.value()?,
                Expect::Key | Expect::KeyOrEnd => self.key()?,
                Expect::Separator => match (self.open.last().copied(), self.peek()) {
                    (None, None) => return Ok(()),
                    (None, Some(_)) => return Err(GuardFault::TrailingData { at: self.at }),
                    (Some(Container::Array), Some(b',')) => {
                        self.at += 1;
                        Expect::Value
                    }
                    (Some(Container::Object { .. }), Some(b',')) => {
                        self.at += 1;
                        Expect::Key
                    }
                    (Some(Container::Array), Some(b']')) | (Some(Container::Object { .. }), Some(b'}')) => {
                        self.close()?
                    }
                    (Some(Container::Array), _) => return self.syntax("`,` or `]`"),
                    (Some(Container::Object { .. }), _) => return self.syntax("`,` or `}`"),
                },
            };
        }
    }

    fn value(&mut self) -> Result<Expect, GuardFault> {
        match self.peek() {
            Some(b'{') => {
                self.open(Container::Object { first_key: self.keys.len() })?;
                return Ok(Expect::KeyOrEnd);
            }
            Some(b'[') => {
                self.open(Container::Array)?;
                return Ok(Expect::ElementOrEnd);
            }
            Some(b'"') => {
                self.string()?;
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(b'n') => self.literal("null")?,
            _ => return self.syntax("a value"),
        }
        Ok(Expect::Separator)
    }

    fn open(&mut self, container: Container) -> Result<(), GuardFault> {
        if self.open.len() >= self.max_depth {
            return Err(GuardFault::TooDeep { at: self.at, limit: self.max_depth });
        }
        self.open.push(container);
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<Expect, GuardFault> {
        self.at += 1;
        if let Some(Container::Object { first_key }) = self.open.pop() {
            self.refuse_repeated(first_key)?;
            self.keys.truncate(first_key);
        }
        Ok(Expect::Separator)
    }

    /// Sorting costs `n log n` for every choice of keys; a hash table would have to be keyed with randomness.
    fn refuse_repeated(&mut self, first_key: usize) -> Result<(), GuardFault> {
        let Some(keys) = self.keys.get_mut(first_key..) else { return Ok(()) };
        keys.sort_unstable();
        let repeated = keys.windows(2).filter_map(|pair| match pair {
            [first, second] if first.text == second.text => Some(second),
            _ => None,
        });
        match repeated.min_by_key(|key| key.at) {
            Some(key) => Err(GuardFault::DuplicateKey { key: shortened(&key.text), at: key.at }),
            None => Ok(()),
        }
    }

    fn key(&mut self) -> Result<Expect, GuardFault> {
        if self.peek() != Some(b'"') {
            return self.syntax("a key in double quotes");
        }
        let at = self.at;
        let escaped = self.string()?;
        if self.rules == Rules::Strict {
            let text = if escaped {
                let quoted = self.text.get(at..self.at).unwrap_or_default();
                // Cannot fail: the string was just found to be well formed.
                Cow::Owned(serde_json::from_str(quoted).map_err(|_| GuardFault::LoneSurrogate { at })?)
            } else {
                Cow::Borrowed(self.text.get(at + 1..self.at - 1).unwrap_or_default())
            };
            self.keys.push(Key { text, at });
        }
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return self.syntax("`:`");
        }
        self.at += 1;
        Ok(Expect::Value)
    }

    /// Passes over a string; tells whether it held an escape.
    fn string(&mut self) -> Result<bool, GuardFault> {
        self.at += 1;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(plain) = plain(rest) else {
                self.at = self.bytes.len();
                return self.syntax("`\"` at the end of the string");
            };
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return self.syntax("control characters in strings to be escaped"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), GuardFault> {
        let at = self.at;
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = self.unit(at)?;
                self.at += 6;
                if self.rules == Rules::Strict {
                    match unit {
                        0xD800..=0xDBFF if self.bytes.get(at + 6..at + 8) == Some(b"\\u") => {
                            if !matches!(self.unit(at + 6)?, 0xDC00..=0xDFFF) {
                                return Err(GuardFault::LoneSurrogate { at });
                            }
                            self.at += 6;
                        }
                        0xD800..=0xDFFF => return Err(GuardFault::LoneSurrogate { at }),
                        _ => {}
                    }
                }
            }
            _ => {
                self.at += 1;
                return self.syntax("one of `\"\\/bfnrtu` after a backslash");
            }
        }
        Ok(())
    }

    /// The code unit of the `\uXXXX` that begins at an offset.
    fn unit(&self, at: usize) -> Result<u32, GuardFault> {
        let digits = self.bytes.get(at + 2..at + 6).unwrap_or_default();
        let unit = digits.iter().try_fold(0, |unit, b| Some(unit * 16 + char::from(*b).to_digit(16)?));
        match unit {
            Some(unit) if digits.len() == 4 => Ok(unit),
            _ => Err(GuardFault::Syntax { at: at + 2, expected: "four hexadecimal digits" }),
        }
    }

    fn number(&mut self) -> Result<(), GuardFault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if self.rules == Rules::Strict && !decimal::is_exact(text) {
            return Err(GuardFault::InexactNumber { text: shortened(text), at: start });
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), GuardFault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if count == 0 {
            return self.syntax("a digit");
        }
        self.at += count;
        Ok(())
    }

    fn literal(&mut self, word: &'static str) -> Result<(), GuardFault> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word.as_bytes()) {
            return self.syntax("a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn syntax<T>(&self, expected: &'static str) -> Result<T, GuardFault> {
        Err(GuardFault::Syntax { at: self.at, expected })
    }
}
