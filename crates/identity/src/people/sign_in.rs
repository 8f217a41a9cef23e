//! The page to sign in.

use std::sync::Arc;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use aldgate_store::identity::Account;

use super::asked::{Asked, Whom, alert, see_other, wait_for, with_cookies};
use super::cookies::Cookie;
use super::destination::Destination;
use super::keys::{random_text, session_hash, stored};
use super::page::{page_going_on, page_with_passkeys};
use super::password::Password;
use super::session::Fresh;
use super::throttle::Trier;
use super::{Fault, PageKey, People, SignInName};

/// The path of the page.
pub(super) const PATH: &str = "/oauth/sign-in";

/// What the address of the page holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    r#continue: String,
    /// Show the form to somebody who is signed in, too.
    again: String,
}

/// What the form holds.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Sent {
    csrf: String,
    r#continue: String,
    name: String,
    password: Password,
}

/// What is compared, for whom.
struct Tried<'a> {
    password: Password,
    /// Whether it comes from a device that the person signed in with before.
    is_known: bool,
    /// The digest of the request that the person signs in for.
    request: Option<&'a str>,
}

/// One answer for whatever is wrong: nobody learns from it which accounts there are.
const REFUSED: &str = "The name or the password is not right. A one-time password is good for a day, and only until it was changed.";

