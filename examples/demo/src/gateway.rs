//! A fake payment provider. Like real ones, it remembers idempotency keys, so that a repeated
//! charge is executed once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// A customer of the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    /// The ID of the customer.
    pub id: String,
    /// The address for notifications.
    pub email: String,
}

/// An executed charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The provider's ID of the charge.
    pub id: String,
    /// The amount in cents.
    pub amount: u64,
}

/// Errors of the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatewayError {
    /// Temporary: retry later.
    #[error("the bank is busy")]
    Busy,
    /// Permanent: retrying does not help.
    #[error("the card was declined")]
    Declined,
}

/// A handle to the provider. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Gateway {
    /// How many attempts of each charge fail before one succeeds.
    failures: u32,
    charges: Arc<Mutex<HashMap<String, Charge>>>,
}

/// The provider declines larger amounts, in cents.
const AMOUNT_MAX: u64 = 1_000_000;

impl Gateway {
    /// Creates a provider that always succeeds.
    #[must_use]
    pub fn reliable() -> Self {
        Self::default()
    }

    /// Creates a provider whose first `failures` attempts of a charge fail.
    #[must_use]
    pub fn busy(failures: u32) -> Self {
        Self {
            failures,
            ..Self::default()
        }
    }

    /// Looks up a customer.
    #[must_use]
    pub fn customer(&self, id: &str) -> Customer {
        Customer {
            id: id.to_owned(),
            email: format!("{id}@example.com"),
        }
    }

    /// Charges a customer. Repeated calls with the same key charge once.
    ///
    /// # Errors
    /// Fails if the bank is busy or the card is declined.
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

    /// Refunds money and returns the amount.
    #[must_use]
    pub fn refund(&self, charge: &Charge, amount: u64) -> u64 {
        amount.min(charge.amount)
    }

    /// Counts the executed charges.
    #[must_use]
    pub fn charges(&self) -> usize {
        let charges = self.charges.lock().unwrap_or_else(PoisonError::into_inner);
        charges.len()
    }
}
