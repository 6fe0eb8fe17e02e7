//! Keywords about one value, whatever is inside it.

use serde_json::{Map, Value};

pub(super) fn check(
    keywords: &Map<String, Value>,
    value: &Value,
    place: &str,
) -> Result<(), String> {
    if let Some(types) = keywords.get("type") {
        check_type(types, value, place)?;
    }
    if let Some(constant) = keywords.get("const")
        && !is_same(constant, value)
    {
        return Err(format!("{place} is not {constant}"));
    }
    if let Some(Value::Array(allowed)) = keywords.get("enum")
        && !allowed.iter().any(|one| is_same(one, value))
    {
        let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
        return Err(format!("{place} is none of {}", allowed.join(", ")));
    }
    if let Some(number) = value.as_f64() {
        check_number(keywords, number, place)?;
    }
    let (what, size, keys) = match value {
        Value::String(text) => (
            "characters",
            text.chars().count(),
            ["minLength", "maxLength"],
        ),
        Value::Array(items) => ("items", items.len(), ["minItems", "maxItems"]),
        Value::Object(fields) => ("fields", fields.len(), ["minProperties", "maxProperties"]),
        Value::Null | Value::Bool(_) | Value::Number(_) => return Ok(()),
    };
    let [least, most] = keys.map(|key| keywords.get(key).and_then(Value::as_u64));
    if let Some(least) = least.filter(|least| (size as u64) < *least) {
        return Err(format!("{place} has fewer than {least} {what}"));
    }
    if let Some(most) = most.filter(|most| size as u64 > *most) {
        return Err(format!("{place} has more than {most} {what}"));
    }
    Ok(())
}

fn check_type(types: &Value, value: &Value, place: &str) -> Result<(), String> {
    let names: Vec<&str> = match types {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if names.iter().any(|name| is_of_type(name, value)) {
        return Ok(());
    }
    let allowed: Vec<_> = names.iter().map(|name| with_article(name)).collect();
    let is = with_article(type_of(value));
    Err(format!("{place} is {is}, not {}", allowed.join(" or ")))
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => type_of(value) == name,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn with_article(name: &str) -> String {
    match name {
        "null" => name.to_owned(),
        "array" | "integer" | "object" => format!("an {name}"),
        name => format!("a {name}"),
    }
}

/// 1 and 1.0 are one number.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && one.as_f64() == other.as_f64())
}

fn check_number(keywords: &Map<String, Value>, number: f64, place: &str) -> Result<(), String> {
    let bound = |key| keywords.get(key).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        return Err(format!("{place} is less than {least}"));
    }
    if let Some(most) = bound("maximum").filter(|most| number > *most) {
        return Err(format!("{place} is more than {most}"));
    }
    if let Some(below) = bound("exclusiveMinimum").filter(|below| number <= *below) {
        return Err(format!("{place} is not more than {below}"));
    }
    if let Some(above) = bound("exclusiveMaximum").filter(|above| number >= *above) {
        return Err(format!("{place} is not less than {above}"));
    }
    Ok(())
}
