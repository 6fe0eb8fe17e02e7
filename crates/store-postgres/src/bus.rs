//! Hints between nodes by NOTIFY. They are gathered for a moment and sent together, in a transaction of their own that
//! waits for no sync, because a NOTIFY makes all others of the database wait until its transaction is over.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{StreamNumber, Timestamp};
use everstep_store::{Bus, Hint, LocalBus, StoreError, Subscription};
use tokio::sync::mpsc;
use tokio_postgres::types::Type;

use crate::connector::Connector;
use crate::io::Io;
use crate::listener;
use crate::options::Options;
use crate::pool::Pool;

/// How long hints are gathered. Those on the same node do not wait for it.
const GATHERED_FOR: Duration = Duration::from_millis(5);
/// Bytes of one notification; the database takes 8,000.
const PAYLOAD_MAX: usize = 7_900;
/// Hints that wait to be sent. What comes when it is full is dropped, as hints may be.
const WAITING_MAX: usize = 4_096;

/// A bus over the database that a [`crate::PostgresStore`] is in. It holds one connection to listen, which must not go through
/// PgBouncer in transaction mode, and uses another one to send.
pub struct PostgresBus {
    local: LocalBus,
    to_others: mpsc::Sender<Hint>,
    _io: Io,
}

impl PostgresBus {
    /// Begins to listen and to send. A database that cannot be reached costs latency: it is tried again and again.
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
            if let Err(trouble) = pool.read(notify, &arguments).await {
                let error = trouble.told();
                tracing::debug!(%error, "hints to other nodes are lost");
                break;
            }
        }
        gathered.clear();
    }
}

/// Hints as text, each once, in as few notifications as they fit into.
fn payloads(me: &str, hints: &[Hint]) -> Vec<String> {
    let mut said = HashSet::new();
    let mut payloads: Vec<String> = Vec::new();
    for hint in hints {
        let text = written(*hint);
        if !said.insert(text.clone()) {
            continue;
        }
        match payloads.last_mut() {
            Some(last) if last.len() + 1 + text.len() <= PAYLOAD_MAX => {
                last.push(' ');
                last.push_str(&text);
            }
            _ => payloads.push(format!("{me} {text}")),
        }
    }
    payloads
}

fn written(hint: Hint) -> String {
    match hint {
        Hint::Grew(stream) => format!("g{stream}"),
        Hint::Advanced(stream) => format!("a{stream}"),
        Hint::Closed(stream) => format!("c{stream}"),
        Hint::Ready(stream) => format!("r{stream}"),
        Hint::Timer(due) => format!("t{}", due.as_millis()),
        Hint::Outbox(stream) => format!("o{stream}"),
    }
}

/// The hints of a notification that another node sent.
pub(crate) fn hints<'a>(me: &str, payload: &'a str) -> impl Iterator<Item = Hint> + use<'a> {
    let (sender, hints) = payload.split_once(' ').unwrap_or((payload, ""));
    let foreign = if sender == me { "" } else { hints };
    foreign.split(' ').filter_map(read)
}

/// A hint of a kind that is not known, from a later release, is no hint.
fn read(text: &str) -> Option<Hint> {
    let number = text.get(1..)?.parse().ok()?;
    Some(match text.as_bytes().first()? {
        b'g' => Hint::Grew(StreamNumber(number)),
        b'a' => Hint::Advanced(StreamNumber(number)),
        b'c' => Hint::Closed(StreamNumber(number)),
        b'r' => Hint::Ready(StreamNumber(number)),
        b't' => Hint::Timer(Timestamp::from_millis(number)),
        b'o' => Hint::Outbox(StreamNumber(number)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_back_once_and_not_to_their_sender() {
        let sent = [
            Hint::Grew(StreamNumber(7)),
            Hint::Ready(StreamNumber(7)),
            Hint::Grew(StreamNumber(7)),
            Hint::Advanced(StreamNumber(8)),
            Hint::Closed(StreamNumber(9)),
            Hint::Timer(Timestamp::from_millis(1_800_000_000_000)),
            Hint::Outbox(StreamNumber(u64::MAX)),
        ];
        let payloads = payloads("me", &sent);
        assert_eq!(payloads.len(), 1);
        let heard: Vec<Hint> = hints("other", &payloads[0]).collect();
        assert_eq!(heard[..2], sent[..2]);
        assert_eq!(heard[2..], sent[3..]);
        assert_eq!(hints("me", &payloads[0]).count(), 0);
    }

    #[test]
    fn many_hints_fit_into_what_the_database_takes() {
        let many: Vec<Hint> = (0..5_000).map(|n| Hint::Grew(StreamNumber(n))).collect();
        let payloads = payloads("me", &many);
        assert!(payloads.iter().all(|payload| payload.len() < 8_000));
        let heard = payloads.iter().flat_map(|payload| hints("other", payload));
        assert_eq!(heard.count(), 5_000);
    }

    #[test]
    fn what_nobody_understands_is_no_hint() {
        for payload in ["", "x", "x y", "x g", "x g1x", "x ü1", "x z5"] {
            assert_eq!(hints("me", payload).count(), 0, "{payload}");
        }
    }
}
