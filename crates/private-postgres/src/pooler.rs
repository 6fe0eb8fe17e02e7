//! A PgBouncer in front of a server, in transaction mode: between two statements of a client, its connection to the server may be
//! given to somebody else, so nothing may be left in a session.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Server, free_port};

/// Where Debian puts it, and where it is on the path.
const PLACES: [&str; 2] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
/// Connections to the server that all clients share: fewer than one client opens, so that they really change hands.
const CONNECTIONS: usize = 3;
/// How long it may take until it listens.
const START_MAX: Duration = Duration::from_secs(10);

/// A pooler that runs until its process ends, or it is dropped.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    folder: PathBuf,
    /// Ends it when its own input does.
    keeper: Child,
}

impl Pooler {
    /// Starts one in front of this server; none if PgBouncer is not installed on this machine.
    ///
    /// # Panics
    /// If it is, and does not start.
    #[must_use]
    pub fn start(server: &Server) -> Option<Self> {
        let program = PLACES
            .into_iter()
            .find(|place| fs::exists(place).unwrap_or(false))?;
        let port = free_port();
        let folder = server.folder.join(format!("pooler-{port}"));
        server.programs.make_folder(&folder);
        let settings = folder.join("pgbouncer.ini");
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = {CONNECTIONS}\nmax_client_conn = 500\n",
            server.port
        );
        fs::write(&settings, text).expect("the pooler can be configured");
        server.programs.own(&settings);
        let run = server.programs.line_of(program).join(" ");
        let script = format!(
            "trap '' INT TERM HUP; {run} -q \"$1\" >\"$1.log\" 2>&1 </dev/null & cat >/dev/null; kill -9 $!"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "keeper"]).arg(&settings);
        shell.stdin(Stdio::piped()).stderr(Stdio::null());
        let pooler = Self {
            port,
            folder,
            keeper: shell.spawn().expect("a shell"),
        };
        pooler.wait_until_it_listens();
        Some(pooler)
    }

    /// Where it listens; as at the server, nobody needs a password.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn wait_until_it_listens(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = self.folder.join("pgbouncer.ini.log");
            assert!(
                begun.elapsed() < START_MAX,
                "PgBouncer did not start: {}",
                fs::read_to_string(log).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
