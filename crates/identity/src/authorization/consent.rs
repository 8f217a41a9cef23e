//! The page on which a person says what a client may do, and the answer to it.

use std::sync::Arc;

use aldgate_store::identity::StoredGrant;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::authorize::{Refused, Way};
use super::client::{Client, Known};
use super::params::Params;
use super::redirect::{self, Place};
use super::refusal::{Code, Refusal, RequestId, refuse};
use super::request::Asked;
use super::tokens::{Handle, HandleKind};
use super::{AuthorizationServer, GrantRecord, millis, random};
use crate::Scopes;
use crate::people::{PageKey, SignedIn, is_from, page};
use crate::scopes::{ADMIN, APPROVALS_DECIDE, EVIDENCE_READ, TOOLS_READ, TOOLS_WRITE};

/// The path of the form.
pub(super) const CONSENT: &str = "/oauth/authorize/consent";
const PURPOSE: &str = "consent";
/// How long a code is good.
const CODE_LIFE: Duration = Duration::seconds(60);

/// What one person was asked. It goes into the form, sealed.
#[derive(Serialize, Deserialize)]
struct Question {
    asked: Asked,
    /// The digest of the sealed request.
    digest: String,
    user: String,
    /// When the person signed in, milliseconds since 1970: the answer has to come from the same sign-in.
    signed_in_at: i64,
    scope: String,
}

/// Asks the person.
pub(super) fn ask(
    server: &AuthorizationServer,
    asked: &Asked,
    digest: &str,
    client: &Client,
    signed_in: &SignedIn,
    scopes: &Scopes,
) -> Result<Response, Refusal> {
    let question = Question {
        asked: asked.clone(),
        digest: digest.to_owned(),
        user: signed_in.user.id.clone(),
        signed_in_at: millis(signed_in.at),
        scope: scopes.to_string(),
    };
    let plain = serde_json::to_vec(&question).map_err(|_| super::no_seal())?;
    let nonce = random().map_err(|_| super::no_seal())?;
    let sealed = server.seal.seal(PURPOSE, nonce, &plain).map_err(|_| super::no_seal())?;
    let left_out = asked.scopes().without(scopes);
    let body = html! {
        p { "You are signed in as " strong { (signed_in.user.display_name) } " (" (signed_in.user.name) ")." }
        (who(client, &asked.redirect_uri))
        form method="post" action=(signed_in.key.at(CONSENT)) {
            input type="hidden" name="csrf" value=(signed_in.csrf);
            input type="hidden" name="question" value=(URL_SAFE_NO_PAD.encode(sealed));
            fieldset {
                legend { "It asks to, in your name:" }
                @for scope in scopes.iter() {
                    label.choice {
                        input type="checkbox" name=(format!("scope:{scope}")) value="on" checked;
                        span { (in_words(scope)) " " code { (scope) } }
                    }
                }
            }
            @if !left_out.is_empty() {
                p { "It also asked for " code { (left_out) } ", which your roles do not allow." }
            }
            p { "For " code { (asked.resource) } "." }
            p {
                button type="submit" name="decision" value="allow" { "Allow" }
                " "
                button.second type="submit" name="decision" value="deny" { "Deny" }
            }
        }
    };
    Ok(page(StatusCode::OK, "May this program act for you?", &body))
}

/// The request that somebody signs in for, told on that page.
pub(super) fn reason(client: &Client, asked: &Asked) -> Markup {
    html! {
        p { "You sign in for a program that wants to act for you. You are asked once more before it may." }
        (who(client, &asked.redirect_uri))
        p { "It asks to, in your name:" }
        ul { @for scope in asked.scopes().iter() { li { (in_words(scope)) " " code { (scope) } } } }
    }
}

/// Somebody has answered this request.
pub(super) fn answered_before() -> Refusal {
    let expected = "one that nobody has answered yet; begin again in the program";
    refuse(Code::InvalidRequest, "request", "one that was answered before", expected)
}

fn who(client: &Client, redirect_uri: &str) -> Markup {
    let place = redirect::place(redirect_uri);
    let warning = match (&place, &client.known) {
        (Ok(Place::Site(_)), _) => None,
        (Ok(Place::Computer), _) => Some(
            "The answer goes to a program on your own computer. Any program there can claim to be this one: allow it only if you have just started it yourself.",
        ),
        _ => Some(
            "The answer goes to whatever program on your device claims this address. Allow it only if you have just started it yourself.",
        ),
    };
    html! {
        dl {
            dt { "Program" } dd { strong { (client.record.name) } }
            dt { "Known" } dd {
                @match &client.known {
                    Known::Beforehand => "registered beforehand by whoever runs this server",
                    Known::Metadata(host) => { "described by " strong { (host) } " at " code { (client.id) } }
                    Known::Itself => "it registered itself; nobody has checked its name",
                }
            }
            dt { "The answer goes to" } dd {
                @match &place {
                    Ok(Place::Site(host)) => strong { (host) },
                    Ok(Place::Computer) => strong { "this computer" },
                    Ok(Place::Scheme(scheme)) => strong { (scheme) ":" },
                    Err(_) => "an address that cannot be shown",
                }
                " " code { (redirect_uri) }
            }
        }
        @if let Some(warning) = warning { p role="note" { strong { "Take care. " } (warning) } }
    }
}

fn in_words(scope: &str) -> &str {
    match scope {
        TOOLS_READ => "Use tools that only read",
        TOOLS_WRITE => "Use tools that change things",
        APPROVALS_DECIDE => "Decide approvals, for five minutes",
        EVIDENCE_READ => "Read the evidence of what was done",
        ADMIN => "Run the gateway: its status, traces, configuration and quarantine",
        other => other,
    }
}

