use http::HeaderName;
use serde_json::{Map, Value};

use super::PARAM_PREFIX;
use crate::quote::{Quoted, shortened};

/// The annotation's keyword.
const KEYWORD: &str = "x-mcp-header";

/// Keywords whose value is a map from names to schemas, so that their keys are no keywords.
const SCHEMA_MAPS: [&str; 4] = ["$defs", "definitions", "patternProperties", "dependentSchemas"];

/// Keywords whose value is data and no schema.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "required"];

/// An argument that a header mirrors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    /// `mcp-param-…`
    pub header: HeaderName,
    /// The steps through `properties` from the root of the arguments.
    pub path: Vec<String>,
    /// What the argument is.
    pub kind: ParamType,
}

/// The types of argument that a header can mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `boolean`
    Boolean,
}

/// An `x-mcp-header` annotation that makes the whole tool invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationFault {
    /// The annotation is not a string in the form of a header's name.
    #[error("`x-mcp-header` at {} must be a header name part (RFC 9110 token), found {}", Quoted(.place), Quoted(.found))]
    NotToken {
        /// Where, as a JSON Pointer.
        place: String,
        /// What was found.
        found: String,
    },
    /// Two annotations are equal but for case.
    #[error("`x-mcp-header` {} occurs twice; use each header for one property", Quoted(.header))]
    Repeated {
        /// The name that repeats.
        header: String,
    },
    /// The property's type is not one that a header can mirror.
    #[error("the property at {} has `x-mcp-header` and must have `type` string, integer or boolean", Quoted(.place))]
    Type {
        /// Where, as a JSON Pointer.
        place: String,
    },
    /// The property is not reached through `properties` alone.
    #[error("`x-mcp-header` at {} is not reached from the root through `properties` alone", Quoted(.place))]
    Unreachable {
        /// Where, as a JSON Pointer.
        place: String,
    },
}

/// The `Mcp-Param-*` headers that a tool's input schema asks for, in the order of their paths' depth and the schema.
///
/// # Errors
/// The first annotation that breaks a rule; a client must then leave out the tool.
pub fn param_headers(input_schema: &Value) -> Result<Vec<ParamHeader>, AnnotationFault> {
    let mut found: Vec<ParamHeader> = Vec::new();
    let mut queue = std::collections::VecDeque::from([Node {
        value: input_schema,
        place: String::new(),
        path: Some(Vec::new()),
    }]);
    while let Some(node) = queue.pop_front() {
        match node.value {
            Value::Object(schema) => {
                if let Some(annotation) = schema.get(KEYWORD) {
                    let header = node.annotation(schema, annotation)?;
                    if found.iter().any(|other| other.header == header.header) {
                        let header = header.header.as_str().trim_start_matches(PARAM_PREFIX).to_owned();
                        return Err(AnnotationFault::Repeated { header });
                    }
                    found.push(header);
                }
                for (keyword, value) in schema {
                    node.descend(keyword, value, &mut queue);
                }
            }
            Value::Array(items) => {
                queue.extend(
                    items.iter().enumerate().map(|(index, value)| node.child(&index.to_string(), value)),
                );
            }
            _ => {}
        }
    }
    Ok(found)
}

struct Node<'a> {
    value: &'a Value,
    /// A JSON Pointer (RFC 6901), for messages.
    place: String,
    /// The property path, where the node is a property's schema reached through `properties` alone.
    path: Option<Vec<String>>,
}

impl<'a> Node<'a> {
    fn child(&self, step: &str, value: &'a Value) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        Node { value, place: format!("{}/{step}", self.place), path: None }
    }

    fn descend(&self, keyword: &str, value: &'a Value, queue: &mut std::collections::VecDeque<Self>) {
        let map = match value {
            Value::Object(map) if keyword == "properties" || SCHEMA_MAPS.contains(&keyword) => map,
            Value::Object(_) | Value::Array(_) if !DATA.contains(&keyword) => {
                queue.push_back(self.child(keyword, value));
                return;
            }
            _ => return,
        };
        let parent = self.child(keyword, value);
        for (name, schema) in map {
            let mut node = parent.child(name, schema);
            if keyword == "properties"
                && let Some(path) = &self.path
            {
                node.path = Some(path.iter().cloned().chain([name.clone()]).collect());
            }
            queue.push_back(node);
        }
    }

    fn annotation(
        &self,
        schema: &Map<String, Value>,
        annotation: &Value,
    ) -> Result<ParamHeader, AnnotationFault> {
        let place = || if self.place.is_empty() { "/".to_owned() } else { self.place.clone() };
        let header = annotation
            .as_str()
            .filter(|name| !name.is_empty())
            .and_then(|name| HeaderName::from_bytes(format!("{PARAM_PREFIX}{name}").as_bytes()).ok());
        let Some(header) = header else {
            return Err(AnnotationFault::NotToken {
                place: place(),
                found: shortened(&annotation.to_string()),
            });
        };
        let path = match &self.path {
            Some(path) if !path.is_empty() => path.clone(),
            _ => return Err(AnnotationFault::Unreachable { place: place() }),
        };
        let kind = match schema.get("type").and_then(Value::as_str) {
            Some("string") => ParamType::String,
            Some("integer") => ParamType::Integer,
            Some("boolean") => ParamType::Boolean,
            _ => return Err(AnnotationFault::Type { place: place() }),
        };
        Ok(ParamHeader { header, path, kind })
    }
}
