//! Mocked results of steps, and the number of attempts, mocked or real.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_engine::CodedError;
use everstep_machine::{StepStart, UndoStart};
use everstep_model::{Payload, PayloadError};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::execution::Mocks;

/// The result of a step that replaces its work.
///
/// ```
/// use everstep::testing::{Mock, TestEngine, virtual_time};
/// use everstep::{Ctx, Error, Payload, Result, Workflows};
///
/// async fn greet(ctx: Ctx, name: String) -> Result<String> {
///     ctx.step("greeting", || async { Ok::<_, Error>(format!("hello {name}")) }).await
/// }
///
/// virtual_time(async {
///     // Two failures, then the real work.
///     let test = TestEngine::builder()
///         .workflows(Workflows::new().function("greet", greet))
///         .mock_step("greeting", Mock::fails(Error::new("hoarse")).times(2))
///         .start()
///         .await;
///     let name = Payload::from_value("ada").unwrap();
///     let run = test.start_by_name("greet", name).await.unwrap();
///     assert_eq!(run.wait_json().await.unwrap().as_str(), r#""hello ada""#);
///     assert_eq!(test.calls("greeting"), 3);
/// });
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Mock {
    result: Result<Payload>,
    /// The number of attempts it applies to. None is unlimited.
    left: Option<u32>,
}

impl Mock {
    /// The step returns this value. If the value cannot be encoded as JSON, the step fails.
    pub fn returns<T: Serialize + ?Sized>(value: &T) -> Self {
        let invalid = |error: PayloadError| Error::permanent(error.code(), error.to_string());
        let result = Payload::from_value(value).map_err(invalid);
        Self { result, left: None }
    }

    /// The attempt fails with this error. The error and the policy of the step decide about
    /// retries.
    pub fn fails(error: Error) -> Self {
        Self {
            result: Err(error),
            left: None,
        }
    }

    /// Limits the mock to this number of attempts. Then the next mock of the step applies, or its
    /// real work.
    pub fn times(mut self, times: u32) -> Self {
        self.left = Some(times);
        self
    }
}

/// The mocks of a test engine. They survive restarts.
#[derive(Default)]
pub(super) struct MockedSteps(Mutex<State>);

#[derive(Default)]
struct State {
    /// By name or location, such as `charge` or `charge:1`.
    mocks: HashMap<String, VecDeque<Mock>>,
    calls: HashMap<String, u32>,
    /// The names of the steps that were called, by location.
    steps: BTreeMap<String, String>,
}

impl MockedSteps {
    pub(super) fn add(&self, step: String, mock: Mock) {
        self.state().mocks.entry(step).or_default().push_back(mock);
    }

    /// Adds a mock that applies before all other mocks of the step.
    pub(super) fn add_first(&self, step: String, mock: Mock) {
        let mut state = self.state();
        state.mocks.entry(step).or_default().push_front(mock);
    }

    /// The steps that were called so far, by location and name, sorted.
    pub(super) fn steps(&self) -> Vec<(String, String)> {
        let state = self.state();
        let steps = state.steps.iter();
        steps
            .map(|(place, name)| (place.clone(), name.clone()))
            .collect()
    }

    pub(super) fn calls(&self, step: &str) -> u32 {
        self.state().calls.get(step).copied().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts an attempt and returns its mocked result.
    fn call(&mut self, place: &str, name: &str) -> Option<Result<Payload>> {
        for key in [place, name] {
            *self.calls.entry(key.to_owned()).or_default() += 1;
        }
        self.next(place).or_else(|| self.next(name))
    }

    fn next(&mut self, step: &str) -> Option<Result<Payload>> {
        let queue = self.mocks.get_mut(step)?;
        while queue.front()?.left == Some(0) {
            queue.pop_front();
        }
        let mock = queue.front_mut()?;
        mock.left = mock.left.map(|left| left - 1);
        Some(mock.result.clone())
    }
}

impl Mocks for MockedSteps {
    fn result(&self, start: &StepStart) -> Option<Result<Payload>> {
        let (place, name) = (start.location.to_string(), start.location.name.to_string());
        let mut state = self.state();
        let mocked = state.call(&place, &name);
        state.steps.entry(place).or_insert(name);
        mocked
    }

    fn undo_result(&self, start: &UndoStart) -> Option<Result<()>> {
        let place = format!("rollback:{}", start.location);
        let name = format!("rollback:{}", start.location.name);
        let mocked = self.state().call(&place, &name);
        mocked.map(|result| result.map(drop))
    }
}
