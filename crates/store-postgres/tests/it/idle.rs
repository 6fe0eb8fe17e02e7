//! What an engine costs that has nothing to do.

use std::sync::Arc;
use std::time::Duration;

use everstep::Engine;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep_store_testkit::{Blocking, Counting, Reopen};

use crate::support::Place;

/// Every call of the store is one statement, so calls are counted; an hour of them takes no time.
#[test]
fn an_idle_node_asks_less_than_once_a_second() {
    virtual_time(async {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let store = Place::with_clock(runtime.clone()).open();
        let counting = Arc::new(Counting::new(Blocking(store)));
        let engine = Engine::on_store(counting.clone()).runtime(runtime);
        let engine = engine.start().await.unwrap();
        let before = counting.calls().total();
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        let calls = counting.calls().total() - before;
        println!("{calls} statements in an idle hour");
        assert!(calls < 3_600, "{calls}");
        assert!(calls > 600, "the lease is renewed, {calls}");
        engine.shutdown().await;
    });
}
