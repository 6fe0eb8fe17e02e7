//! An expense that needs approval: the run asks a question, shows it to clients, and continues with
//! the answer or after a timeout.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Result, Rpc, Workflow, interface};
use serde::{Deserialize, Serialize};

use crate::pace::Pace;

/// Reimburses an expense if a person approves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expense {
    /// How long to wait for the answer.
    pub pace: Pace,
}

/// The input of a run: `{"amount": 1500, "description": "Team dinner", "submittedBy":
/// "alice@example.com"}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpenseInput {
    /// The amount.
    pub amount: u64,
    /// What the money was spent on.
    pub description: String,
    /// The person to reimburse.
    pub submitted_by: String,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpenseResult {
    /// The outcome.
    pub status: ExpenseStatus,
    /// The reimbursed amount.
    pub reimbursed: u64,
    /// The comment of the approver.
    pub approver_notes: Option<String>,
}

/// The outcome of an expense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpenseStatus {
    /// Reimbursed.
    Reimbursed,
    /// Rejected.
    Rejected,
    /// Escalated because no answer arrived in time.
    Escalated,
}

/// The question, as clients see it: a method and its arguments.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApproveExpense {
    /// The amount.
    pub amount: u64,
    /// What the money was spent on.
    pub description: String,
    /// The person to reimburse.
    pub submitted_by: String,
}

/// The answer: `{"approved": true, "approverNotes": "Enjoy"}`. The server rejects any other shape
/// before storing it, and the question stays open.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpenseDecision {
    /// Whether the expense is approved.
    pub approved: bool,
    /// A comment.
    pub approver_notes: Option<String>,
}

impl Rpc for ApproveExpense {
    const METHOD: &'static str = "approveExpense";
    type Answer = ExpenseDecision;
}

interface!(pub ExpenseInterface { rpcs: ApproveExpense; });

impl Workflow for Expense {
    const NAME: &'static str = "expense";
    type Input = ExpenseInput;
    type Output = ExpenseResult;
    type Interface = ExpenseInterface;

    async fn run(&self, ctx: Ctx<Self>, input: ExpenseInput) -> Result<ExpenseResult> {
        ctx.step("file-receipt", || {
            self.pace.work(format!("filed {}", input.description))
        })
        .await?;

        // The first valid answer wins; later ones are rejected. `None` means that no answer arrived
        // in time.
        let decision = ctx
            .rpc(ApproveExpense {
                amount: input.amount,
                description: input.description.clone(),
                submitted_by: input.submitted_by.clone(),
            })
            .timeout(self.pace.approval)
            .await?;

        let result = match decision {
            Some(decision) if decision.approved => {
                let what = format!("sent {} to {}", input.amount, input.submitted_by);
                ctx.step("process-reimbursement", || self.pace.work(what.clone()))
                    .await?;
                ExpenseResult {
                    status: ExpenseStatus::Reimbursed,
                    reimbursed: input.amount,
                    approver_notes: decision.approver_notes,
                }
            }
            Some(decision) => {
                let what = format!("told {}", input.submitted_by);
                ctx.step("send-rejection", || self.pace.work(what.clone()))
                    .await?;
                ExpenseResult {
                    status: ExpenseStatus::Rejected,
                    reimbursed: 0,
                    approver_notes: decision.approver_notes,
                }
            }
            None => {
                ctx.note("nobody answered in time; somebody else has to decide");
                ctx.step("escalate", || {
                    self.pace.work("told the head of finance".to_owned())
                })
                .await?;
                ExpenseResult {
                    status: ExpenseStatus::Escalated,
                    reimbursed: 0,
                    approver_notes: None,
                }
            }
        };
        ctx.set_row("expense", ctx.metadata().id.as_str(), &result)?;
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everstep::operation::RpcId;
    use everstep::testing::{VirtualRuntime, virtual_time};
    use everstep::{Engine, ErrorCode, Handle, Payload, Workflows, days, secs};

    use super::*;

    async fn submit() -> (Engine, Handle<Expense>, RpcId) {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let builder = Engine::in_memory().runtime(runtime).development(true);
        let engine = builder
            .workflows(Workflows::new().workflow(Expense::default()))
            .start()
            .await
            .unwrap();
        let input = ExpenseInput {
            amount: 1_500,
            description: "Team dinner".into(),
            submitted_by: "alice@example.com".into(),
        };
        let run = engine.start::<Expense>(&input).await.unwrap();
        run.wait_within(secs(1)).await.unwrap_err();
        let open = run.inspect().await.unwrap().overview.rpcs;
        assert_eq!(open[0].method.as_str(), "approveExpense");
        let arguments =
            r#"{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}"#;
        assert_eq!(open[0].args.as_str(), arguments);
        (engine, run, open[0].rpc_id.clone())
    }

    fn decision(approved: bool) -> ExpenseDecision {
        ExpenseDecision {
            approved,
            approver_notes: Some("Enjoy".into()),
        }
    }

    #[test]
    fn an_approved_expense_is_paid_back() {
        virtual_time(async {
            let (engine, run, rpc) = submit().await;
            run.answer::<ApproveExpense>(&rpc, &decision(true))
                .await
                .unwrap();
            let result = run.wait().await.unwrap();
            assert_eq!(result.status, ExpenseStatus::Reimbursed);
            assert_eq!(result.reimbursed, 1_500);
            assert_eq!(result.approver_notes.as_deref(), Some("Enjoy"));
            engine.shutdown().await;
        });
    }

    #[test]
    fn a_rejected_expense_is_not_paid_back() {
        virtual_time(async {
            let (engine, run, rpc) = submit().await;
            run.answer::<ApproveExpense>(&rpc, &decision(false))
                .await
                .unwrap();
            let result = run.wait().await.unwrap();
            assert_eq!(result.status, ExpenseStatus::Rejected);
            assert_eq!(result.reimbursed, 0);
            engine.shutdown().await;
        });
    }

    #[test]
    fn an_expense_without_an_answer_is_escalated() {
        virtual_time(async {
            let (engine, run, rpc) = submit().await;
            let result = run.wait_within(days(8)).await.unwrap();
            assert_eq!(result.status, ExpenseStatus::Escalated);
            let late = run
                .answer::<ApproveExpense>(&rpc, &decision(true))
                .await
                .unwrap_err();
            let refused = [ErrorCode::RpcNotOpen, ErrorCode::RunFinished];
            assert!(refused.contains(&late.code()), "{late}");
            engine.shutdown().await;
        });
    }

    #[test]
    fn an_answer_of_the_wrong_shape_leaves_the_question_open() {
        virtual_time(async {
            let (engine, run, rpc) = submit().await;
            let error = run
                .answer_json(&rpc, Payload::from_value("yes").unwrap())
                .await
                .unwrap_err();
            assert_eq!(error.code(), ErrorCode::SchemaMismatch);
            run.answer::<ApproveExpense>(&rpc, &decision(true))
                .await
                .unwrap();
            run.wait().await.unwrap();
            engine.shutdown().await;
        });
    }
}
