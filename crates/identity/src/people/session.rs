//! Sessions: who is signed in in which browser.

use std::sync::Arc;
use std::time::Duration;

use aldgate_store::identity::{Account, Session, SessionEnds, SessionStart};
use http::{HeaderMap, HeaderValue};
use time::OffsetDateTime;

use super::cookies::Cookie;
use super::keys::{kept, millis, random_text, session_hash, stored};
use super::{Fault, PageKey, People, SignedIn, User};

/// How exactly the last use of a session is kept.
const SEEN: Duration = Duration::from_secs(60);

/// How long a device is known by its cookie.
const DEVICE: Duration = Duration::from_secs(180 * 24 * 3600);

/// A session that has not ended.
pub(super) struct Open {
    pub(super) session: Session,
    pub(super) account: Account,
    pub(super) csrf: String,
    pub(super) key: PageKey,
}

impl Open {
    /// Whether nothing can be done but to change the password.
    pub(super) fn must_change(&self) -> bool {
        self.account.one_time_until.is_some()
    }

    pub(super) fn at(&self) -> OffsetDateTime {
        kept(self.session.signed_in_at)
    }

    pub(super) fn signed_in(self) -> SignedIn {
        SignedIn {
            at: self.at(),
            csrf: self.csrf,
            key: self.key,
            signed_in_for: self.session.signed_in_for,
            user: Arc::new(User::of(self.account)),
        }
    }
}

/// A session to be begun: what the browser gets and what is kept of it.
pub(super) struct Fresh {
    pub(super) id: String,
    pub(super) hash: Vec<u8>,
}

impl Fresh {
    /// A new one for every sign-in: an id that somebody else put into the browser is never used.
    pub(super) fn new() -> Result<Self, Fault> {
        let id = random_text::<32>()?;
        Ok(Self { hash: session_hash(&id), id })
    }
}

impl People {
    /// Who is signed in in the browser that sent these headers to an address with this key. Nobody is who has to change the
    /// password first.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn signed_in(
        &self,
        headers: &HeaderMap,
        key: &PageKey,
        now: OffsetDateTime,
    ) -> Result<Option<SignedIn>, Fault> {
        let open = self.open(headers, key, now).await?.filter(|open| !open.must_change());
        Ok(open.map(Open::signed_in))
    }

    /// Ends the session of these headers where other programs get to see its cookie: before an answer leads the browser to
    /// one. Returns the headers that take the cookies away.
    ///
    /// # Errors
    /// Where the store fails: then the browser must not be led there.
    pub async fn part(&self, headers: &HeaderMap) -> Result<Vec<HeaderValue>, Fault> {
        if !self.settings.shares_cookies() {
            return Ok(Vec::new());
        }
        let secure = self.settings.is_secure();
        if let Some(id) = Cookie::Session.read(headers, secure) {
            self.store.end_session(&session_hash(id)).await?;
        }
        Ok([Cookie::Session, Cookie::Form].into_iter().filter_map(|cookie| cookie.clear(secure)).collect())
    }

    /// When a session ends if it is not used again.
    pub(super) fn end_of(&self, session: &Session) -> OffsetDateTime {
        let idle = session.seen_at.saturating_add(millis(self.settings.idle));
        kept(idle.min(session.signed_in_at.saturating_add(millis(self.settings.absolute))))
    }

    /// The key of the pages of the session with this id. Where nobody else gets to see cookies there is none.
    pub(super) fn page_key(&self, id: &str) -> PageKey {
        if self.settings.shares_cookies() {
            PageKey::made(self.keys.tag("page", &[id.as_bytes()]))
        } else {
            PageKey::default()
        }
    }

    /// The session of these headers and the key of the page, whether or not its password has to be changed.
    pub(super) async fn open(
        &self,
        headers: &HeaderMap,
        sent: &PageKey,
        now: OffsetDateTime,
    ) -> Result<Option<Open>, Fault> {
        let Some(id) = Cookie::Session.read(headers, self.settings.is_secure()) else { return Ok(None) };
        let key = self.page_key(id);
        if self.settings.shares_cookies() && !sent.is_same(&key) {
            return Ok(None);
        }
        let hash = session_hash(id);
        let Some((session, account)) = self.store.session(&hash).await? else { return Ok(None) };
        let is_over = self.end_of(&session) <= now
            || account.disabled
            || account.one_time_until.is_some_and(|until| until <= stored(now));
        if is_over {
            return Ok(None);
        }
        let exactness = millis(SEEN.min(self.settings.idle / 10));
        if stored(now).saturating_sub(session.seen_at) >= exactness {
            self.store.see_session(&hash, stored(now)).await?;
        }
        Ok(Some(Open { session, account, csrf: self.keys.tag("csrf", &[id.as_bytes()]), key }))
    }

    /// What the store is told of a session that begins.
    pub(super) fn start<'a>(
        &self,
        fresh: &'a Fresh,
        account: &'a str,
        password: &'a str,
        replaces: Option<&'a [u8]>,
        signed_in_for: Option<&'a str>,
        now: OffsetDateTime,
    ) -> SessionStart<'a> {
        let now = stored(now);
        let ends = SessionEnds {
            signed_in_by: now.saturating_sub(millis(self.settings.absolute)),
            seen_by: now.saturating_sub(millis(self.settings.idle)),
        };
        SessionStart { hash: &fresh.hash, user: account, password, signed_in_for, replaces, at: now, ends }
    }

    /// The cookies of a session that has begun: its id, and that the person has used this device.
    pub(super) fn cookies(
        &self,
        fresh: &Fresh,
        account: &str,
        now: OffsetDateTime,
    ) -> Result<[Option<HeaderValue>; 2], Fault> {
        let secure = self.settings.is_secure();
        let nonce = random_text::<16>()?;
        let until = stored(now).saturating_add(millis(DEVICE)).to_string();
        let tag = self.keys.tag("device", &[account.as_bytes(), nonce.as_bytes(), until.as_bytes()]);
        Ok([
            Cookie::Session.set(&fresh.id, Some(self.settings.absolute), secure),
            Cookie::Device.set(&format!("{nonce}.{until}.{tag}"), Some(DEVICE), secure),
        ])
    }

    /// The device of these headers, where this person signed in with it before.
    pub(super) fn device<'a>(
        &self,
        headers: &'a HeaderMap,
        account: &str,
        now: OffsetDateTime,
    ) -> Option<&'a str> {
        let sent = Cookie::Device.read(headers, self.settings.is_secure())?;
        let (nonce, rest) = sent.split_once('.')?;
        let (until, tag) = rest.split_once('.')?;
        let parts = [account.as_bytes(), nonce.as_bytes(), until.as_bytes()];
        let is_ours = self.keys.is_tag("device", &parts, tag);
        let is_good = is_ours && until.parse::<i64>().is_ok_and(|until| until > stored(now));
        is_good.then_some(nonce)
    }
}
