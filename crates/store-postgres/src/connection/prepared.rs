//! Statements that are prepared once per connection, so that the server does not parse and analyse
//! them at each call. Only for direct connections: behind a pooler, the next call may reach another
//! server process, which does not have the statement.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row, Statement};

use crate::connection::argument::Argument;

/// The prepared statements of one connection, by their text. There is one text per kind of call.
#[derive(Default)]
pub(crate) struct Prepared(Mutex<HashMap<String, Statement>>);

impl Prepared {
    /// Executes a statement in its own transaction. The first call with a text takes a second round
    /// trip.
    pub(crate) async fn query(
        &self,
        client: &Client,
        text: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.statement(client, text, arguments).await?;
        let values: Vec<_> = arguments.iter().map(|(value, _)| *value).collect();
        match client.query(&statement, &values).await {
            // Nothing was executed: the statement was deallocated, or its functions were replaced.
            Err(error) if is_outdated(&error) => {
                self.statements().remove(text);
                client.query_typed(text, arguments).await
            }
            answer => answer,
        }
    }

    async fn statement(
        &self,
        client: &Client,
        text: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Statement, Error> {
        let known = self.statements().get(text).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let types: Vec<_> = arguments.iter().map(|(_, kind)| kind.clone()).collect();
        let statement = client.prepare_typed(text, &types).await?;
        self.statements().insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<String, Statement>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_outdated(error: &Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::INVALID_SQL_STATEMENT_NAME)
        || code == Some(&SqlState::FEATURE_NOT_SUPPORTED)
}

#[cfg(test)]
#[path = "prepared_tests.rs"]
mod tests;
