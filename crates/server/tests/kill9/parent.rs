//! The process that kills the server, and then checks every stream against what was acknowledged
//! and read.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::load::{Reader, Writer};

const KILLS: u32 = 12;
const WRITERS: usize = 12;
const STREAMS: usize = 3;

/// A pseudo-random generator (xorshift) of the times at which to kill.
struct KillTimes(u64);

impl KillTimes {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

pub(crate) fn run() {
    let dir = tempfile::tempdir().unwrap();
    let seed = u64::from(std::process::id()) << 20 | 1;
    println!("kill -9 of a server with seed {seed}");
    let mut kill_times = KillTimes(seed);
    let mut writers: Vec<Writer> = (0..WRITERS).map(Writer::new).collect();
    let mut readers: Vec<Reader> = (0..STREAMS).map(Reader::new).collect();
    for _ in 0..KILLS {
        let (mut child, server) = start(dir.path());
        let until = Instant::now() + Duration::from_millis(50 + kill_times.next(400));
        thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(move || writer.work(server));
            }
            for reader in &mut readers {
                scope.spawn(move || reader.work(server));
            }
            thread::park_timeout(until.saturating_duration_since(Instant::now()));
            child.kill().unwrap();
            child.wait().unwrap();
        });
    }
    let (mut child, server) = start(dir.path());
    check(server, &writers, &readers);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn start(dir: &Path) -> (Child, SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env("EVERSTEP_STREAMS_KILL9_DIR", dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    let server = line.trim().parse().unwrap();
    (child, server)
}

/// Reads everything from an offset on.
fn read(client: &mut Client, stream: &str, from: &str) -> String {
    let (mut text, mut offset) = (String::new(), from.to_owned());
    loop {
        let path = format!("{stream}?offset={offset}");
        let answer = client.send("GET", &path, &[], "").unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        text += &answer.body;
        offset = answer.next();
        if answer.header("stream-up-to-date").is_some() {
            return text;
        }
    }
}

fn check(server: SocketAddr, writers: &[Writer], readers: &[Reader]) {
    let mut client = Client::connect(server).unwrap();
    let mut whole: HashMap<String, String> = HashMap::new();
    for reader in readers {
        let text = read(&mut client, &reader.stream, "-1");
        whole.insert(reader.stream.clone(), text);
    }
    let mut acknowledged = 0;
    for writer in writers {
        let text = &whole[&writer.stream];
        for (message, _) in &writer.acknowledged {
            assert_eq!(text.matches(message).count(), 1, "{message}");
        }
        let positions: Vec<_> = writer
            .acknowledged
            .iter()
            .map(|(m, _)| text.find(m))
            .collect();
        assert!(positions.is_sorted(), "writer {} in order", writer.number);
        acknowledged += positions.len();
        if !writer.is_producer {
            check_end_offsets(writer, text, &mut client);
        }
    }
    let mut shown = 0;
    for reader in readers {
        // Invariant 27: what a reader saw across all restarts is a prefix of the stream, without
        // gap or repetition.
        let seen: String = reader
            .shown
            .iter()
            .map(|(_, body, _)| body.as_str())
            .collect();
        assert!(
            whole[&reader.stream].starts_with(&seen),
            "{}",
            reader.stream
        );
        for (from, body, _) in reader.shown.iter().step_by(17) {
            let now = read(&mut client, &reader.stream, from);
            assert!(now.starts_with(body), "{} from {from}", reader.stream);
        }
        shown += reader.shown.len();
    }
    println!("{KILLS} kills: {acknowledged} appends acknowledged, {shown} reads answered");
    assert!(acknowledged > 100 && shown > 20, "too little load");
}

/// Checks that reading from the offset of an append returns exactly what follows its message.
fn check_end_offsets(writer: &Writer, text: &str, client: &mut Client) {
    for (message, end) in writer.acknowledged.iter().step_by(29) {
        let position = text.find(message).unwrap() + message.len();
        assert_eq!(read(client, &writer.stream, end), text[position..]);
    }
}
