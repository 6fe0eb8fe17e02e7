//! Hints between nodes by NOTIFY. They are gathered for a moment and sent together, in a
//! transaction of their own that waits for no sync, because a NOTIFY makes all others of the
//! database wait until its transaction is over.

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

/// How long hints are gathered. Those on the same node do not wait for it.
const GATHERED_FOR: Duration = Duration::from_millis(5);
/// Hints that wait to be sent. What comes when it is full is dropped, as hints may be.
const WAITING_MAX: usize = 4_096;

/// A bus over the database that a [`crate::PostgresStore`] is in. It holds one connection to
/// listen, which must not go through PgBouncer in transaction mode, and uses another one to send.
pub struct PostgresBus {
    local: LocalBus,
    to_others: mpsc::Sender<Hint>,
    _io: Io,
}

impl PostgresBus {
    /// Begins to listen and to send. A database that cannot be reached costs latency: it is tried
    /// again and again.
    ///
    /// # Errors
    /// If there is no thread for it.
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

/// The channel of an installation. Namespaces are plain names, so this is one too.
fn channel(options: &Options) -> String {
    format!("everstep_{}", options.namespace)
}

async fn send_all(pool: Pool, channel: String, me: String, mut waiting: mpsc::Receiver<Hint>) {
    let pool = Arc::new(pool);
    let mut gathered = Vec::new();
    while waiting.recv_many(&mut gathered, WAITING_MAX).await > 0 {
        tokio::time::sleep(GATHERED_FOR).await;
        while let Ok(hint) = waiting.try_recv() {
            gathered.push(hint);
        }
        for payload in payloads(&me, &gathered) {
            // No sync, and no waiting for one: a hint that a crash loses was only a hint.
            let notify =
                "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)::text";
            let arguments = [(&channel as _, Type::TEXT), (&payload as _, Type::TEXT)];
            if let Err(call_error) = pool.read(notify, &arguments).await {
                let error = call_error.into_error();
                tracing::debug!(%error, "hints to other nodes are lost");
                break;
            }
        }
        gathered.clear();
    }
}