pub(super) async fn show(
    State(people): State<Arc<People>>,
    asked: Asked,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Response {
    // An address that cannot be read asks for nothing in particular.
    let wanted = wanted.map(|Query(wanted)| wanted).unwrap_or_default();
    let destination = Destination::read(&wanted.r#continue);
    let shown = async {
        let open = people.open(&asked.headers, &asked.key, asked.now).await?;
        match open {
            Some(open) if wanted.again.is_empty() => {
                let on = if open.must_change() {
                    destination.after(super::account::PASSWORD)
                } else {
                    destination.as_str().to_owned()
                };
                Ok(see_other(&open.key.at(&on)))
            }
            open => {
                let name = open.map(|open| open.account.name).unwrap_or_default();
                people.form(&asked, StatusCode::OK, &destination, &name, html! {}).await
            }
        }
    };
    shown.await.unwrap_or_else(|fault| asked.failed(&fault))
}

pub(super) async fn send(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Sent>, FormRejection>,
) -> Response {
    let Some(sent) = asked.sent(sent) else { return asked.foreign(PATH) };
    people.sign_in(&asked, sent).await.unwrap_or_else(|fault| asked.failed(&fault))
}

impl People {
    /// The page with the form. Its token is bound to a cookie, so that no other page can sign somebody in as somebody else.
    pub(super) async fn form(
        &self,
        asked: &Asked,
        status: StatusCode,
        destination: &Destination,
        name: &str,
        message: Markup,
    ) -> Result<Response, Fault> {
        let secure = self.settings.is_secure();
        let (bound, cookie) = match Cookie::Form.read(&asked.headers, secure) {
            Some(bound) => (bound.to_owned(), None),
            None => {
                let bound = random_text::<16>()?;
                let cookie = Cookie::Form.set(&bound, None, secure);
                (bound, cookie)
            }
        };
        let csrf = self.keys.tag("form", &[bound.as_bytes()]);
        let reason = self.reason(destination).await;
        let is_wrong = status == StatusCode::FORBIDDEN;
        let body = html! {
            (message)
            (reason)
            form method="post" action=(PATH) {
                input type="hidden" name="csrf" value=(csrf);
                input type="hidden" name="continue" value=(destination.as_str());
                label for="name" { "Name" }
                input #name name="name" value=(name) type="text" required autocomplete="username" autocapitalize="none"
                    spellcheck="false" maxlength="256" aria-invalid=[is_wrong.then_some("true")];
                label for="password" { "Password" }
                input #password name="password" type="password" required autocomplete="current-password"
                    maxlength="1024" aria-invalid=[is_wrong.then_some("true")];
                button type="submit" { "Sign in" }
            }
            (self.passkey_form(asked, &bound, &csrf, destination)?)
        };
        Ok(with_cookies(
            page_with_passkeys(status, "Sign in", &body, self.relying_party().is_some()),
            [cookie],
        ))
    }

    /// What the person signs in for, where that is a request of a program.
    async fn reason(&self, destination: &Destination) -> Markup {
        let (Some(describes), Some(sealed)) = (self.describes.get(), destination.sealed()) else {
            return html! {};
        };
        describes(sealed).await.unwrap_or_default()
    }

    pub(super) fn is_own_form(&self, asked: &Asked, csrf: &str) -> bool {
        let bound = Cookie::Form.read(&asked.headers, self.settings.is_secure());
        asked.is_from_here(self)
            && bound.is_some_and(|bound| self.keys.is_tag("form", &[bound.as_bytes()], csrf))
    }

    async fn sign_in(&self, asked: &Asked, sent: Sent) -> Result<Response, Fault> {
        let destination = Destination::read(&sent.r#continue);
        if !self.is_own_form(asked, &sent.csrf) {
            asked.log("csrf", Whom::Nobody);
            let told = "This form was not sent from this page, or the browser takes no cookies. Try again.";
            let message = html! { (alert(told)) (asked.named()) };
            return self.form(asked, StatusCode::FORBIDDEN, &destination, "", message).await;
        }
        let name = SignInName::parse(&sent.name).ok();
        let account = match &name {
            Some(name) => self.store.account_named(name.as_str()).await?,
            None => None,
        };
        let counted_as = name.as_ref().map_or(sent.name.as_str(), SignInName::as_str);
        let typed = self.keys.tag("log", &[counted_as.as_bytes()]);
        let typed = typed.get(..16).unwrap_or_default();
        let whom = account.as_ref().map_or(Whom::Typed(typed), |account| Whom::Account(&account.id));

        let device = account.as_ref().and_then(|of| self.device(&asked.headers, &of.id, asked.now));
        let stranger = Trier::Stranger { name: counted_as, source: asked.source };
        let count = |trier| self.throttle.count(trier, &self.keys, stored(asked.now));
        // Others may have used up what the device has, where they see its cookie: then it is as good as any other place.
        let counted = match device {
            Some(device) => count(Trier::Device(device)).or_else(|_| count(stranger)),
            None => count(stranger),
        };
        let counted = match counted {
            Ok(counted) => counted,
            Err(wait) => {
                asked.log("throttle", whom);
                let told = "Too many tries from here. Wait some minutes, or use a device that you signed in with before.";
                let message = html! { (alert(told)) (asked.named()) };
                let status = StatusCode::TOO_MANY_REQUESTS;
                let form = self.form(asked, status, &destination, &sent.name, message).await?;
                return Ok(wait_for(form, wait.0));
            }
        };

        // On this computer other programs may have seen the cookie: there it counts tries, and gives no better place.
        let is_known = device.is_some() && !self.settings.shares_cookies();
        let request = destination.request();
        let tried = Tried { password: sent.password, is_known, request: request.as_deref() };
        let signed_in = match self.check(asked, account.as_ref(), tried).await {
            Ok(signed_in) => signed_in,
            Err(fault) => {
                // No password was compared.
                self.throttle.uncount(counted, stored(asked.now));
                return Err(fault);
            }
        };
        match (&account, signed_in) {
            (Some(account), Ok(fresh)) => {
                self.throttle.uncount(counted, stored(asked.now));
                self.welcome(asked, account, &fresh, &destination)
            }
            (_, signed_in) => {
                asked.log(signed_in.err().unwrap_or("name"), whom);
                let message = html! { (alert(REFUSED)) (asked.named()) };
                self.form(asked, StatusCode::FORBIDDEN, &destination, &sent.name, message).await
            }
        }
    }

    /// Begins a session where all is right; else the step that failed. argon2 is called once in any case.
    async fn check(
        &self,
        asked: &Asked,
        account: Option<&Account>,
        tried: Tried<'_>,
    ) -> Result<Result<Fresh, &'static str>, Fault> {
        let Tried { password, is_known, request } = tried;
        let stored_hash = account.map(|account| account.password.clone());
        let verified = self.hasher.verify(password.clone(), stored_hash, is_known).await?;
        let Some(account) = account else { return Ok(Err("name")) };
        if !verified.matches {
            return Ok(Err("password"));
        }
        if account.disabled {
            return Ok(Err("disabled"));
        }
        if account.one_time_until.is_some_and(|until| until <= stored(asked.now)) {
            return Ok(Err("one-time password expired"));
        }
        let mut current = account.password.clone();
        if verified.stale {
            match self.hasher.hash(password).await {
                Ok(anew) => {
                    if self.store.rehash_password(&account.id, &current, &anew).await? {
                        current = anew;
                    }
                }
                // Another sign-in will do.
                Err(Fault::Busy) => {}
                Err(fault) => return Err(fault),
            }
        }
        let fresh = Fresh::new()?;
        let replaced = Cookie::Session.read(&asked.headers, self.settings.is_secure()).map(session_hash);
        let start = self.start(&fresh, &account.id, &current, replaced.as_deref(), request, asked.now);
        if self.store.begin_session(&start).await? { Ok(Ok(fresh)) } else { Ok(Err("changed meanwhile")) }
    }

    /// The answer to whoever has signed in: the cookies and the way on.
    pub(super) fn welcome(
        &self,
        asked: &Asked,
        account: &Account,
        fresh: &Fresh,
        destination: &Destination,
    ) -> Result<Response, Fault> {
        tracing::info!(request = asked.id, account = account.id, source = %asked.source.0, "somebody signed in");
        let cookies = self.cookies(fresh, &account.id, asked.now)?;
        let key = self.page_key(&fresh.id);
        let on = if account.one_time_until.is_some() {
            see_other(&key.at(&destination.after(super::account::PASSWORD)))
        } else {
            go_on("You are signed in", destination, &key)
        };
        let form = Cookie::Form.clear(self.settings.is_secure());
        Ok(with_cookies(with_cookies(on, cookies), [form]))
    }
}

/// The way on after a form. To another program it is a page between: browsers hold a redirect after a form to what the
/// page allowed, and this page does not know the other program.
pub(super) fn go_on(title: &str, destination: &Destination, key: &PageKey) -> Response {
    let on = key.at(destination.as_str());
    if destination.is_elsewhere() { page_going_on(title, &on) } else { see_other(&on) }
}
