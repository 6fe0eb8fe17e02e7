//! What is set, and by whom. One precedence: what the command line says, then the environment (`EVERSTEP_…`), then the file
//! (`everstep.toml`), then the default.

mod database_url;
mod file;
mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::ending::UsageError;
pub(crate) use database_url::without_password;
pub(crate) use settings::{Kind, SETTINGS, Setting};

/// The file that is read where the command line and the environment name no other, if it is there.
const FILE: &str = "everstep.toml";
const PREFIX: &str = "EVERSTEP_";
const FILE_VARIABLE: &str = "EVERSTEP_CONFIG";

/// Who said what a setting is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag(String),
    Environment(String),
    File(PathBuf),
    Default,
}

impl Origin {
    /// Who has more right than whom.
    fn rank(&self) -> u8 {
        match self {
            Self::Flag(_) => 3,
            Self::Environment(_) => 2,
            Self::File(_) => 1,
            Self::Default => 0,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::Environment(variable) => f.write_str(variable),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What the command line says: names of settings and their values.
pub(crate) type Flags = Vec<(&'static str, Option<String>)>;

/// Where settings come from besides the command line.
pub(crate) struct Surroundings {
    /// The variables of the environment.
    pub(crate) variables: Vec<(String, String)>,
    /// The file that the command line names.
    pub(crate) file: Option<PathBuf>,
}

impl Surroundings {
    pub(crate) fn of_process(file: Option<PathBuf>) -> Self {
        Self {
            variables: std::env::vars()
                .filter(|(name, _)| name.starts_with(PREFIX))
                .collect(),
            file,
        }
    }
}

/// What is in force.
#[derive(Debug)]
pub(crate) struct Config {
    values: BTreeMap<&'static str, (String, Origin)>,
}

impl Config {
    pub(crate) fn resolve(flags: Flags, around: &Surroundings) -> anyhow::Result<Self> {
        let mut values = BTreeMap::new();
        // The weakest first; each that follows takes its place.
        for setting in SETTINGS {
            if let Some(default) = setting.default {
                values.insert(setting.name, (default.to_owned(), Origin::Default));
            }
        }
        if let Some(path) = file_to_read(around) {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            for (name, value) in file::read(&path, &text)? {
                values.insert(name, (value, Origin::File(path.clone())));
            }
        }
        for (name, value) in environment(&around.variables)? {
            let variable = format!("{PREFIX}{}", name.to_uppercase());
            values.insert(name, (value, Origin::Environment(variable)));
        }
        for (name, value) in flags {
            if let Some(value) = value {
                let flag = format!("--{}", name.replace('_', "-"));
                values.insert(name, (value, Origin::Flag(flag)));
            }
        }
        let config = Self { values };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), UsageError> {
        for setting in SETTINGS {
            let Some((value, origin)) = self.known(setting.name) else {
                continue;
            };
            setting.kind.check(value).map_err(|why| {
                let shown = shown(setting, value);
                UsageError {
                    what: format!("`{}` is {shown}, says {origin}: {why}", setting.name),
                    remedy: format!("It is {}.", setting.about),
                }
            })?;
        }
        Ok(())
    }

    /// A setting's value and who said it; none if nobody did.
    pub(crate) fn known(&self, name: &str) -> Option<(&str, &Origin)> {
        let (value, origin) = self.values.get(name)?;
        Some((value, origin))
    }

    /// Of two settings that exclude each other, the name and the value of the one that was said with more right.
    pub(crate) fn stronger<'a>(
        &'a self,
        one: &'static str,
        other: &'static str,
    ) -> Result<Option<(&'static str, &'a str)>, UsageError> {
        let (Some((value, said)), Some((otherwise, by))) = (self.known(one), self.known(other))
        else {
            let known = [one, other].into_iter();
            return Ok(known
                .filter_map(|name| Some((name, self.text(name)?)))
                .next());
        };
        match said.rank().cmp(&by.rank()) {
            std::cmp::Ordering::Greater => Ok(Some((one, value))),
            std::cmp::Ordering::Less => Ok(Some((other, otherwise))),
            std::cmp::Ordering::Equal => Err(UsageError {
                what: format!("`{one}` and `{other}` are both set, by {said} and {by}"),
                remedy: "Set one of them.".to_owned(),
            }),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.known(name).map(|(value, _)| value)
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let items = self.text(name).unwrap_or_default().split(',');
        let items = items.map(str::trim).filter(|item| !item.is_empty());
        items.map(str::to_owned).collect()
    }

    pub(crate) fn count(&self, name: &str) -> anyhow::Result<usize> {
        Ok(self.required(name)?.parse()?)
    }

    pub(crate) fn share(&self, name: &str) -> anyhow::Result<f64> {
        Ok(self.required(name)?.parse()?)
    }

    pub(crate) fn duration(&self, name: &str) -> anyhow::Result<Duration> {
        Ok(everstep_model::parse_duration(self.required(name)?)?)
    }

    pub(crate) fn address(&self, name: &str) -> anyhow::Result<SocketAddr> {
        Ok(self.required(name)?.parse()?)
    }

    fn required(&self, name: &str) -> anyhow::Result<&str> {
        self.text(name)
            .with_context(|| format!("`{name}` is not set"))
    }
}

/// A value as people may see it.
pub(crate) fn shown(setting: &Setting, value: &str) -> String {
    match setting.kind {
        Kind::Secret => "(a secret)".to_owned(),
        Kind::Database => without_password(value),
        _ => value.to_owned(),
    }
}

fn file_to_read(around: &Surroundings) -> Option<PathBuf> {
    if around.file.is_some() {
        return around.file.clone();
    }
    let named = around
        .variables
        .iter()
        .find(|(name, _)| name == FILE_VARIABLE);
    if let Some((_, path)) = named {
        return Some(path.into());
    }
    Path::new(FILE).is_file().then(|| FILE.into())
}

/// The settings of the environment. A variable that is almost one is refused; all others are somebody else's.
fn environment(variables: &[(String, String)]) -> Result<Vec<(&'static str, String)>, UsageError> {
    let mut found = Vec::new();
    for (variable, value) in variables {
        let name = variable
            .strip_prefix(PREFIX)
            .unwrap_or(variable)
            .to_lowercase();
        if let Some(setting) = settings::find(&name) {
            found.push((setting.name, value.clone()));
        } else if let Some(meant) = settings::similar(&name)
            && variable != FILE_VARIABLE
        {
            let meant = settings::find(meant)
                .map(Setting::variable)
                .unwrap_or_default();
            return Err(UsageError {
                what: format!("the variable {variable} sets nothing"),
                remedy: format!(
                    "Did you mean {meant}? `everstep config` shows every setting there is."
                ),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;
