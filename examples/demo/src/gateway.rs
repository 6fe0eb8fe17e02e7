//! A pretended payment provider. It remembers idempotency keys, as real ones do, so that a charge that was sent twice
//! is taken once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// A customer as the provider knows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    /// Their id.
    pub id: String,
    /// Where they are told about it.
    pub email: String,
}

/// Money that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The provider's id for it.
    pub id: String,
    /// How much, in cents.
    pub amount: u64,
}

/// What the provider answers instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatewayError {
    /// Try again later.
    #[error("the bank is busy")]
    Busy,
    /// Trying again does not help.
    #[error("the card was declined")]
    Declined,
}

/// A handle to the provider; clones talk to the same one.
#[derive(Clone, Debug, Default)]
pub struct Gateway {
    /// How many attempts of each charge fail before one works.
    failures: u32,
    charges: Arc<Mutex<HashMap<String, Charge>>>,
}

/// The provider refuses to charge more than this, in cents.
const AMOUNT_MAX: u64 = 1_000_000;

impl Gateway {
    /// A provider that always works.
    #[must_use]
    pub fn reliable() -> Self {
        Self::default()
    }

    /// A provider that is busy the first `failures` times somebody tries to charge.
    #[must_use]
    pub fn busy(failures: u32) -> Self {
        Self {
            failures,
            ..Self::default()
        }
    }

    /// Looks a customer up.
    #[must_use]
    pub fn customer(&self, id: &str) -> Customer {
        Customer {
            id: id.to_owned(),
            email: format!("{id}@example.com"),
        }
    }

    /// Takes money. The same key takes it once, however often it is sent.
    ///
    /// # Errors
    /// If the bank is busy or the card is declined.
    pub fn charge(&self, key: &str, amount: u64, attempt: u32) -> Result<Charge, GatewayError> {
        if amount > AMOUNT_MAX {
            return Err(GatewayError::Declined);
        }
        if attempt <= self.failures {
            return Err(GatewayError::Busy);
        }
        let mut charges = self.charges.lock().unwrap_or_else(PoisonError::into_inner);
        let short: String = key.chars().take(8).collect();
        let charge = charges.entry(key.to_owned()).or_insert_with(|| Charge {
            id: format!("ch_{short}"),
            amount,
        });
        Ok(charge.clone())
    }

    /// Gives money back, and says how much.
    #[must_use]
    pub fn refund(&self, charge: &Charge, amount: u64) -> u64 {
        amount.min(charge.amount)
    }

    /// How many different charges were made.
    #[must_use]
    pub fn charges(&self) -> usize {
        let charges = self.charges.lock().unwrap_or_else(PoisonError::into_inner);
        charges.len()
    }
}
