//! A payment that is charged immediately, then reviewed by a person after a day, and kept or
//! refunded.
//!
//! It shows custom retries, idempotency keys, a durable sleep, typed events with a timeout, and
//! rows that a browser can follow live. The process may crash at any point and stay down for any
//! time.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Event, Options, Result, Retry, Workflow, interface, minutes, secs};
use serde::{Deserialize, Serialize};

use crate::gateway::{Charge, Customer, Gateway, GatewayError};
use crate::pace::Pace;

/// Charges a customer and keeps the money only if a reviewer approves.
#[derive(Clone, Debug, Default)]
pub struct Payment {
    /// Executes the charges.
    pub gateway: Gateway,
    /// Waiting times.
    pub pace: Pace,
}

/// The input of a run: `{"customer": "ada", "amount": 4200}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PaymentInput {
    /// The customer to charge.
    pub customer: String,
    /// The amount in cents.
    pub amount: u64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The provider's ID of the charge.
    pub charge_id: String,
    /// The final state.
    pub status: PaymentStatus,
    /// The refunded amount in cents.
    pub refunded: u64,
}

/// The state of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentStatus {
    /// Charged, not reviewed yet.
    Charged,
    /// Waiting for a reviewer.
    InReview,
    /// Approved; the customer can still request a refund.
    Approved,
    /// Kept.
    Settled,
    /// Refunded in part or in full at the customer's request.
    Refunded,
    /// Refunded because the reviewer rejected it.
    Rejected,
    /// Refunded because there was no review in time.
    Expired,
}

/// The decision of a reviewer: `{"approved": true, "reviewer": "grace"}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Whether the payment is approved.
    pub approved: bool,
    /// The name of the reviewer.
    pub reviewer: String,
}

impl Event for Approval {
    const NAME: &'static str = "approval";
}

/// The customer requests a refund: `{"reason": "too small", "amount": 1000}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefundRequested {
    /// The reason.
    pub reason: String,
    /// The amount in cents, limited to the charged amount.
    pub amount: u64,
}

impl Event for RefundRequested {
    const NAME: &'static str = "refund-requested";
}

// Only these two events can be sent or awaited: `run.send(&SomethingElse)` does not compile.

interface!(pub PaymentInterface { events: Approval, RefundRequested; });

impl Workflow for Payment {
    const NAME: &'static str = "payment";
    type Input = PaymentInput;
    type Output = Receipt;
    type Interface = PaymentInterface;

    /// The default options of all steps.
    fn options() -> Options {
        Options::new().retry(Retry::exponential(3, secs(1)))
    }

    async fn run(&self, ctx: Ctx<Self>, input: PaymentInput) -> Result<Receipt> {
        let customer = ctx
            .step("fetch-user", || self.fetch_user(&input.customer))
            .await?;

        // The bank needs more retries than other steps. All attempts share an idempotency key, so
        // that an attempt whose result was lost in a crash does not charge twice.
        let charge = ctx
            .step_with("charge", |step| {
                let (key, attempt) = (step.idempotency_key(), step.attempt);
                self.charge(key, attempt, input.amount)
            })
            .retry(Retry::exponential(5, secs(2)).max_delay(minutes(1)))
            .timeout(secs(30))
            .await?;
        show(&ctx, &input, PaymentStatus::Charged)?;

        // A sleeping run uses no memory, and wakes up on time even if the process was restarted.
        ctx.sleep("cool-off", self.pace.cool_off).await?;

        // An approval that was sent early is already in the journal. Without one, the result is
        // `None`, now and on every replay.
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

/// The row of a payment for live clients.
#[derive(Serialize)]
struct PaymentRow<'a> {
    customer: &'a str,
    amount: u64,
    status: PaymentStatus,
}

/// Sets the row `payment/<run id>`. A browser that follows the run sees the change.
fn show(ctx: &Ctx<Payment>, input: &PaymentInput, status: PaymentStatus) -> Result<()> {
    let row = PaymentRow {
        customer: &input.customer,
        amount: input.amount,
        status,
    };
    ctx.set_row("payment", ctx.metadata().id.as_str(), &row)
}

/// Emits a notification to listeners of the engine and returns the receipt.
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
            // Every error converts with `?` and is retried. Mark permanent errors as fatal.
            Err(error @ GatewayError::Declined) => Err(Error::from(error).non_retryable()),
            charged => Ok(charged?),
        }
    }

    /// A part of a workflow can be a separate function that takes the `ctx`.
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
        // Best effort: if the mail server is down for good, the payment still succeeds.
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
