use super::{Facts, NEVER};

fn all() -> Facts {
    Facts {
        agent_requests: 12,
        servers_over_http: true,
        refused_without_secret: Some(true),
        contracts_equal: 8,
        automatic: 6,
        decision: Some("approve".into()),
        decided_by_another: true,
        orders: 1,
        orders_confirmed: 1,
        export_refused: true,
        exports: 0,
        rows: 30,
        search_backend: Some("fts5".into()),
    }
}

fn claims(facts: &Facts) -> Vec<&'static str> {
    facts.ledger().iter().filter(|line| line.crossed).map(|line| line.boundary).collect()
}

#[test]
fn a_claim_is_made_only_for_what_was_seen() {
    let full = claims(&all());
    assert_eq!(full.len(), 9);
    type Change = fn(&mut Facts);
    let switched_off: [(&str, Change); 13] = [
        ("agent to gateway", |facts| facts.agent_requests = 0),
        ("gateway to servers", |facts| facts.servers_over_http = false),
        ("servers closed to others", |facts| facts.refused_without_secret = None),
        ("servers closed to others", |facts| facts.refused_without_secret = Some(false)),
        ("contracts", |facts| facts.contracts_equal = 0),
        ("automatic calls", |facts| facts.automatic = 0),
        ("a person's decision", |facts| facts.decision = None),
        ("a person's decision", |facts| facts.decided_by_another = false),
        ("order", |facts| facts.orders = 0),
        ("order", |facts| facts.orders = 2),
        ("order", |facts| facts.orders_confirmed = 0),
        ("export refused", |facts| facts.exports = 1),
        ("evidence", |facts| facts.rows = 0),
    ];
    for (boundary, switch_off) in switched_off {
        let mut facts = all();
        switch_off(&mut facts);
        let expected: Vec<_> = full.iter().filter(|claim| **claim != boundary).copied().collect();
        assert_eq!(claims(&facts), expected, "{boundary}");
    }
    assert!(claims(&Facts::default()).is_empty());
}

#[test]
fn what_no_run_crosses_is_said_every_time() {
    for facts in [all(), Facts::default()] {
        let not: Vec<_> =
            facts.ledger().into_iter().filter(|line| !line.crossed).map(|line| line.boundary).collect();
        for (boundary, _) in NEVER {
            assert!(not.contains(&boundary), "{boundary}");
        }
    }
}
