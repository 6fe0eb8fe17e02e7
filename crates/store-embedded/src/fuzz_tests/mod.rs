//! Fuzz tests of the decoders of this store, one file each (`everstep-fuzz`): no content of the
//! directory may make a decoder panic. The decoder of frames is tested in `model`.

mod extent;
mod head;
mod holes;
mod journal;
mod list_key;
mod manifest;
mod mark;
mod number;
mod page;
mod row;
mod table_file;
mod timer;

fn check<S: std::hash::Hash>(target: &str, seen: impl Fn(&[u8]) -> S) {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), target, seen);
}

fn check_text<S: std::hash::Hash>(target: &str, seen: impl Fn(&str) -> S) {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), target, seen);
}
