//! Switches: one of several branches, chosen by a value. The choice is recorded before the branch
//! runs, and is final.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, SwitchCall, branch_scope};
use everstep_model::{Name, PayloadError};
use serde::Serialize;
use serde_json::Value;

use super::branches::Running;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::options::invalid;

/// The name of the branch for values without a case.
const DEFAULT: &str = "default";

enum State<'a, W, V, T> {
    New(V, Result<Vec<Case<'a, W, V, T>>>),
    Running(Running<'a, T>),
    /// The code must not continue.
    Stopped,
}

/// A branch before the choice.
struct Case<'a, W, V, T> {
    name: String,
    condition: Condition<'a, V>,
    begin: Begin<'a, W, V, T>,
}

type Begin<'a, W, V, T> = Box<dyn FnOnce(Ctx<W>, V) -> Running<'a, T> + Send + 'a>;

/// Which values a case is for.
enum Condition<'a, V> {
    Equals(Value),
    Holds(Box<dyn Fn(&V) -> bool + Send + 'a>),
    /// All values without another case.
    Otherwise,
}

/// A switch. Give it cases, then await it.
#[must_use = "a switch does nothing until it is awaited"]
pub struct Switch<'a, W, V, T> {
    ctx: Ctx<W>,
    name: String,
    state: State<'a, W, V, T>,
    site: CallSite,
}

impl<W, V, T> Unpin for Switch<'_, W, V, T> {}

impl<W> Ctx<W> {
    /// Runs the branch of the first case that fits a value. The choice is recorded before the
    /// branch runs, so the run keeps it even if the code chooses another case later. The branch
    /// receives the value.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result};
    /// # use serde::Serialize;
    /// #[derive(Clone, Copy, Debug, Serialize)]
    /// enum Method {
    ///     Card,
    ///     Voucher(u32),
    /// }
    ///
    /// async fn pay(ctx: Ctx, method: Method) -> Result<String> {
    ///     ctx.switch("pay", method)
    ///         .case(Method::Card, |ctx, _| async move {
    ///             ctx.step("charge", || async { Ok::<_, Error>("charged".to_owned()) }).await
    ///         })
    ///         .when("large voucher", |method| matches!(method, Method::Voucher(100..)), |ctx, method| async move {
    ///             ctx.step("check", || async move { Ok::<_, Error>(format!("checked {method:?}")) }).await
    ///         })
    ///         .default(|_, _| async { Err(Error::fatal("unknown method")) })
    ///         .await
    /// }
    /// ```
    #[track_caller]
    pub fn switch<'a, V, T>(&self, name: &str, value: V) -> Switch<'a, W, V, T>
    where
        V: Serialize + Send + 'a,
    {
        Switch {
            ctx: self.clone(),
            name: name.to_owned(),
            state: State::New(value, Ok(Vec::new())),
            site: CallSite::caller(),
        }
    }
}

impl<'a, W, V: Serialize, T> Switch<'a, W, V, T> {
    /// Adds the branch for a value, which is compared as JSON. Its name is the text of the value: a
    /// string without quotes, other values as JSON. If that is no valid name, use [`Switch::when`].
    pub fn case<F, Fut>(mut self, value: impl Serialize, run: F) -> Self
    where
        F: FnOnce(Ctx<W>, V) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        match (json(&value), &mut self.state) {
            (Ok(value), _) => {
                let name = match &value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                self.add(name, Condition::Equals(value), run)
            }
            (Err(error), State::New(_, cases)) => {
                *cases = Err(error);
                self
            }
            (Err(_), State::Running(_) | State::Stopped) => self,
        }
    }

    /// Adds a named branch for the values that fulfil a condition. Like all code of a workflow, the
    /// condition depends only on the value and on what is recorded.
    pub fn when<F, Fut>(
        self,
        name: &str,
        condition: impl Fn(&V) -> bool + Send + 'a,
        run: F,
    ) -> Self
    where
        F: FnOnce(Ctx<W>, V) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        self.add(name.to_owned(), Condition::Holds(Box::new(condition)), run)
    }

    /// Adds the branch for all other values, named `default`.
    pub fn default<F, Fut>(self, run: F) -> Self
    where
        F: FnOnce(Ctx<W>, V) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        self.add(DEFAULT.to_owned(), Condition::Otherwise, run)
    }

    fn add<F, Fut>(mut self, name: String, condition: Condition<'a, V>, run: F) -> Self
    where
        F: FnOnce(Ctx<W>, V) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        if let State::New(_, Ok(cases)) = &mut self.state {
            cases.push(Case {
                name,
                condition,
                begin: Box::new(move |ctx, value| Box::pin(run(ctx, value))),
            });
        }
        self
    }

    /// Chooses and starts the branch.
    fn begin(&self, value: V, cases: Vec<Case<'a, W, V, T>>) -> Result<State<'a, W, V, T>> {
        let as_json = json(&value)?;
        let fitting = fitting(&value, &as_json, &cases);
        let called = self.ctx.shared().with(|execution| {
            let replay = &mut execution.replay;
            let name = replay.name(&self.name)?;
            let names = cases.iter().map(|case| replay.name(&case.name));
            let offered = names.collect::<Result<Vec<Name>, _>>()?;
            for (index, case) in offered.iter().enumerate() {
                if offered.iter().take(index).any(|earlier| earlier == case) {
                    return Err(invalid(&format!(
                        "switch `{name}` has two cases named `{case}`; names must differ"
                    )));
                }
            }
            let chosen = fitting.and_then(|index| offered.get(index));
            let switch = SwitchCall {
                chosen: chosen.ok_or(&as_json as &dyn Display),
                offered: &offered,
            };
            let called = replay.call(self.ctx.scope(), &name, switch, self.site);
            called
                .transpose()
                .map_err(|failure| Error::from_failure(failure).non_retryable())
        });
        let Some((place, branch)) = called.transpose()?.flatten() else {
            return Ok(State::Stopped);
        };
        let mut cases = cases.into_iter();
        let Some(case) = cases.find(|case| case.name == branch.as_str()) else {
            return Ok(State::Stopped);
        };
        let scope = branch_scope(&place, &branch);
        let running = (case.begin)(self.ctx.in_scope(scope), value);
        Ok(State::Running(running))
    }
}

/// Returns the index of the first case that fits a value.
fn fitting<W, V, T>(value: &V, as_json: &Value, cases: &[Case<'_, W, V, T>]) -> Option<usize> {
    let first = cases.iter().position(|case| match &case.condition {
        Condition::Equals(other) => other == as_json,
        Condition::Holds(holds) => holds(value),
        Condition::Otherwise => false,
    });
    let is_default = |case: &Case<'_, W, V, T>| matches!(case.condition, Condition::Otherwise);
    first.or_else(|| cases.iter().position(is_default))
}

fn json(value: &impl Serialize) -> Result<Value> {
    let value = serde_json::to_value(value).map_err(PayloadError::Unserializable);
    Ok(value?)
}

impl<W, V: Serialize, T> Future for Switch<'_, W, V, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let State::New(..) = &this.state
            && let State::New(value, cases) = std::mem::replace(&mut this.state, State::Stopped)
        {
            this.state = this.begin(value, cases?)?;
        }
        match &mut this.state {
            State::Running(running) => running.as_mut().poll(context),
            State::New(..) | State::Stopped => Poll::Pending,
        }
    }
}
debug_by_name!(impl<W, V, T> Switch<'_, W, V, T>: name);
