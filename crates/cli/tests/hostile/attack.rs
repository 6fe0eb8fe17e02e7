//! What an attack is, and the list of all attacks.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::target::Target;
use crate::{attacks, http2_attacks};

/// The number of tasks of each attack.
const ATTACKERS: usize = 4;
/// The number of addresses that they use.
const ADDRESSES: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    WithoutKey,
    /// With a key or a token.
    Known,
}

/// What an attacker knows.
pub(crate) struct Victim {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    /// A key for few of the runs.
    pub(crate) limited_key: String,
    /// A token that may read the stream `large`.
    pub(crate) token: String,
    /// A token that may read the run `victim` and send it the event `approval`.
    pub(crate) run_token: String,
}

type Attacking = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) by: Caller,
    /// Attacks until it is dropped.
    begin: fn(Arc<Victim>) -> Attacking,
}

impl Attack {
    pub(crate) fn begin(self, victim: Arc<Victim>) -> JoinSet<()> {
        let tasks = (0..ATTACKERS).map(|_| (self.begin)(victim.clone()));
        tasks.collect()
    }
}

/// One row per attack: its name, the caller, and its function.
macro_rules! attacks {
    ($($name:literal $by:ident $module:ident::$function:ident;)*) => {
        [$(Attack {
            name: $name,
            by: Caller::$by,
            begin: |victim| Box::pin($module::$function(victim)),
        }),*]
    };
}

/// The attacks of callers without a key.
pub(crate) fn without_key() -> Vec<Attack> {
    Vec::from(attacks! {
        "idle connections" WithoutKey attacks::idle_connections;
        "slow heads" WithoutKey attacks::slow_heads;
        "large heads" WithoutKey attacks::large_heads;
        "bodies without a key" WithoutKey attacks::bodies_without_key;
        "malformed requests" WithoutKey attacks::malformed_requests;
        "wrong keys" WithoutKey attacks::wrong_keys;
        "unread responses" WithoutKey attacks::unread_responses;
        "HTTP/2: resets" WithoutKey http2_attacks::resets;
        "HTTP/2: unread responses" WithoutKey http2_attacks::unread_responses;
        "HTTP/2: large heads" WithoutKey http2_attacks::large_heads;
        "HTTP/2: bodies without a key" WithoutKey http2_attacks::bodies_without_key;
    })
}

/// The attacks of callers with a key or a token.
pub(crate) fn by_known_callers() -> Vec<Attack> {
    Vec::from(attacks! {
        "token: event streams" Known attacks::event_streams;
        "token: unread responses" Known attacks::unread_streams;
        "run token: unread journals" Known attacks::unread_journals;
        "run token: waits" Known attacks::waits;
        "run token: large events" Known attacks::large_events;
        "key: unfinished bodies" Known attacks::unfinished_bodies;
    })
}

/// The attacks on a server with many runs.
pub(crate) fn on_full_store() -> Vec<Attack> {
    Vec::from(attacks! {
        "key: lists without a result" Known attacks::lists;
    })
}

/// Limits an attacker to a rate, because it shares the processor with the server.
pub(crate) fn at_most(per_second: u32) -> Interval {
    let mut pace = interval(Duration::from_secs(1) / per_second);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}

/// Connects from one of the attackers' addresses, which are not that of the well-behaved client.
pub(crate) async fn connect(server: SocketAddr) -> io::Result<TcpStream> {
    static LAST: AtomicU8 = AtomicU8::new(0);
    let last = 2 + LAST.fetch_add(1, Ordering::Relaxed) % ADDRESSES;
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0)))?;
    socket.connect(server).await
}

impl Victim {
    pub(crate) async fn of(target: &Target) -> Arc<Self> {
        Arc::new(Self {
            address: target.address,
            key: target.hostile_key.clone(),
            limited_key: target.limited_key.clone(),
            token: target.stream_token().await,
            run_token: target.run_token().await,
        })
    }
}
