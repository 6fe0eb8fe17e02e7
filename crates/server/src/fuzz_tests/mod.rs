//! What clients send is fed what nobody wrote (`everstep-fuzz`), one file each.

mod access;
mod authorization;
mod headers;
mod query;
mod subscription;
mod token;
