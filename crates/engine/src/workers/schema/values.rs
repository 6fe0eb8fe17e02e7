//! Keywords about a value itself: types, constants, ranges and sizes.

use serde_json::{Number, Value};

use super::budget::Misfit;
use super::same::{is_same, repeated};
use super::value_path::cut;
use super::{Checked, Checker, Object};

/// The number of values of an `enum` that a message lists.
const ALTERNATIVES_SHOWN: usize = 20;

impl Checker<'_> {
    pub(super) fn check_value(self, keywords: &Object, value: &Value) -> Checked {
        if let Some(types) = keywords.get("type") {
            self.check_type(types, value)?;
        }
        if let Some(constant) = keywords.get("const")
            && !is_same(constant, value, self.budget)?
        {
            return self.wrong(|path| format!("{path} is not {}", cut(&constant.to_string())));
        }
        if let Some(Value::Array(allowed)) = keywords.get("enum") {
            self.check_enum(allowed, value)?;
        }
        match value {
            Value::Number(number) => {
                if let Some(Value::String(format)) = keywords.get("format") {
                    self.check_integer(format, number)?;
                }
                let number = number.as_f64();
                number.map_or(Ok(()), |number| self.check_number(keywords, number))
            }
            Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.check_size(keywords, value)
            }
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn check_type(self, types: &Value, value: &Value) -> Checked {
        let names: Vec<&str> = match types {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => return Ok(()),
        };
        self.budget.spend(names.len())?;
        if names.iter().any(|name| is_of_type(name, value)) {
            return Ok(());
        }
        self.wrong(|path| {
            let allowed: Vec<_> = names.iter().map(|name| with_article(name)).collect();
            let is = with_article(type_of(value));
            format!("{path} is {is}, not {}", allowed.join(" or "))
        })
    }

    fn check_enum(self, allowed: &[Value], value: &Value) -> Checked {
        for one in allowed {
            if is_same(one, value, self.budget)? {
                return Ok(());
            }
        }
        self.wrong(|path| {
            let shown = allowed.iter().take(ALTERNATIVES_SHOWN);
            let mut shown: Vec<_> = shown.map(|one| cut(&one.to_string())).collect();
            if allowed.len() > ALTERNATIVES_SHOWN {
                shown.push("…".to_owned());
            }
            format!("{path} is none of {}", shown.join(", "))
        })
    }

    fn check_size(self, keywords: &Object, value: &Value) -> Checked {
        let (what, keys) = match value {
            Value::String(_) => ("characters", ["minLength", "maxLength"]),
            Value::Array(_) => ("items", ["minItems", "maxItems"]),
            _ => ("fields", ["minProperties", "maxProperties"]),
        };
        let [least, most] = keys.map(|key| keywords.get(key).and_then(Value::as_u64));
        if least.is_some() || most.is_some() {
            let size = self.size(value)? as u64;
            if let Some(least) = least.filter(|least| size < *least) {
                return self.wrong(|path| format!("{path} has fewer than {least} {what}"));
            }
            if let Some(most) = most.filter(|most| size > *most) {
                return self.wrong(|path| format!("{path} has more than {most} {what}"));
            }
        }
        if let Value::Array(items) = value
            && keywords.get("uniqueItems") == Some(&Value::Bool(true))
            && let Some(index) = repeated(items, self.budget)?
        {
            return self.wrong(|path| format!("item {index} of {path} is repeated"));
        }
        Ok(())
    }

    /// Returns the size of a value. Characters of a text are counted.
    fn size(self, value: &Value) -> Result<usize, Misfit> {
        Ok(match value {
            Value::String(text) => {
                self.budget.spend_on_text(text)?;
                text.chars().count()
            }
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        })
    }

    /// Checks the formats of integers, such as `uint32`. They exclude `1.0`, which decoders of
    /// integers refuse.
    fn check_integer(self, format: &str, number: &Number) -> Checked {
        let is_signed = !format.starts_with('u');
        let name = format.strip_prefix('u').unwrap_or(format);
        let bits: u32 = match name.strip_prefix("int") {
            Some("8") => 8,
            Some("16") => 16,
            Some("32") => 32,
            Some("" | "64" | "128") => 64,
            _ => return Ok(()),
        };
        let fits = match is_signed {
            true => {
                let number = number.as_i64();
                number.is_some_and(|number| matches!(number >> (bits - 1), 0 | -1))
            }
            false => {
                let number = number.as_u64();
                number.is_some_and(|number| number <= u64::MAX >> (64 - bits))
            }
        };
        if fits {
            return Ok(());
        }
        self.wrong(|path| {
            let sign = if is_signed { "" } else { " of at least 0" };
            format!("{path} is not an integer{sign} with at most {bits} bits")
        })
    }

    fn check_number(self, keywords: &Object, number: f64) -> Checked {
        type Comparison = fn(&f64, &f64) -> bool;
        let bounds: [(_, Comparison, _); 4] = [
            ("minimum", f64::lt, "less than"),
            ("maximum", f64::gt, "more than"),
            ("exclusiveMinimum", f64::le, "not more than"),
            ("exclusiveMaximum", f64::ge, "not less than"),
        ];
        for (keyword, is_outside, relation) in bounds {
            if let Some(bound) = keywords.get(keyword).and_then(Value::as_f64)
                && is_outside(&number, &bound)
            {
                return self.wrong(|path| format!("{path} is {relation} {bound}"));
            }
        }
        Ok(())
    }
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
        name => format!("a {}", cut(name)),
    }
}
