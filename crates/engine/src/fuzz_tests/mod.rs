//! What waits in the outbox, and what clients send to streams, is fed what nobody wrote (`everstep-fuzz`), one file each.

mod effect;
mod stream_body;
mod stream_path;
