//! Version gates: which version of a change a run follows.

use everstep_model::Body;
use everstep_model::record::VersionChosen;

use super::context::{Called, Context};
use super::divergence::{Divergence, Halt};
use super::earlier_passes::Remembered;

/// Chooses the version of a change: the recorded one if there is one. `is_known_scope` says whether
/// an earlier pass executed code in the scope of the gate.
pub(super) fn choose(called: Called, latest: u32, is_known_scope: bool, cx: &mut Context) -> u32 {
    if let Some(Remembered::Version(version)) = cx.earlier.take(&called.location) {
        return check(version, latest, called, cx);
    }
    match cx.script.next_expected() {
        Some(Body::VersionChosen(recorded)) if recorded.location == called.location => {
            let version = recorded.version;
            cx.script.pop_expected();
            check(version, latest, called, cx)
        }
        // The run executed this code before it contained the gate.
        Some(_) => 1,
        None => {
            // An earlier pass executed this code before it contained the gate. The version is
            // recorded, because knowledge about that pass is lost with the iterations of its loops.
            let version = if is_known_scope { 1 } else { latest };
            let chosen = VersionChosen {
                location: called.location,
                version,
            };
            cx.say(chosen, Some(called.site));
            version
        }
    }
}

fn check(version: u32, latest: u32, called: Called, cx: &mut Context) -> u32 {
    if version > latest {
        let Called { location, site } = called;
        cx.state.halt(Halt::Diverged(Box::new(Divergence {
            recorded: Some(("version_chosen", location.clone())),
            called: Some(("version_chosen", location)),
            called_site: Some(site),
            detail: Some(format!(
                "the run follows version {version}, this code knows up to {latest}"
            )),
            ..Divergence::default()
        })));
    }
    version
}
