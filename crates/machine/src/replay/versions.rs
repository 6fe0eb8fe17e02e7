//! Version gates: which version of a change a run follows.

use everstep_model::record::VersionChosen;
use everstep_model::{Body, Name, Scope};

use super::call::{check, first_of};
use super::context::{Called, Context};
use super::divergence::CallSite;
use super::earlier_passes::Remembered;
use super::execution::Replay;

const RECORD: &str = "version_chosen";

impl Replay {
    /// Chooses which version of a change this run follows, once per scope.
    pub fn version(&mut self, scope: &Scope, change: &Name, latest: u32, site: CallSite) -> u32 {
        if let Some(version) = self.scopes.version(scope, change) {
            return version;
        }
        let Ok(name) = self.names.internal(&format!("__version:{change}")) else {
            return latest;
        };
        let Some(called) = check(self, first_of(scope, name), RECORD, site) else {
            return latest;
        };
        let is_known_scope = self.loops.was_executed_earlier(scope, &self.context);
        let version = choose(called, latest, is_known_scope, &mut self.context);
        self.scopes.set_version(scope, change.clone(), version);
        version
    }
}

/// Chooses the version of a change: the recorded one if there is one. `is_known_scope` is whether
/// an earlier pass executed code in the scope of the gate.
fn choose(called: Called, latest: u32, is_known_scope: bool, cx: &mut Context) -> u32 {
    if let Some(Remembered::Version(version)) = cx.earlier.take(&called.location) {
        return check_known(version, latest, &called, cx);
    }
    let recorded = cx.script.take_next(|body| match body {
        Body::VersionChosen(recorded) if recorded.location == called.location => {
            Some(recorded.version)
        }
        _ => None,
    });
    if let Some(version) = recorded {
        return check_known(version, latest, &called, cx);
    }
    if !cx.script.is_at_end() {
        // The run executed this code before it contained the gate.
        return 1;
    }
    // An earlier pass executed this code before it contained the gate. The version is recorded,
    // because knowledge about that pass is lost with the iterations of its loops.
    let version = if is_known_scope { 1 } else { latest };
    let chosen = VersionChosen {
        location: called.location,
        version,
    };
    cx.add_line(chosen, Some(called.site));
    version
}

/// Halts if the code does not know the version that the run follows.
fn check_known(version: u32, latest: u32, called: &Called, cx: &mut Context) -> u32 {
    if version > latest {
        let detail = format!("the run follows version {version}, this code knows up to {latest}");
        cx.diverge(called, RECORD, RECORD, Some(detail));
    }
    version
}
