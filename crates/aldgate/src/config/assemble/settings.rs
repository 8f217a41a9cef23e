//! What does not change while a gateway runs, each value within its bounds.

use std::time::Duration;

use aldgate_gateway::settings::{ApprovalTimes, Bounds, Doors, Settings, Violations};

use super::AssembleFault;
use super::reach::{base, reach};
use crate::config::Loaded;
use crate::config::types::Span;

pub(super) const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A live list is trusted no longer than this.
pub(super) const VERIFY_AT_LEAST: Duration = Duration::from_secs(5 * 60);

/// A length of time within its bounds.
pub(crate) fn lasting(
    what: &str,
    found: Span,
    least: Duration,
    most: Duration,
) -> Result<Duration, AssembleFault> {
    if (least..=most).contains(&found.0) {
        return Ok(found.0);
    }
    let told = humantime::format_duration;
    let what = format!("`{what}` is `{}`; expected `{}` to `{}`", told(found.0), told(least), told(most));
    Err(AssembleFault::Value { what })
}

pub(super) fn settings(loaded: &Loaded) -> Result<Settings, AssembleFault> {
    let config = &loaded.config;
    let within = |what: &str, found: usize, least: usize, most: usize| {
        if (least..=most).contains(&found) {
            return Ok(found);
        }
        let what = format!("`{what}` is {found}; expected {least} to {most}");
        Err(AssembleFault::Value { what })
    };
    let limits = &config.limits;
    let approvals = &config.approvals;
    let hold = approvals.hold.0;
    if hold > Duration::from_secs(25) {
        let what =
            "`approvals.hold` is longer than `25s`; clients give up on a request after 30 s".to_owned();
        return Err(AssembleFault::Value { what });
    }
    let mut settings = Settings {
        doors: Doors { hosts: config.gateway.hosts.clone(), origins: config.gateway.origins.clone() },
        bounds: Bounds {
            header_bytes: within("limits.header_bytes", limits.header_bytes, 8 << 10, 1 << 20)?,
            body_bytes: within("limits.body_bytes", limits.body_bytes, 1 << 10, 64 << 20)?,
            depth: within("limits.depth", limits.depth, 8, 100)?,
            response_bytes: within("limits.response_bytes", limits.response_bytes, 1 << 10, 256 << 20)?,
            in_flight: within("limits.in_flight", limits.in_flight, 1, 100_000)?,
            connections: within("limits.connections", limits.connections, 1, 1_000_000)?,
            in_flight_per_principal: within(
                "limits.in_flight_per_principal",
                limits.in_flight_per_principal,
                1,
                100_000,
            )?,
            in_flight_per_upstream: within(
                "limits.in_flight_per_upstream",
                limits.in_flight_per_upstream,
                1,
                100_000,
            )?,
            requests_per_second: limits.requests_per_second,
            call_timeout: lasting("limits.call_timeout", limits.call_timeout, SECOND, HOUR)?,
            longest_call: lasting("limits.longest_call", limits.longest_call, SECOND, DAY)?,
            keep_alive: lasting("limits.keep_alive", limits.keep_alive, SECOND, HOUR)?,
            rounds: u32::try_from(within("limits.rounds", limits.rounds as usize, 0, 100)?).unwrap_or(100),
            list_items: within("limits.list_items", limits.list_items, 1, 1_000_000)?,
            list_pages: within("limits.list_pages", limits.list_pages, 1, 10_000)?,
            list_page: within("limits.list_page", limits.list_page, 1, 100_000)?,
            listens: within("limits.listens", limits.listens, 0, 1_000_000)?,
            listens_per_principal: within(
                "limits.listens_per_principal",
                limits.listens_per_principal,
                0,
                1_000_000,
            )?,
            listen_uris: within("limits.listen_uris", limits.listen_uris, 0, 4096)?,
        },
        approvals: ApprovalTimes {
            pending_for: lasting("approvals.pending_for", approvals.pending_for, SECOND, 30 * DAY)?,
            redeem_within: lasting("approvals.redeem_within", approvals.redeem_within, SECOND, DAY)?,
            hold,
        },
        violations: Violations {
            count: u32::try_from(within("limits.output_violations", limits.output_violations, 1, 1_000_000)?)
                .unwrap_or(u32::MAX),
            window: lasting("limits.output_violations_within", limits.output_violations_within, SECOND, DAY)?,
        },
        decide_hint: String::new(),
        approval_pages: None,
        reach: reach(config)?,
    };
    if config.runs_a_server() {
        settings.approval_pages = Some(base(&settings.reach).to_owned());
    }
    settings.decide_hint = match (&config.approvals.decide_with, &settings.approval_pages) {
        (Some(configured), _) => configured.clone(),
        (None, Some(base)) => format!("{base}/approvals in a browser, or `aldgate approvals approve`"),
        (None, None) => "`aldgate approvals approve`".to_owned(),
    };
    if settings.bounds.call_timeout > settings.bounds.longest_call {
        let what =
            "`limits.call_timeout` is longer than `limits.longest_call`; raise the one or lower the other"
                .to_owned();
        return Err(AssembleFault::Value { what });
    }
    Ok(settings)
}
