//! The connection that listens for notifications. It is reopened when it is lost; hints sent in
//! between are lost.

use std::future::poll_fn;
use std::time::Duration;

use everstep_store::{Bus, LocalBus, StoreError};
use tokio_postgres::AsyncMessage;

use crate::connection::options::Options;
use crate::connection::tls;
use crate::failure::unavailable;
use crate::notify::hints::hints;

/// The delay before the connection is opened again.
const DELAY_MIN: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(10);

/// Publishes the hints of other nodes locally, forever.
pub(crate) async fn listen(options: Options, channel: String, me: String, local: LocalBus) {
    let mut delay = DELAY_MIN;
    loop {
        match listen_once(&options, &channel, &me, &local).await {
            Ok(()) => delay = DELAY_MIN,
            Err(error) => {
                tracing::warn!(%error, "cannot receive hints of other nodes, relying on sweeps");
                delay = (delay * 2).min(DELAY_MAX);
            }
        }
        tokio::time::sleep(delay).await;
    }
}

/// Listens until the connection ends.
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
    let receiving = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                hints(&me, notification.payload()).for_each(|hint| local.publish(hint));
            }
        }
    });
    let listening = client.batch_execute(&format!("LISTEN {channel}")).await;
    listening.map_err(|error| unavailable(&error))?;
    // Dropping the client would close the connection.
    let _ = receiving.await;
    drop(client);
    Ok(())
}
