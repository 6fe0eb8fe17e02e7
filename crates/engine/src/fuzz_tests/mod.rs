//! What waits in the outbox is fed what nobody wrote (`everstep-fuzz`), one file each.

mod effect;
