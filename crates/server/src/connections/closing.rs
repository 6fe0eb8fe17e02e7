//! Tells waiting requests that the server is closing, so that they are answered at once.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use tokio::sync::watch;

/// Extension of the requests that [`serve`](crate::serve()) passes to a router.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closing(Option<watch::Receiver<bool>>);

impl Closing {
    pub(crate) fn new(is_closing: watch::Receiver<bool>) -> Self {
        Self(Some(is_closing))
    }

    /// Returns the signal of a request. It never comes if the application serves the router itself.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.0.as_ref().is_some_and(|closing| *closing.borrow())
    }

    /// Completes when the server begins to close.
    pub(crate) async fn begun(&self) {
        match self.0.clone() {
            // Fails when the server has ended.
            Some(mut closing) => drop(closing.wait_for(|is_closing| *is_closing).await),
            None => std::future::pending().await,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Closing {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}
