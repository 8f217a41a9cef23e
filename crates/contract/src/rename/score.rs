//! How sure it is that one property, or one tool, took the place of another.

use std::rc::Rc;

use serde_json::Value;

use super::contrast::{self, NO_CAP};
use super::facets::{BOOLEAN, OBJECT};
use super::names::Match;
use super::outline::{Node, Outline};
use super::prose::{Corpus, Prose, Proses};
use super::words::Name;

/// What is compared of a property.
pub(super) struct Property<'a> {
    pub(super) node: &'a Node<'a>,
    pub(super) name: Name,
    pub(super) prose: Rc<Prose>,
    /// The names of the properties below.
    below: Vec<&'a str>,
    /// The neighbours that are in both schemas, before and after.
    pub(super) neighbours: [Option<&'a str>; 2],
}

impl<'a> Property<'a> {
    pub(super) fn new(
        outline: &'a Outline<'a>,
        number: usize,
        node: &'a Node<'a>,
        prose: &mut Proses<'a>,
    ) -> Self {
        let mut inner = number;
        // Through the items of an array, to what is in them.
        while let Some((items, _)) = outline.children(inner).find(|(_, child)| child.is_items) {
            inner = items;
        }
        Self {
            node,
            name: Name::new(node.name),
            prose: prose.of(node.facets.description),
            below: outline.children(inner).map(|(_, child)| child.name).collect(),
            neighbours: [None, None],
        }
    }
}

/// From 0 to 1.
pub(super) fn of_properties(a: &Property<'_>, b: &Property<'_>, corpus: &Corpus<'_>) -> f64 {
    let (left, right) = (&a.node.facets, &b.node.facets);
    let names = Match::of(&a.name, &b.name);
    let name = names.similarity * qualified(a, b, &names);
    let told = left.telling(right).max(shared(&a.below, &b.below));
    let mut meaning = name + (1.0 - name) * 0.6 * told;
    let prose = described(a, b, &names, corpus);
    if let Some(prose) = prose {
        meaning += (1.0 - meaning) * 0.87 * prose;
        if prose < 0.15
            && name < 0.97
            && !a.name.is_same_phrase(&b.name)
            && a.prose.words.len() > 2
            && b.prose.words.len() > 2
        {
            meaning *= 0.9;
        }
    }
    let constraints = left.same_constraints(right).unwrap_or(0.8);
    let support = 0.85 + 0.09 * constraints + 0.06 * position(a, b);
    let clash = if left.clash(right) { 0.6 } else { NO_CAP };
    let switched = left.types == BOOLEAN && right.types == BOOLEAN;
    let cap = contrast::of_names(&a.name, &b.name)
        .min(contrast::of_descriptions(&a.prose, &b.prose, switched))
        .min(contrast::of_kinds((&a.name, &a.prose), (&b.name, &b.prose)))
        .min(contrast::of_units((&a.name, &a.prose), (&b.name, &b.prose)))
        .min(clash);
    (meaning * left.same_types(right) * support).min(cap)
}

/// Less than 1 where a name only gained or lost a word (`id`, `user_id`), and what is described without it is something
/// else.
fn qualified(a: &Property<'_>, b: &Property<'_>, names: &Match<'_>) -> f64 {
    let (plain, longer, more) = match (names.left.is_empty(), names.right.is_empty()) {
        (true, false) => (a, b, &names.right),
        (false, true) => (b, a, &names.left),
        _ => return 1.0,
    };
    let silent = !plain.prose.tells || plain.prose.holds_any(more);
    if !silent && (names.is_common || longer.prose.holds_any(more)) { 0.85 } else { 1.0 }
}

/// How alike the descriptions are; that one speaks of what only the other's name says counts too.
fn described(a: &Property<'_>, b: &Property<'_>, names: &Match<'_>, corpus: &Corpus<'_>) -> Option<f64> {
    // With nothing in the names, a few equal words among others are a way of speaking.
    let enough = |common: f64| if names.similarity < 0.3 && common < 3.0 { 0.92 } else { 1.0 };
    let alike = corpus
        .similarity(&a.prose, &b.prose)
        .map(|(alike, common)| if alike < 1.0 { alike * enough(common) } else { alike })
        .map(|alike| alike * same_subject(a, b, names));
    let mentioned = corpus.mentions(&a.prose, &names.right).max(corpus.mentions(&b.prose, &names.left));
    let mentioned = (mentioned >= 0.99).then_some(0.45);
    match (alike, mentioned) {
        (Some(alike), Some(mentioned)) => Some(alike.max(alike * 0.7 + mentioned)),
        (alike, mentioned) => alike.or(mentioned),
    }
    .map(|found| found.min(1.0))
}

