use serde_json::Value;

use super::{Id, Prover};

/// Which properties a schema looks at, whatever the value.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) named: Vec<&'a str>,
    pub(super) patterns: Vec<&'a str>,
    /// All of them.
    pub(super) all: bool,
}

/// Which items a schema looks at, whatever the value.
#[derive(Default)]
pub(super) struct Items {
    /// So many from the first on.
    pub(super) first: usize,
    /// All of them.
    pub(super) all: bool,
}

/// Combinations that look at a part of the value only where something holds.
const CONDITIONAL: [&str; 5] = ["anyOf", "oneOf", "if", "dependentSchemas", "dependencies"];

impl<'a> Prover<'a> {
    /// What `unevaluatedProperties` of this schema leaves out; `None` where that depends on the value.
    pub(super) fn evaluated_names(&mut self, schema: Id) -> Option<Names<'a>> {
        let mut names = Names::default();
        self.look_at_names(schema, true, &mut names)?;
        Some(names)
    }

    fn look_at_names(&mut self, schema: Id, top: bool, names: &mut Names<'a>) -> Option<()> {
        self.step(1);
        let Value::Object(members) = self.value(schema) else { return Some(()) };
        if self.spent() || CONDITIONAL.iter().any(|key| members.contains_key(*key)) {
            return None;
        }
        names.named.extend(self.named_parts(schema, "properties").into_iter().map(|(name, _)| name));
        names
            .patterns
            .extend(self.named_parts(schema, "patternProperties").into_iter().map(|(name, _)| name));
        names.all |= members.contains_key("additionalProperties");
        names.all |= !top && members.contains_key("unevaluatedProperties");
        for part in self.always_in_place(schema) {
            self.look_at_names(part, false, names)?;
        }
        Some(())
    }

    /// What `unevaluatedItems` of this schema leaves out; `None` where that depends on the value.
    pub(super) fn evaluated_items(&mut self, schema: Id) -> Option<Items> {
        let mut items = Items::default();
        self.look_at_items(schema, true, &mut items)?;
        Some(items)
    }

    fn look_at_items(&mut self, schema: Id, top: bool, items: &mut Items) -> Option<()> {
        self.step(1);
        let Value::Object(members) = self.value(schema) else { return Some(()) };
        let conditional = CONDITIONAL.iter().chain(&["contains"]).any(|key| members.contains_key(*key));
        if self.spent() || conditional {
            return None;
        }
        items.first = items.first.max(self.parts(schema, "prefixItems").len());
        items.all |= members.contains_key("items");
        items.all |= !top && members.contains_key("unevaluatedItems");
        for part in self.always_in_place(schema) {
            self.look_at_items(part, false, items)?;
        }
        Some(())
    }

    fn always_in_place(&mut self, schema: Id) -> Vec<Id> {
        let mut parts = self.parts(schema, "allOf");
        let outer = self.is_outer(schema);
        for key in ["$ref", "$dynamicRef"] {
            if let Some(target) = self.document(schema).target(self.value(schema), key) {
                parts.push(self.id(target, outer));
            }
        }
        parts
    }
}
