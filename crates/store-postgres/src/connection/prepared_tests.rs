//! Prepared statements whose functions are replaced, and which the server no longer has.

use everstep_private_postgres::Server;
use tokio_postgres::NoTls;

use super::*;
use crate::connection::argument::arguments;
use crate::connection::direct::tests::on_one_thread;

struct Session {
    client: Client,
    prepared: Prepared,
}

impl Session {
    async fn open() -> Self {
        let connected = tokio_postgres::connect(&Server::shared().url(), NoTls).await;
        let (client, connection) = connected.unwrap();
        tokio::spawn(connection);
        let prepared = Prepared::default();
        Self { client, prepared }
    }

    /// Replaces the function `pg_temp.answer`, which only this session has.
    async fn define(&self, result: &str, body: &str) {
        let define = format!(
            "DROP FUNCTION IF EXISTS pg_temp.answer;
            CREATE FUNCTION pg_temp.answer(bigint) RETURNS {result} LANGUAGE sql AS 'SELECT {body}'"
        );
        self.client.batch_execute(&define).await.unwrap();
    }

    async fn call(&self) -> Row {
        let call = "SELECT pg_temp.answer($1)";
        let rows = self
            .prepared
            .query(&self.client, call, &arguments![20i64])
            .await;
        rows.unwrap().remove(0)
    }

    async fn statements(&self) -> i64 {
        let count = "SELECT count(*) FROM pg_prepared_statements";
        self.client.query_typed(count, &[]).await.unwrap()[0].get(0)
    }
}

#[test]
fn a_statement_is_prepared_once() {
    on_one_thread(async {
        let session = Session::open().await;
        session.define("bigint", "$1 + 1").await;
        for _ in 0..3 {
            assert_eq!(session.call().await.get::<_, i64>(0), 21);
        }
        assert_eq!(session.statements().await, 1);
    });
}

#[test]
fn a_statement_that_the_server_has_dropped_is_executed_and_prepared_again() {
    on_one_thread(async {
        let session = Session::open().await;
        session.define("bigint", "$1 + 1").await;
        session.call().await;
        session
            .client
            .batch_execute("DEALLOCATE ALL")
            .await
            .unwrap();
        assert_eq!(session.call().await.get::<_, i64>(0), 21);
        session.call().await;
        assert_eq!(session.statements().await, 1);
    });
}

#[test]
fn a_statement_calls_the_function_that_replaced_its_own() {
    on_one_thread(async {
        let session = Session::open().await;
        session.define("bigint", "$1 + 1").await;
        session.call().await;
        session.define("bigint", "$1 + 2").await;
        assert_eq!(session.call().await.get::<_, i64>(0), 22);
        session.define("text", "''text''::text").await;
        assert_eq!(session.call().await.get::<_, String>(0), "text");
    });
}
