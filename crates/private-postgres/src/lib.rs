//! Starts a PostgreSQL server for a test, in a temporary directory, on a free port, with durable
//! settings (dev only).
//!
//! Tests need not stop it. A shell process waits for the end of a pipe that only the test process
//! holds. When that process ends in any way, the shell stops the server and deletes the directory.
//! This crate does not depend on Everstep.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test without its server fails by panicking"
)]

mod pooler;
mod programs;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use pooler::Pooler;
use programs::Programs;

/// How often to try another port if the chosen one was taken in the meantime.
const PORTS_TRIED_MAX: u32 = 5;

/// A server that runs until it is dropped or the process ends.
#[derive(Debug)]
pub struct Server {
    programs: Programs,
    folder: PathBuf,
    port: u16,
    /// The shell that stops the server when its stdin is closed.
    keeper: Option<Child>,
}

/// How to stop a server.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// Closes connections and writes all data.
    Fast,
    /// Stops without writing, as if the server had crashed.
    Immediate,
}

impl Server {
    /// Returns the server that all tests of this process share.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));
        &SHARED
    }

    /// Starts a server with additional settings.
    ///
    /// # Panics
    /// Panics if PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_with_files(settings, &[])
    }

    /// Starts a server with additional settings and with these files in its directory, readable
    /// only by the server, such as certificates and keys.
    ///
    /// # Panics
    /// Panics if PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn start_with_files(settings: &[(&str, &str)], files: &[(&str, &str)]) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("everstep-postgres-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let programs = Programs::find();
        programs.make_folder(&folder);
        let data = folder.join("data");
        programs.run("initdb", &initdb_arguments(&data));
        let mut server = Self {
            keeper: None,
            programs,
            folder,
            port: 0,
        };
        server.keeper = Some(server.keep_watch());
        server.configure(settings);
        for (name, text) in files {
            server.add_file(name, text);
        }
        server.start_on_a_free_port();
        server
    }

    /// The URL of the server, for a superuser without a password.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The port of the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path of one of the files that the server was started with.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join("data").join(name)
    }

    /// Restarts the server on the same port.
    pub fn restart(&self, how: Stop) {
        self.stop(how);
        self.resume();
    }

    /// Stops the server.
    pub fn stop(&self, how: Stop) {
        let data = self.data();
        let mode = how.mode();
        let arguments = ["-D", &data, "-m", mode, "-w", "stop"];
        self.programs.run("pg_ctl", &arguments.map(str::to_owned));
    }

    /// Starts a stopped server again.
    pub fn resume(&self) {
        assert!(
            self.try_to_start(),
            "the server did not start: {}",
            self.log()
        );
    }

    /// Turns the server into a standby, which waits for a primary and rejects writes.
    pub fn become_standby(&self) {
        self.stop(Stop::Fast);
        let signal = self.folder.join("data/standby.signal");
        fs::write(&signal, "").expect("cannot signal the server");
        self.programs.own(&signal);
        self.resume();
    }

    /// Promotes a standby to primary, which begins a new timeline.
    pub fn promote(&self) {
        let data = self.data();
        let arguments = ["-D", &data, "-w", "promote"];
        self.programs.run("pg_ctl", &arguments.map(str::to_owned));
    }

    /// The processor time of all ended processes of the server (Linux only).
    #[must_use]
    pub fn processor_time(&self) -> Option<Duration> {
        let file = self.folder.join("data/postmaster.pid");
        let pid = fs::read_to_string(file).ok()?;
        processor_time_of(pid.lines().next()?)
    }

    /// Returns the log of the server.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    fn configure(&self, settings: &[(&str, &str)]) {
        let mut text = String::from(
            "listen_addresses = '127.0.0.1'\nfsync = on\nfull_page_writes = on\nsynchronous_commit = on\n\
             max_connections = 200\n",
        );
        for (name, value) in settings {
            text.push_str(&format!("{name} = '{value}'\n"));
        }
        let sockets = self.folder.display();
        text.push_str(&format!("unix_socket_directories = '{sockets}'\n"));
        let path = self.folder.join("data/postgresql.auto.conf");
        fs::write(&path, text).expect("cannot configure the server");
    }

    fn add_file(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::write(&path, text).expect("cannot write a file for the server");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let only_owner = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&path, only_owner)
                .expect("cannot change the permissions of the file");
        }
        self.programs.own(&path);
    }

    fn start_on_a_free_port(&mut self) {
        for _ in 0..PORTS_TRIED_MAX {
            self.port = free_port();
            if self.try_to_start() {
                return;
            }
        }
        panic!("the server did not start: {}", self.log());
    }

    fn try_to_start(&self) -> bool {
        let data = self.data();
        let log = self.folder.join("log").display().to_string();
        let options = format!("-p {}", self.port);
        let arguments = ["-D", &data, "-l", &log, "-o", &options, "-w", "start"];
        let arguments = arguments.map(str::to_owned);
        self.programs.succeeds("pg_ctl", &arguments)
    }

    /// Starts a shell that stops the server and deletes its directory when its stdin is closed. It
    /// ignores signals that end the test.
    fn keep_watch(&self) -> Child {
        let stop = self.programs.shell_line("pg_ctl");
        let script = format!(
            "trap '' INT TERM HUP; cat >/dev/null; {stop} -D \"$1/data\" -m immediate stop >/dev/null 2>&1; rm -rf \"$1\""
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, "keeper"]).arg(&self.folder);
        shell.stdin(Stdio::piped());
        shell.spawn().expect("cannot start a shell")
    }
}

/// The processor time of a process (or `self`) and of its ended children (Linux only).
#[must_use]
pub fn processor_time_of(pid: &str) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The fields after the process name: user and system time of the process and of its children,
    // in hundredths of a second.
    let numbers = stat.rsplit_once(") ")?.1.split(' ');
    let ticks = numbers.skip(11).take(4).map(str::parse::<u64>);
    let ticks: u64 = ticks.collect::<Result<Vec<_>, _>>().ok()?.iter().sum();
    Some(Duration::from_millis(ticks * 10))
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

impl Stop {
    fn mode(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Immediate => "immediate",
        }
    }
}

fn initdb_arguments(data: &Path) -> Vec<String> {
    let data = data.display().to_string();
    // The initial files need not be synced; everything afterwards is.
    let arguments = [
        "-D",
        &data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-locale",
        "--no-sync",
    ];
    arguments.map(str::to_owned).into()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("no free port");
    listener
        .local_addr()
        .expect("the listener has no address")
        .port()
}
