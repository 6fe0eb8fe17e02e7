//! Equality of JSON values: 1 and 1.0 are the same number, and the order of fields is irrelevant.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Number, Value};

use super::budget::{Budget, Misfit};

/// Returns whether two values are equal. Stops at the first difference.
pub(super) fn is_same(one: &Value, other: &Value, budget: &Budget) -> Result<bool, Misfit> {
    budget.spend(1)?;
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            Ok(one == other || one.as_f64() == other.as_f64())
        }
        (Value::String(one), Value::String(other)) if one.len() == other.len() => {
            budget.spend_on_text(one)?;
            Ok(one == other)
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (one, other) in one.iter().zip(other) {
                if !is_same(one, other, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            for (name, one) in one {
                budget.spend_on_text(name)?;
                let other = other.get(name);
                if !other.map_or(Ok(false), |other| is_same(one, other, budget))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (one, other) => Ok(one == other),
    }
}

/// Returns the first item that repeats an earlier one. Each item is read once.
pub(super) fn repeated(items: &[Value], budget: &Budget) -> Result<Option<usize>, Misfit> {
    let mut before = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let mut text = String::new();
        write_canonical(item, &mut text);
        budget.spend_on_text(&text)?;
        if !before.insert(text) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Writes a value in a canonical form: equal values become equal text.
fn write_canonical(value: &Value, text: &mut String) {
    let written = match value {
        Value::Number(number) => write!(text, "{}", canonical(number)),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            write!(text, "]")
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                write_canonical(&Value::String(name.clone()), text);
                text.push(':');
                write_canonical(value, text);
                text.push(',');
            }
            write!(text, "}}")
        }
        plain => write!(text, "{plain}"),
    };
    // Writing to a string cannot fail.
    let _ = written;
}

/// 1.0 is written as 1.
fn canonical(number: &Number) -> Number {
    /// Up to here every integer is exact as a 64-bit floating point number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = number.as_f64().filter(|whole| {
        let is_whole = whole.fract() == 0.0;
        number.is_f64() && is_whole && whole.abs() <= EXACT
    });
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole, and within what both can hold"
    )]
    whole.map_or_else(|| number.clone(), |whole| Number::from(whole as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_equal_floats_of_the_same_value_at_every_depth() {
        let same = |one: Value, other: Value| {
            let are = is_same(&one, &other, &Budget::new()).unwrap();
            let repeats = repeated(&[one, other], &Budget::new()).unwrap().is_some();
            assert_eq!(are, repeats, "both ways to compare agree");
            are
        };
        assert!(same(json!({"a": [1, "x"]}), json!({"a": [1.0, "x"]})));
        assert!(!same(json!({"a": 1}), json!({"b": 1})));
        assert!(!same(json!("1"), json!(1)) && !same(json!([1, 2]), json!([12])));
        assert!(!same(json!(["a,b"]), json!(["a", "b"])));
        assert!(!same(json!(null), json!(false)) && same(json!(-2.0), json!(-2)));
    }
}
