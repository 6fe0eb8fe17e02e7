//! Registration of workflows: one list for engines and workers, and its errors.

use std::ops::RangeInclusive;

use everstep::errors::OpenError;
use everstep::errors::RegisterError;
use everstep::testing::virtual_time;
use everstep::{Ctx, Engine, ErrorCode, Options, Result, Workflow, Workflows, secs};

use crate::support::{for_each_store, json, ok, output};

async fn doubled(ctx: Ctx, n: u32) -> Result<u32> {
    ctx.step("double", || ok(n * 2)).await
}

struct Halved;

impl Workflow for Halved {
    const NAME: &'static str = "halved";
    type Input = u32;
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, n: u32) -> Result<u32> {
        ctx.step("halve", || ok(n / 2)).await
    }
}

fn arithmetic() -> Workflows {
    let brief = Options::new().deadline(secs(60));
    Workflows::new()
        .workflow(Halved)
        .and(Workflows::new().function_with("doubled", brief, doubled))
}

#[test]
fn a_list_of_workflows_behaves_like_workflows_registered_one_by_one() {
    for_each_store(async |store| {
        let builder = store.engine().workflows(arithmetic());
        let test = builder
            .workflows(Workflows::new().function("doubled-too", doubled))
            .start()
            .await;
        for (workflow, expected) in [("halved", 4), ("doubled", 16), ("doubled-too", 16)] {
            let run = test.start_by_name(workflow, json(&8_u32)).await.unwrap();
            assert_eq!(output::<u32>(&run).await, expected, "{workflow}");
        }
    });
}

#[test]
fn invalid_workflows_are_rejected_at_the_start() {
    struct FromZero;

    impl Workflow for FromZero {
        const NAME: &'static str = "from-zero";
        const VERSIONS: RangeInclusive<u32> = 0..=1;
        type Input = ();
        type Output = ();
        type Interface = ();

        async fn run(&self, _: Ctx<Self>, (): ()) -> Result<()> {
            Ok(())
        }
    }

    virtual_time(async {
        let refused = async |workflows: Workflows| -> OpenError {
            let engine = Engine::in_memory().workflows(workflows);
            engine.start().await.unwrap_err()
        };
        let twice = refused(arithmetic().and(arithmetic())).await;
        assert!(
            matches!(&twice, OpenError::Workflows(RegisterError::NameTaken(name)) if name.as_str() == "halved")
        );
        let nameless = refused(arithmetic().function("", doubled)).await;
        assert_eq!(nameless.code(), ErrorCode::InvalidName);
        let from_zero = refused(arithmetic().workflow(FromZero)).await;
        assert!(from_zero.to_string().contains("count from 1"));
    });
}

#[test]
fn a_worker_rejects_invalid_workflows_like_an_engine() {
    let worker = everstep::Worker::connect("http://test").workflows(arithmetic());
    let refused = worker
        .workflows(Workflows::new().function("doubled", doubled))
        .start();
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("names must differ"), "{refused}");
}
