//! The executor: one thread, a clock that moves only when no task can run, and a seed that decides
//! which task runs next.
//!
//! Tasks belong to groups. A group is a process: ending it drops all its tasks. The tasks of a
//! frozen group are not polled; timers and wakers reach them when the group continues.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use everstep_engine::simulation::Rng;
use everstep_store::BoxFuture;

/// The number of polls at one point in time after which the simulation counts as a livelock.
const POLLS_AT_ONCE_MAX: u64 = 2_000_000;

/// Tasks that end together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(u64);

type TaskId = u64;

/// The executor. Clones share its state.
#[derive(Clone)]
pub struct Executor(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    woken: Arc<Woken>,
}

/// Tasks that were woken and are not in the ready list yet.
type Woken = Mutex<Vec<TaskId>>;

struct State {
    now: u64,
    rng: Rng,
    tasks: BTreeMap<TaskId, Task>,
    next_task: TaskId,
    ready: Vec<TaskId>,
    timers: BinaryHeap<Timer>,
    next_timer: u64,
    groups: BTreeMap<Group, GroupState>,
    next_group: u64,
    /// Ended groups whose tasks are dropped before any other task runs.
    ended: BTreeSet<Group>,
    polls_at_once: u64,
}

#[derive(Default)]
struct GroupState {
    is_frozen: bool,
    /// Tasks that became ready while the group was frozen.
    held: Vec<TaskId>,
}

struct Task {
    group: Group,
    /// None while the task is polled.
    future: Option<BoxFuture<'static, ()>>,
    waker: Waker,
    is_ready: bool,
}

