use expect_test::expect;

use super::*;

fn told(promised: bool, query: &str) -> String {
    let (state, issuer) = (Secret::new("s1".to_owned()), "https://as.example".to_owned());
    match read(query, &Expected { state, issuer, promised }) {
        None => "not the answer".to_owned(),
        Some(Ok(code)) => format!("code {}", code.expose()),
        Some(Err(fault)) => fault.to_string(),
    }
}

#[test]
fn the_table_of_rfc_9207() {
    let right = "iss=https%3A%2F%2Fas.example&";
    for (promised, iss, taken) in [
        (true, right, true),
        (false, right, true),
        (true, "", false),
        (false, "", true),
        (true, "iss=https%3A%2F%2Fevil.example&", false),
        (false, "iss=https%3A%2F%2Fevil.example&", false),
        (false, "iss=&", false),
        // What a normalised comparison would take.
        (false, "iss=https%3A%2F%2Fas.example%2F&", false),
        (false, "iss=https%3A%2F%2FAS.example&", false),
        (false, "iss=https%3A%2F%2Fas.example%3A443&", false),
        (false, "iss=HTTPS%3A%2F%2Fas.example&", false),
        (false, "iss=https%3A%2F%2Fas%252Eexample&", false),
    ] {
        let code = told(promised, &format!("{iss}code=c&state=s1"));
        assert_eq!(code == "code c", taken, "{promised} {iss}: {code}");
        let error = told(promised, &format!("{iss}error=access_denied&error_description=canary&state=s1"));
        assert_eq!(
            error.contains("access_denied") && error.contains("canary"),
            taken,
            "{promised} {iss}: {error}"
        );
    }
}

#[test]
fn faults_are_told_plainly() {
    let all: String = [
        "code=c&state=s1",
        "code=c&state=s2",
        "code=c",
        "",
        "code=c&code=d&state=s1",
        "code=c&state=s1&state=s1",
        "code=c&state=s1&iss=https://as.example&iss=https://as.example",
        "state=s1",
        "code=&state=s1",
        "error=access_denied&error_description=No%60%0a%1b%5B31m&state=s1",
        "error=x&code=c&state=s1",
        "code=c&state=s1&iss=https://evil.example",
    ]
    .iter()
    .map(|query| format!("{query}\n  {}\n", told(false, query)))
    .collect();
    expect![[r#"
        code=c&state=s1
          code c
        code=c&state=s2
          not the answer
        code=c
          not the answer

          not the answer
        code=c&code=d&state=s1
          not the answer
        code=c&state=s1&state=s1
          not the answer
        code=c&state=s1&iss=https://as.example&iss=https://as.example
          not the answer
        state=s1
          the answer to the sign-in has neither `code` nor `error`
        code=&state=s1
          the answer to the sign-in has neither `code` nor `error`
        error=access_denied&error_description=No%60%0a%1b%5B31m&state=s1
          the authorization server refused the sign-in: `access_denied`: `No[31m`
        error=x&code=c&state=s1
          the authorization server refused the sign-in: `x`
        code=c&state=s1&iss=https://evil.example
          the answer to the sign-in is refused: its `iss` is `https://evil.example`, expected `https://as.example` to the last letter (RFC 9207); another authorization server may have answered
    "#]].assert_eq(&all);
    expect!["the answer to the sign-in is refused: its `iss` is missing, expected `https://as.example` to the last letter (RFC 9207); another authorization server may have answered"].assert_eq(&told(true, "error=access_denied&state=s1"));
}
