use super::TraceContext;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn parsed(parent: &str, state: Option<&str>) -> Option<(String, Option<String>)> {
    let context = TraceContext { parent: Some(parent), state }.parse()?;
    Some((context.to_header(), context.state()))
}

#[test]
fn a_context_is_read_and_written_alike() {
    assert_eq!(parsed(PARENT, Some("a=1,b=2")), Some((PARENT.to_owned(), Some("a=1,b=2".to_owned()))));
    // An empty state is left out, a broken or long one too; the parent stays.
    assert_eq!(parsed(PARENT, Some("")), Some((PARENT.to_owned(), None)));
    assert_eq!(parsed(PARENT, Some("no pair")), Some((PARENT.to_owned(), None)));
    assert_eq!(parsed(PARENT, Some(&format!("a={}", "x".repeat(600)))), Some((PARENT.to_owned(), None)));
    // Flags that are not known are not passed on; a later version may say more.
    assert_eq!(parsed(&PARENT.replace("-01", "-03"), None), Some((PARENT.to_owned(), None)));
    assert_eq!(
        parsed(&PARENT.replacen("00", "01", 1).replace("-01", "-01-more"), None).map(|p| p.0),
        Some(PARENT.to_owned())
    );
}

#[test]
fn what_is_no_context_is_left_out() {
    for bad in [
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333é-01",
        "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ] {
        assert_eq!(parsed(bad, None), None, "{bad}");
    }
}
