use serde_json::value::RawValue;

use super::check_case;

fn check(arguments: &str, declared: &[&str]) -> Result<(), String> {
    let arguments: &RawValue = serde_json::from_str(arguments).unwrap();
    check_case(arguments, declared).map_err(|fault| fault.to_string())
}

#[test]
fn keys_that_differ_by_case_alone_are_refused() {
    assert_eq!(
        check(r#"{"Amount":1}"#, &["part", "amount"]).unwrap_err(),
        "the argument `Amount` differs from `amount` only by case; spell it as the tool declares it"
    );
    assert!(check(r#"{"amount":1,"am\u004funt":2}"#, &["amount"]).is_err());
}

#[test]
fn other_keys_are_the_schemas_business() {
    assert_eq!(check(r#"{"amount":1,"other":2}"#, &["amount"]), Ok(()));
    assert_eq!(check(r#"{"amount":1,"Amount":2}"#, &["amount", "Amount"]), Ok(()), "both are declared");
    assert_eq!(check(r#"{"nested":{"Amount":1}}"#, &["amount"]), Ok(()));
    assert_eq!(check("{}", &["amount"]), Ok(()));
}
