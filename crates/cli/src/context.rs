//! The context of a command that calls a server: the connection, and the output.

use std::sync::Arc;

use everstep_protocol::Secret;
use everstep_protocol::client::{Connection, HttpOptions, HttpTransport};

use crate::arguments::GlobalOptions;
use crate::config::key_recipient;
use crate::output::Output;

pub(crate) struct Context {
    pub(crate) server: Connection,
    pub(crate) out: Output,
    /// The flags that another command needs to reach the same server.
    flags: String,
}

impl Context {
    pub(crate) fn new(global: &GlobalOptions) -> anyhow::Result<Self> {
        let config = global.config(Vec::new())?;
        let roots = config.file("root_certificate")?;
        let transport = HttpTransport::with_roots(HttpOptions::default(), roots.as_deref())?;
        let url = config.text("server").unwrap_or_default();
        let mut server = Connection::over(Arc::new(transport), url)?;
        if let Some(key) = config.text("key") {
            key_recipient::check(&config)?;
            server = server.with_key(&Secret::new(key))?;
        }
        Ok(Self {
            server,
            out: Output::new(global.json),
            flags: global.connection_flags(),
        })
    }

    /// Returns a command that reaches the same server when it is pasted into a terminal.
    pub(crate) fn command(&self, arguments: &str) -> String {
        format!("everstep {arguments}{}", self.flags)
    }
}
