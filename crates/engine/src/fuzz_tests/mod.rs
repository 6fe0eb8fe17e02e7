//! Fuzz targets (`everstep-fuzz`) for the outbox and for requests to streams, one file each.

mod effect;
mod stream_body;
mod stream_path;
