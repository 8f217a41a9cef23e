use expect_test::{Expect, expect};

use super::*;

fn parse(files: &[(&str, &str)]) -> Result<PolicySet, PolicyFault> {
    let sources: Vec<(String, String)> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    PolicySet::parse(&sources)
}

fn refused(text: &str, expected: Expect) {
    let fault = parse(&[("p.cedar", text)]).unwrap_err();
    expected.assert_eq(&format!("{fault}\nhelp: {}", fault.help.as_deref().unwrap_or("-")));
}

#[test]
fn policies_are_known_by_id_or_place() {
    let set = parse(&[
        ("a.cedar", "// permit(principal, action, resource);\n@id(\"named\")\npermit(principal, action, resource);\n\n  forbid(principal, action, resource);"),
        ("b.cedar", "permit(principal, action, resource);"),
    ])
    .unwrap();
    let ids: Vec<_> = set.iter().map(|policy| policy.id.as_str()).collect();
    assert_eq!(ids, ["named", "a.cedar:5:3", "b.cedar:1:1"]);
    let named = set.iter().next().unwrap();
    assert_eq!((named.line, named.column), (2, 1));
}

#[test]
fn faults_say_where_and_what_to_do() {
    refused(
        "permit(principal, action, resource);\npermit(principal, action resource);",
        expect![[r#"
            p.cedar:2:26: unexpected token `resource`: expected `!=`, `)`, `,`, `:`, `<`, `<=`, `==`, `>`, `>=`, `in`, or `is`
            help: -"#]],
    );
    refused(
        "permit(principal == ?principal, action, resource);",
        expect![[r#"
        p.cedar:1:1: templates with `?principal` or `?resource` are not supported
        help: write the principal or resource instead of the slot"#]],
    );
    refused(
        "@id(\"a\") permit(principal, action, resource);\n@id(\"a\") forbid(principal, action, resource);",
        expect![[r#"
            p.cedar:2:1: policy id `a` is used twice, first at p.cedar:1
            help: give each policy an `@id` of its own"#]],
    );
    refused(
        "forbid(principal, action == Action::\"cal\", resource);",
        expect![[r#"
        p.cedar:1:1: action `cal` does not exist
        help: the nearest one is `call`"#]],
    );
    refused(
        "forbid(principal, action in [Action::\"call\", Action::\"export\"], resource);",
        expect![[r#"
        p.cedar:1:1: action `export` does not exist
        help: the nearest one is `audit`"#]],
    );
    refused(
        "forbid(principal is Persom, action, resource);",
        expect![[r#"
        p.cedar:1:1: entity type `Persom` does not exist
        help: the nearest one is `Person`"#]],
    );
    refused(
        "forbid(principal, action, resource) when { principal in Group::\"x\" };",
        expect![[r#"
            p.cedar:1:1: entity type `Group` does not exist
            help: the nearest one is `Prompt`"#]],
    );
    refused(
        "forbid(principal, action, resource) when { !(principal is User) };",
        expect![[r#"
        p.cedar:1:1: entity type `User` does not exist
        help: the nearest one is `Role`"#]],
    );
    refused(
        "forbid(principal, action, resource is Other);",
        expect![[r#"
        p.cedar:1:1: entity type `Other` does not exist
        help: the nearest one is `Role`"#]],
    );
}

#[test]
fn the_meaning_is_free_of_place_and_comments() {
    let meaning = |text: &str| parse(&[("p", text)]).unwrap().iter().next().unwrap().meaning.clone();
    let plain = meaning("permit(principal, action, resource) when { {a: 1, b: 2} == context.args };");
    assert_eq!(
        plain,
        meaning("// c\n\npermit ( principal,action,resource )\n when{{a:1,b:2}==context.args};")
    );
    assert_ne!(plain, meaning("permit(principal, action, resource) when { {a: 1, b: 3} == context.args };"));
}
