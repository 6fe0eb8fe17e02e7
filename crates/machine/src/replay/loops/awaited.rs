//! What was undone while code waited for it. A journal without the undo would let that code go on too early, so the
//! iteration of what was undone stays until everybody who waited is gone.

use everstep_model::{Location, Scope};

/// Something that was undone, or passed over, and where the code stood that waited for it.
#[derive(Debug)]
struct Awaited {
    location: Location,
    /// The iterations around those who waited; the root for one who stands in none, which never goes.
    by: Vec<Scope>,
}

impl Awaited {
    /// Whether this keeps an iteration around the place from being dropped. Who waited inside it is dropped with it.
    fn holds(&self, iteration: &Scope) -> bool {
        self.location.scope.is_within(iteration)
            && self.by.iter().any(|waited| !waited.is_within(iteration))
    }
}

#[derive(Debug, Default)]
pub(super) struct AwaitedUndos(Vec<Awaited>);

impl AwaitedUndos {
    /// Something inside an iteration is undone, or passed over, while the code of these scopes rolls back.
    pub(super) fn note(&mut self, location: &Location, askers: &[Scope]) {
        let iteration = |asker: &Scope| asker.iteration().unwrap_or(Scope::ROOT);
        let awaited = Awaited {
            location: location.clone(),
            by: askers.iter().map(iteration).collect(),
        };
        let own = location.scope.iteration();
        if own.is_some_and(|own| awaited.holds(&own)) {
            self.0.push(awaited);
        }
    }

    /// Whether something in this iteration keeps it from being dropped.
    pub(super) fn hold(&self, iteration: &Scope) -> bool {
        self.0.iter().any(|awaited| awaited.holds(iteration))
    }

    /// An iteration is gone, everything in it, and whoever waited in it: gives the scopes of what fewer wait for now.
    pub(super) fn let_go(&mut self, gone: &Scope) -> Vec<Scope> {
        let mut freed = Vec::new();
        self.0.retain_mut(|awaited| {
            if awaited.location.scope.is_within(gone) {
                return false;
            }
            let before = awaited.by.len();
            awaited.by.retain(|waited| !waited.is_within(gone));
            // An outer iteration around those who are left may be free already.
            if awaited.by.len() < before {
                freed.push(awaited.location.scope.clone());
            }
            !awaited.by.is_empty()
        });
        freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(text: &str) -> Scope {
        let inside: Location = format!("{text}x:0").parse().unwrap();
        inside.scope
    }

    #[test]
    fn an_outer_iteration_is_looked_at_again_when_only_its_own_code_is_left_waiting() {
        let mut awaited = AwaitedUndos::default();
        let place: Location = "outer/~0/inner/~0/step:0".parse().unwrap();
        let (own, other) = (scope("outer/~0/"), scope("beside/~3/"));
        awaited.note(&place, &[own.clone(), other.clone()]);
        assert!(awaited.hold(&own));
        assert_eq!(awaited.let_go(&other), [place.scope]);
        assert!(!awaited.hold(&own));
    }
}
