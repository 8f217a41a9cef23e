//! Accounts as those see them who run the gateway: `aldgate users`. Several processes may do this at once, beside a gateway
//! that runs.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aldgate_store::StoreFault;
use aldgate_store::identity::{Account, IdentityStore, NewAccount};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use super::keys::{kept, random, random_text, stored};
use super::password::{Password, hash};
use super::{Fault, Hashing, NameFault, SignInName, User};

/// How long a password of ours is good.
const ONE_TIME: Duration = Duration::from_secs(24 * 3600);

/// Letters and digits that are not mistaken for each other; 32 of them, so that a byte picks each as often.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The accounts of a store.
pub struct Accounts {
    store: Arc<IdentityStore>,
    params: argon2::Params,
}

/// A person who gets an account.
#[derive(Clone, Debug)]
pub struct NewPerson {
    /// What the person signs in with.
    pub name: String,
    /// A name to show; the name to sign in with where it is left out.
    pub display_name: Option<String>,
    /// The tenant that the person belongs to.
    pub tenant: String,
    /// Roles, as policies name them.
    pub roles: BTreeSet<String>,
}

/// A password that is good once, to be told to the person and to be changed at the first sign-in.
pub struct OneTimePassword {
    /// The password.
    pub password: Zeroizing<String>,
    /// Until when it is good.
    pub until: OffsetDateTime,
}

/// An account in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Whose.
    pub user: User,
    /// Until when a password that has to be changed is good.
    pub one_time_until: Option<OffsetDateTime>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it was changed.
    pub changed_at: OffsetDateTime,
}

/// What is to be changed of an account.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// What the person signs in with.
    pub name: String,
    /// Another name to show.
    pub display_name: Option<String>,
    /// Another tenant.
    pub tenant: Option<String>,
    /// All roles from now on.
    pub roles: Option<BTreeSet<String>>,
}

/// Why an account cannot be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum AccountFault {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameFault),
    /// The name is taken.
    #[error("there is an account `{name}` already; upper and lower case are the same in names")]
    Taken {
        /// The name, folded.
        name: String,
    },
    /// There is no such account.
    #[error("there is no account `{name}`; `aldgate users list` shows those that there are")]
    None {
        /// The name, folded.
        name: String,
    },
    /// A name to show, a tenant or a role that cannot be used.
    #[error("`{found}` is no {what}; expected 1 to 128 characters and no {without}")]
    Text {
        /// What it is for.
        what: &'static str,
        /// What was given.
        found: String,
        /// What it must not have.
        without: &'static str,
    },
    /// The store or the hashing failed.
    #[error(transparent)]
    Failed(#[from] Fault),
}

impl From<StoreFault> for AccountFault {
    fn from(fault: StoreFault) -> Self {
        Self::Failed(fault.into())
    }
}

fn check(what: &'static str, text: &str, spaces: bool) -> Result<(), AccountFault> {
    let odd = |letter: char| {
        letter.is_control() || !spaces && (letter.is_whitespace() || matches!(letter, '/' | '#'))
    };
    if text.trim().is_empty() || text.chars().count() > 128 || text.contains(odd) {
        let found = text.chars().filter(|letter| !letter.is_control()).take(64).collect();
        let without = if spaces { "control character" } else { "`/`, `#`, white space or control character" };
        return Err(AccountFault::Text { what, found, without });
    }
    Ok(())
}

fn listed(account: Account) -> Listed {
    Listed {
        one_time_until: account.one_time_until.map(kept),
        created_at: kept(account.created_at),
        changed_at: kept(account.changed_at),
        user: User::of(account),
    }
}

/// Five groups of four: 100 bits.
fn one_time_password() -> Result<Zeroizing<String>, Fault> {
    let bytes = Zeroizing::new(random::<20>()?);
    let mut text = Zeroizing::new(String::with_capacity(24));
    for (index, byte) in bytes.iter().enumerate() {
        if index > 0 && index % 4 == 0 {
            text.push('-');
        }
        text.extend(LETTERS.get(usize::from(byte % 32)).map(|letter| char::from(*letter)));
    }
    Ok(text)
}

impl Accounts {
    /// The accounts of `store`; passwords are hashed as `hashing` says.
    #[must_use]
    pub fn new(store: Arc<IdentityStore>, hashing: &Hashing) -> Self {
        Self { store, params: hashing.params.clone() }
    }

