//! Stores that intercept the calls of another store, such as fault injection and call counting.
//!
//! A call is a value ([`Call`]), and so is its result ([`Answer`]). A wrapper implements
//! [`Intercept`] with the hooks that it needs and thereby becomes a [`Store`].

use std::sync::Arc;

use everstep_model::{NodeId, StreamNumber};

use crate::commit::Commit;
use crate::contract::{
    BoxFuture, Description, Lease, Page, ReadRequest, ReadyRun, Store, StreamRef, TimerQuery,
};
use crate::error::StoreError;
use crate::head::Head;
use crate::list::{Count, ListPage, ListQuery};
use crate::outcome::Outcome;
use crate::row::{OutboxRow, Row, RowKey, TimerRow};
use crate::shared_row::{RowRange, SharedRow};

/// Wraps a store. Every type that implements this trait is a [`Store`].
pub trait Intercept: Send + Sync + 'static {
    /// Returns the wrapped store. Every call fails with the error, if any.
    fn target(&self) -> Result<Arc<dyn Store>, StoreError>;

    /// Returns the result of [`Store::describe`].
    fn description(&self) -> Description;

    /// Runs before each call. After an error the wrapped store is not called.
    fn before(&self, _call: &Call) -> Result<(), StoreError> {
        Ok(())
    }

    /// Runs after each successful call. It may change the answer or replace it by an error.
    fn after(&self, _call: &Call, _answer: &mut Answer) -> Result<(), StoreError> {
        Ok(())
    }

    /// Performs a call between both hooks. Wrappers override it to delay, repeat, change or
    /// swallow calls.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            let target = self.target()?;
            self.before(&call)?;
            let mut answer = call.clone().perform(&*target).await?;
            self.after(&call, &mut answer)?;
            Ok(answer)
        })
    }
}

macro_rules! calls {
    ($($variant:ident($($argument:ident: $type:ty),*), $method:ident -> $answer:ty;)*) => {
        /// A call of a store.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the methods of `Store` document these")]
        pub enum Call {
            Commit { batch: Arc<[Commit]> },
            $($variant { $($argument: $type),* },)*
        }

        /// The result of a successful call.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the methods of `Store` document these")]
        pub enum Answer {
            Commit(Vec<Outcome>),
            $($variant($answer),)*
        }

        impl Call {
            /// Returns the name of the method.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    Self::Commit { .. } => "commit",
                    $(Self::$variant { .. } => stringify!($method),)*
                }
            }

            /// Calls a store.
            pub async fn perform(self, store: &dyn Store) -> Result<Answer, StoreError> {
                match self {
                    Self::Commit { batch } => store.commit(&batch).await.map(Answer::Commit),
                    $(Self::$variant { $($argument),* } => {
                        store.$method($($argument),*).await.map(Answer::$variant)
                    })*
                }
            }
        }

        impl<I: Intercept> Store for I {
            fn commit<'a>(
                &'a self,
                batch: &'a [Commit],
            ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
                let answer = self.call(Call::Commit { batch: batch.into() });
                Box::pin(async move {
                    match answer.await? {
                        Answer::Commit(outcomes) => Ok(outcomes),
                        other => Err(mismatch("commit", &other)),
                    }
                })
            }

            $(fn $method(&self, $($argument: $type),*)
                -> BoxFuture<'_, Result<$answer, StoreError>>
            {
                let answer = self.call(Call::$variant { $($argument),* });
                Box::pin(async move {
                    match answer.await? {
                        Answer::$variant(answer) => Ok(answer),
                        other => Err(mismatch(stringify!($method), &other)),
                    }
                })
            })*

            fn describe(&self) -> Description {
                self.description()
            }
        }
    };
}

calls! {
    Head(stream: StreamRef), head -> Option<Head>;
    Read(request: ReadRequest), read -> Option<Page>;
    List(query: ListQuery), list -> ListPage;
    Count(query: ListQuery), count -> Count;
    Timers(query: TimerQuery), timers -> Vec<TimerRow>;
    Ready(after: Option<StreamNumber>, limit: usize), ready -> Vec<ReadyRun>;
    Outbox(after: Option<(StreamNumber, String)>, limit: usize), outbox -> Vec<OutboxRow>;
    Row(key: RowKey), row -> Option<Row>;
    Rows(range: RowRange), rows -> Vec<SharedRow>;
    Renew(lease: Lease), renew -> ();
    Retire(node: NodeId), retire -> ();
}

fn mismatch(method: &str, answer: &Answer) -> StoreError {
    StoreError::Unavailable {
        detail: format!("an interceptor answered `{method}` with {answer:?}"),
    }
}
