//! Pages of others that only people who signed in see.

use axum::response::Response;

use super::asked::see_other;
use super::destination::Destination;
use super::{Asked, Fault, People, SignedIn, account, sign_in};

/// Who asks for a page.
pub enum Visitor {
    /// Somebody who signed in.
    Person(SignedIn),
    /// Nobody who is known: the way to the page to sign in, which leads back.
    Nobody(Response),
}

impl People {
    /// Who asks for the page at `path`: below `/approvals` or `/connections`, with its query, without the key.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn visitor(&self, asked: &Asked, path: &str) -> Result<Visitor, Fault> {
        let destination = Destination::read(path);
        Ok(match self.open(&asked.headers, &asked.key, asked.now).await? {
            Some(open) if open.must_change() => {
                Visitor::Nobody(see_other(&open.key.at(&destination.after(account::PASSWORD))))
            }
            Some(open) => Visitor::Person(open.signed_in()),
            None => Visitor::Nobody(see_other(&destination.after(sign_in::PATH))),
        })
    }

    /// Whether a form with this field `csrf` was sent from a page of this session. One that was not is logged.
    #[must_use]
    pub fn is_from_page(&self, asked: &Asked, signed_in: &SignedIn, csrf: &str) -> bool {
        let own = self.is_own_page(asked, &signed_in.csrf, csrf);
        if !own {
            asked.log("csrf", super::asked::Whom::Account(&signed_in.user.id));
        }
        own
    }

    /// Whether a form with this field `csrf` was sent from a page of the session that has `csrf_of_session`.
    pub(super) fn is_own_page(&self, asked: &Asked, csrf_of_session: &str, csrf: &str) -> bool {
        asked.is_from_here(self) && super::keys::same(csrf_of_session, csrf)
    }
}
