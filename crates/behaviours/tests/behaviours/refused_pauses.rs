//! Suspensions that the store refuses because of unread inbox records: their results become durable
//! immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep::journal::record::ResumeRequested;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Engine, RunStatus, Settings, Workflows, hours, millis, secs};
use everstep_store::{LocalBus, MemoryStore};
use everstep_store_testkit::{Fault, Faulty, block_on};

use crate::control_support::two_steps;
use crate::crash_points::append_to_inbox;
use crate::support::{json, output};

// B144
#[test]
fn a_result_whose_commit_was_refused_with_its_pause_is_written_without_delay() {
    virtual_time(async {
        let process = Arc::new(VirtualRuntime::new(7));
        let memory = MemoryStore::new(process.clone());
        let armed = Arc::new(AtomicBool::new(false));
        let (inbox, clock, is_next) = (memory.clone(), process.clone(), armed.clone());
        let store = Faulty::new(memory, move |_| {
            if is_next.swap(false, Ordering::SeqCst) {
                let resume = ResumeRequested { by: None };
                // The hint is lost.
                let bus = LocalBus::new();
                block_on(append_to_inbox(&inbox, &*clock, &bus, resume.into()));
            }
            Fault::None
        });
        let engine = Engine::on_store(Arc::new(store))
            .runtime(process)
            .settings(Settings {
                lazy_flush: hours(1),
                ..Settings::default()
            })
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).id("r").await.unwrap();
        tokio::time::sleep(millis(50)).await;
        run.pause().await.unwrap();
        assert_eq!(run.status().await.unwrap(), RunStatus::Pausing);
        // The next commit contains the result of the step and suspends the run.
        armed.store(true, Ordering::SeqCst);
        let ended = tokio::time::timeout(secs(1), output::<u32>(&run)).await;
        assert_eq!(ended, Ok(3));
        assert!(!armed.load(Ordering::SeqCst));
        engine.shutdown().await;
    });
}
