//! Converts settings to the options of the server.

use anyhow::Context;
use everstep_server::{Connections, Options, Origins, Tls};

use crate::config::Config;
use crate::usage_error::UsageError;

pub(crate) fn server_options(config: &Config) -> anyhow::Result<Options> {
    let mut options = Options::default();
    options.long_poll_timeout = config.duration("long_poll_timeout")?;
    options.wait_max = config.duration("wait_max")?;
    options.worker_time_to_live = config.duration("worker_time_to_live")?;
    options.worker_queue_max = config.count("worker_queue_max")?;
    options.sse_lifetime = config.duration("sse_lifetime")?;
    options.body_bytes_max = config.count("body_bytes_max")?;
    options.worker_body_bytes_max = config.count("worker_body_bytes_max")?;
    options.body_timeout = config.duration("body_timeout")?;
    options.chunk_bytes = config.count("chunk_bytes")?;
    options.waiting_max = config.count("waiting_max")?;
    options.token_lifetime_max = config.duration("token_lifetime_max")?;
    options.public_url = config.text("public_url").map(str::to_owned);
    let origins = config.list("origins");
    if !origins.is_empty() {
        options.origins = Origins::Listed(origins);
    }
    Ok(options)
}

pub(crate) fn connection_options(config: &Config) -> anyhow::Result<Connections> {
    let mut connections = Connections::default();
    connections.max = config.count("connections_max")?;
    connections.head_timeout = config.duration("head_timeout")?;
    connections.head_bytes_max = config.count("head_bytes_max")?;
    connections.handshake_timeout = config.duration("handshake_timeout")?;
    connections.stall_timeout = config.duration("stall_timeout")?;
    connections.grace = config.duration("shutdown_grace")?;
    connections.tls = tls(config)?;
    Ok(connections)
}

fn tls(config: &Config) -> anyhow::Result<Option<Tls>> {
    let (certificate, key) = match (config.path("tls_certificate"), config.path("tls_key")) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) | (None, Some(_)) => {
            return Err(UsageError {
                what: "a certificate needs a private key, and the other way round".to_owned(),
                remedy: "Set both `tls_certificate` and `tls_key`, or neither.".to_owned(),
            }
            .into());
        }
    };
    let read = |path: &std::path::Path| {
        std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(Some(Tls::from_pem(&read(&certificate)?, &read(&key)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    #[test]
    fn the_defaults_are_those_of_the_server_crate() {
        let empty = Environment {
            variables: Vec::new(),
            file: None,
        };
        let config = Config::resolve(Vec::new(), &empty).unwrap();
        let options = server_options(&config).unwrap();
        assert_eq!(format!("{options:?}"), format!("{:?}", Options::default()));
        let connections = connection_options(&config).unwrap();
        let default = Connections::default();
        assert_eq!(format!("{connections:?}"), format!("{default:?}"));
    }
}
