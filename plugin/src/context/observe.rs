//! Sees every answer of the API server: its warnings are for the user, and `-v 6` shows the requests.

use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};
use std::time::Instant;

use http::header::WARNING;
use http::{HeaderMap, Request, Response};
use tower::{Layer, Service};

use crate::warnings::{Warnings, say};

/// From this level on, requests are shown: kubectl's.
const SHOW_REQUESTS: u8 = 6;

/// The layer.
#[derive(Clone)]
pub(super) struct ObserveLayer {
    verbosity: u8,
    warnings: Warnings,
    host: String,
}

impl ObserveLayer {
    /// `host` is that of the API server, for `-v 6`.
    pub(super) fn new(verbosity: u8, warnings: Warnings, host: String) -> Self {
        ObserveLayer { verbosity, warnings, host }
    }
}

impl<S> Layer<S> for ObserveLayer {
    type Service = Observe<S>;
    fn layer(&self, inner: S) -> Observe<S> {
        Observe { layer: self.clone(), inner }
    }
}

/// The service below the layer.
pub(super) struct Observe<S> {
    layer: ObserveLayer,
    inner: S,
}

impl<S, Q, P> Service<Request<Q>> for Observe<S>
where
    S: Service<Request<Q>, Response = Response<P>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut task::Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let ObserveLayer { verbosity, warnings, host } = self.layer.clone();
        let what = (verbosity >= SHOW_REQUESTS).then(|| format!("{} {host}{}", request.method(), request.uri()));
        let begun = Instant::now();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            if let Some(what) = what {
                let milliseconds = begun.elapsed().as_millis();
                let status = answer.as_ref().map_or("failed".to_owned(), |response| response.status().to_string());
                say(format_args!("{what} {status} in {milliseconds} milliseconds"));
            }
            if let Ok(response) = &answer {
                texts(response.headers()).for_each(|text| warnings.warn(text));
            }
            answer
        })
    }
}

/// The texts of warnings with code 299, the only one the API server sends.
fn texts(headers: &HeaderMap) -> impl Iterator<Item = String> {
    headers.get_all(WARNING).into_iter().filter_map(|value| {
        let rest = std::str::from_utf8(value.as_bytes()).ok()?.strip_prefix("299 ")?;
        let (_, quoted) = rest.split_once('"')?;
        let mut text = String::new();
        let mut characters = quoted.chars();
        loop {
            match characters.next()? {
                '"' => return Some(text),
                '\\' => text.push(characters.next()?),
                c => text.push(c),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_texts_of_warnings() {
        let mut headers = HeaderMap::new();
        for value in [r#"299 - "a \"quoted\" word""#, r#"199 - "other""#, "299 - broken", r#"299 agent "b" "date""#] {
            headers.append(WARNING, value.parse().unwrap());
        }
        assert_eq!(texts(&headers).collect::<Vec<_>>(), ["a \"quoted\" word", "b"]);
    }
}
