//! What clients send back is fed what nobody wrote (`everstep-fuzz`), one file each.

mod cursor;