    /// Makes an account with a password that is good once.
    ///
    /// # Errors
    /// Where a name, the tenant or a role cannot be used, the name is taken, or the store fails.
    pub async fn add(
        &self,
        person: &NewPerson,
        now: OffsetDateTime,
    ) -> Result<(User, OneTimePassword), AccountFault> {
        let name = SignInName::parse(&person.name)?;
        let display_name = person.display_name.as_deref().unwrap_or(name.as_str()).trim();
        check("name to show", display_name, true)?;
        check("tenant", &person.tenant, false)?;
        for role in &person.roles {
            check("role", role, false)?;
        }
        let (password, hash) = self.fresh().await?;
        let until = now + ONE_TIME;
        let new = NewAccount {
            id: random_text::<16>()?,
            name: name.as_str().to_owned(),
            display_name: display_name.to_owned(),
            tenant: person.tenant.clone(),
            roles: person.roles.clone(),
            password: hash,
            one_time_until: Some(stored(until)),
            at: stored(now),
        };
        if !self.store.add_account(&new).await? {
            return Err(AccountFault::Taken { name: new.name });
        }
        let NewAccount { id, name, display_name, tenant, roles, .. } = new;
        let user = User { id, name, display_name, tenant, roles, disabled: false };
        Ok((user, OneTimePassword { password, until }))
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn list(&self) -> Result<Vec<Listed>, AccountFault> {
        Ok(self.store.accounts().await?.into_iter().map(listed).collect())
    }

    /// Gives an account another name to show, tenant or roles, where they are given, and ends its sessions and what it granted:
    /// tokens say what it had before.
    ///
    /// # Errors
    /// Where there is none of this name, a text cannot be used, or the store fails.
    pub async fn change(&self, change: &Change, now: OffsetDateTime) -> Result<User, AccountFault> {
        let account = self.named(&change.name).await?;
        let display_name = change.display_name.as_deref().map_or(account.display_name.as_str(), str::trim);
        let tenant = change.tenant.as_deref().unwrap_or(&account.tenant);
        let roles = change.roles.as_ref().unwrap_or(&account.roles);
        check("name to show", display_name, true)?;
        check("tenant", tenant, false)?;
        for role in roles {
            check("role", role, false)?;
        }
        if !self.store.change_account(&account.id, (display_name, tenant, roles), stored(now)).await? {
            return Err(AccountFault::None { name: account.name });
        }
        let (display_name, tenant, roles) = (display_name.to_owned(), tenant.to_owned(), roles.clone());
        Ok(User { display_name, tenant, roles, ..User::of(account) })
    }

    /// Disables an account, and ends its sessions.
    ///
    /// # Errors
    /// Where there is none of this name, or the store fails.
    pub async fn disable(&self, name: &str, now: OffsetDateTime) -> Result<User, AccountFault> {
        self.set_disabled(name, true, now).await
    }

    /// Enables an account that was disabled.
    ///
    /// # Errors
    /// Where there is none of this name, or the store fails.
    pub async fn enable(&self, name: &str, now: OffsetDateTime) -> Result<User, AccountFault> {
        self.set_disabled(name, false, now).await
    }

    /// Gives an account a password that is good once, and ends its sessions. A disabled account stays disabled.
    ///
    /// # Errors
    /// Where there is none of this name, or the store fails.
    pub async fn reset(
        &self,
        name: &str,
        now: OffsetDateTime,
    ) -> Result<(User, OneTimePassword), AccountFault> {
        let account = self.named(name).await?;
        let (password, hash) = self.fresh().await?;
        let until = now + ONE_TIME;
        if !self.store.reset_password(&account.id, &hash, stored(until), stored(now)).await? {
            return Err(AccountFault::None { name: account.name });
        }
        Ok((User::of(account), OneTimePassword { password, until }))
    }

    async fn set_disabled(
        &self,
        name: &str,
        disabled: bool,
        now: OffsetDateTime,
    ) -> Result<User, AccountFault> {
        let account = self.named(name).await?;
        if !self.store.set_disabled(&account.id, disabled, stored(now)).await? {
            return Err(AccountFault::None { name: account.name });
        }
        Ok(User { disabled, ..User::of(account) })
    }

    async fn named(&self, name: &str) -> Result<Account, AccountFault> {
        let name = SignInName::parse(name)?;
        let account = self.store.account_named(name.as_str()).await?;
        account.ok_or_else(|| AccountFault::None { name: name.as_str().to_owned() })
    }

    async fn fresh(&self) -> Result<(Zeroizing<String>, String), Fault> {
        let password = one_time_password()?;
        let typed = Password::from((*password).clone());
        let params = self.params.clone();
        let hashed = tokio::task::spawn_blocking(move || hash(&typed, &params));
        Ok((password, hashed.await.map_err(|_| Fault::Stopping)??))
    }
}
