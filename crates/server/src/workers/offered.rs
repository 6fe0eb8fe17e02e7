//! A session as a worker of the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use everstep_engine::{Activation, Declares, Offer, Worker};
use everstep_model::{Description, Name};
use everstep_store::BoxFuture;

use super::bridge;
use super::pool::Pool;

/// The offer of a session. Any session of the pool may execute a run that the engine gives to it.
pub(super) struct OfferedBySession {
    pub(super) pool: Weak<Pool>,
    pub(super) offers: Vec<Offer>,
    pub(super) descriptions: BTreeMap<Name, Arc<Description>>,
}

impl Worker for OfferedBySession {
    fn offers(&self) -> Vec<Offer> {
        self.offers.clone()
    }

    fn declares(&self, workflow: &Name) -> Option<Arc<dyn Declares>> {
        let description = self.descriptions.get(workflow)?.clone();
        Some(description)
    }

    fn is_full(&self) -> bool {
        let pool = self.pool.upgrade();
        pool.is_none_or(|pool| pool.is_full())
    }

    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()> {
        match self.pool.upgrade() {
            Some(pool) => Box::pin(bridge::execute(pool, activation)),
            None => Box::pin(std::future::ready(())),
        }
    }
}
