//! The cluster: a database and the processes that share it.

use std::path::Path;

use everstep::Role;
use everstep_private_postgres::Server;

use crate::process::Node;

const APIS: usize = 3;
const WORKERS: usize = 4;
const POLLERS: usize = 2;

pub(crate) struct Cluster {
    pub(crate) database: Server,
    pub(crate) nodes: Vec<Node>,
}

impl Cluster {
    /// Starts the database and all nodes. Logs and ledgers go into the folder.
    pub(crate) fn start(folder: &Path) -> anyhow::Result<Self> {
        let database = Server::start(&[]);
        let mut nodes = Vec::new();
        for (name, count, role) in [
            ("api", APIS, Role::Api),
            ("worker", WORKERS, Role::Worker),
            ("timers", POLLERS, Role::Timers),
        ] {
            for number in 0..count {
                let name = format!("{name}{number}");
                nodes.push(Node::new(name, &database.url(), &[role], folder));
            }
        }
        for node in &nodes {
            node.start()?;
        }
        Ok(Self { database, nodes })
    }

    /// Returns the URLs of the API nodes.
    pub(crate) fn apis(&self) -> Vec<String> {
        let apis = self.nodes.iter().take(APIS);
        apis.map(|node| format!("http://127.0.0.1:{}", node.port))
            .collect()
    }

    /// Describes processes that exited unexpectedly.
    pub(crate) fn unexpected_exits(&self) -> Vec<String> {
        self.nodes.iter().filter_map(Node::has_ended).collect()
    }

    /// Shuts down all nodes. Returns the names of those that failed to shut down cleanly.
    pub(crate) fn end(&self) -> anyhow::Result<Vec<String>> {
        let mut bad = Vec::new();
        for node in &self.nodes {
            if !node.end()? {
                bad.push(node.name.clone());
            }
        }
        Ok(bad)
    }

    /// Counts the recoveries in the log of the database.
    pub(crate) fn database_crashes(&self) -> usize {
        self.database
            .log()
            .matches("database system was interrupted")
            .count()
    }
}
