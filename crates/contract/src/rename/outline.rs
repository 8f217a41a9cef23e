//! The properties that a schema declares, as a tree of places.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::facets::Facets;
use super::views::{Alternatives, Whole};
use crate::pointer::escaped;

/// The most places of one schema.
const MAX_PLACES: usize = 512;
/// How deep places are followed.
const MAX_DEPTH: usize = 12;
/// How often one schema may occur on the way to a place: a recursive one is unrolled that often.
const MAX_TURNS: usize = 2;
/// Names that are looked at in one schema; a schema that is looked at counts as several.
const MAX_LOOKED: usize = 1 << 15;
const VIEW: usize = 4;
/// The most bytes of a path.
const MAX_PATH: usize = 1024;

/// What the items of an array are called in a path.
pub(crate) const ITEMS: &str = "*";

/// The properties of one schema; the first place is the whole.
pub(crate) struct Outline<'a> {
    nodes: Vec<Node<'a>>,
    by_path: HashMap<String, usize>,
    by_name: HashMap<(usize, &'a str), usize>,
}

/// A place: a property, or the items of an array.
pub(crate) struct Node<'a> {
    /// The property's name.
    pub(crate) name: &'a str,
    /// Whether it stands for the items of an array.
    pub(crate) is_items: bool,
    /// The names that lead to it, escaped and joined with `/`.
    pub(crate) path: String,
    /// Whether the object around it requires it.
    pub(crate) required: bool,
    /// What the schema says of it.
    pub(crate) facets: Facets<'a>,
    /// Its own properties or items, in the order of the schema.
    pub(crate) children: Vec<usize>,
}

impl<'a> Outline<'a> {
    pub(crate) fn new(schema: &'a Value) -> Self {
        let whole = Whole::new(schema);
        let views = whole.views(schema, Alternatives::All);
        let root = Node {
            name: "",
            is_items: false,
            path: String::new(),
            required: true,
            facets: Facets::of(&views),
            children: Vec::new(),
        };
        let mut outline = Self { nodes: vec![root], by_path: HashMap::new(), by_name: HashMap::new() };
        let mut waiting = VecDeque::from([(0, views, vec![schema])]);
        let mut left = MAX_LOOKED;
        while let Some((parent, views, way)) = waiting.pop_front() {
            left = left.saturating_sub(names(&views));
            if way.len() > MAX_DEPTH {
                continue;
            }
            for (name, is_items, child, required) in if left == 0 { Vec::new() } else { below(&views) } {
                if outline.nodes.len() >= MAX_PLACES || left == 0 {
                    return outline;
                }
                let turns = |view: &&'a Value| way.iter().filter(|past| std::ptr::eq(**past, *view)).count();
                let views = whole.views(child, Alternatives::All);
                left = left.saturating_sub(VIEW * views.len());
                let Some(path) = outline.path(parent, name, is_items) else { continue };
                if views.iter().any(|view| turns(view) >= MAX_TURNS) {
                    continue;
                }
                let number = outline.add(parent, name, is_items, required, Facets::of(&views), path);
                // Of a place, the schema that the reference leads to is what comes again.
                let mut way = way.clone();
                way.push(views.last().copied().unwrap_or(child));
                waiting.push_back((number, views, way));
            }
        }
        outline
    }

    /// The path of a place; none of one that cannot be told from others, or is too long.
    fn path(&self, parent: usize, name: &str, is_items: bool) -> Option<String> {
        let above = self.get(parent).map(|node| node.path.as_str()).unwrap_or_default();
        let step = if is_items { ITEMS.to_owned() } else { escaped(name) };
        let path = if parent == 0 { step } else { format!("{above}/{step}") };
        (!path.is_empty() && path.len() <= MAX_PATH).then_some(path)
    }

    fn add(
        &mut self,
        parent: usize,
        name: &'a str,
        is_items: bool,
        required: bool,
        facets: Facets<'a>,
        path: String,
    ) -> usize {
        let number = self.nodes.len();
        self.by_path.entry(path.clone()).or_insert(number);
        self.by_name.entry((parent, if is_items { ITEMS } else { name })).or_insert(number);
        self.nodes.push(Node { name, is_items, path, required, facets, children: Vec::new() });
        if let Some(node) = self.nodes.get_mut(parent) {
            node.children.push(number);
        }
        number
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Node<'a>> {
        self.nodes.get(number)
    }

    pub(crate) fn at(&self, path: &str) -> Option<&Node<'a>> {
        self.get(*self.by_path.get(path)?)
    }

    pub(crate) fn number_at(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// How many members of a value it declares.
    pub(crate) fn declared(&self, value: &Value) -> usize {
        let mut found = 0;
        let mut waiting = vec![(0, value)];
        while let Some((number, value)) = waiting.pop() {
            match value {
                Value::Object(members) => {
                    for (name, value) in members {
                        if let Some(number) = self.by_name.get(&(number, name.as_str())) {
                            found += 1;
                            waiting.push((*number, value));
                        }
                    }
                }
                Value::Array(items) => {
                    let number = self.by_name.get(&(number, ITEMS)).copied();
                    waiting.extend(
                        number.into_iter().flat_map(|number| items.iter().map(move |item| (number, item))),
                    );
                }
                _ => {}
            }
        }
        found
    }

    /// All places but the whole.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, &Node<'a>)> {
        self.nodes.iter().enumerate().skip(1)
    }

    /// The places right below one.
    pub(crate) fn children(&self, number: usize) -> impl Iterator<Item = (usize, &Node<'a>)> {
        let children = self.get(number).map_or(&[][..], |node| &node.children);
        children.iter().filter_map(|child| Some((*child, self.get(*child)?)))
    }
}

/// How many names schemas hold.
fn names(views: &[&Value]) -> usize {
    let properties = |view: &&Value| view.get("properties").and_then(Value::as_object).map_or(0, Map::len);
    let required = |view: &&Value| view.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    views.iter().map(|view| properties(view) + required(view)).sum()
}

/// Properties and items that schemas of one place declare: name, whether items, schema, whether required.
fn below<'a>(views: &[&'a Value]) -> Vec<(&'a str, bool, &'a Value, bool)> {
    let lists = views.iter().filter_map(|view| view.get("required")?.as_array());
    let required: HashSet<&str> = lists.flatten().filter_map(Value::as_str).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (name, schema) in views.iter().filter_map(|view| view.get("properties")?.as_object()).flatten() {
        // `false` says that there is no such property.
        if *schema != Value::Bool(false) && seen.insert(name.as_str()) {
            found.push((name.as_str(), false, schema, required.contains(name.as_str())));
        }
    }
    let items = views.iter().filter_map(|view| view.get("items")).find(|items| items.is_object());
    found.extend(items.map(|items| (ITEMS, true, items, false)));
    found
}
