//! A payment that is charged at once, rests for a day, and is then approved by a person, or given back.
//!
//! It shows retries of one's own, idempotency keys, a durable sleep, typed events with a timeout, and rows that a
//! browser can follow live. The process may die anywhere in it, for as long as it likes.

use everstep::{
    Accepts, Ctx, Declare, Error, Event, Options, Result, Retry, Workflow, minutes, secs,
};
use serde::{Deserialize, Serialize};

use crate::gateway::{Charge, Customer, Gateway, GatewayError};
use crate::pace::Pace;

/// Takes money, and keeps it only if somebody approves.
#[derive(Clone, Debug, Default)]
pub struct Payment {
    /// Who moves the money.
    pub gateway: Gateway,
    /// How long it waits.
    pub pace: Pace,
}

/// What a run is started with: `{"customer": "ada", "amount": 4200}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PaymentInput {
    /// Who pays.
    pub customer: String,
    /// How much, in cents.
    pub amount: u64,
}

/// What a run returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The provider's id of the charge.
    pub charge_id: String,
    /// How it ended.
    pub status: PaymentStatus,
    /// How much was given back, in cents.
    pub refunded: u64,
}

/// What a payment is doing, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentStatus {
    /// Charged, not yet looked at.
    Charged,
    /// Waiting for a reviewer.
    InReview,
    /// Approved; the customer may still ask for the money back.
    Approved,
    /// Kept.
    Settled,
    /// Given back in part or whole because the customer asked.
    Refunded,
    /// Given back because a reviewer said no.
    Rejected,
    /// Given back because no reviewer said anything.
    Expired,
}

/// A reviewer decided: `{"approved": true, "reviewer": "grace"}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Approval {
    /// Yes or no.
    pub approved: bool,
    /// Who says so.
    pub reviewer: String,
}

impl Event for Approval {
    const NAME: &'static str = "approval";
}

/// The customer wants money back: `{"reason": "too small", "amount": 1000}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefundRequested {
    /// Why.
    pub reason: String,
    /// How much, in cents; never more than was charged.
    pub amount: u64,
}

impl Event for RefundRequested {
    const NAME: &'static str = "refund-requested";
}

// Only these two can be sent or awaited: `run.send(&SomethingElse)` does not compile.
impl Accepts<Approval> for Payment {}
impl Accepts<RefundRequested> for Payment {}

impl Workflow for Payment {
    const NAME: &'static str = "payment";
    type Input = PaymentInput;
    type Output = Receipt;

    /// What all steps do unless they say otherwise.
    fn options() -> Options {
        Options::new().retry(Retry::exponential(3, secs(1)))
    }

    /// Lets untyped senders (HTTP, other languages) be checked too.
    fn declare(declare: &mut Declare<Self>) {
        declare.event::<Approval>().event::<RefundRequested>();
    }

    async fn run(&self, ctx: Ctx<Self>, input: PaymentInput) -> Result<Receipt> {
        let customer = ctx
            .step("fetch-user", || self.fetch_user(&input.customer))
            .await?;

        // A bank needs more patience than the other steps. Every attempt carries the same key, so that an attempt
        // whose answer was lost in a crash does not take the money twice.
        let charge = ctx
            .step_with("charge", |step| {
                let (key, attempt) = (step.idempotency_key(), step.attempt);
                self.charge(key, attempt, input.amount)
            })
            .retry(Retry::exponential(5, secs(2)).max_delay(minutes(1)))
            .timeout(secs(30))
            .await?;
        show(&ctx, &input, PaymentStatus::Charged)?;

        // The run costs nothing meanwhile, and wakes on time whether or not the process was restarted.
        ctx.sleep("cool-off", self.pace.cool_off).await?;

        // An approval that was sent early is waiting already; one that never comes is `None`, now and on every replay.
        show(&ctx, &input, PaymentStatus::InReview)?;
        let approval = ctx.event::<Approval>().timeout(self.pace.approval).await?;
        let status = match &approval {
            Some(approval) if approval.approved => PaymentStatus::Approved,
            Some(_) => PaymentStatus::Rejected,
            None => PaymentStatus::Expired,
        };
        show(&ctx, &input, status)?;
        if status != PaymentStatus::Approved {
            let refunded = self.refund(&ctx, &customer, &charge, charge.amount).await?;
            return finish(&ctx, charge, status, refunded);
        }
        let reviewer = approval.map_or_else(String::new, |approval| approval.reviewer);
        ctx.note(format!("approved by {reviewer}"));

        let window = self.pace.refund_window;
        let request = ctx.event::<RefundRequested>().timeout(window).await?;
        let (status, refunded) = match request {
            Some(request) => {
                ctx.note(format!("the customer wants a refund: {}", request.reason));
                let refunded = self
                    .refund(&ctx, &customer, &charge, request.amount)
                    .await?;
                (PaymentStatus::Refunded, refunded)
            }
            None => (PaymentStatus::Settled, 0),
        };
        show(&ctx, &input, status)?;
        finish(&ctx, charge, status, refunded)
    }
}

/// The row that live clients see of a payment.
#[derive(Serialize)]
struct PaymentRow<'a> {
    customer: &'a str,
    amount: u64,
    status: PaymentStatus,
}

/// Sets the row `payment/<run id>`; a browser that follows the run sees it change.
fn show(ctx: &Ctx<Payment>, input: &PaymentInput, status: PaymentStatus) -> Result<()> {
    let row = PaymentRow {
        customer: &input.customer,
        amount: input.amount,
        status,
    };
    ctx.set_row("payment", ctx.metadata().id.as_str(), &row)
}

/// Tells whoever listens to the engine, and makes the receipt.
fn finish(
    ctx: &Ctx<Payment>,
    charge: Charge,
    status: PaymentStatus,
    refunded: u64,
) -> Result<Receipt> {
    let receipt = Receipt {
        charge_id: charge.id,
        status,
        refunded,
    };
    ctx.emit("payment-finished", &receipt)?;
    Ok(receipt)
}

impl Payment {
    async fn fetch_user(&self, id: &str) -> Result<Customer> {
        self.pace.pretend_to_work().await;
        Ok(self.gateway.customer(id))
    }

    async fn charge(&self, key: String, attempt: u32, amount: u64) -> Result<Charge> {
        self.pace.pretend_to_work().await;
        match self.gateway.charge(&key, amount, attempt) {
            // Every error converts with `?`, and is retried. Say so when that is no use.
            Err(error @ GatewayError::Declined) => Err(Error::from(error).non_retryable()),
            charged => Ok(charged?),
        }
    }

    /// Part of a workflow may live in a function of its own, as long as it gets the `ctx`.
    async fn refund(
        &self,
        ctx: &Ctx<Self>,
        customer: &Customer,
        charge: &Charge,
        amount: u64,
    ) -> Result<u64> {
        let refunded = ctx
            .step("refund", || async {
                self.pace.pretend_to_work().await;
                Ok::<_, Error>(self.gateway.refund(charge, amount))
            })
            .await?;
        // Nice to have: if the mail server is down for good, the payment is still what it is.
        ctx.step("send-refund-mail", || async {
            self.pace.pretend_to_work().await;
            Ok::<_, Error>(format!("told {}", customer.email))
        })
        .best_effort()
        .await?;
        Ok(refunded)
    }
}

#[cfg(test)]
mod tests;
