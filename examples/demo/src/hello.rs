//! The smallest workflow: three consecutive steps.
//!
//! A *step* is where side effects happen. Its result is recorded in the run's journal once. After a
//! crash the function runs again from the top: completed steps return their recorded results, and
//! the first incomplete one continues.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Result, Workflow};
use serde::{Deserialize, Serialize};

use crate::pace::Pace;

/// Greets a person. A workflow is a plain type that contains the dependencies of its steps (here:
/// how slow to be).
#[derive(Clone, Copy, Debug, Default)]
pub struct Hello {
    /// Duration of the steps.
    pub pace: Pace,
}

/// The input of a run: `{"name": "Ada"}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HelloInput {
    /// The name of the person.
    pub name: String,
}

/// The result of a run: `{"greeting": "Hello, Ada!", "sentTo": "ada@example.com"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Greeting {
    /// The greeting.
    pub greeting: String,
    /// The address it was sent to.
    pub sent_to: String,
}

impl Workflow for Hello {
    // Permanent: runs refer to their code by this name.
    const NAME: &'static str = "hello";
    type Input = HelloInput;
    type Output = Greeting;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, input: HelloInput) -> Result<Greeting> {
        // The closure may borrow `self` and locals. It runs once, unless it fails or the process
        // crashes while it runs.
        let address = ctx
            .step("find-address", || self.find_address(&input.name))
            .await?;

        // Here the first result is durable. `address` is the same on every replay.
        let greeting = ctx
            .step("write-greeting", || self.write_greeting(&input.name))
            .await?;

        ctx.step("deliver", || self.deliver(&address, &greeting))
            .await?;

        ctx.note(format!("{} was greeted", input.name));
        Ok(Greeting {
            greeting,
            sent_to: address,
        })
    }
}

// Steps are ordinary async functions; call databases and services here.
impl Hello {
    async fn find_address(&self, name: &str) -> Result<String> {
        self.pace.pretend_to_work().await;
        let mailbox: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase();
        if mailbox.is_empty() {
            // A fatal error skips the retries, which would not help here.
            return Err(Error::fatal(format!("invalid name {name:?}")));
        }
        Ok(format!("{mailbox}@example.com"))
    }

    async fn write_greeting(&self, name: &str) -> Result<String> {
        self.pace.pretend_to_work().await;
        Ok(format!("Hello, {name}!"))
    }

    async fn deliver(&self, _address: &str, _greeting: &str) -> Result<()> {
        self.pace.pretend_to_work().await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everstep::testing::{VirtualRuntime, virtual_time};
    use everstep::{Engine, WaitError, Workflows};

    use super::*;

    async fn greet(name: &str) -> Result<Greeting, WaitError> {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let builder = Engine::in_memory().runtime(runtime).development(true);
        let engine = builder
            .workflows(Workflows::new().workflow(Hello::default()))
            .start()
            .await
            .unwrap();
        let input = HelloInput { name: name.into() };
        let greeting = engine.start_and_wait::<Hello>(&input).await;
        engine.shutdown().await;
        greeting
    }

    #[test]
    fn the_greeting_is_sent_to_the_address() {
        let greeting = virtual_time(greet("Ada")).unwrap();
        assert_eq!(greeting.greeting, "Hello, Ada!");
        assert_eq!(greeting.sent_to, "ada@example.com");
    }

    #[test]
    fn an_empty_name_is_rejected() {
        let error = virtual_time(greet("")).unwrap_err();
        assert!(matches!(error, WaitError::Failed(_)), "{error}");
        assert!(error.to_string().contains("invalid name"), "{error}");
    }
}
