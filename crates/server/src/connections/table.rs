//! The open connections, and which of them is closed when there are too many.
//!
//! Connections are grouped: by the caller of their first request, or by address as long as no
//! request had a valid key or token. One connection too many closes the oldest connection of the
//! largest group. So no caller can keep others from connecting, and callers without a key close
//! only each other's connections.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::oneshot;

/// The maximum number of connections without an identified caller. Each costs up to about 50 KiB.
const UNIDENTIFIED_MAX: usize = 512;
/// How many connections of HTTP/1.1 one of HTTP/2 counts for, because it has many requests.
const HTTP2_SLOTS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Group {
    Unidentified(IpAddr),
    /// By key or token.
    Identified(Arc<str>),
}

impl Group {
    fn is_unidentified(&self) -> bool {
        matches!(self, Self::Unidentified(_))
    }
}

/// All open connections.
pub(crate) struct ConnectionTable {
    max: usize,
    unidentified_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    count: usize,
    /// The slots of connections without an identified caller.
    unidentified: usize,
    /// The connections of each group by age.
    groups: HashMap<Group, BTreeMap<u64, Member>>,
}

struct Member {
    slots: usize,
    /// Closes the connection.
    close: oneshot::Sender<()>,
}

/// An open connection, until it is dropped. Requests have it as an extension.
pub(crate) struct OpenConnection {
    table: Arc<ConnectionTable>,
    id: u64,
    address: Group,
    identified: OnceLock<Group>,
}

/// Completes when a connection must be closed to make room for another one.
pub(crate) type Evicted = oneshot::Receiver<()>;

impl ConnectionTable {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            unidentified_max: UNIDENTIFIED_MAX.min(max.div_ceil(2)),
            state: Mutex::default(),
        })
    }

    /// Adds a connection, and closes another one if there are too many.
    pub(crate) fn open(self: &Arc<Self>, address: IpAddr) -> (OpenConnection, Evicted) {
        let group = Group::Unidentified(network(address));
        let mut state = self.state();
        self.make_room(&mut state, 1);
        if state.count >= self.max && !state.evict(Group::is_unidentified) {
            state.evict(|_| true);
        }
        let (close, evicted) = oneshot::channel();
        state.last += 1;
        let id = state.last;
        state.insert(group.clone(), id, Member { slots: 1, close });
        let connection = OpenConnection {
            table: self.clone(),
            id,
            address: group,
            identified: OnceLock::new(),
        };
        (connection, evicted)
    }

    /// Closes connections without an identified caller until there are free slots.
    fn make_room(&self, state: &mut State, slots: usize) {
        while state.unidentified + slots > self.unidentified_max
            && state.evict(Group::is_unidentified)
        {}
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(&mut self, group: Group, id: u64, member: Member) {
        self.count += 1;
        if group.is_unidentified() {
            self.unidentified += member.slots;
        }
        self.groups.entry(group).or_default().insert(id, member);
    }

    /// Returns `None` if the connection was evicted.
    fn remove(&mut self, group: &Group, id: u64) -> Option<Member> {
        let members = self.groups.get_mut(group)?;
        let member = members.remove(&id)?;
        if members.is_empty() {
            self.groups.remove(group);
        }
        self.count -= 1;
        if group.is_unidentified() {
            self.unidentified -= member.slots;
        }
        Some(member)
    }

    /// Closes the oldest connection of the largest group among these. Returns `false` if there is
    /// none.
    fn evict(&mut self, is_candidate: impl Fn(&Group) -> bool) -> bool {
        let candidates = self.groups.iter().filter(|(group, _)| is_candidate(group));
        let largest = candidates.max_by_key(|(_, members)| members.len());
        let oldest = largest.and_then(|(group, members)| {
            let (id, _) = members.first_key_value()?;
            Some((group.clone(), *id))
        });
        let evicted = oldest.and_then(|(group, id)| self.remove(&group, id));
        // The connection may be ending already.
        evicted.map(|member| member.close.send(())).is_some()
    }
}

