//! What readers of a journal may see.

use std::collections::BTreeSet;

use everstep_model::{Name, Payload};
use everstep_protocol::access::View;

/// The view of a journal, and what a token shows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::journals) struct Audience {
    pub(in crate::journals) view: View,
    /// The methods of the rpcs that a `client` token names. `None` shows all rpcs.
    pub(in crate::journals) methods: Option<BTreeSet<String>>,
}

impl Audience {
    pub(super) fn sees_rpc(&self, method: &Name) -> bool {
        let methods = self.methods.as_ref();
        methods.is_none_or(|methods| methods.contains(method.as_str()))
    }

    pub(super) fn is_client(&self) -> bool {
        self.view == View::Client
    }

    /// Returns a text that differs between readers who see different messages.
    pub(in crate::journals) fn tag(&self) -> String {
        let methods = self.methods.as_ref().map(|methods| {
            // A list of texts always serializes.
            let list = Payload::from_value(methods);
            list.unwrap_or_else(|_| Payload::null()).digest()
        });
        format!("{}{}", self.view, methods.unwrap_or_default())
    }
}