/// Ordered so that the earliest timer is the greatest. Of two at the same time, the older one is.
struct Timer {
    due: u64,
    number: u64,
    sleep_waker: Arc<SleepWaker>,
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Timer {}
impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

/// The waker of a sleeping task; none once the sleep is dropped.
#[derive(Default)]
struct SleepWaker(Mutex<Option<Waker>>);

impl SleepWaker {
    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TaskWaker {
    task: TaskId,
    woken: Arc<Woken>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push(self.task);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The condition of the caller holds.
    Done,
    /// The time limit is reached, or no timer is left.
    TimeLimit,
    /// Tasks keep running and time does not advance.
    Livelock,
}

impl Executor {
    /// Creates an executor at time zero whose choices follow from the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Shared {
            woken: Arc::default(),
            state: Mutex::new(State {
                now: 0,
                rng: Rng::new(seed, 1),
                tasks: BTreeMap::new(),
                next_task: 0,
                ready: Vec::new(),
                timers: BinaryHeap::new(),
                next_timer: 0,
                groups: BTreeMap::new(),
                next_group: 0,
                ended: BTreeSet::new(),
                polls_at_once: 0,
            }),
        }))
    }

    /// Microseconds since the start.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.state().now
    }

    #[must_use]
    pub fn group(&self) -> Group {
        let mut state = self.state();
        state.next_group += 1;
        let group = Group(state.next_group);
        state.groups.insert(group, GroupState::default());
        group
    }

    /// Spawns a task. The task is dropped if its group has ended.
    pub fn spawn(&self, group: Group, future: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.state();
        if !state.groups.contains_key(&group) {
            drop(state);
            return drop(future);
        }
        state.next_task += 1;
        let id = state.next_task;
        let waker = TaskWaker {
            task: id,
            woken: self.0.woken.clone(),
        };
        let task = Task {
            group,
            future: Some(Box::pin(future)),
            waker: Waker::from(Arc::new(waker)),
            is_ready: true,
        };
        state.tasks.insert(id, task);
        state.ready.push(id);
    }

    /// Completes after this time.
    #[must_use]
    pub fn sleep(&self, duration: Duration) -> Sleep {
        let micros = duration.as_nanos().div_ceil(1_000);
        let micros = u64::try_from(micros).unwrap_or(u64::MAX);
        Sleep {
            until: self.now().saturating_add(micros),
            executor: self.clone(),
            sleep_waker: None,
        }
    }

    /// Ends a group. Its tasks are dropped before any other task runs.
    pub fn end(&self, group: Group) {
        let mut state = self.state();
        if state.groups.remove(&group).is_some() {
            state.ended.insert(group);
        }
    }

    /// Whether the group has not ended.
    #[must_use]
    pub fn is_alive(&self, group: Group) -> bool {
        self.state().groups.contains_key(&group)
    }

    /// Stops or resumes polling the tasks of a group.
    pub fn freeze(&self, group: Group, is_frozen: bool) {
        let mut state = self.state();
        let Some(group_state) = state.groups.get_mut(&group) else {
            return;
        };
        group_state.is_frozen = is_frozen;
        if !is_frozen {
            let held = std::mem::take(&mut group_state.held);
            state.ready.extend(held);
        }
    }

    /// Runs until `is_done` holds or the time limit is reached. `is_done` is evaluated whenever
    /// time is about to advance.
    pub fn run(&self, until: u64, mut is_done: impl FnMut() -> bool) -> Stopped {
        loop {
            self.drop_ended_groups();
            self.take_woken();
            if let Some((id, mut future, waker)) = self.choose() {
                let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                self.put_back(id, future, polled);
                let mut state = self.state();
                state.polls_at_once += 1;
                if state.polls_at_once > POLLS_AT_ONCE_MAX {
                    return Stopped::Livelock;
                }
                continue;
            }
            if is_done() {
                return Stopped::Done;
            }
            if !self.advance(until) {
                return Stopped::TimeLimit;
            }
        }
    }

    /// Drops the tasks of ended groups. No lock is held, because dropping can wake and spawn tasks.
    fn drop_ended_groups(&self) {
        loop {
            let mut state = self.state();
            let Some(group) = state.ended.pop_first() else {
                return;
            };
            let ended: Vec<TaskId> = state
                .tasks
                .iter()
                .filter(|(_, task)| task.group == group)
                .map(|(id, _)| *id)
                .collect();
            let tasks: Vec<_> = ended
                .iter()
                .filter_map(|id| state.tasks.remove(id))
                .collect();
            drop(state);
            for task in tasks {
                drop(task);
            }
        }
    }

    fn take_woken(&self) {
        let woken = {
            let mut woken = self.0.woken.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *woken)
        };
        let mut state = self.state();
        for id in woken {
            if let Some(task) = state.tasks.get_mut(&id)
                && !std::mem::replace(&mut task.is_ready, true)
            {
                state.ready.push(id);
            }
        }
    }

    /// Chooses the next task with the seed.
    fn choose(&self) -> Option<(TaskId, BoxFuture<'static, ()>, Waker)> {
        let mut state = self.state();
        let state = &mut *state;
        while !state.ready.is_empty() {
            let chosen = state.rng.index(state.ready.len());
            let id = state.ready.swap_remove(chosen);
            let Some(task) = state.tasks.get_mut(&id) else {
                continue;
            };
            if let Some(group_state) = state.groups.get_mut(&task.group)
                && group_state.is_frozen
            {
                group_state.held.push(id);
                continue;
            }
            task.is_ready = false;
            if let Some(future) = task.future.take() {
                return Some((id, future, task.waker.clone()));
            }
        }
        None
    }

    fn put_back(&self, id: TaskId, future: BoxFuture<'static, ()>, polled: Poll<()>) {
        let mut state = self.state();
        let Some(task) = state.tasks.get_mut(&id) else {
            drop(state);
            return drop(future);
        };
        match polled {
            Poll::Pending => task.future = Some(future),
            Poll::Ready(()) => {
                let task = state.tasks.remove(&id);
                drop(state);
                drop((task, future));
            }
        }
    }

    /// Advances to the next timer. Returns false if there is none before the limit.
    fn advance(&self, until: u64) -> bool {
        let mut state = self.state();
        loop {
            let Some(next) = state.timers.peek() else {
                state.now = state.now.max(until);
                return false;
            };
            if next.sleep_waker.waker().is_none() {
                state.timers.pop();
                continue;
            }
            if next.due > until {
                state.now = state.now.max(until);
                return false;
            }
            state.now = state.now.max(next.due);
            state.polls_at_once = 0;
            break;
        }
        let now = state.now;
        let mut wakers = Vec::new();
        while state.timers.peek().is_some_and(|timer| timer.due <= now) {
            if let Some(timer) = state.timers.pop() {
                wakers.extend(timer.sleep_waker.waker().take());
            }
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Executor::sleep`].
pub struct Sleep {
    until: u64,
    executor: Executor,
    sleep_waker: Option<Arc<SleepWaker>>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.executor.state();
        if state.now >= this.until {
            return Poll::Ready(());
        }
        let sleep_waker = this.sleep_waker.get_or_insert_with(|| {
            let sleep_waker = Arc::<SleepWaker>::default();
            state.next_timer += 1;
            let timer = Timer {
                due: this.until,
                number: state.next_timer,
                sleep_waker: sleep_waker.clone(),
            };
            state.timers.push(timer);
            sleep_waker
        });
        *sleep_waker.waker() = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(sleep_waker) = &self.sleep_waker {
            sleep_waker.waker().take();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn order(seed: u64) -> Vec<u64> {
        let executor = Executor::new(seed);
        let group = executor.group();
        let seen = Arc::new(Mutex::new(Vec::new()));
        for n in 0..6 {
            let (seen, sleep) = (seen.clone(), executor.sleep(SECOND));
            executor.spawn(group, async move {
                sleep.await;
                seen.lock().unwrap().push(n);
            });
        }
        executor.run(u64::MAX, || seen.lock().unwrap().len() == 6);
        assert_eq!(executor.now(), 1_000_000);
        seen.lock().unwrap().clone()
    }

    #[test]
    fn the_seed_decides_which_task_runs_next() {
        assert_eq!(order(1), order(1));
        assert!((2..10).any(|seed| order(seed) != order(1)));
    }

    #[test]
    fn ended_groups_are_dropped_and_frozen_ones_continue_later() {
        let executor = Executor::new(1);
        let (ending, frozen) = (executor.group(), executor.group());
        let seen = Arc::new(AtomicU64::new(0));
        for (group, adds) in [(ending, 1), (frozen, 10)] {
            let (seen, sleep) = (seen.clone(), executor.sleep(SECOND));
            executor.spawn(group, async move {
                sleep.await;
                seen.fetch_add(adds, Ordering::Relaxed);
            });
        }
        executor.end(ending);
        executor.freeze(frozen, true);
        assert_eq!(executor.run(2_000_000, || false), Stopped::TimeLimit);
        assert_eq!(
            (seen.load(Ordering::Relaxed), executor.now()),
            (0, 2_000_000)
        );
        executor.freeze(frozen, false);
        executor.run(2_000_000, || false);
        assert_eq!(seen.load(Ordering::Relaxed), 10);
        assert!(!executor.is_alive(ending));
        assert_eq!(Arc::strong_count(&seen), 1, "both tasks are gone");
    }
}
