use crate::action::{Action, Concern, Question, Target};
use crate::context::Built;
use crate::entity::GATEWAY_ID;
use crate::reads::{self, Path};
use crate::registry::{Authority, Entry};
use crate::ruling::{Cause, Decision, Explanation, Guardrail, Reason, RegistryRef, Ruling, Verdict};
use crate::slice::Slice;

/// Paths that an explanation lists at most.
const SHOWN_PATHS: usize = 64;

/// What a ruling has gathered so far.
pub(super) struct Trail {
    pub(super) explanation: Explanation,
    pub(super) read_only: bool,
}

impl Trail {
    pub(super) fn new(question: &Question<'_>) -> Self {
        let (concern, contract) = match &question.target {
            Target::Gateway => (Concern::Gateway(GATEWAY_ID.to_owned()), ""),
            Target::Item(item) => {
                (item.kind.concern(&format!("{}/{}", item.upstream, item.name)), item.contract)
            }
        };
        Self {
            read_only: false,
            explanation: Explanation {
                concern,
                contract: contract.to_owned(),
                verdict: Verdict::Prohibited,
                rule: "",
                code: None,
                registry: None,
                implied: None,
                policies: Vec::new(),
                policy_digest: None,
                null_paths: Vec::new(),
                unmapped: Vec::new(),
                guardrails: Vec::new(),
                reasons: Vec::new(),
            },
        }
    }

    pub(super) fn registered(&mut self, entry: &Entry, digest: &str, slice: &Slice) {
        self.read_only = entry.read_only;
        self.explanation.registry = Some(RegistryRef {
            authority: entry.authority,
            labels: entry.labels.clone(),
            digest: digest.to_owned(),
        });
        self.explanation.policy_digest = Some(slice.voice.digest.clone());
        let step = match entry.authority {
            Authority::Automatic => Decision::Allow,
            Authority::RequiresApproval => Decision::RequireApproval,
            Authority::Prohibited => Decision::Block,
        };
        self.step("registry", step);
    }

    pub(super) fn policy(&mut self, action: Action, decision: Decision) {
        self.step(
            match action {
                Action::Call => "policy call",
                Action::Read => "policy read",
                Action::GetPrompt => "policy get_prompt",
                Action::Complete => "policy complete",
                Action::Listen => "policy listen",
                Action::CallUnattended => "policy call_unattended",
                Action::Decide => "policy decide",
                Action::Audit => "policy audit",
                Action::Operate => "policy operate",
            },
            decision,
        );
    }

    pub(super) fn context(&mut self, built: &Built) {
        let shown =
            |paths: &[Path]| paths.iter().take(SHOWN_PATHS).map(|path| reads::pointer(path)).collect();
        self.explanation.null_paths = shown(&built.nulls);
        self.explanation.unmapped = shown(&built.unmapped);
    }

    pub(super) fn step(&mut self, name: &'static str, decision: Decision) {
        self.explanation.guardrails.push(Guardrail { name, decision });
    }

    pub(super) fn end(mut self, cause: Cause, message: String) -> Ruling {
        let reason: Reason = cause.reason(message);
        self.explanation.verdict = cause.verdict();
        self.explanation.rule = cause.rule();
        self.explanation.code = (cause.verdict() == Verdict::Prohibited).then(|| cause.code());
        self.explanation.reasons.insert(0, reason);
        Ruling::new(cause, self.read_only, self.explanation)
    }
}
