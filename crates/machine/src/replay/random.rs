//! Random numbers that are the same in every execution of a run.

use everstep_model::{Scope, Seed};

use super::code::Access;
use super::divergence::{CallSite, Halt};
use super::execution::Replay;

impl Replay {
    /// Returns the next random number of a scope, which is the same in every execution.
    pub fn random(&mut self, scope: &Scope, site: CallSite) -> u64 {
        if self.code.access != Access::Allowed {
            self.context.state.halt(Halt::NotDurable(format!(
                "the code drew a random number (at {site}) inside a step, or after something that is not in the journal woke \
                 it; draw it before the step and pass it in"
            )));
        }
        let info = self.context.run.info.as_ref();
        let seed = info.map_or(Seed(0), |info| info.seed);
        number(seed, scope, self.scopes.count_draw(scope))
    }
}

/// Returns the n-th random number of a scope, from 1. Each scope has its own sequence, so that it
/// does not depend on iterations that are no longer in the journal.
fn number(Seed(seed): Seed, scope: &Scope, draw: u64) -> u64 {
    let seed = seed ^ hash(scope);
    // SplitMix64: the n-th output is a function of seed and n alone.
    let mut z = seed.wrapping_add(draw.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns FNV-1a of the scope's path; 0 for the root. Every release and every language computes
/// the same.
fn hash(scope: &Scope) -> u64 {
    if *scope == Scope::ROOT {
        return 0;
    }
    let start = 0xCBF2_9CE4_8422_2325_u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    scope.to_string().bytes().fold(start, step)
}
