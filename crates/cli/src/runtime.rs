//! Tokio runtimes for commands.

use std::future::Future;

/// Runs a command with an engine, on all cores.
pub(crate) fn block_on_all_cores<T>(
    command: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(command)
}

/// Runs a command without an engine, on the current thread.
pub(crate) fn block_on<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(command)
}
