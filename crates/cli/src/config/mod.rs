//! Configuration. The order of precedence is: command line, environment (`EVERSTEP_…`), file
//! (`everstep.toml`), default.

mod database_url;
mod file;
pub(crate) mod key_recipient;
mod settings;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;

use crate::usage_error::UsageError;
pub(crate) use database_url::without_password;
pub(crate) use settings::{Kind, SETTINGS, Setting, parse_retention};

/// The default configuration file. It does not have to exist.
const FILE: &str = "everstep.toml";
const PREFIX: &str = "EVERSTEP_";
const FILE_VARIABLE: &str = "EVERSTEP_CONFIG";

/// The source of a setting's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag(String),
    Environment(String),
    File(PathBuf),
    /// The file in the current directory, which was not named.
    FileFound(PathBuf),
    Default,
}

impl Origin {
    /// A higher number takes precedence.
    fn precedence(&self) -> u8 {
        match self {
            Self::Flag(_) => 3,
            Self::Environment(_) => 2,
            Self::File(_) | Self::FileFound(_) => 1,
            Self::Default => 0,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::Environment(variable) => f.write_str(variable),
            Self::File(path) | Self::FileFound(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Settings given as flags: their names and values. Only paths may have values that are not UTF-8.
pub(crate) type Flags = Vec<(&'static str, Option<OsString>)>;

/// The sources of settings other than flags.
pub(crate) struct Environment {
    /// Environment variables with the prefix `EVERSTEP_`.
    pub(crate) variables: Vec<(String, OsString)>,
    /// The configuration file named on the command line.
    pub(crate) file: Option<PathBuf>,
}

impl Environment {
    pub(crate) fn of_process(file: Option<PathBuf>) -> Self {
        let variables = std::env::vars_os();
        let variables =
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self {
            variables: variables
                .filter(|(name, _)| name.starts_with(PREFIX))
                .collect(),
            file,
        }
    }
}

/// The resolved configuration.
#[derive(Debug)]
pub(crate) struct Config {
    values: BTreeMap<&'static str, (OsString, Origin)>,
}

impl Config {
    pub(crate) fn resolve(flags: Flags, environment: &Environment) -> anyhow::Result<Self> {
        let mut values = BTreeMap::new();
        // Lowest precedence first; later sources replace earlier ones.
        for setting in SETTINGS {
            if let Some(default) = setting.default {
                values.insert(setting.name, (default.into(), Origin::Default));
            }
        }
        if let Some(origin @ (Origin::File(path) | Origin::FileFound(path))) =
            &file_to_read(environment)
        {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            for (name, value) in file::parse(path, &text)? {
                values.insert(name, (value.into(), origin.clone()));
            }
        }
        for (name, value) in settings_of_variables(&environment.variables)? {
            values.insert(name, (value, Origin::Environment(variable_of(name))));
        }
        for (name, value) in flags
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
        {
            let flag = format!("--{}", name.replace('_', "-"));
            values.insert(name, (value, Origin::Flag(flag)));
        }
        let config = Self { values };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), UsageError> {
        for setting in SETTINGS {
            let Some((value, origin)) = self.value_and_origin(setting.name) else {
                continue;
            };
            let checked = match value.to_str() {
                Some(text) => setting.kind.check(text),
                None if setting.kind == Kind::Path => Ok(()),
                None => Err("it must be UTF-8".to_owned()),
            };
            checked.map_err(|rule| {
                let (name, shown) = (setting.name, display_value(setting, value));
                UsageError::new(
                    format!("invalid value {shown} for `{name}` (from {origin}): {rule}"),
                    format!("`{name}`: {}.", setting.about),
                )
            })?;
        }
        Ok(())
    }

    /// Returns `None` if the setting has neither a value nor a default.
    pub(crate) fn value_and_origin(&self, name: &str) -> Option<(&OsStr, &Origin)> {
        let (value, origin) = self.values.get(name)?;
        Some((value, origin))
    }

    /// Returns the one of two mutually exclusive settings that takes precedence.
    pub(crate) fn preferred(
        &self,
        one: &'static str,
        other: &'static str,
    ) -> Result<Option<&'static str>, UsageError> {
        let (Some((_, origin)), Some((_, other_origin))) =
            (self.value_and_origin(one), self.value_and_origin(other))
        else {
            let mut names = [one, other].into_iter();
            return Ok(names.find(|name| self.values.contains_key(name)));
        };
        match origin.precedence().cmp(&other_origin.precedence()) {
            std::cmp::Ordering::Greater => Ok(Some(one)),
            std::cmp::Ordering::Less => Ok(Some(other)),
            std::cmp::Ordering::Equal => Err(UsageError::new(
                format!(
                    "`{one}` and `{other}` exclude each other, but both are set ({origin}, {other_origin})"
                ),
                "Set only one of them.",
            )),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value_and_origin(name)?.0.to_str()
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.value_and_origin(name).map(|(value, _)| value.into())
    }

    /// Reads the file that a setting names.
    pub(crate) fn file(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let read = |path: PathBuf| {
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        self.path(name).map(read).transpose()
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let items = self.text(name).unwrap_or_default().split(',');
        let items = items.map(str::trim).filter(|item| !item.is_empty());
        items.map(str::to_owned).collect()
    }

    /// Parses a count, a ratio or an address.
    pub(crate) fn parsed<T>(&self, name: &str) -> anyhow::Result<T>
    where
        T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
    {
        Ok(self.required(name)?.parse()?)
    }

    pub(crate) fn duration(&self, name: &str) -> anyhow::Result<Duration> {
        Ok(everstep_model::parse_duration(self.required(name)?)?)
    }

    fn required(&self, name: &str) -> anyhow::Result<&str> {
        self.text(name)
            .with_context(|| format!("`{name}` is not set"))
    }
}

/// Formats a value without secrets.
pub(crate) fn display_value(setting: &Setting, value: &OsStr) -> String {
    let text = value.to_string_lossy();
    match setting.kind {
        Kind::Secret => "(secret)".to_owned(),
        Kind::Database => without_password(&text),
        _ => text.into_owned(),
    }
}

/// Returns the configuration file as the origin of its values.
fn file_to_read(environment: &Environment) -> Option<Origin> {
    let by_variable = || {
        let mut variables = environment.variables.iter();
        let (_, path) = variables.find(|(name, _)| name == FILE_VARIABLE)?;
        Some(path.into())
    };
    if let Some(named) = environment.file.clone().or_else(by_variable) {
        return Some(Origin::File(named));
    }
    let is_there = Path::new(FILE).is_file();
    is_there.then(|| Origin::FileFound(FILE.into()))
}

/// The environment variable of a setting.
fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase())
}

/// Returns the settings given as environment variables. Rejects unknown variables, which are typing
/// mistakes.
fn settings_of_variables(
    variables: &[(String, OsString)],
) -> Result<Vec<(&'static str, OsString)>, UsageError> {
    let mut found = Vec::new();
    for (variable, value) in variables {
        let name = variable
            .strip_prefix(PREFIX)
            .unwrap_or(variable)
            .to_lowercase();
        if let Some(setting) = settings::find(&name) {
            found.push((setting.name, value.clone()));
        } else if variable != FILE_VARIABLE && !is_service_link(&name, value) {
            let meant = settings::similar(&name).map(variable_of);
            let meant = meant.map(|meant| format!("Did you mean {meant}? "));
            return Err(UsageError::new(
                format!("unknown setting in the variable {variable}"),
                format!(
                    "{}`everstep config` lists all settings.",
                    meant.unwrap_or_default()
                ),
            ));
        }
    }
    Ok(found)
}

/// Whether Kubernetes or Docker sets this variable, in every container beside a service with the
/// name `everstep`: `EVERSTEP_SERVICE_HOST`, `EVERSTEP_PORT=tcp://10.0.0.1:4437` and the like.
fn is_service_link(name: &str, value: &OsStr) -> bool {
    let is_url = || {
        let value = value.to_string_lossy();
        value.starts_with("tcp://") || value.starts_with("udp://")
    };
    name.starts_with("service_")
        || name.starts_with("port_")
        || name.starts_with("env_")
        || name == "port" && is_url()
}

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;
