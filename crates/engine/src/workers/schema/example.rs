//! Builds a small value that matches a schema, for error messages.

use everstep_model::Payload;
use serde_json::{Map, Value, json};

use super::check;

/// The maximum number of schemas that an example uses. Schemas come from outside and may refer to
/// themselves.
const PARTS_MAX: usize = 64;
/// Longer examples would hide the message.
const BYTES_MAX: usize = 300;

/// Returns a value that matches the schema, as JSON text. Returns `None` if there is no simple one.
pub(crate) fn example(schema: &Payload) -> Option<String> {
    let root: Value = schema.decode().ok()?;
    let value = Builder {
        root: &root,
        parts: PARTS_MAX,
    }
    .value(&root)?;
    let value = Payload::from_value(&value).ok()?;
    let is_short = value.as_str().len() <= BYTES_MAX;
    // Keywords that the builder does not know may exclude the value.
    (is_short && check(Some(schema), &value).is_ok()).then(|| value.as_str().to_owned())
}

struct Builder<'a> {
    root: &'a Value,
    /// How many more schemas may be used.
    parts: usize,
}

impl Builder<'_> {
    fn value(&mut self, schema: &Value) -> Option<Value> {
        self.parts = self.parts.checked_sub(1)?;
        let Value::Object(keywords) = schema else {
            return (schema == &Value::Bool(true)).then_some(Value::Null);
        };
        let list = |keyword| keywords.get(keyword).and_then(Value::as_array);
        if let Some(value) = keywords.get("const") {
            return Some(value.clone());
        }
        if let Some(value) = list("examples")
            .or(list("enum"))
            .and_then(|all| all.first())
        {
            return Some(value.clone());
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.strip_prefix('#')?)?;
            return self.value(target);
        }
        if let Some(schemas) = list("anyOf").or(list("oneOf")).or(list("allOf")) {
            let mut values = schemas.iter().filter_map(|schema| self.value(schema));
            return values.find(|value| !value.is_null());
        }
        let kind = match keywords.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) => kinds.iter().find_map(Value::as_str)?,
            _ => return Some(Value::Null),
        };
        self.value_of_type(kind, keywords)
    }

    fn value_of_type(&mut self, kind: &str, keywords: &Map<String, Value>) -> Option<Value> {
        match kind {
            "object" => {
                let required = keywords.get("required").and_then(Value::as_array);
                let names = required.into_iter().flatten().filter_map(Value::as_str);
                let fields = names.map(|name| {
                    let schema = keywords.get("properties").and_then(|all| all.get(name));
                    let value = schema.map_or(Some(Value::Null), |schema| self.value(schema));
                    Some((name.to_owned(), value?))
                });
                fields.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            "array" => {
                let item = keywords.get("items").and_then(|schema| self.value(schema));
                Some(Value::Array(item.into_iter().collect()))
            }
            "string" => Some(json!("text")),
            "integer" | "number" => Some(keywords.get("minimum").cloned().unwrap_or(json!(1))),
            "boolean" => Some(json!(true)),
            _ => Some(Value::Null),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: &str) -> Option<String> {
        example(&Payload::from_json(schema.to_owned()).unwrap())
    }

    // B832
    #[test]
    fn an_example_has_the_required_fields_and_matches_the_schema() {
        let order = r##"{
            "type": "object",
            "required": ["item", "amount", "by", "kind", "tags"],
            "properties": {
                "item": {"type": "string"},
                "amount": {"type": "integer", "minimum": 3},
                "by": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/person"}]},
                "kind": {"enum": ["small", "large"]},
                "tags": {"type": "array", "items": {"type": ["boolean", "null"]}},
                "note": {"type": "string"}
            },
            "$defs": {"person": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}
        }"##;
        let expected =
            r#"{"amount":3,"by":{"name":"text"},"item":"text","kind":"small","tags":[true]}"#;
        let sorted = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(sorted(&of(order).unwrap()), sorted(expected));
        assert_eq!(of(r#"{"type": "string"}"#).as_deref(), Some(r#""text""#));
    }

    // B832
    #[test]
    fn a_schema_without_a_simple_example_has_none() {
        let endless =
            r##"{"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}}"##;
        let long = r#"{"type": "string", "minLength": 100}"#;
        let many = format!(r#"{{"const": "{}"}}"#, "x".repeat(BYTES_MAX));
        for schema in [endless, long, &many, "false"] {
            assert_eq!(of(schema), None, "{schema}");
        }
    }
}
