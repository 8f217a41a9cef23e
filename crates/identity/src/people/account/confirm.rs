//! The password, asked for once more of somebody who is signed in.

use std::time::Duration;

use axum::response::Response;
use http::StatusCode;

use crate::people::asked::{Asked, Whom, wait_for};
use crate::people::keys::stored;
use crate::people::password::Password;
use crate::people::session::Open;
use crate::people::throttle::Trier;
use crate::people::{Fault, People};

/// Why somebody who is signed in is not believed to be the person.
pub(in crate::people) enum Unsure {
    /// The password is another.
    Wrong,
    /// There were too many wrong ones.
    Wait(Duration),
}

impl Unsure {
    /// The answer, on a page that is made with a status and a message.
    pub(in crate::people) fn told(self, page: impl FnOnce(StatusCode, &str) -> Response) -> Response {
        match self {
            Self::Wrong => page(StatusCode::FORBIDDEN, "The current password is not right."),
            Self::Wait(wait) => {
                wait_for(page(StatusCode::TOO_MANY_REQUESTS, "Too many tries. Wait some minutes."), wait)
            }
        }
    }
}

impl People {
    /// Compares the password of a session's account. Wrong ones are counted for the session: who took it guesses a few times.
    pub(in crate::people) async fn confirm(
        &self,
        asked: &Asked,
        open: &Open,
        password: Password,
    ) -> Result<Result<(), Unsure>, Fault> {
        let comparing = async {
            let verified = self.hasher.verify(password, Some(open.account.password.clone()), true).await?;
            Ok(if verified.matches { Ok(()) } else { Err("current password") })
        };
        self.tried(asked, open, comparing).await
    }

    /// Has somebody signed in prove who it is; `proving` tells the step at which that failed. It is counted for the session
    /// unless it succeeds, or could not be tried.
    pub(in crate::people) async fn tried(
        &self,
        asked: &Asked,
        open: &Open,
        proving: impl Future<Output = Result<Result<(), &'static str>, Fault>>,
    ) -> Result<Result<(), Unsure>, Fault> {
        let whom = Whom::Account(&open.account.id);
        let trier = Trier::Session(&open.session.hash);
        let counted = match self.throttle.count(trier, &self.keys, stored(asked.now)) {
            Ok(counted) => counted,
            Err(wait) => {
                asked.log("throttle", whom);
                return Ok(Err(Unsure::Wait(wait.0)));
            }
        };
        match proving.await {
            Ok(Ok(())) => {
                self.throttle.uncount(counted, stored(asked.now));
                Ok(Ok(()))
            }
            Ok(Err(step)) => {
                asked.log(step, whom);
                Ok(Err(Unsure::Wrong))
            }
            Err(fault) => {
                self.throttle.uncount(counted, stored(asked.now));
                Err(fault)
            }
        }
    }
}
