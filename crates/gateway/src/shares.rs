//! What one principal may take of the gateway: requests at once, and requests a second.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use aldgate_authority::Principal;
use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::refusal::Refusal;
use crate::settings::Bounds;

/// Principals of whom something is remembered; those with nothing under way are forgotten first.
const REMEMBERED: usize = 10_000;

type Rates = RateLimiter<String, DefaultKeyedStateStore<String>, DefaultClock>;

/// The shares of all principals.
pub(crate) struct Shares {
    each: usize,
    places: Mutex<HashMap<String, Arc<Semaphore>>>,
    rates: Option<Rates>,
}

impl Shares {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let quota = NonZeroU32::new(bounds.requests_per_second).map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            Quota::per_second(rate).allow_burst(burst)
        });
        Self {
            each: bounds.in_flight_per_principal,
            places: Mutex::default(),
            rates: quota.map(RateLimiter::keyed),
        }
    }

    /// Takes a place of this principal; it is given back when the request has ended.
    pub(crate) fn take(&self, principal: &Principal) -> Result<OwnedSemaphorePermit, Refusal> {
        let key = principal.entity_id();
        if let Some(rates) = &self.rates {
            if rates.check_key(&key).is_err() {
                let message = "this principal sends more requests a second than it may; send fewer";
                return Err(Refusal::too_many("AG-RATE", message));
            }
            if rates.len() > REMEMBERED {
                rates.retain_recent();
            }
        }
        let places = match self.places.lock() {
            Ok(mut all) => {
                if all.len() >= REMEMBERED && !all.contains_key(&key) {
                    all.retain(|_, places| places.available_permits() < self.each);
                }
                all.entry(key).or_insert_with(|| Arc::new(Semaphore::new(self.each))).clone()
            }
            Err(_poisoned) => {
                return Err(Refusal::host("AG-INTERNAL", "the gateway failed; nothing was sent"));
            }
        };
        places.try_acquire_owned().map_err(|_| {
            let message = "as many requests of this principal are worked on as may be; try again later";
            Refusal::too_many("AG-BUSY-PRINCIPAL", message)
        })
    }
}
