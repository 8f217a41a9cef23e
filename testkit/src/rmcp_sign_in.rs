//! The official Rust SDK as a client that nobody gave a token: it finds the authorization server and has a person sign in.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationRequest, OAuthState};

use crate::rmcp_client::{RmcpClient, RmcpFault, config, http};

/// How the client becomes known to the authorization server.
#[derive(Clone, Copy, Debug)]
pub enum RmcpRegistration<'a> {
    /// It registers itself.
    Dynamic {
        /// What it calls itself.
        name: &'a str,
    },
    /// It was written down under this id.
    Written(&'a str),
    /// It is described at this URL.
    Document(&'a str),
}

/// A sign-in that a person has to answer.
pub struct RmcpSignIn {
    state: OAuthState,
    url: String,
    page: String,
}

impl From<AuthError> for RmcpFault {
    fn from(fault: AuthError) -> Self {
        Self::SignIn(Box::new(fault))
    }
}

impl RmcpSignIn {
    /// From the URL of an MCP endpoint to the page on which somebody signs in. The answer goes to `redirect`.
    ///
    /// # Errors
    /// [`RmcpFault::SignIn`], and [`RmcpFault::Http`].
    pub async fn begin(
        url: &str,
        registration: RmcpRegistration<'_>,
        redirect: &str,
    ) -> Result<Self, RmcpFault> {
        let mut state = OAuthState::new(url, Some(http()?)).await?;
        let request = AuthorizationRequest::new(redirect).with_initial_scope_selection();
        let request = match registration {
            RmcpRegistration::Dynamic { name } => request.with_client_name(name),
            RmcpRegistration::Written(id) => request.with_preregistered_client(id),
            RmcpRegistration::Document(document) => request.with_client_metadata_url(document),
        };
        state.start_authorization(request).await?;
        let page = state.get_authorization_url().await?;
        Ok(Self { state, url: url.to_owned(), page })
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Connects with what the browser was sent back with. The tokens are refreshed once before that.
    ///
    /// # Errors
    /// [`RmcpFault::SignIn`], and as [`RmcpClient::connect`].
    pub async fn finish(mut self, answer: &str) -> Result<RmcpClient, RmcpFault> {
        self.state.handle_callback_url(answer).await?;
        self.state.refresh_token().await?;
        let OAuthState::Authorized(manager) = self.state else {
            return Err(AuthError::AuthorizationRequired.into());
        };
        let client = AuthClient::new(http()?, manager);
        RmcpClient::over(StreamableHttpClientTransport::with_client(client, config(&self.url))).await
    }
}
