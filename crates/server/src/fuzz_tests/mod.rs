//! What clients send is fed what nobody wrote (`everstep-fuzz`), one file each.

mod headers;
mod query;
mod subscription;
