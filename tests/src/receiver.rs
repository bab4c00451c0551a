//! A receiver of destroys: remembers what it was sent, and answers as the test says.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::eventually::eventually;

/// A CloudEvent that came.
#[derive(Debug, Clone)]
pub struct Received {
    /// When.
    pub at: Instant,
    /// The event, in structured mode.
    pub event: Value,
}

impl Received {
    /// The destroy's id.
    pub fn id(&self) -> &str {
        self.event["id"].as_str().unwrap_or_default()
    }

    /// How the pod ended.
    pub fn cause(&self) -> &str {
        self.event["data"]["cause"].as_str().unwrap_or_default()
    }

    /// Whose end it is.
    pub fn uid(&self) -> &str {
        self.event["data"]["pod"]["uid"].as_str().unwrap_or_default()
    }
}

/// An answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
}

impl From<StatusCode> for Answer {
    fn from(status: StatusCode) -> Self {
        Answer { status, retry_after: None }
    }
}

/// What it answers to what came; `None` holds the answer back until the rule is another.
type Rule = Arc<dyn Fn(&Received) -> Option<Answer> + Send + Sync>;

/// A running receiver. Dropping it ends it.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    rule: watch::Sender<Rule>,
    received: Mutex<Vec<Received>>,
}

impl Receiver {
    /// Starts one that takes everything, on a free port of the loopback.
    ///
    /// # Errors
    /// The loopback has no port.
    pub async fn start() -> Result<Self> {
        Self::at(Ipv4Addr::LOCALHOST.into()).await
    }

    /// The same at another address of this machine.
    ///
    /// # Errors
    /// The address has no port.
    pub async fn at(address: IpAddr) -> Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((address, 0))).await?;
        let address = listener.local_addr()?;
        let takes_all: Rule = Arc::new(|_| Some(StatusCode::OK.into()));
        let shared = Arc::new(Shared { rule: watch::Sender::new(takes_all), received: Mutex::default() });
        let mut serving = JoinSet::new();
        serving.spawn(Arc::clone(&shared).accept(listener));
        Ok(Receiver { address, shared, _serving: serving })
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The flags that have a webhook tell it, and nobody else.
    pub fn flags(&self) -> [String; 3] {
        let url = format!("--sink-url={}", self.url());
        [url, "--sink-allow-local".to_owned(), "--sink-events=false".to_owned()]
    }

    /// How much came.
    pub fn count(&self) -> usize {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// From now on it answers this.
    pub fn answer(&self, status: StatusCode) {
        self.answer_by(move |_| Some(status.into()));
    }

    /// From now on it answers by this rule; `None` holds the answer back until there is another.
    pub fn answer_by(&self, rule: impl Fn(&Received) -> Option<Answer> + Send + Sync + 'static) {
        self.shared.rule.send_replace(Arc::new(rule));
    }

    /// From now on it reads and does not answer, until [`Receiver::answer`].
    pub fn hold(&self) {
        self.answer_by(|_| None);
    }

    /// All that came, in order, whatever was answered.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What came of a pod.
    pub fn of(&self, uid: &str) -> Vec<Received> {
        self.received().into_iter().filter(|received| received.uid() == uid).collect()
    }

    /// Waits until so much came of a pod, and returns it.
    ///
    /// # Errors
    /// Less came within `limit`.
    pub async fn told(&self, uid: &str, count: usize, limit: Duration) -> Result<Vec<Received>> {
        eventually(&format!("{count} destroys of {uid}"), limit, async || {
            let received = self.of(uid);
            ensure!(received.len() >= count, "{} of {} in all came", received.len(), self.received().len());
            Ok(received)
        })
        .await
    }
}

impl Shared {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let mut connections = JoinSet::new();
        // A failed accept ends the receiver, and with it the test.
        while let Ok((stream, _)) = listener.accept().await {
            let shared = Arc::clone(&self);
            let service = service_fn(move |request| Arc::clone(&shared).receive(request));
            connections.spawn(async move {
                // Clients come and go.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn receive(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let received = Received { at: Instant::now(), event: serde_json::from_slice(&body).unwrap_or(Value::Null) };
        let mut rule = self.rule.subscribe();
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(received.clone());
        let Answer { status, retry_after } = loop {
            let answers = Arc::clone(&rule.borrow_and_update());
            if let Some(answer) = answers(&received) {
                break answer;
            }
            // Fails only where the receiver has ended.
            if rule.changed().await.is_err() {
                break StatusCode::SERVICE_UNAVAILABLE.into();
            }
        };
        let mut response = Response::new(Full::default());
        *response.status_mut() = status;
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        Ok(response)
    }
}
