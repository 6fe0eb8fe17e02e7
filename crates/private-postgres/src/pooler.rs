//! A PgBouncer in transaction mode in front of a server. Between two transactions of a client,
//! PgBouncer may assign its server connection to another client, so clients must not rely on
//! session state.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Server, free_port};

/// The path of the Debian package, and the name on the search path.
const PATHS: [&str; 2] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
/// The number of server connections that all clients share. Fewer than one client opens, so that
/// connections change hands.
const CONNECTIONS: usize = 3;
/// How long PgBouncer may take to start.
const START_MAX: Duration = Duration::from_secs(10);

/// A pooler that runs until it is dropped or the process ends.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    folder: PathBuf,
    /// The shell that stops the pooler when its stdin is closed.
    keeper: Child,
}

impl Pooler {
    /// Starts a pooler in front of this server. Returns `None` if PgBouncer is not installed.
    ///
    /// # Panics
    /// Panics if PgBouncer does not start.
    #[must_use]
    pub fn start(server: &Server) -> Option<Self> {
        let program = PATHS
            .into_iter()
            .find(|path| fs::exists(path).unwrap_or(false))?;
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
        fs::write(&settings, text).expect("cannot configure the pooler");
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
            keeper: shell.spawn().expect("cannot start a shell"),
        };
        pooler.wait_until_it_listens();
        Some(pooler)
    }

    /// The URL of the pooler. No password is needed.
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
