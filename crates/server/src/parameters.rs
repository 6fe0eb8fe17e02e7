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

/// Declares the query parameters of a route, one per row: `name: kind, description`.
macro_rules! parameters {
    ($($name:literal: $kind:ident $(($least:expr, $most:expr))?, $description:literal;)*) => {
        &[$($crate::parameters::Parameter {
            name: $name,
            kind: $crate::parameters::Kind::$kind $(($least, $most))?,
            description: $description,
        }),*]
    };
}

pub(crate) use parameters;

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
pub(crate) struct Parameters(Vec<(&'static Parameter, String)>);

impl Parameters {
    /// Rejects parameters that the route does not declare: they are most likely typing errors.
    pub(crate) fn parse(query: &str, known: &'static [Parameter]) -> Result<Self, Failure> {
        let mut given: Vec<(&Parameter, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let Some(parameter) = known.iter().find(|known| known.name == name) else {
                return Err(Failure::invalid(unknown(&name, known)));
            };
            let is_repeated = given.iter().any(|(given, _)| given.name == parameter.name);
            if is_repeated && parameter.kind != Kind::Words {
                return Err(Failure::invalid(format!("`{name}` is given twice")));
            }
            given.push((parameter, value.into_owned()));
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

    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, Failure> {
        let given = self.0.iter().find(|(given, _)| given.name == name);
        let Some((Kind::Count(least, most), text)) = given.map(|(it, text)| (it.kind, text)) else {
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
        let given = self.0.iter().filter(move |(given, _)| given.name == name);
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
