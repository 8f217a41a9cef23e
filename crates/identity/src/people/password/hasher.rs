//! argon2id, by few threads at once.
//!
//! **Invariant:** one try is one call of argon2, whether there is such an account or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argon2::password_hash::{Error, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, PasswordHash, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tokio::sync::{Semaphore, TryAcquireError};

use super::Password;
use crate::people::Fault;
use crate::people::keys::random;
use crate::people::settings::Hashing;

/// Hashes passwords on a few threads; those that wait are counted.
pub(in crate::people) struct Hasher {
    params: Params,
    turns: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
    known: Arc<Semaphore>,
    calls: Arc<AtomicU64>,
}

/// Whether a password is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::people) struct Verified {
    pub(in crate::people) matches: bool,
    /// It is hashed with other parameters than new ones are.
    pub(in crate::people) stale: bool,
}

/// Hashes a password here and now, which takes its time.
pub(in crate::people) fn hash(password: &Password, params: &Params) -> Result<String, Fault> {
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
    Ok(argon2.hash_password(password.bytes()).map_err(Fault::Hash)?.to_string())
}

fn verify(password: &Password, stored: &str, params: &Params) -> Result<Verified, Fault> {
    let stored = PasswordHash::new(stored).map_err(|_| Fault::Hash(Error::EncodingInvalid))?;
    let matches = match Argon2::default().verify_password(password.bytes(), &stored) {
        Ok(()) => true,
        Err(Error::PasswordInvalid) => false,
        Err(fault) => return Err(Fault::Hash(fault)),
    };
    let of_now = Params::try_from(&stored).is_ok_and(|of| {
        (of.m_cost(), of.t_cost(), of.p_cost()) == (params.m_cost(), params.t_cost(), params.p_cost())
    });
    Ok(Verified { matches, stale: !of_now || stored.algorithm.as_str() != Algorithm::Argon2id.as_str() })
}

/// A hash that no password is known for, with these parameters.
fn counterfeit(params: &Params) -> Result<String, Fault> {
    let (salt, output) = (random::<16>()?, random::<32>()?);
    Ok(format!(
        "$argon2id$v=19$m={},t={},p={}${}${}",
        params.m_cost(),
        params.t_cost(),
        params.p_cost(),
        STANDARD_NO_PAD.encode(salt),
        STANDARD_NO_PAD.encode(output)
    ))
}

impl Hasher {
    pub(in crate::people) fn new(hashing: &Hashing) -> Self {
        let waiting = hashing.waiting.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            params: hashing.params.clone(),
            turns: Arc::new(Semaphore::new(hashing.at_once.clamp(1, 64))),
            strangers: Arc::new(Semaphore::new(waiting)),
            known: Arc::new(Semaphore::new(waiting)),
            calls: Arc::default(),
        }
    }

    /// How often argon2 was called.
    #[cfg(test)]
    pub(in crate::people) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether `password` is the one that `stored` was made of. Without `stored` it is not, after the same work.
    pub(in crate::people) async fn verify(
        &self,
        password: Password,
        stored: Option<String>,
        is_known: bool,
    ) -> Result<Verified, Fault> {
        let params = self.params.clone();
        let is_there = stored.is_some();
        let stored = stored.map_or_else(|| counterfeit(&params), Ok)?;
        let verified = self.run(is_known, move || verify(&password, &stored, &params)).await??;
        Ok(Verified { matches: verified.matches && is_there, ..verified })
    }

    /// The hash of a password.
    pub(in crate::people) async fn hash(&self, password: Password) -> Result<String, Fault> {
        let params = self.params.clone();
        self.run(true, move || hash(&password, &params)).await?
    }

    async fn run<T: Send + 'static>(
        &self,
        is_known: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let room = if is_known { &self.known } else { &self.strangers };
        let place = Arc::clone(room).try_acquire_owned().map_err(|fault| match fault {
            TryAcquireError::NoPermits => Fault::Busy,
            TryAcquireError::Closed => Fault::Stopping,
        })?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Fault::Stopping)?;
        drop(place);
        let calls = Arc::clone(&self.calls);
        let done = tokio::task::spawn_blocking(move || {
            // Kept until the work is done: who asked for it may be gone.
            let _turn = turn;
            calls.fetch_add(1, Ordering::Relaxed);
            work()
        });
        done.await.map_err(|_| Fault::Stopping)
    }

    /// How many more strangers may wait.
    #[cfg(test)]
    pub(in crate::people) fn places(&self) -> usize {
        self.strangers.available_permits()
    }

    /// Takes all turns, so that whoever comes waits.
    #[cfg(test)]
    pub(in crate::people) async fn occupied(&self) -> tokio::sync::OwnedSemaphorePermit {
        let all = u32::try_from(self.turns.available_permits()).unwrap_or(u32::MAX);
        Arc::clone(&self.turns).acquire_many_owned(all).await.unwrap()
    }
}
