//! The cluster: three API nodes, four workers, two timer pollers and a database, with nothing else between them.

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
    /// Starts all of it. What the processes write goes into the folder.
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

    /// Where the API nodes listen.
    pub(crate) fn apis(&self) -> Vec<String> {
        let apis = self.nodes.iter().take(APIS);
        apis.map(|node| format!("http://127.0.0.1:{}", node.port))
            .collect()
    }

    /// Processes that ended although nobody asked them to.
    pub(crate) fn ended_by_themselves(&self) -> Vec<String> {
        self.nodes.iter().filter_map(Node::has_ended).collect()
    }

    /// Ends every node in good order; the names of those that did not.
    pub(crate) fn end(&self) -> anyhow::Result<Vec<String>> {
        let mut bad = Vec::new();
        for node in &self.nodes {
            if !node.end()? {
                bad.push(node.name.clone());
            }
        }
        Ok(bad)
    }

    /// How often the database says that it had been interrupted.
    pub(crate) fn database_crashes(&self) -> usize {
        self.database
            .log()
            .matches("database system was interrupted")
            .count()
    }
}
