//! "No call without a decision" is held by the compiler: programs that try to call without a permit, make one, copy one or
//! use one twice do not compile, each for its own reason.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library as it was built for this test: the newest of its kind beside the test's own binary.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let mut found: Vec<_> = std::fs::read_dir(&deps)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("libaldgate_gateway-") && name.ends_with(".rlib")
        })
        .collect();
    found.sort_by_key(|path| std::fs::metadata(path).and_then(|about| about.modified()).unwrap());
    found.pop().unwrap()
}

/// The codes of the errors that compiling a case gives.
fn errors(case: &Path) -> Vec<String> {
    let library = library();
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()))
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--error-format", "json"])
        .arg("--out-dir")
        .arg(out.path())
        .arg("-L")
        .arg(format!("dependency={}", library.parent().unwrap().display()))
        .arg("--extern")
        .arg(format!("aldgate_gateway={}", library.display()))
        .arg(case)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let messages = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let errors = messages.filter(|message| message["level"] == "error").filter_map(|message| {
        // Beside an error with a code stand remarks without one: that a type is private, and how many errors there were.
        let code = message["code"]["code"].as_str().map(str::to_owned);
        code.or_else(|| (!said_beside(&message)).then(|| message["message"].to_string()))
    });
    errors.collect()
}

fn said_beside(message: &serde_json::Value) -> bool {
    let text = message["message"].as_str().unwrap_or_default();
    text.starts_with("aborting due to") || text.ends_with("is private")
}

#[test]
fn a_call_needs_a_permit_that_only_the_gateway_makes_and_that_is_good_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    assert_eq!(errors(&folder.join("control.rs")), Vec::<String>::new(), "the control must compile");
    let mut cases = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let case = entry.unwrap().path();
        let text = std::fs::read_to_string(&case).unwrap();
        let Some(expected) = text.lines().next().and_then(|line| line.strip_prefix("//! expect: ")) else {
            continue;
        };
        assert_eq!(errors(&case), [expected], "{}", case.display());
        cases += 1;
    }
    assert_eq!(cases, 8);
}