impl OpenConnection {
    pub(crate) fn is_identified(&self) -> bool {
        self.identified.get().is_some()
    }

    /// Counts the connection for the caller of its first request with a valid key or token.
    pub(crate) fn identify(&self, caller: &str) {
        let group = Group::Identified(caller.into());
        let mut state = self.table.state();
        if self.identified.set(group.clone()).is_ok()
            && let Some(member) = state.remove(&self.address, self.id)
        {
            state.insert(group, self.id, member);
        }
    }

    /// Gives the connection the slots of HTTP/2. Must be called before its first request.
    pub(super) fn use_http2(&self) {
        let slots = HTTP2_SLOTS.min(self.table.unidentified_max);
        let mut state = self.table.state();
        if let Some(member) = state.remove(&self.address, self.id) {
            self.table.make_room(&mut state, slots);
            state.insert(self.address.clone(), self.id, Member { slots, ..member });
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let group = self.identified.get().unwrap_or(&self.address);
        self.table.state().remove(group, self.id);
    }
}

/// Returns the network of an address that one machine can use completely: /64 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let bits = address.to_bits() & (u128::MAX << 64);
            Ipv6Addr::from_bits(bits).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn is_evicted(evicted: &mut Evicted) -> bool {
        evicted.try_recv().is_ok()
    }

    // B781
    #[test]
    fn callers_without_a_key_close_each_others_connections_and_the_largest_group_loses() {
        let table = ConnectionTable::new(8);
        let (_known, mut known) = table.open(address(1));
        _known.identify("k");
        let (_other, mut other) = table.open(address(2));
        let mut hostile: Vec<_> = (0..20).map(|_| table.open(address(3))).collect();
        let evicted = hostile
            .iter_mut()
            .map(|(_, evicted)| is_evicted(evicted))
            .collect::<Vec<_>>();
        assert_eq!(evicted, [vec![true; 17], vec![false; 3]].concat());
        assert!(!is_evicted(&mut known) && !is_evicted(&mut other));
    }

    // B781
    #[test]
    fn a_key_with_too_many_connections_loses_its_own() {
        let table = ConnectionTable::new(4);
        let open = |key| {
            let (connection, evicted) = table.open(address(1));
            connection.identify(key);
            (connection, evicted)
        };
        let (_quiet, mut quiet) = open("quiet");
        let mut greedy: Vec<_> = (0..5).map(|_| open("greedy")).collect();
        let (_late, mut late) = open("late");
        let evicted = greedy
            .iter_mut()
            .map(|(_, evicted)| is_evicted(evicted))
            .collect::<Vec<_>>();
        assert_eq!(evicted, [true, true, true, false, false]);
        assert!(!is_evicted(&mut quiet) && !is_evicted(&mut late));
    }

    // B781
    #[test]
    fn connections_of_http2_count_for_several() {
        let table = ConnectionTable::new(32);
        let mut open: Vec<_> = (0..4)
            .map(|n| {
                let (connection, evicted) = table.open(address(n));
                connection.use_http2();
                (connection, evicted)
            })
            .collect();
        let open = open.iter_mut().map(|(_, evicted)| !is_evicted(evicted));
        assert_eq!(open.filter(|is_open| *is_open).count(), 2);
    }

    #[test]
    fn closed_connections_leave_the_table_empty() {
        let table = ConnectionTable::new(2);
        for n in 0..10 {
            let (connection, _) = table.open(address(n));
            if n % 2 == 0 {
                connection.identify("k");
            }
        }
        let _evicted: Vec<_> = (0..4).map(|n| table.open(address(n))).collect();
        drop(_evicted);
        let state = table.state();
        assert!(state.groups.is_empty());
        assert_eq!((state.count, state.unidentified), (0, 0));
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_group() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8:0:0:ffff::9"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
