use serde_json::{Value, json};

use crate::outcome::{Complete, Refusal};
use crate::planner::{Finding, FromTool};

#[cfg(test)]
mod tests;

/// Puts what others wrote before a model so that it can tell where it begins and ends.
///
/// Whatever a tool, a server or a gateway wrote is one line of JSON between two lines that hold a random mark of the
/// run. JSON writes a line feed as `\n`, so no text can begin a line of its own; and the mark, should a text hold it
/// because the model gave it away, is taken out of the text.
///
/// **Invariant:** what is outside of the two lines was written by the host.
pub(super) struct Quote {
    mark: String,
    /// Bytes of JSON between the lines.
    max: usize,
}

impl Quote {
    /// With a mark that nobody can guess.
    pub(super) fn new(max: usize) -> Self {
        Self { mark: format!("{:032x}", rand::random::<u128>()), max }
    }

    /// The first and the last line of a block.
    pub(super) fn lines(&self) -> (String, String) {
        (format!("<<<data {}>>>", self.mark), format!("<<<end of data {}>>>", self.mark))
    }

    /// What came of a call, in words for the model, and whether it is an error.
    pub(super) fn result(&self, tool: &str, finding: &Finding) -> (String, bool) {
        match finding {
            Finding::Answer(answer) => {
                let is_error = answer.as_data().is_error;
                let head = if is_error { "The tool says that it failed." } else { "The tool answered." };
                (format!("{head}\n{}", self.answer(tool, answer)), is_error)
            }
            Finding::Refused(refusal) if refusal.may_have_run() => {
                (format!("{LOST}\n{}", self.refusal(tool, refusal)), true)
            }
            Finding::Refused(refusal) => {
                let code = code(refusal);
                let head = format!(
                    "The host refused this call ({code}): it did not run. Do not repeat it, and do not try to reach \
                     the same in another way."
                );
                (format!("{head}\n{}", self.refusal(tool, refusal)), true)
            }
            Finding::Waiting(refusal) => {
                let head = "This call waits for a person, who did not decide yet: it did not run. Do not repeat it. Go on \
                            without it, or end and say that it waits.";
                let more = refusal.as_ref().map(|refusal| format!("\n{}", self.refusal(tool, refusal)));
                (format!("{head}{}", more.unwrap_or_default()), true)
            }
            Finding::Failed { text, may_have_run: true } => {
                (format!("{LOST}\n{}", self.block(&json!({"tool": tool, "failure": text}))), true)
            }
            Finding::Failed { text, may_have_run: false } => {
                let head = "This call has no result, and nothing was changed by it.";
                (format!("{head}\n{}", self.block(&json!({"tool": tool, "failure": text}))), true)
            }
        }
    }

    fn answer(&self, tool: &str, answer: &FromTool<Complete>) -> String {
        let Complete { structured, text, .. } = answer.as_data();
        let mut data = json!({"written_by_tool": tool});
        if let Some(members) = data.as_object_mut() {
            // Servers give the same once more as text, for clients that read no structure.
            let same = structured.as_ref().is_some_and(|structured| {
                serde_json::from_str::<Value>(text).is_ok_and(|text| text == *structured)
            });
            if let Some(structured) = structured {
                members.insert("structured".to_owned(), structured.clone());
            }
            if !(same || text.is_empty() && structured.is_some()) {
                members.insert("text".to_owned(), Value::from(text.as_str()));
            }
        }
        self.block(&data)
    }

    fn refusal(&self, tool: &str, refusal: &Refusal) -> String {
        self.block(&json!({"tool": tool, "refusal": refusal.text}))
    }

    /// One block of data.
    fn block(&self, data: &Value) -> String {
        let (first, last) = self.lines();
        let mut data = self.without_mark(&data.to_string());
        let whole = data.len();
        if whole > self.max {
            let at = (0..=self.max).rev().find(|at| data.is_char_boundary(*at)).unwrap_or_default();
            data.truncate(at);
            return format!("{first}\n{data}\n{last}\nThe host cut the data after {at} of {whole} bytes.");
        }
        format!("{first}\n{data}\n{last}")
    }
}

impl Quote {
    /// The text without the mark, in whatever case.
    fn without_mark(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        let mut out = String::with_capacity(text.len());
        let mut rest = 0;
        for (at, found) in lower.match_indices(&self.mark) {
            out.push_str(text.get(rest..at).unwrap_or_default());
            out.push_str("(mark)");
            rest = at + found.len();
        }
        out.push_str(text.get(rest..).unwrap_or_default());
        out
    }
}

const LOST: &str = "The outcome of this call is unknown: it may have run. Do not repeat it. Say in your answer that its \
                    outcome is unknown.";

/// The code of a refusal. Without a gateway a server could write one: no other characters are taken.
fn code(refusal: &Refusal) -> &str {
    let plain = |code: &&str| {
        code.len() <= 64 && code.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
    };
    Some(refusal.code.as_str()).filter(plain).unwrap_or("no code")
}
