//! Query parameters: one declaration serves parsing and the OpenAPI document.

use std::time::Duration;

use everstep_model::parse_duration;

use crate::failure::Failure;

/// The declaration of a query parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) description: &'static str,
}

impl Parameter {
    pub(crate) const fn new(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self {
            name,
            kind,
            description,
        }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A comma-separated list. The parameter may be repeated.
    Words,
    Duration,
    Time,
    /// A whole number between a minimum and a maximum.
    Count(u32, u32),
}

/// The parameters of a request.
#[derive(Debug, Default)]
pub(crate) struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    /// Rejects parameters that the route does not declare: they are most likely typing errors.
    pub(crate) fn parse(query: &str, known: &[Parameter]) -> Result<Self, Failure> {
        let mut given: Vec<(&'static str, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let Some(parameter) = known.iter().find(|known| known.name == name) else {
                return Err(Failure::invalid(unknown(&name, known)));
            };
            let is_repeated = given.iter().any(|(given, _)| *given == parameter.name);
            if is_repeated && parameter.kind != Kind::Words {
                return Err(Failure::invalid(format!("`{name}` is given twice")));
            }
            given.push((parameter.name, value.into_owned()));
        }
        Ok(Self(given))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub(crate) fn words(&self, name: &str) -> Vec<&str> {
        let words = self.all(name).flat_map(|value| value.split(','));
        words.filter(|word| !word.is_empty()).collect()
    }

    pub(crate) fn duration(&self, name: &str) -> Result<Option<Duration>, Failure> {
        self.text(name).map(|text| duration(name, text)).transpose()
    }

    pub(crate) fn count(&self, parameter: &Parameter) -> Result<Option<usize>, Failure> {
        let name = parameter.name;
        let (Kind::Count(least, most), Some(text)) = (parameter.kind, self.text(name)) else {
            return Ok(None);
        };
        match text.parse::<u32>() {
            Ok(number) if (least..=most).contains(&number) => Ok(Some(number as usize)),
            _ => Err(Failure::invalid(format!(
                "`{name}` is a whole number from {least} to {most}"
            ))),
        }
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let given = self.0.iter().filter(move |(given, _)| *given == name);
        given.map(|(_, value)| value.as_str())
    }
}

pub(crate) fn duration(name: &str, text: &str) -> Result<Duration, Failure> {
    parse_duration(text).map_err(|error| Failure::invalid(format!("{name}: {error}")))
}

fn unknown(name: &str, known: &[Parameter]) -> String {
    let name: String = name.chars().take(64).collect();
    let known: Vec<_> = known.iter().map(|known| known.name).collect();
    match known.as_slice() {
        [] => format!("this request takes no parameters, `{name}` was given"),
        known => format!(
            "there is no parameter `{name}`; this request takes {}",
            known.join(", ")
        ),
    }
}
