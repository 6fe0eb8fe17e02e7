//! Fault: the database closes connections that are in use.

use anyhow::Context;
use tokio_postgres::NoTls;

/// Closes about half of the nodes' connections, selected by the number. Returns how many.
pub(crate) fn drop_connections(url: &str, by: u64) -> anyhow::Result<u64> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let closing = tokio::spawn(connection);
        let salt = i32::try_from(by % 1_000)?;
        let dropped = client
            .query_one(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                 WHERE pid <> pg_backend_pid() AND application_name ~ '^(api|worker|timers)' \
                 AND (pid + $1) % 2 = 0",
                &[&salt],
            )
            .await?;
        let dropped: i64 = dropped.try_get(0)?;
        drop(client);
        closing.await??;
        u64::try_from(dropped).context("a count")
    })
}
