use proptest::prelude::*;

use super::*;

fn check(names: &[&str]) -> Vec<String> {
    let all = Names::of(names.iter().copied());
    let mapped: Vec<String> = names.iter().map(|name| all.mapped(name).unwrap().to_owned()).collect();
    for (name, mapped) in names.iter().zip(&mapped) {
        assert!(is_accepted(mapped), "{name} became {mapped}");
        assert_eq!(all.own(mapped), Some(*name));
    }
    let distinct: BTreeSet<&String> = mapped.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{mapped:?}");
    mapped
}

#[test]
fn a_name_that_is_accepted_stays_and_others_come_back() {
    let long = "x".repeat(65);
    let longer = format!("{long}y");
    let mapped = check(&["get_ticket", "a.b", "a/b", "a b", "a_b", "", "täst", &long, &longer]);
    assert_eq!(mapped[0], "get_ticket");
    assert_eq!(mapped[4], "a_b");
    assert!(mapped[1].starts_with("a_b_") && mapped[6].starts_with("t_st_"), "{mapped:?}");
}

#[test]
fn a_name_that_looks_like_a_mapped_one_keeps_its_place() {
    let taken = mapped("a.b", 0);
    assert_eq!(check(&["a.b", &taken])[1], taken);
}

#[test]
fn a_mapped_name_depends_on_nothing_but_the_name() {
    let alone = check(&["server/tool"]);
    assert_eq!(check(&["z", "server/tool", "y.y"])[1], alone[0]);
}

#[test]
fn a_name_that_nobody_has_is_nobodys() {
    assert_eq!(Names::of(["a.b"]).own("a.b"), None);
}

proptest! {
    #[test]
    fn no_two_names_become_one(names in prop::collection::btree_set("[a-c./ _\u{e4}]{0,80}", 1..20)) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        check(&names);
    }
}
