//! Characters that a person does not see, or that change what a person sees.

use super::{BIDIRECTIONAL_CONTROLS, CONTROL_CHARACTERS, Finding, INVISIBLE_CHARACTERS, Text, quoted};

pub(super) fn check(text: &Text<'_>, findings: &mut Vec<Finding>) {
    if text.text.is_ascii() && !text.text.bytes().any(|b| b.is_ascii_control()) {
        return;
    }
    let invisible = invisible(text.text);
    if let Some(first) = invisible.first() {
        let hidden: String = invisible.iter().filter_map(|c| untagged(*c)).collect();
        let what = if hidden.trim().is_empty() {
            format!(
                "{} that cannot be seen, U+{:04X} first: a person reads another text than the model",
                counted(invisible.len()),
                u32::from(*first)
            )
        } else {
            format!("{} that cannot be seen, and spell {}", counted(invisible.len()), quoted(&hidden))
        };
        findings.push(Finding::new(INVISIBLE_CHARACTERS, text, what));
    }
    let right_to_left = text.text.chars().any(is_right_to_left);
    let controls: Vec<char> = text.text.chars().filter(|c| is_bidi(*c, right_to_left)).collect();
    if let Some(first) = controls.first() {
        let what = format!(
            "{} that change the order in which text is shown, U+{:04X} first",
            counted(controls.len()),
            u32::from(*first)
        );
        findings.push(Finding::new(BIDIRECTIONAL_CONTROLS, text, what));
    }
    let controls: Vec<char> = text.text.chars().filter(|c| is_control(*c)).collect();
    if let Some(first) = controls.first() {
        let what = if controls.contains(&'\u{1b}') || controls.contains(&'\u{9b}') {
            "escape sequences, which can hide text in a terminal".to_owned()
        } else {
            format!("{} that control a terminal, U+{:04X} first", counted(controls.len()), u32::from(*first))
        };
        findings.push(Finding::new(CONTROL_CHARACTERS, text, what));
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

/// Neither a control nor invisible.
pub(super) fn is_printable(c: char) -> bool {
    !is_control(c) && !is_invisible(c) && !is_bidi(c, false) && !matches!(c, '\n' | '\r' | '\t')
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Controls of direction; marks alone are in place in a text that has letters from right to left.
fn is_bidi(c: char, right_to_left: bool) -> bool {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{200e}' | '\u{200f}' | '\u{61c}' => !right_to_left,
        _ => false,
    }
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}') && c != '\u{61c}'
}

/// Characters without a shape of their own, selectors of variants among them.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

/// The letter that a tag character, or a selector of a variant that carries a byte, stands for.
fn untagged(c: char) -> Option<char> {
    let letter = match u32::from(c) {
        tag @ 0xe0020..=0xe007e => tag - 0xe0000,
        selector @ 0xe0100..=0xe01ef => selector - 0xe0100 + 16,
        _ => return None,
    };
    char::from_u32(letter).filter(|c| c.is_ascii_graphic() || *c == ' ')
}

/// What tag characters and selectors of variants spell; empty where there are none.
pub(super) fn spelled(text: &str) -> String {
    text.chars().filter_map(untagged).collect()
}

/// The characters that cannot be seen and have no use where they stand.
fn invisible(text: &str) -> Vec<char> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: Option<usize>| index.and_then(|index| chars.get(index)).copied().unwrap_or(' ');
    let has_flag = chars.contains(&'\u{1f3f4}');
    let mut flag = false;
    let mut found = Vec::new();
    for (index, c) in chars.iter().copied().enumerate() {
        let (before, after) = (at(index.checked_sub(1)), at(index.checked_add(1)));
        // The flags of England, Scotland and Wales end in tag characters.
        flag = c == '\u{1f3f4}' || flag && matches!(c, '\u{e0061}'..='\u{e007a}');
        let useful = match c {
            '\u{200c}' | '\u{200d}' => {
                joins(before) && joins(after) || is_pictograph(before) && is_pictograph(after)
            }
            '\u{fe0e}' | '\u{fe0f}' => {
                is_pictograph(before) && !is_invisible(before)
                    || before.is_ascii_digit()
                    || matches!(before, '#' | '*')
            }
            '\u{e0061}'..='\u{e007a}' => flag,
            '\u{e007f}' => matches!(before, '\u{e0061}'..='\u{e007a}') && has_flag,
            _ => false,
        };
        if is_invisible(c) && !useful {
            found.push(c);
        }
    }
    found
}

/// Letters of scripts in which joiners change how a word is written.
fn joins(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}')
}
