use expect_test::{Expect, expect};

use super::*;

fn check(condition: &str, expected: Expect) {
    let text = format!("permit(principal, action, resource) {condition};");
    let policy = cedar_policy::Policy::parse(None, text).unwrap().to_pst().unwrap();
    let paths = of_clauses(policy.body().clauses());
    let pointers: Vec<String> = paths.iter().map(|p| pointer(p)).collect();
    let split: Vec<String> = conjuncts(policy.body().clauses()).iter().map(ToString::to_string).collect();
    expected.assert_eq(&format!("reads {pointers:?}\nall of {split:?}"));
}

#[test]
fn finds_what_a_policy_reads() {
    check(
        "when { principal.tenant == \"a\" && resource.read_only }",
        expect![[r#"
        reads []
        all of ["principal.tenant == \"a\"", "resource.read_only"]"#]],
    );
    check(
        "when { context.args has part && context.args.part.no like \"T-*\" }",
        expect![[r#"
        reads ["/args/part", "/args/part/no"]
        all of ["context.args has part", "context.args.part.no like \"T-*\""]"#]],
    );
    check(
        "when { context has args.part.no } unless { context[\"args\"][\"a/b~c\"] == 1 || true }",
        expect![[r#"
        reads ["/args/a~1b~0c", "/args/part/no"]
        all of ["context has args.part.no", "!(context.args[\"a/b~c\"] == 1)", "!true"]"#]],
    );
    check(
        "when { (if principal.tenant == \"a\" then context.args else context.responses).x == 1 }",
        expect![[r#"
        reads ["/args", "/responses"]
        all of ["(if principal.tenant == \"a\" then context.args else context.responses).x == 1"]"#]],
    );
    check(
        "when { [context.args.a, {\"k\": context.args.b}].contains(context.client) }",
        expect![[r#"
            reads ["/args/a", "/args/b", "/client"]
            all of ["[context.args.a, {k: context.args.b}].contains(context.client)"]"#]],
    );
    check(
        "when { context == {} }",
        expect![[r#"
        reads [""]
        all of ["context == {}"]"#]],
    );
    check(
        "when { !(context.args.n > 1 || -context.args.m < 2) && principal is Person in Role::\"x\" }",
        expect![[r#"
            reads ["/args/m", "/args/n"]
            all of ["!(context.args.n > 1)", "!((-(context.args.m)) < 2)", "principal is Person in Role::\"x\""]"#]],
    );
}

#[test]
fn paths_overlap_when_one_begins_with_the_other() {
    let path =
        |text: &str| -> Path { text.split('.').filter(|s| !s.is_empty()).map(str::to_owned).collect() };
    assert!(overlap(&path("args.a"), &path("args.a.3")));
    assert!(overlap(&path("args.a.b"), &path("args.a")));
    assert!(overlap(&path(""), &path("args.a")));
    assert!(!overlap(&path("args.a"), &path("args.b")));
    assert!(!overlap(&path("args.a"), &path("responses.a")));
}
