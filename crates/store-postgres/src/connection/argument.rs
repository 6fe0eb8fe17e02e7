//! Arguments of statements.

use tokio_postgres::types::{ToSql, Type};

/// A value and its type, as an unnamed statement needs them.
pub(crate) type Argument<'a> = (&'a (dyn ToSql + Sync), Type);
