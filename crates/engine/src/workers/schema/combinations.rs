//! Keywords that put schemas together: references, and `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use serde_json::Value;

use super::budget::Misfit;
use super::value_path::ValuePath;
use super::{Checked, Checker, Object};

/// The number of alternatives whose mismatches are reported.
const ALTERNATIVES_EXPLAINED: usize = 8;

impl Checker<'_> {
    pub(super) fn check_reference(self, keywords: &Object, value: &Value) -> Checked {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) else {
            return Ok(());
        };
        self.budget.spend(1 + pointer.len())?;
        match self.root.pointer(pointer) {
            Some(target) => self.check(target, value),
            None => Ok(()),
        }
    }

    pub(super) fn check_combinations(self, keywords: &Object, value: &Value) -> Checked {
        let list = |keyword| keywords.get(keyword).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check(schema, value)?;
        }
        if let Some(schemas) = list("anyOf")
            && self.count_fitting(schemas, value, 1)? == 0
        {
            return self.explain(schemas, value);
        }
        if let Some(schemas) = list("oneOf") {
            match self.count_fitting(schemas, value, schemas.len())? {
                1 => {}
                0 => return self.explain(schemas, value),
                fits => {
                    return self.wrong(|path| {
                        format!("{path} matches {fits} alternatives and must match one")
                    });
                }
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.fits(schema, value)?
        {
            return self.wrong(|path| format!("{path} matches a schema that is not allowed"));
        }
        let Some(condition) = keywords.get("if") else {
            return Ok(());
        };
        let branch = match self.fits(condition, value)? {
            true => keywords.get("then"),
            false => keywords.get("else"),
        };
        branch.map_or(Ok(()), |schema| self.check(schema, value))
    }

    /// Returns whether a value matches, without building a message.
    fn fits(self, schema: &Value, value: &Value) -> Result<bool, Misfit> {
        let quietly = Self {
            path: ValuePath::Whole,
            explains: false,
            ..self
        };
        match quietly.check(schema, value) {
            Ok(()) => Ok(true),
            Err(Misfit::Wrong(_)) => Ok(false),
            Err(undecided) => Err(undecided),
        }
    }

    /// Counts the schemas that a value matches, up to a maximum.
    fn count_fitting(
        self,
        schemas: &[Value],
        value: &Value,
        enough: usize,
    ) -> Result<usize, Misfit> {
        let mut fitting = 0;
        for schema in schemas {
            fitting += usize::from(self.fits(schema, value)?);
            if fitting == enough {
                break;
            }
        }
        Ok(fitting)
    }

    /// Explains why a value matches none of the schemas, by checking the first ones again.
    fn explain(self, schemas: &[Value], value: &Value) -> Checked {
        if !self.explains {
            return self.wrong(|_| String::new());
        }
        let mut why = Vec::new();
        for schema in schemas.iter().take(ALTERNATIVES_EXPLAINED) {
            match self.check(schema, value) {
                Ok(()) => {}
                Err(Misfit::Wrong(text)) => why.push(text),
                Err(undecided) => return Err(undecided),
            }
        }
        if schemas.len() > ALTERNATIVES_EXPLAINED {
            why.push("…".to_owned());
        }
        self.wrong(|_| why.join("; or "))
    }
}
