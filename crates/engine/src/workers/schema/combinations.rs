//! Keywords that put schemas together: references, and `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use serde_json::{Map, Value};

use super::Checker;
use super::budget::Misfit;
use super::value_path::ValuePath;

/// The number of alternatives whose mismatches are reported.
const ALTERNATIVES_EXPLAINED: usize = 8;

impl<'a> Checker<'a> {
    pub(super) fn check_reference(
        self,
        keywords: &'a Map<String, Value>,
        value: &Value,
        path: ValuePath<'_>,
    ) -> Result<(), Misfit> {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) else {
            return Ok(());
        };
        self.budget.spend(1 + pointer.len())?;
        match self.root.pointer(pointer) {
            Some(target) => self.check(target, value, path),
            None => Ok(()),
        }
    }

    pub(super) fn check_combinations(
        self,
        keywords: &'a Map<String, Value>,
        value: &Value,
        path: ValuePath<'_>,
    ) -> Result<(), Misfit> {
        let list = |keyword| keywords.get(keyword).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check(schema, value, path)?;
        }
        if let Some(schemas) = list("anyOf")
            && self.count_fitting(schemas, value, 1)? == 0
        {
            return self.explain(schemas, value, path);
        }
        if let Some(schemas) = list("oneOf") {
            match self.count_fitting(schemas, value, schemas.len())? {
                1 => {}
                0 => return self.explain(schemas, value, path),
                fits => {
                    return self.wrong(|| {
                        format!("{path} matches {fits} alternatives and must match one")
                    });
                }
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.fits(schema, value)?
        {
            return self.wrong(|| format!("{path} matches a schema that is not allowed"));
        }
        let Some(condition) = keywords.get("if") else {
            return Ok(());
        };
        let branch = match self.fits(condition, value)? {
            true => keywords.get("then"),
            false => keywords.get("else"),
        };
        branch.map_or(Ok(()), |schema| self.check(schema, value, path))
    }

    /// Returns whether a value matches, without building a message.
    fn fits(self, schema: &'a Value, value: &Value) -> Result<bool, Misfit> {
        let quietly = Self {
            explains: false,
            ..self
        };
        match quietly.check(schema, value, ValuePath::Whole) {
            Ok(()) => Ok(true),
            Err(Misfit::Wrong(_)) => Ok(false),
            Err(undecided) => Err(undecided),
        }
    }

    /// Counts the schemas that a value matches, up to a maximum.
    fn count_fitting(
        self,
        schemas: &'a [Value],
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
    fn explain(
        self,
        schemas: &'a [Value],
        value: &Value,
        path: ValuePath<'_>,
    ) -> Result<(), Misfit> {
        if !self.explains {
            return self.wrong(String::new);
        }
        let mut why = Vec::new();
        for schema in schemas.iter().take(ALTERNATIVES_EXPLAINED) {
            match self.check(schema, value, path) {
                Ok(()) => {}
                Err(Misfit::Wrong(text)) => why.push(text),
                Err(undecided) => return Err(undecided),
            }
        }
        if schemas.len() > ALTERNATIVES_EXPLAINED {
            why.push("…".to_owned());
        }
        self.wrong(|| why.join("; or "))
    }
}
