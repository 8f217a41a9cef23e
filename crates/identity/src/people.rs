//! People who sign in: their accounts, passwords and sessions, and the pages that they see.
//!
//! [`Accounts`] is for those who run the gateway, [`People`] for the browsers. Both work on the same store.
//!
//! **Invariant:** an answer to a try to sign in does not depend on whether there is such an account, and neither does the
//! work that goes into it.
//!
//! **Invariant:** where other programs get to see the cookies, a cookie alone is nobody: a session is good only at addresses
//! with its [`PageKey`].

mod account;
mod accounts;
mod anew;
mod as_accounts;
mod asked;
mod cookies;
mod destination;
mod fault;
mod keys;
mod names;
mod page;
mod page_key;
mod passkeys;
mod password;
mod session;
mod settings;
mod sign_in;
mod signed_in;
#[cfg(test)]
mod tests;
pub(crate) mod throttle;
mod visit;

use std::error::Error;
use std::sync::{Arc, OnceLock};

use aldgate_store::identity::IdentityStore;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::map_response_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use futures::future::BoxFuture;
use http::StatusCode;
use maud::Markup;
use time::OffsetDateTime;

pub use account::{button, clock};
pub use accounts::{AccountFault, Accounts, Change, Listed, NewPerson, OneTimePassword};
pub use anew::{Looks, Proof, Unproved};
pub use asked::{Asked, alert, see_other, wait_for};
pub use fault::Fault;
pub use names::{NameFault, SignInName};
pub use page::{keep_from_misuse, page, page_going_on, page_going_to};
pub use page_key::PageKey;
pub use settings::{Hashing, Settings, Tries};
pub use signed_in::{SignedIn, User};
pub use throttle::{Rate, Source};
pub use visit::Visitor;

pub(crate) use asked::is_from;
pub(crate) use destination::digest;
use keys::Keys;
pub(crate) use keys::{kept, stored};
use password::Hasher;
use throttle::Throttle;

/// What a form may have at most, in bytes.
const FORM: usize = 16 * 1024;

/// What is called with the id of an account when its person signs out everywhere.
pub type Everywhere =
    Box<dyn Fn(String) -> BoxFuture<'static, Result<(), Box<dyn Error + Send + Sync>>> + Send + Sync>;

/// What is called with a sealed authorization request that somebody signs in for, and tells what is asked, for the person.
pub type Describes = Box<dyn Fn(String) -> BoxFuture<'static, Option<Markup>> + Send + Sync>;

/// The people of one authorization server.
pub struct People {
    settings: Settings,
    store: Arc<IdentityStore>,
    keys: Keys,
    hasher: Hasher,
    throttle: Throttle,
    everywhere: OnceLock<Everywhere>,
    describes: OnceLock<Describes>,
    clock: Box<dyn Fn() -> OffsetDateTime + Send + Sync>,
}

impl People {
    /// The people of `store`. `secret` is random, the same at each start, and of no other use: cookies are signed with it.
    #[must_use]
    pub fn new(settings: Settings, store: Arc<IdentityStore>, secret: &[u8; 32]) -> Arc<Self> {
        Self::with_clock(settings, store, secret, Box::new(OffsetDateTime::now_utc))
    }

    fn with_clock(
        settings: Settings,
        store: Arc<IdentityStore>,
        secret: &[u8; 32],
        clock: Box<dyn Fn() -> OffsetDateTime + Send + Sync>,
    ) -> Arc<Self> {
        Arc::new(Self {
            keys: Keys::new(secret),
            hasher: Hasher::new(&settings.hashing),
            throttle: Throttle::new(&settings.tries),
            everywhere: OnceLock::new(),
            describes: OnceLock::new(),
            settings,
            store,
            clock,
        })
    }

    /// Sets what takes back the grants of somebody who signs out everywhere. Only the first one counts.
    pub fn on_sign_out_everywhere(&self, hook: Everywhere) {
        let _ = self.everywhere.set(hook);
    }

    /// Sets what tells people, on the page to sign in, which program they sign in for. Only the first one counts.
    pub fn describes_requests(&self, hook: Describes) {
        let _ = self.describes.set(hook);
    }

    /// The pages, and their style sheet. Requests carry a [`Source`], or come from a connection whose peer is known
    /// ([`axum::extract::ConnectInfo`]).
    pub fn router(self: &Arc<Self>) -> Router {
        let pages = Router::new()
            .route(sign_in::PATH, get(sign_in::show).post(sign_in::send))
            .route(account::PATH, get(account::show))
            .route(account::PASSWORD, get(account::show_password).post(account::send_password))
            .route(account::SIGN_OUT, post(account::sign_out))
            .route(account::EVERYWHERE, post(account::sign_out_everywhere))
            .route(passkeys::SIGN_IN, post(passkeys::send))
            .route(passkeys::ADD, post(passkeys::add))
            .route(passkeys::REMOVE, post(passkeys::remove))
            .route("/oauth/passkey.js", get(page::script))
            .route("/oauth/style.css", get(page::style))
            .with_state(Arc::clone(self));
        self.guarded(pages)
    }

    /// These pages, with the headers that keep every page from being misused, and with forms of a bounded size.
    pub fn guarded(&self, pages: Router) -> Router {
        pages
            .layer(DefaultBodyLimit::max(FORM))
            .layer(map_response_with_state(self.settings.is_secure(), kept_from_misuse))
    }

    /// A page with forms that need a proof of who sends them.
    pub fn page(&self, status: StatusCode, title: &str, body: &Markup) -> Response {
        page::page_with_passkeys(status, title, body, self.relying_party().is_some())
    }

    /// The account with this id, disabled or not.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn user(&self, id: &str) -> Result<Option<User>, Fault> {
        Ok(self.store.account(id).await?.map(User::of))
    }

    fn now(&self) -> OffsetDateTime {
        (self.clock)()
    }
}

async fn kept_from_misuse(
    axum::extract::State(secure): axum::extract::State<bool>,
    mut response: Response,
) -> Response {
    keep_from_misuse(response.headers_mut(), secure);
    response
}
