//! The workflows of a simulation.

use std::sync::Arc;

use everstep::{Options, Workflows};

use super::env::Env;
use super::interpreter::run_program;
use super::workflows::{RANDOM, collect, leaf};
use crate::cluster::{Process, Programs, World};
use crate::program::Op;

/// The random programs, with side effects in the world of the process that executes them.
pub(crate) struct RandomPrograms;

impl Programs for RandomPrograms {
    fn workflows(&self, world: &Arc<World>, process: &Arc<Process>) -> Workflows {
        let env = Env::live(world, process);
        let options = Options::new().execution_retries(1);
        Workflows::new()
            .function("leaf", leaf)
            .function("collector", collect)
            .function_with(RANDOM, options, move |ctx, program: Vec<Op>| {
                run_program(ctx, program, env.clone())
            })
    }
}
