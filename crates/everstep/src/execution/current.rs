//! Lends the driver to the code while the code is polled.
//!
//! The executor owns the driver, and the workflow function runs on the executor's task. Operations
//! need the driver in the middle of a poll, and futures must be `Send`, so they cannot hold a
//! reference to it. The executor therefore moves the driver into a thread-local slot for each poll
//! and takes it back afterwards. Neither locks nor reference counts are involved.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use everstep_driver::{Driver, Execution};

use super::slots::{Key, Slots};

/// The driver of one run. Boxed, because it moves with every poll.
pub(super) type OwnedDriver = Box<Driver<Slots>>;

thread_local! {
    // Never dropped, because a thread does not end during a poll. Access is cheaper that way.
    static CURRENT: RefCell<ManuallyDrop<Option<OwnedDriver>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Puts a driver into the slot and returns the one that was there.
fn replace(driver: Option<OwnedDriver>) -> Option<OwnedDriver> {
    ManuallyDrop::into_inner(CURRENT.replace(ManuallyDrop::new(driver)))
}

/// Puts back the driver of the outer poll after a panic.
struct Outer(Option<OwnedDriver>);

impl Drop for Outer {
    fn drop(&mut self) {
        drop(replace(self.0.take()));
    }
}

/// Runs `work`, which polls or drops workflow code, and returns the driver with the result.
pub(super) fn lend<T>(driver: OwnedDriver, work: impl FnOnce() -> T) -> (Option<OwnedDriver>, T) {
    let mut outer = Outer(replace(Some(driver)));
    let done = work();
    let driver = replace(outer.0.take());
    std::mem::forget(outer);
    (driver, done)
}

/// Calls into the execution of this key. Returns `None` if its code is not being polled on this
/// thread.
#[inline]
pub(super) fn with<T>(key: Key, call: impl FnOnce(&mut Execution<Slots>) -> T) -> Option<T> {
    CURRENT.with(|current| {
        let mut current = current.try_borrow_mut().ok()?;
        let (execution, _) = (*current).as_mut()?.current();
        (execution.host.key == key).then(|| call(execution))
    })
}
