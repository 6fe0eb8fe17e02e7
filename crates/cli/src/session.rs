//! Speaking to a server on behalf of somebody at a terminal: which one, with which key, and where to print.

use std::future::Future;
use std::sync::Arc;

use anyhow::Context;
use everstep_protocol::Secret;
use everstep_protocol::client::{Connection, HttpOptions, HttpTransport};

use crate::arguments::Around;
use crate::config::{Config, Surroundings};
use crate::output::Output;

/// A server, and a terminal.
pub(crate) struct Session {
    pub(crate) server: Connection,
    pub(crate) out: Output,
}

impl Session {
    pub(crate) fn open(around: &Around) -> anyhow::Result<Self> {
        let config = around.config(Vec::new())?;
        let roots = config.path("root_certificate").map(|path| {
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        });
        let roots = roots.transpose()?;
        let transport = HttpTransport::with_roots(HttpOptions::default(), roots.as_deref())?;
        let url = config.text("server").unwrap_or_default();
        let mut server = Connection::over(Arc::new(transport), url)?;
        if let Some(key) = config.text("key") {
            server = server.with_key(&Secret::new(key))?;
        }
        Ok(Self {
            server,
            out: Output::new(around.json),
        })
    }
}

impl Around {
    /// What is in force, with what a command's own flags say.
    pub(crate) fn config(&self, mut flags: crate::config::Flags) -> anyhow::Result<Config> {
        flags.push(("server", self.server.clone()));
        flags.push(("key", self.key.clone()));
        flags.push(("root_certificate", self.root_certificate.clone()));
        Config::resolve(flags, &Surroundings::of_process(self.config.clone()))
    }
}

/// Runs something to its end on every core, for who has an engine.
pub(crate) fn block_on_all<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}

/// Runs something to its end on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}
