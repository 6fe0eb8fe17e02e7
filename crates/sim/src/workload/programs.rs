//! Registers the workflows of a simulation.

use std::sync::Arc;

use everstep::{EngineBuilder, Options, WorkerBuilder};

use super::env::Env;
use super::interpreter::run_program;
use super::workflows::{RANDOM, collect, leaf};
use crate::cluster::{Process, Programs, World};
use crate::program::Op;

/// Registers the workflows of a simulation with an engine or a worker.
macro_rules! register {
    ($builder:expr, $env:expr) => {{
        let env = $env;
        $builder
            .function("leaf", leaf)
            .function("collector", collect)
            .function_with(
                RANDOM,
                Options::new().execution_retries(1),
                move |ctx, program: Vec<Op>| run_program(ctx, program, env.clone()),
            )
    }};
}

/// The random programs, with side effects in the world of the process that executes them.
pub(crate) struct RandomPrograms;

impl Programs for RandomPrograms {
    fn on_node(
        &self,
        world: &Arc<World>,
        process: &Arc<Process>,
        engine: EngineBuilder,
    ) -> EngineBuilder {
        register!(engine, Env::live(world, process))
    }

    fn on_worker(
        &self,
        world: &Arc<World>,
        process: &Arc<Process>,
        worker: WorkerBuilder,
    ) -> WorkerBuilder {
        register!(worker, Env::live(world, process))
    }
}
