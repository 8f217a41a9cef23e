use aldgate_authority::{Authorizer, PolicyFinding, PolicySet, Severity, ToolContract};

use crate::{contracts, demonstration, file};

/// The `cedar` blocks of a Markdown text, each under its line.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line) {
            (None, "```cedar") => open = Some((number + 2, String::new())),
            (Some(_), "```") => {
                found.extend(open.take().map(|(at, block)| (format!("policies.md line {at}"), block)))
            }
            (Some((_, block)), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

#[test]
fn the_documented_policies_are_sound() {
    let blocks = blocks(&file("docs/policies.md"));
    assert!(blocks.len() >= 8, "found {} blocks", blocks.len());
    let authorizer = Authorizer::new(demonstration::registry(), PolicySet::parse(&blocks).unwrap()).unwrap();
    let contracts = contracts();
    let tools: Vec<ToolContract<'_>> = contracts
        .iter()
        .map(|(upstream, tool)| ToolContract {
            upstream,
            tool: tool["name"].as_str().unwrap(),
            input_schema: &tool["inputSchema"],
        })
        .collect();
    let findings = authorizer.check(&tools, &[]);
    let errors: Vec<&PolicyFinding> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // No tool of the demonstration has a `price`, which the documentation says of its example's like.
    let useless: Vec<&str> = findings.iter().map(|finding| finding.policy.as_str()).collect();
    assert_eq!(useless, ["quotes-below-a-limit"]);
}
