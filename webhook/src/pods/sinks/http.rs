//! Posts destroys as CloudEvents to a URL.
//!
//! A failure that says something of the destroy (400, 413 …) is for good. One that says something of us, of the way or of
//! the receiver (401, 404, 429, 503, a redirect, no connection …) may be mended, and then the destroy is as good as before.
//! Redirects are not followed: they would take destroy and token to where nobody checked.

mod retry_after;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eno_shared::pods::destroy::Destroy;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use jiff::Timestamp;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::address::{Guard, Resolver};
use super::cloud_event::{CloudEvent, DATA_CONTENT_TYPE};
use super::{Failure, Retry, Sink, SinkError};

/// How long a connection may take to be made: a part of an attempt's time, so that the next address is tried as well.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long a connection is kept without use. Most servers keep theirs longer.
const IDLE: Duration = Duration::from_secs(20);
/// How much of an answer is read. Nobody looks at it.
const ANSWER: usize = 16 * 1024;
/// How long that may take.
const ANSWER_TIME: Duration = Duration::from_millis(500);

/// How a CloudEvent goes into a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ContentMode {
    /// All of it in the body.
    Structured,
    /// Its attributes in headers, its data in the body.
    Binary,
}

/// Where to, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to.
    pub url: Uri,
    /// How a CloudEvent goes into a request.
    pub mode: ContentMode,
    /// Who signs the receiver's certificate, in PEM; the system's authorities where it is missing.
    pub ca_file: Option<PathBuf>,
    /// The bearer token, read at each attempt.
    pub token_file: Option<PathBuf>,
    /// How long an attempt may take.
    pub timeout: Duration,
    /// Which addresses are allowed.
    pub guard: Guard,
}

/// Posts destroys.
pub struct Http {
    client: Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>,
    options: Options,
    cluster: String,
}

impl Http {
    /// One that tells of the cluster of that uid.
    ///
    /// # Errors
    /// The URL is not one that may be used, or an authority does not load; the message names the flag.
    pub fn new(options: Options, cluster: &str) -> Result<Self, SinkError> {
        check(&options)?;
        let mut tcp = HttpConnector::new_with_resolver(Resolver(options.guard));
        tcp.enforce_http(false); // https is what follows
        tcp.set_connect_timeout(Some(CONNECTING));
        tcp.set_nodelay(true);
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| SinkError::Tls(error.to_string()))?
            .with_root_certificates(authorities(&options)?)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector.wrap_connector(tcp));
        Ok(Http { client, options, cluster: cluster.to_owned() })
    }

    async fn post(&self, destroy: &Destroy) -> Result<Response<Incoming>, Failure> {
        let request = self.request(&CloudEvent::of(destroy, &self.cluster)?).await?;
        // The chain of causes, which the client's error does not say by itself.
        self.client.request(request).await.map_err(|error| Failure::passing(format!("{:#}", anyhow::Error::new(error))))
    }

    async fn request(&self, event: &CloudEvent) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.options.url)
            .header(USER_AGENT, concat!("eno-webhook/", env!("CARGO_PKG_VERSION")));
        if let Some(file) = &self.options.token_file {
            request = request.header(AUTHORIZATION, token(file).await?);
        }
        let body = match self.options.mode {
            ContentMode::Structured => {
                request = request.header(CONTENT_TYPE, "application/cloudevents+json; charset=UTF-8");
                event.structured()
            }
            ContentMode::Binary => {
                request = request.header(CONTENT_TYPE, DATA_CONTENT_TYPE);
                request = event.headers().fold(request, |request, (name, value)| request.header(name, value));
                event.data()
            }
        };
        request.body(Full::from(body)).map_err(|error| Failure::lasting(format!("it makes no request: {error}")))
    }
}

impl Sink for Http {
    fn name(&self) -> &str {
        "http"
    }

    fn deliver(&self, destroy: Arc<Destroy>) -> BoxFuture<'_, Result<(), Failure>> {
        async move {
            let timeout = self.options.timeout;
            let response = tokio::time::timeout(timeout, self.post(&destroy))
                .await
                .unwrap_or_else(|_| Err(Failure::passing(format!("no answer within {timeout:?}"))))?;
            let (status, retry_after) = (response.status(), retry_after(&response));
            // To use the connection again. What does not end in good time costs it, and nothing else.
            let rest = Limited::new(response.into_body(), ANSWER).collect();
            let _ = tokio::time::timeout(ANSWER_TIME, rest).await;
            verdict(status, retry_after)
        }
        .boxed()
    }
}

/// Is the URL one to send destroys to? A host that is an address is never resolved: it is checked here.
fn check(options: &Options) -> Result<(), SinkError> {
    let refuse = |why: String| Err(SinkError::Url { url: options.url.clone(), why });
    let Some(authority) = options.url.authority() else { return refuse("it has no host".to_owned()) };
    if authority.as_str().contains('@') {
        return Err(SinkError::Secret);
    }
    match options.url.scheme_str() {
        Some("https") => {}
        Some("http") if options.token_file.is_some() => {
            return refuse("--sink-token-file needs https: the token could be read on its way".to_owned());
        }
        Some("http") if options.ca_file.is_some() => {
            return refuse("--sink-ca-file needs https".to_owned());
        }
        Some("http") => {}
        Some(_) | None => return refuse("expected http:// or https://".to_owned()),
    }
    let host = authority.host();
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse();
    match literal.ok().and_then(|address| options.guard.objection(address)) {
        Some(objection) => refuse(objection.to_owned()),
        None => Ok(()),
    }
}

fn authorities(options: &Options) -> Result<RootCertStore, SinkError> {
    let mut roots = RootCertStore::empty();
    let Some(file) = &options.ca_file else {
        if options.url.scheme_str() == Some("https") {
            let found = rustls_native_certs::load_native_certs();
            if roots.add_parsable_certificates(found.certs).0 == 0 {
                return Err(SinkError::Tls("the system has no authorities; name them by --sink-ca-file".to_owned()));
            }
        }
        return Ok(roots);
    };
    let unusable = |why: String| SinkError::Authorities { file: file.clone(), why };
    let pem = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("it holds no certificate".to_owned()));
    }
    Ok(roots)
}

/// The header with the token, as the file has it now: tokens are replaced while we run.
async fn token(file: &Path) -> Result<HeaderValue, Failure> {
    let token = tokio::fs::read_to_string(file)
        .await
        .map_err(|error| Failure::passing(format!("cannot read --sink-token-file {}: {error}", file.display())))?;
    let mut header = match token.trim() {
        "" => Err(()),
        token => HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| ()),
    }
    .map_err(|()| Failure::passing(format!("--sink-token-file {} holds no token", file.display())))?;
    header.set_sensitive(true);
    Ok(header)
}

fn retry_after(response: &Response<Incoming>) -> Option<Duration> {
    retry_after::parse(response.headers().get(RETRY_AFTER)?.to_str().ok()?, Timestamp::now())
}

fn verdict(status: StatusCode, retry_after: Option<Duration>) -> Result<(), Failure> {
    let why = format!("it answered {status}");
    match status.as_u16() {
        200..=299 => Ok(()),
        300..=399 => Err(Failure::passing(format!("{why}; redirects are not followed: name the right --sink-url"))),
        // Not the destroy, but its sender is not welcome, has come too often, or to a wrong door.
        401 | 403 | 404 | 407 | 408 | 425 | 429 => Err(Failure { retry: Retry::After(retry_after), why }),
        400..=499 => Err(Failure::lasting(why)),
        _ => Err(Failure { retry: Retry::After(retry_after), why }),
    }
}

#[cfg(test)]
mod tests;
