//! A machine, which runs one process after the other.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use everstep::Engine;

use super::process::Process;
use crate::executor::Group;

/// A machine.
pub struct Machine {
    pub index: usize,
    /// The error of its clock in milliseconds.
    pub(crate) offset: Arc<AtomicI64>,
    /// The store is unreachable until this time.
    cut_off_until: Arc<AtomicU64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    starts: u64,
    process: Option<Arc<Process>>,
    engine: Option<Engine>,
    /// Serves the engine to workers, if the programs run in workers.
    server: Option<Router>,
}

impl Machine {
    pub(super) fn new(index: usize) -> Self {
        Self {
            index,
            offset: Arc::default(),
            cut_off_until: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Creates the next process and returns it with its number. None if one is running.
    pub(super) fn begin_process(
        &self,
        group: impl FnOnce() -> Group,
    ) -> Option<(Arc<Process>, u64)> {
        let mut state = self.state();
        if state.process.is_some() {
            return None;
        }
        state.starts += 1;
        let name = format!("node {}.{}", self.index, state.starts);
        let process = Arc::new(Process {
            machine: Some(self.index),
            offset: self.offset.clone(),
            cut_off_until: self.cut_off_until.clone(),
            ..Process::new(name, group())
        });
        state.process = Some(process.clone());
        Some((process, state.starts))
    }

    /// Stores the engine of a process, unless the process has ended in the meantime.
    pub(super) fn opened(&self, process: &Arc<Process>, engine: Engine, server: Option<Router>) {
        let mut state = self.state();
        let current = state.process.as_ref();
        if current.is_some_and(|current| Arc::ptr_eq(current, process)) {
            state.engine = Some(engine);
            state.server = server;
        }
    }

    /// Forgets the process, and returns what the caller has to drop.
    pub(super) fn end_process(&self) -> impl Send + 'static {
        let mut state = self.state();
        state.process = None;
        (state.engine.take(), state.server.take())
    }

    /// Returns the server of the engine, and the process it runs in.
    pub(super) fn server(&self) -> Option<(Arc<Process>, Router)> {
        let state = self.state();
        Some((state.process.clone()?, state.server.clone()?))
    }

    pub(crate) fn process(&self) -> Option<Arc<Process>> {
        self.state().process.clone()
    }

    /// Returns the engine, if it is open.
    pub fn engine(&self) -> Option<Engine> {
        self.state().engine.clone()
    }

    /// Makes the store reachable again.
    pub(super) fn reconnect(&self) {
        self.cut_off_until.store(0, Ordering::Relaxed);
    }

    pub(super) fn cut_off(&self, until: u64) {
        self.cut_off_until.fetch_max(until, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
