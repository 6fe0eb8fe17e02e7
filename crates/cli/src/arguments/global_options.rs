//! The options of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::config::{Config, Environment, Flags};
use crate::output::shell_word;

#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// URL of the server [default: http://localhost:4437]
    #[arg(long, global = true, value_name = "URL")]
    server: Option<OsString>,
    /// API key or run token; the variable EVERSTEP_KEY hides it from other users of this machine
    #[arg(long, global = true)]
    key: Option<OsString>,
    /// Trust the root certificates in this file (PEM), in addition to the public ones
    #[arg(long, global = true, value_name = "FILE")]
    root_certificate: Option<OsString>,
    /// Configuration file [default: ./everstep.toml]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl GlobalOptions {
    /// Returns the flags that another command needs to reach the same server, except the key.
    pub(crate) fn connection_flags(&self) -> String {
        let mut flags = String::new();
        let config = self.config.as_ref().map(|path| path.as_os_str());
        for (flag, value) in [
            ("--server", self.server.as_deref()),
            ("--root-certificate", self.root_certificate.as_deref()),
            ("--config", config),
        ] {
            if let Some(value) = value {
                let value = shell_word(&value.to_string_lossy());
                flags.push_str(&format!(" {flag} {value}"));
            }
        }
        flags
    }

    /// Reads the options from the words of an unfinished command line.
    pub(crate) fn of_unfinished(words: &[OsString]) -> Self {
        let value = |flag: &str| {
            let index = words.iter().position(|word| {
                let behind = word.to_str().and_then(|word| word.strip_prefix(flag));
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('='))
            })?;
            match words.get(index)?.to_str()?.split_once('=') {
                Some((_, value)) => Some(value.into()),
                None => words.get(index + 1).cloned(),
            }
        };
        Self {
            json: false,
            server: value("--server"),
            key: value("--key"),
            root_certificate: value("--root-certificate"),
            config: value("--config").map(PathBuf::from),
        }
    }

    /// Resolves the configuration. `flags` are the settings given as flags of the command.
    pub(crate) fn config(&self, mut flags: Flags) -> anyhow::Result<Config> {
        flags.push(("server", self.server.clone()));
        flags.push(("key", self.key.clone()));
        flags.push(("root_certificate", self.root_certificate.clone()));
        Config::resolve(flags, &Environment::of_process(self.config.clone()))
    }
}
