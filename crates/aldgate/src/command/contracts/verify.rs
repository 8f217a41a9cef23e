//! `aldgate contracts verify`

use std::process::ExitCode;

use aldgate_contract::diff::Severity;
use aldgate_contract::{Item, Lock, State as Standing};
use aldgate_gateway::LiveContracts;
use serde_json::{Value, json};

use super::compare::{Compared, State};
use super::exit;
use super::item::shown_item;
use super::locks::{self, chosen};
use super::renamed;
use super::signed::Reviewers;
use crate::cli::VerifyArguments;
use crate::command::host_configuration;
use crate::out;

/// What was found in one upstream.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    findings: Vec<Value>,
    renames: Vec<Value>,
    gravest: Option<Severity>,
    /// Whether something served is not what was reviewed.
    drifted: bool,
    /// Whether something that needs a signature has none.
    unsigned: bool,
    /// Whether a signature does not count.
    uncounted: bool,
}

pub(super) async fn run(arguments: &VerifyArguments) -> miette::Result<ExitCode> {
    let loaded = host_configuration(&arguments.file)?;
    let reviewers = Reviewers::of(&loaded)?;
    let mut all = Vec::new();
    let mut gravest = None;
    let (mut drifted, mut unsigned, mut uncounted) = (false, false, false);
    for (settings, path) in chosen(&loaded, arguments.upstream.as_deref())? {
        let lock = locks::required(&path)?;
        let live = locks::live(&settings).await?;
        let report = verify(&settings.name, &lock, &live, &reviewers);
        gravest = gravest.max(report.gravest);
        drifted |= report.drifted;
        unsigned |= report.unsigned;
        uncounted |= report.uncounted;
        if !arguments.json {
            report.lines.iter().try_for_each(out::line)?;
        }
        all.push(json!({
            "upstream": settings.name, "severity": report.gravest, "findings": report.findings,
            "renames": report.renames,
        }));
    }
    if arguments.json {
        out::json(&all)?;
        return Ok(exit(gravest));
    }
    let steps = [
        (
            drifted,
            "what is breaking or behavioural is refused until it is accepted: review it, then `aldgate contracts accept` \
             and `aldgate reload`",
        ),
        (
            unsigned,
            "what is not signed is refused until it is: review it, then `aldgate contracts sign --key FILE` and \
             `aldgate reload`",
        ),
        (
            uncounted,
            "what has a signature that does not count is refused: restore the lock from version control where it was \
             altered; else review the contract, sign it with a key that counts, and `aldgate reload`",
        ),
    ];
    steps.iter().filter(|(said, _)| *said).try_for_each(|(_, step)| out::line(step))?;
    Ok(exit(gravest))
}

fn verify(upstream: &str, lock: &Lock, live: &LiveContracts, reviewers: &Reviewers) -> Report {
    let mut report = Report::default();
    let identity = live.identity();
    let pinned = &lock.upstream;
    if pinned.server.is_some() && pinned.server != identity.server {
        let found = identity.server.as_deref().unwrap_or("nothing");
        report.stranger(upstream, &format!("the server calls itself `{found}`: nothing of it is served"));
    }
    if pinned.endpoint != identity.endpoint {
        let (was, is) = (&pinned.endpoint, &identity.endpoint);
        report
            .stranger(upstream, &format!("the lock is of the server at `{was}`, the upstream is at `{is}`"));
    }
    let findings = lock.verify(live.as_live());
    for finding in &findings {
        let Item { kind, name } = &finding.item;
        let pin = lock.pins(*kind).get(name);
        let before = pin.map(|pin| pin.definition.get());
        let after = live.definition(*kind, name);
        let mut one = Compared::of(finding.item.clone(), before, after, &[]);
        if let Standing::Unreadable { why } = &finding.state {
            one.state = State::Unreadable(why.clone());
        }
        // What is not pinned is not offered.
        let severity = one.severity().filter(|_| pin.is_some());
        report.gravest = report.gravest.max(severity);
        report.drifted |= severity >= Some(Severity::Behavioural);
        let mut told = one.described();
        let how = match (&one.state, severity) {
            (State::New, _) => "new: not pinned, not offered".to_owned(),
            (State::Gone, _) => "missing: pinned, but not served any more".to_owned(),
            (State::Changed(_), Some(severity)) => format!("changed: {}", severity.word()),
            _ => one.word(),
        };
        report.lines.push(format!("{upstream}/{}: {}", shown_item(&one.item), out::plain(&how)));
        report.lines.extend(one.details().iter().map(|line| format!("    {line}")));
        if let Value::Object(members) = &mut told {
            members.remove("state");
            members.insert("finding".to_owned(), finding_word(&one.state).into());
            members.insert("what".to_owned(), how.clone().into());
            members.insert("severity".to_owned(), json!(severity));
        }
        if let Some(pin) = pin {
            let signed = reviewers.state(&pin.statement(upstream), pin.signature.as_deref());
            if signed.is_refused() {
                report.gravest = report.gravest.max(Some(Severity::Breaking));
                *(if pin.signature.is_none() { &mut report.unsigned } else { &mut report.uncounted }) = true;
                report.lines.push(format!("    signature: {}", out::plain(&signed.told())));
            }
            if let Value::Object(members) = &mut told {
                members.insert("version".to_owned(), pin.version.into());
                members.insert("signature".to_owned(), signed.described());
            }
        }
        report.findings.push(told);
    }
    for rename in renamed::since(lock, live, &findings) {
        if rename.compared.is_some() {
            let (told, command) = (rename.line(false), rename.command(upstream));
            report.lines.push(format!("{upstream}: tool {told}; to accept: `{command}`"));
        }
        report.renames.push(rename.described());
    }
    for what in live.unreadable() {
        report.lines.push(format!("{upstream}: left out: {}", out::plain(what)));
        report.findings.push(json!({"finding": "unreadable", "what": what}));
    }
    report
}

impl Report {
    /// Notes that this is not the server that was reviewed.
    fn stranger(&mut self, upstream: &str, what: &str) {
        self.lines.push(format!("{upstream}: changed: {}", out::plain(what)));
        self.findings.push(json!({"finding": "changed", "severity": Severity::Breaking, "what": what}));
        self.gravest = Some(Severity::Breaking);
        self.drifted = true;
    }
}

fn finding_word(state: &State) -> &'static str {
    match state {
        State::Same | State::OtherBytes => "same",
        State::Changed(_) => "changed",
        State::New => "new",
        State::Gone => "missing",
        State::Unreadable(_) => "unreadable",
    }
}