/// The person answers.
pub(super) async fn answer(
    State(server): State<Arc<AuthorizationServer>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let id = RequestId::fresh();
    let consented = server.consented(&headers, &PageKey::of_query(query.as_deref()), body).await;
    match consented {
        Ok(response) => response,
        Err(refused) => server.parted(&headers, refused, Way::Page, &id).await,
    }
}

impl AuthorizationServer {
    async fn consented(&self, headers: &HeaderMap, key: &PageKey, body: Body) -> Result<Response, Refused> {
        let now = self.now();
        let params = Params::of_form(headers, body).await?;
        if !is_from(&self.settings.issuer, headers) {
            let expected = "a form that was sent from a page of this server";
            return Err(refuse(Code::AccessDenied, "origin", "another page", expected).into());
        }
        let nobody = || refuse(Code::AccessDenied, "sign-in", "nobody", "the person who was asked");
        let signed_in = self.signed_in(headers, key).await?.ok_or_else(nobody)?;
        if !signed_in.is_csrf(params.get("csrf").unwrap_or_default()) {
            let expected = "the value of the form that this server made for this session";
            return Err(refuse(Code::AccessDenied, "csrf", "another value", expected).into());
        }
        let question = self.question(params.required("question")?, &signed_in, now)?;
        let asked = &question.asked;
        let client = self.client_of(asked).await?;
        if !asked.is_fresh_enough(&signed_in, &question.digest, now) {
            let expected =
                "an answer within 5 minutes after signing in for this request; begin again in the program";
            return Err(refuse(Code::AccessDenied, "sign-in", "one that is too old", expected).into());
        }
        // Whatever becomes of it: from here on this answer is the only one.
        let first = self.store.answer_request(&asked.id, asked.ends_at()).await;
        if !first.map_err(|fault| Refusal::ours("answer", &fault))? {
            return Err(answered_before().into());
        }
        // The person was asked, and answered: the client hears of it.
        let told = |refusal| Refused { refusal, answer: Some(asked.answer()), ask_first: false };
        let granted = self.granted(&params, &question, &client, &signed_in).map_err(told)?;
        let code = self.code(asked, &granted, &signed_in, now).await.map_err(told)?;
        tracing::info!(
            client = asked.client, subject = signed_in.user.id, scope = %granted, resource = asked.resource,
            "a person granted a client what it asked for",
        );
        let response = self.answered(&asked.answer(), &[("code", Some(&code))], Way::Page);
        Ok(self.part(headers, response).await?)
    }

    fn question(&self, sealed: &str, signed_in: &SignedIn, now: OffsetDateTime) -> Result<Question, Refusal> {
        let other = || {
            let expected = "the question that this person was asked within the last 15 minutes";
            refuse(Code::InvalidRequest, "question", "another one", expected)
        };
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| other())?;
        let plain = self.seal.open(PURPOSE, &sealed).map_err(|_| other())?;
        let question: Question = serde_json::from_slice(&plain).map_err(|_| other())?;
        let same = question.user == signed_in.user.id && question.signed_in_at == millis(signed_in.at);
        let late = super::at(question.asked.asked_at) + super::request::GOOD_FOR <= now;
        if same && !late { Ok(question) } else { Err(other()) }
    }

    /// What the person ticked of that which was shown, as far as the roles still allow it.
    fn granted(
        &self,
        params: &Params,
        question: &Question,
        client: &Client,
        signed_in: &SignedIn,
    ) -> Result<Scopes, Refusal> {
        let denied = |sent: &str| refuse(Code::AccessDenied, "consent", sent, "a person who allows it");
        match params.get("decision") {
            Some("allow") => {}
            Some("deny") => return Err(denied("a person who denied it")),
            _ => return Err(denied("no decision")),
        }
        let ticked = Scopes::of(params.after("scope:")).map_err(|_| denied("other scopes"))?;
        let shown = Scopes::parse(&question.scope).unwrap_or_default();
        let granted = self.grantable(&question.asked, client, signed_in)?.within(&shown).within(&ticked);
        if granted.is_empty() { Err(denied("nothing that was allowed")) } else { Ok(granted) }
    }

    /// Keeps the grant, and makes its code.
    async fn code(
        &self,
        asked: &Asked,
        granted: &Scopes,
        signed_in: &SignedIn,
        now: OffsetDateTime,
    ) -> Result<String, Refusal> {
        let id = hex::encode(random::<16>().map_err(|_| super::no_seal())?);
        let record = GrantRecord {
            resource: asked.resource.clone(),
            scope: granted.to_string(),
            auth_time: signed_in.at.unix_timestamp(),
            jkt: asked.jkt.clone(),
            redirect_uri: asked.redirect_sent.then(|| asked.redirect_uri.clone()),
            challenge: asked.challenge.clone(),
        };
        let stored = StoredGrant {
            id: id.clone(),
            client: asked.client.clone(),
            subject: signed_in.user.id.clone(),
            record: record.write()?,
            generation: 0,
            created_at: millis(now),
            ends_at: millis(now + CODE_LIFE),
            revoked_at: None,
        };
        self.store.add_grant(&stored).await.map_err(|fault| Refusal::ours("code", &fault))?;
        let handle = Handle { grant: id, generation: 0 };
        handle.seal(HandleKind::Code, &self.seal).ok_or_else(super::no_seal)
    }
}
