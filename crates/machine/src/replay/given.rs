//! What the code is given at once, the same at the same place of every execution: which version of a change it follows, and
//! random numbers.

use everstep_model::record::VersionChosen;
use everstep_model::{Body, Location, Name, Scope, Seed};

use super::divergence::{CallSite, Divergence, Halt};
use super::memo::Remembered;
use super::{Replay, scopes};

impl Replay {
    /// Decides which version of a change this run follows, once per scope.
    pub fn version(&mut self, scope: &Scope, change: &Name, latest: u32, site: CallSite) -> u32 {
        if let Some(version) = self.scopes.version(scope, change) {
            return version;
        }
        let Ok(name) = self.names.internal(&format!("__version:{change}")) else {
            return latest;
        };
        let location = Location {
            scope: scope.clone(),
            name,
            counter: 0,
        };
        if !self.may_call("version_chosen", &location, site) {
            return latest;
        }
        let version = self.choose_version(location, latest, site);
        self.scopes.set_version(scope, change.clone(), version);
        version
    }

    fn choose_version(&mut self, location: Location, latest: u32, site: CallSite) -> u32 {
        if let Some(Remembered::Version(version)) = self.memo.take(&location) {
            return self.check_version(version, location, latest, site);
        }
        match self.script.next_expected() {
            Some(Body::VersionChosen(recorded)) if recorded.location == location => {
                let version = recorded.version;
                self.script.pop_expected();
                self.check_version(version, location, latest, site)
            }
            // The run passed this place before the gate was there.
            Some(_) => 1,
            None => {
                // An earlier pass of the function did: keep to what it did. That is written too, because what is known of
                // that pass goes with the iterations of its loops.
                let is_passed = self.was_begun_before(&location.scope);
                let version = if is_passed { 1 } else { latest };
                let said = VersionChosen { location, version };
                self.say_at(said.into(), Some(site));
                version
            }
        }
    }

    fn check_version(
        &mut self,
        version: u32,
        location: Location,
        latest: u32,
        site: CallSite,
    ) -> u32 {
        if version > latest {
            self.halt(Halt::Diverged(Box::new(Divergence {
                record: None,
                recorded: Some(("version_chosen", location.clone())),
                recorded_site: None,
                called: Some(("version_chosen", location)),
                called_site: Some(site),
                detail: Some(format!(
                    "the run follows version {version}, this code knows up to {latest}"
                )),
            })));
        }
        version
    }

    /// The next random number of a scope: the same at the same place of every execution. Each scope has a sequence of its
    /// own, so that it does not matter what was drawn in iterations that are gone.
    pub fn random(&mut self, scope: &Scope, site: CallSite) -> u64 {
        if !self.calls_allowed && self.halted.is_none() {
            self.halt(Halt::NotDurable(format!(
                "the code drew a random number (at {site}) inside a step, or after something that is not in the journal woke \
                 it; draw it before the step and pass it in"
            )));
        }
        let Seed(seed) = self.facts.as_ref().map_or(Seed(0), |facts| facts.seed);
        let seed = seed ^ scopes::mark(scope);
        let draws = self.scopes.count_draw(scope);
        // SplitMix64: the n-th output is a function of seed and n alone.
        let mut z = seed.wrapping_add(draws.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
