//! The handler of requests to runs. Each file of this folder adds the methods of one request.

use std::sync::Arc;

use crate::execution::{Dispatcher, Parts};

pub(crate) struct Requests {
    pub(crate) parts: Arc<Parts>,
    pub(crate) dispatcher: Arc<Dispatcher>,
}
