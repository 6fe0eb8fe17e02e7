//! Checks payloads against the JSON schemas of workflows whose code runs elsewhere.
//!
//! Keywords about the shape of a value are checked. Those that need more than the value and the
//! schema (`pattern`, the formats of texts, external references) are left to the workflow's code,
//! which decodes every payload anyway.
//!
//! Schema and value both come from outside, so the cost of a check is limited (`budget.rs`), and
//! messages are built only where they are needed.

mod budget;
mod combinations;
#[cfg(test)]
mod cost_tests;
mod example;
mod same;
mod value_path;
mod values;

use everstep_model::Payload;
use serde_json::{Map, Value};

use budget::{Budget, Misfit};
use value_path::{ValuePath, cut};

pub(super) use example::example;

/// The maximum depth of nested schemas, which stops a schema that refers to itself. It suffices for
/// the deepest value that can be decoded, with a reference at every level.
const DEPTH_MAX: usize = 256;

/// Checks a payload against a schema, and returns the mismatch as text.
pub fn check(schema: Option<&Payload>, payload: &Payload) -> Result<(), String> {
    let Some(schema) = schema else {
        return Ok(());
    };
    let schema: Value = schema.decode().map_err(|error| error.to_string())?;
    let value: Value = payload.decode().map_err(|error| error.to_string())?;
    let whole = Checker {
        root: &schema,
        budget: &Budget::new(),
        path: ValuePath::Whole,
        depth: 0,
        explains: true,
    };
    whole.check(&schema, &value).map_err(Misfit::into_text)
}

type Object = Map<String, Value>;
type Checked = Result<(), Misfit>;

#[derive(Clone, Copy)]
struct Checker<'a> {
    root: &'a Value,
    budget: &'a Budget,
    /// The path of the checked value.
    path: ValuePath<'a>,
    depth: usize,
    /// Whether messages are needed.
    explains: bool,
}

impl Checker<'_> {
    fn check(self, schema: &Value, value: &Value) -> Checked {
        self.budget.spend(1)?;
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return self.wrong(|path| format!("{path} is not allowed")),
            Value::Object(keywords) => keywords,
            _ => return Ok(()),
        };
        if self.depth > DEPTH_MAX {
            let detail = format!("{} is nested too deeply for its schema", self.path);
            return Err(Misfit::Undecided(detail));
        }
        let inner = Self {
            depth: self.depth + 1,
            ..self
        };
        inner.check_value(keywords, value)?;
        inner.check_reference(keywords, value)?;
        inner.check_combinations(keywords, value)?;
        match value {
            Value::Object(fields) => inner.check_fields(keywords, fields),
            Value::Array(items) => inner.check_items(keywords, items),
            _ => Ok(()),
        }
    }

    /// Returns a mismatch, with its message if that is needed. The length of the message is part of
    /// the cost.
    fn wrong(self, message: impl FnOnce(ValuePath<'_>) -> String) -> Checked {
        if !self.explains {
            return Err(Misfit::Wrong(String::new()));
        }
        let message = message(self.path);
        self.budget.spend(message.len())?;
        Err(Misfit::Wrong(message))
    }

    fn check_fields(self, keywords: &Object, fields: &Object) -> Checked {
        let required = keywords.get("required").and_then(Value::as_array);
        self.budget.spend(required.map_or(0, Vec::len))?;
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return self.wrong(|path| format!("{path} has no field `{}`", cut(name)));
            }
        }
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords
            .get("additionalProperties")
            .filter(|_| !keywords.contains_key("patternProperties"));
        self.budget.spend(fields.len())?;
        for (name, value) in fields {
            let schema = known.and_then(|known| known.get(name)).or(others);
            if let Some(schema) = schema {
                let path = ValuePath::Field(name, &self.path);
                Checker { path, ..self }.check(schema, value)?;
            }
        }
        Ok(())
    }

    fn check_items(self, keywords: &Object, items: &[Value]) -> Checked {
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let rest = keywords.get("items");
        let checked = match rest {
            Some(_) => items.len(),
            None => first.map_or(0, Vec::len).min(items.len()),
        };
        for (index, item) in items.iter().take(checked).enumerate() {
            let schema = first.and_then(|first| first.get(index)).or(rest);
            if let Some(schema) = schema {
                let path = ValuePath::Item(index, &self.path);
                Checker { path, ..self }.check(schema, item)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
