//! Converts settings to the options of the server.

use everstep::RecordFeed;
use everstep_server::{Connections, Options, Origins, Tls, check_webhook_url};

use super::engine_settings::feeds;
use crate::config::Config;
use crate::usage_error::UsageError;

pub(crate) fn server_options(config: &Config) -> anyhow::Result<Options> {
    let mut options = Options::default();
    copy_settings!(config to options,
        duration: long_poll_timeout, wait_max, worker_time_to_live, sse_lifetime, body_timeout, token_lifetime_max;
        parsed: worker_queue_max, body_bytes_max, worker_body_bytes_max, import_bytes_max, requests_bytes_max, responses_bytes_max, chunk_bytes, waiting_max;
    );
    options.failure_webhooks = failure_webhooks(config)?;
    options.public_url = config.text("public_url").map(str::to_owned);
    let origins = config.list("origins");
    if !origins.is_empty() {
        options.origins = Origins::Listed(origins);
    }
    Ok(options)
}

fn failure_webhooks(config: &Config) -> Result<Vec<String>, UsageError> {
    let urls = config.list("failure_webhooks");
    for url in &urls {
        check_webhook_url(url, false).map_err(|rule| {
            UsageError::new(
                format!("invalid webhook {url:?} in `failure_webhooks`: {rule}"),
                "A webhook has an https URL with a public host.",
            )
        })?;
    }
    if !urls.is_empty() && !feeds(config).contains(&RecordFeed::Failures) {
        return Err(UsageError::new(
            "`failure_webhooks` needs the feed of failures",
            "Add `failures` to `feeds`.",
        ));
    }
    Ok(urls)
}

pub(crate) fn connection_options(config: &Config) -> anyhow::Result<Connections> {
    let mut connections = Connections::default();
    copy_settings!(config to connections,
        duration: head_timeout, handshake_timeout, stall_timeout;
        parsed: head_bytes_max;
    );
    connections.max = config.parsed("connections_max")?;
    connections.grace = config.duration("shutdown_grace")?;
    connections.tls = tls(config)?;
    Ok(connections)
}

fn tls(config: &Config) -> anyhow::Result<Option<Tls>> {
    if config.path("tls_certificate").is_some() != config.path("tls_key").is_some() {
        return Err(UsageError::new(
            "a certificate needs a private key, and the other way round",
            "Set both `tls_certificate` and `tls_key`, or neither.",
        )
        .into());
    }
    let pair = config.file("tls_certificate")?.zip(config.file("tls_key")?);
    let tls = pair.map(|(certificate, key)| Tls::from_pem(&certificate, &key));
    Ok(tls.transpose()?)
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
