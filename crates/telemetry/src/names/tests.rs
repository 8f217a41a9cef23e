const PAGE: &str = include_str!("../../../../docs/observability.md");

#[test]
fn every_name_is_explained() {
    let names = include_str!("../names.rs").lines().filter_map(|line| {
        let (_, value) = line.split_once("&str = \"")?;
        value.strip_suffix("\";")
    });
    let mut count = 0;
    for name in names {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/observability.md does not name `{name}`");
        count += 1;
    }
    assert!(count > 40, "{count}");
}

#[test]
fn every_metric_is_explained() {
    let instruments = include_str!("../metrics.rs").split('"').filter(|text| text.starts_with("aldgate."));
    let mut count = 0;
    for name in instruments {
        assert!(PAGE.contains(&format!("| `{name}` |")), "docs/observability.md does not name `{name}`");
        count += 1;
    }
    assert_eq!(count, 10);
}
