use aldgate_authority::{
    Authorizer, Kind, PolicyFinding, PolicySet, PromptContract, Prompts, Resources, Severity, ToolContract,
    overlaps,
};
use serde::Deserialize;
use serde_json::json;

use crate::{contracts, demonstration, file};

/// What the documentation registers beside the demonstration's tools.
#[derive(Deserialize)]
struct Sections {
    resources: Resources,
    prompts: Prompts,
}

/// The blocks of a Markdown text in this language, each under its line.
fn blocks(text: &str, language: &str) -> Vec<(String, String)> {
    let opening = format!("```{language}");
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line) {
            (None, line) if line == opening => open = Some((number + 2, String::new())),
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
    let text = file("docs/policies.md");
    let (policies, sections) = (blocks(&text, "cedar"), blocks(&text, "toml"));
    assert!(policies.len() >= 10, "found {} blocks", policies.len());
    let [(_, sections)] = sections.as_slice() else { panic!("expected one registry, found {sections:?}") };
    let sections: Sections = toml::from_str(sections).unwrap();
    let registry =
        demonstration::registry().with_resources(sections.resources).with_prompts(sections.prompts);
    assert_eq!(overlaps(&registry), []);
    assert!(registry.entries(Kind::Resource).count() > 0 && registry.entries(Kind::Prompt).count() > 0);
    let authorizer = Authorizer::new(registry, PolicySet::parse(&policies).unwrap()).unwrap();
    let contracts = contracts();
    let tools: Vec<ToolContract<'_>> = contracts
        .iter()
        .map(|(upstream, tool)| ToolContract {
            upstream,
            tool: tool["name"].as_str().unwrap(),
            input_schema: &tool["inputSchema"],
        })
        .collect();
    let arguments = json!([{"name": "fault_code", "required": true}]);
    let prompts = [PromptContract { upstream: "manuals", prompt: "diagnose_fault", arguments: &arguments }];
    let findings = authorizer.check(&tools, &prompts);
    let errors: Vec<&PolicyFinding> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // No tool of the demonstration has a `price`, which the documentation says of its example's like.
    let useless: Vec<&str> = findings.iter().map(|finding| finding.policy.as_str()).collect();
    assert_eq!(useless, ["quotes-below-a-limit"]);
}