/// Less than 1 where each description speaks of what its own name says and the other's does not: one sentence with
/// another subject.
fn same_subject(a: &Property<'_>, b: &Property<'_>, names: &Match<'_>) -> f64 {
    let Match { left, right, .. } = names;
    let own = a.prose.holds_any(left) && b.prose.holds_any(right);
    if own && !a.prose.holds_any(right) && !b.prose.holds_any(left) { 0.6 } else { 1.0 }
}

/// How many names two objects have in common, where there are enough to tell.
fn shared(a: &[&str], b: &[&str]) -> f64 {
    let common = a.iter().filter(|name| b.contains(name)).count();
    if common < 2 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 512")]
    let share = common as f64 / (a.len() + b.len() - common) as f64;
    share * 0.8
}

/// Whether both stand at the same place: from 0 to 1.
fn position(a: &Property<'_>, b: &Property<'_>) -> f64 {
    let same = |one: bool, worth: f64| if one { worth } else { 0.0 };
    let [before, after] = [0, 1].map(|side| a.neighbours.get(side) == b.neighbours.get(side));
    same(a.node.required == b.node.required, 0.5) + same(before, 0.25) + same(after, 0.25)
}

/// What is compared of a tool.
pub(super) struct Tool {
    name: Name,
    prose: Prose,
    inputs: Option<Vec<String>>,
    outputs: Option<Vec<String>>,
    annotations: [Option<bool>; 3],
    has_description: bool,
    /// Whether it is about several things: `list_users`, not `get_user`.
    is_plural: bool,
}

impl Tool {
    pub(super) fn new(name: &str, definition: &Value) -> Self {
        let description = definition.get("description").and_then(Value::as_str);
        let hint = |key: &str| definition.get("annotations")?.get(key)?.as_bool();
        Self {
            name: Name::new(name),
            prose: Prose::new(description),
            inputs: definition.get("inputSchema").map(fields),
            outputs: definition.get("outputSchema").map(fields),
            annotations: ["readOnlyHint", "destructiveHint", "openWorldHint"].map(hint),
            has_description: description.is_some(),
            is_plural: name.to_lowercase().trim_end_matches("ss").ends_with('s'),
        }
    }

    pub(super) fn prose(&self) -> &Prose {
        &self.prose
    }
}

/// The places of a schema with their types.
fn fields(schema: &Value) -> Vec<String> {
    let outline = Outline::new(schema);
    let nodes = outline.nodes().filter(|(_, node)| node.facets.types != OBJECT || node.children.is_empty());
    nodes.take(128).map(|(_, node)| format!("{}:{}", node.path, node.facets.types)).collect()
}

/// From 0 to 1.
pub(super) fn of_tools(a: &Tool, b: &Tool, corpus: &Corpus<'_>) -> f64 {
    let name = Match::of(&a.name, &b.name).similarity;
    let schemas = [same_fields(&a.inputs, &b.inputs), same_fields(&a.outputs, &b.outputs)];
    let known: Vec<f64> = schemas.into_iter().flatten().collect();
    #[expect(clippy::cast_precision_loss, reason = "at most two")]
    let schema = if known.is_empty() { 0.5 } else { known.iter().sum::<f64>() / known.len() as f64 };
    let mut meaning = name;
    if let Some((prose, _)) = corpus.similarity(&a.prose, &b.prose) {
        meaning += (1.0 - meaning) * 0.85 * prose;
        if prose < 0.15 && name < 0.97 {
            meaning *= 0.9;
        }
    } else if a.has_description != b.has_description {
        meaning *= 0.97;
    }
    meaning += (1.0 - meaning) * 0.3 * schema;
    let cap = contrast::of_names(&a.name, &b.name).min(contrast::of_descriptions(&a.prose, &b.prose, false));
    let turned = a.annotations.iter().zip(&b.annotations).any(|(a, b)| a.is_some() && b.is_some() && a != b);
    let one_of_many = a.is_plural != b.is_plural && a.name.tokens.first() != b.name.tokens.first();
    let doubt = if turned || one_of_many { 0.7 } else { NO_CAP };
    (meaning * (0.8 + 0.2 * schema)).min(cap).min(doubt)
}

fn same_fields(a: &Option<Vec<String>>, b: &Option<Vec<String>>) -> Option<f64> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    if a.is_empty() && b.is_empty() {
        return None;
    }
    let common = a.iter().filter(|field| b.contains(field)).count();
    #[expect(clippy::cast_precision_loss, reason = "at most 256")]
    Some(common as f64 / (a.len() + b.len()).saturating_sub(common).max(1) as f64)
}
