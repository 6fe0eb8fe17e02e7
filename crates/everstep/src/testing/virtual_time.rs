//! Runs a test on tokio's paused clock, which jumps to the next timer when no task can run.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::future::Future;

/// Runs a test with virtual time. Sleeps of workflows and of the test itself take no real time.
///
/// # Panics
/// If the runtime cannot be built.
pub fn virtual_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(test),
        Err(error) => panic!("the runtime of the test could not be built: {error}"),
    }
}
