//! The end of the thread.

use std::sync::{Arc, mpsc};

use super::*;

/// The committer of an engine runs on the thread and may be the last owner of the store.
#[test]
fn a_task_on_the_thread_may_be_the_last_owner() {
    let io = Arc::new(Io::start().unwrap());
    let (go, gone) = oneshot::channel::<()>();
    let (ended, end) = mpsc::channel();
    let owner = io.clone();
    io.spawn(async move {
        let _ = gone.await;
        drop(owner);
        let _ = ended.send(());
    });
    drop(io);
    go.send(()).unwrap();
    assert_eq!(end.recv(), Ok(()), "the task did not panic");
}
