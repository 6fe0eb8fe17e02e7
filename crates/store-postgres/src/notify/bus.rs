//! Hints between nodes by NOTIFY. They are collected briefly and sent together, in a transaction of
//! their own without a sync, because a NOTIFY blocks all others of the database until its
//! transaction ends.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use everstep_store::{Bus, Hint, LocalBus, StoreError, Subscription};
use tokio::sync::mpsc;
use tokio_postgres::types::Type;

use crate::connection::connector::Connector;
use crate::connection::io::Io;
use crate::connection::options::Options;
use crate::connection::pool::Pool;
use crate::notify::hints::payloads;
use crate::notify::listener;

/// How long hints to other nodes are collected.
const COLLECTED_FOR: Duration = Duration::from_millis(5);
/// The number of hints that can wait to be sent. Further ones are dropped.
const WAITING_MAX: usize = 4_096;

/// A bus over the database of a [`crate::PostgresStore`]. It holds one connection to listen, which
/// must not go through PgBouncer in transaction mode, and uses another one to send.
pub struct PostgresBus {
    local: LocalBus,
    to_others: mpsc::Sender<Hint>,
    _io: Io,
}

impl PostgresBus {
    /// Starts to listen and to send. While the database cannot be reached, hints are lost and the
    /// bus reconnects.
    ///
    /// # Errors
    /// If no thread can be started or a certificate file is unusable.
    pub fn open(options: Options) -> Result<Self, StoreError> {
        let io = Io::start()?;
        let local = LocalBus::new();
        let me = format!("{:016x}", RandomState::new().build_hasher().finish());
        let (to_others, waiting) = mpsc::channel(WAITING_MAX);
        let channel = channel(&options);
        let pool = Pool::new(Connector::new(options.clone(), Arc::default())?, 1);
        io.spawn(send_all(pool, channel.clone(), me.clone(), waiting));
        io.spawn(listener::listen(options, channel, me, local.clone()));
        Ok(Self {
            local,
            to_others,
            _io: io,
        })
    }
}

impl std::fmt::Debug for PostgresBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgresBus")
    }
}

impl Bus for PostgresBus {
    fn publish(&self, hint: Hint) {
        let _ = self.to_others.try_send(hint);
        self.local.publish(hint);
    }

    fn subscribe(&self, on_hint: Box<dyn Fn(Hint) + Send + Sync>) -> Subscription {
        self.local.subscribe(on_hint)
    }
}

/// The name of the channel. Namespaces need no quotes, so it needs none.
fn channel(options: &Options) -> String {
    format!("everstep_{}", options.namespace)
}

async fn send_all(pool: Pool, channel: String, me: String, mut waiting: mpsc::Receiver<Hint>) {
    let pool = Arc::new(pool);
    let mut collected = Vec::new();
    while waiting.recv_many(&mut collected, WAITING_MAX).await > 0 {
        tokio::time::sleep(COLLECTED_FOR).await;
        while let Ok(hint) = waiting.try_recv() {
            collected.push(hint);
        }
        for payload in payloads(&me, &collected) {
            // Hints may be lost in a crash, so no sync is needed.
            let notify =
                "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)::text";
            let arguments = [(&channel as _, Type::TEXT), (&payload as _, Type::TEXT)];
            if let Err(call_error) = pool.read(notify, &arguments).await {
                let error = call_error.into_error();
                tracing::debug!(%error, "hints to other nodes lost");
                break;
            }
        }
        collected.clear();
    }
}
