//! The connection that listens for notifications. It is reopened when it is lost; hints sent
//! meanwhile are lost.

use std::future::poll_fn;
use std::time::Duration;

use everstep_store::{Bus, LocalBus, StoreError};
use tokio_postgres::AsyncMessage;

use crate::connection::options::Options;
use crate::connection::tls;
use crate::failure::unavailable;
use crate::notify::hints::hints;

/// How long to wait before it is opened again: at first, and at most.
const REST_MIN: Duration = Duration::from_millis(100);
const REST_MAX: Duration = Duration::from_secs(10);

/// Passes on what other nodes say, for ever.
pub(crate) async fn listen(options: Options, channel: String, me: String, local: LocalBus) {
    let mut rest = REST_MIN;
    loop {
        match listen_once(&options, &channel, &me, &local).await {
            Ok(()) => rest = REST_MIN,
            Err(error) => {
                tracing::warn!(%error, "hints of other nodes are not heard; the store is swept instead");
                rest = (rest * 2).min(REST_MAX);
            }
        }
        tokio::time::sleep(rest).await;
    }
}

/// Until the connection ends.
async fn listen_once(
    options: &Options,
    channel: &str,
    me: &str,
    local: &LocalBus,
) -> Result<(), StoreError> {
    let tls = tls::connector(options)?;
    let connected = options.config.connect(tls).await;
    let (client, mut connection) = connected.map_err(|error| unavailable(&error))?;
    let (me, local) = (me.to_owned(), local.clone());
    let hearing = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                hints(&me, notification.payload()).for_each(|hint| local.publish(hint));
            }
        }
    });
    let listening = client.batch_execute(&format!("LISTEN {channel}")).await;
    listening.map_err(|error| unavailable(&error))?;
    // The connection lives as long as its client, and ends when the server does.
    let _ = hearing.await;
    drop(client);
    Ok(())
}
