//! Branches: joins, races and switches. The code runs them; the journal says which there are and how each ended.

use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, RaceWon, SwitchChosen,
};
use everstep_model::{Body, ErrorCode, Failure, Location, Name, Scope, Segment};

use super::Replay;
use super::divergence::{CallSite, Divergence, Halt};
use super::memo::Remembered;
use super::operation::{Kind, OpId, Resolution};

impl Replay {
    /// Begins a join or race with these branches, and gives its place.
    pub fn call_branches(
        &mut self,
        scope: &Scope,
        name: &Name,
        kind: BranchesKind,
        branches: Vec<Name>,
        site: CallSite,
    ) -> Option<Location> {
        let location = self.call(scope, name, "branches_started", site)?;
        let said = BranchesStarted {
            location: location.clone(),
            kind,
            branches,
        };
        self.say_at(said.into(), Some(site))?;
        Some(location)
    }

    /// Takes the place of a scope that is nothing but one.
    pub fn open_scope(&mut self, scope: &Scope, name: &Name, site: CallSite) -> Option<Location> {
        self.call(scope, name, "scope", site)
    }

    /// The scope inside an operation.
    #[must_use]
    pub fn scope_of(owner: &Location) -> Scope {
        let own = Segment::Named(owner.name.clone(), owner.counter);
        owner.scope.child(own)
    }

    /// The scope of a branch.
    #[must_use]
    pub fn branch_scope(owner: &Location, branch: &Name) -> Scope {
        Self::scope_of(owner).child(Segment::Named(branch.clone(), 0))
    }

    /// A branch returned.
    pub fn branch_ended(&mut self, owner: &Location, branch: &Name, failure: Option<&Failure>) {
        if !self.may_call("branch_completed", owner, CallSite::caller()) {
            return;
        }
        let (location, branch) = (owner.clone(), branch.clone());
        let body: Body = match failure {
            None => BranchCompleted { location, branch }.into(),
            Some(error) => BranchFailed {
                location,
                branch,
                error: error.clone(),
            }
            .into(),
        };
        self.say(body);
    }

    /// The winner of this race in an earlier pass of the function, which stands.
    pub fn remembered_winner(&mut self, race: &Location) -> Option<Name> {
        match self.memo.take(race) {
            Some(Remembered::Won(winner)) => Some(winner),
            _ => None,
        }
    }

    /// A race has its winner; the operation resolves once that is durable.
    pub fn call_race_won(
        &mut self,
        race: &Location,
        winner: &Name,
        site: CallSite,
    ) -> Option<OpId> {
        if !self.may_call("race_won", race, site) {
            return None;
        }
        let said = RaceWon {
            location: race.clone(),
            winner: winner.clone(),
        };
        self.say_at(said.into(), Some(site))?;
        self.strict = true;
        self.stop_losers(race);
        Some(self.operations.open(race.clone(), Kind::Race))
    }

    /// The losers of a race stand still until they are dropped: events are not theirs any more.
    fn stop_losers(&mut self, race: &Location) {
        let inside = Self::scope_of(race);
        let is_inside = |place: &Location| place.scope.segments().starts_with(inside.segments());
        let waits = self.operations.iter().filter(|(_, operation)| {
            matches!(operation.kind, Kind::Wait { .. }) && is_inside(&operation.location)
        });
        let waits: Vec<OpId> = waits.map(|(op, _)| op).collect();
        for op in waits {
            self.mailbox.forget(op);
        }
    }

    pub(super) fn fold_race_won(&mut self, race: &Location) {
        if let Some((op, operation)) = self.operations.at(race)
            && matches!(operation.kind, Kind::Race)
        {
            self.pending.push_back((op, Resolution::Won));
        }
    }

    /// A switch takes one of its branches: the recorded one, if there is one.
    ///
    /// # Errors
    /// If the code offers no such branch.
    pub fn call_switch(
        &mut self,
        scope: &Scope,
        name: &Name,
        chosen: Option<&Name>,
        offered: &[Name],
        site: CallSite,
    ) -> Result<Option<(Location, Name)>, Failure> {
        let Some(location) = self.call(scope, name, "switch_chosen", site) else {
            return Ok(None);
        };
        let remembered = match self.memo.take(&location) {
            Some(Remembered::Chosen(branch)) => Some(branch),
            _ => None,
        };
        let recorded = remembered.or_else(|| self.recorded_choice(&location));
        let branch = match recorded {
            Some(branch) if offered.contains(&branch) => branch,
            Some(branch) => {
                self.halt_on_lost_branch(location, &branch, site);
                return Ok(None);
            }
            None => {
                let Some(branch) = chosen else {
                    return Err(no_case(name, offered));
                };
                let said = SwitchChosen {
                    location: location.clone(),
                    branch: branch.clone(),
                };
                if self.say_at(said.into(), Some(site)).is_none() {
                    return Ok(None);
                }
                branch.clone()
            }
        };
        Ok(Some((location, branch)))
    }

    /// What the journal says this switch chose, if that comes next in the script.
    fn recorded_choice(&mut self, location: &Location) -> Option<Name> {
        match self.script.next_expected() {
            Some(Body::SwitchChosen(recorded)) if recorded.location == *location => {
                let branch = recorded.branch.clone();
                self.script.pop_expected();
                Some(branch)
            }
            _ => None,
        }
    }

    fn halt_on_lost_branch(&mut self, location: Location, branch: &Name, site: CallSite) {
        self.halt(Halt::Diverged(Box::new(Divergence {
            record: None,
            recorded: Some(("switch_chosen", location.clone())),
            recorded_site: None,
            called: Some(("switch_chosen", location)),
            called_site: Some(site),
            detail: Some(format!(
                "it chose `{branch}`, which the code no longer offers"
            )),
        })));
    }
}

fn no_case(name: &Name, offered: &[Name]) -> Failure {
    let offered: Vec<_> = offered.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "switch `{name}` has no case for its value and no default; it has {}",
        if offered.is_empty() {
            "no cases".to_owned()
        } else {
            offered.join(", ")
        }
    );
    Failure::new(ErrorCode::NoCase, message)
}
