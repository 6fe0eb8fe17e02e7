//! Lends the driver to the code while the code is polled.
//!
//! The executor owns the driver, and the workflow function runs on the executor's task. Operations
//! need the driver in the middle of a poll, and futures must be `Send`, so they cannot hold a
//! reference to it. The executor therefore moves the driver into a thread-local slot for each poll
//! and takes it back afterwards. Neither locks nor reference counts are involved.

use std::cell::RefCell;

use everstep_driver::{Driver, Execution};

use super::slots::{Key, Slots};

/// The driver of one run. Boxed, because it moves with every poll.
pub(super) type OwnedDriver = Box<Driver<Slots>>;

thread_local! {
    static CURRENT: RefCell<Option<OwnedDriver>> = const { RefCell::new(None) };
}

/// Puts back the driver of the outer poll, if polls are nested, also after a panic.
struct Outer(Option<OwnedDriver>);

impl Drop for Outer {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs `work`, which polls or drops workflow code, and returns the driver with the result.
pub(super) fn lend<T>(driver: OwnedDriver, work: impl FnOnce() -> T) -> (Option<OwnedDriver>, T) {
    let outer = Outer(CURRENT.replace(Some(driver)));
    let done = work();
    let driver = CURRENT.take();
    drop(outer);
    (driver, done)
}

/// Calls into the execution of this key. Returns `None` if its code is not being polled on this
/// thread.
pub(super) fn with<T>(key: Key, call: impl FnOnce(&mut Execution<Slots>) -> T) -> Option<T> {
    let called = CURRENT.try_with(|current| {
        let mut current = current.try_borrow_mut().ok()?;
        let (execution, _) = current.as_mut()?.current();
        (execution.host.key == key).then(|| call(execution))
    });
    called.ok().flatten()
}
