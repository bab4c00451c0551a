//! A receiver of destroys: remembers what it was sent, and answers as the test says.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
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

/// What it answers; `None` holds the answer back.
type Answer = Option<StatusCode>;

/// A running receiver. Dropping it ends it.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    answer: watch::Sender<Answer>,
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
        let shared = Arc::new(Shared { answer: watch::Sender::new(Some(StatusCode::OK)), received: Mutex::default() });
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
        self.shared.answer.send_replace(Some(status));
    }

    /// From now on it reads and does not answer, until [`Receiver::answer`].
    pub fn hold(&self) {
        self.shared.answer.send_replace(None);
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
        let event = serde_json::from_slice(&body).unwrap_or(Value::Null);
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(Received { at: Instant::now(), event });
        let mut answer = self.answer.subscribe();
        // Fails only where the receiver has ended.
        let status = answer.wait_for(Option::is_some).await.ok().and_then(|status| *status);
        let mut response = Response::new(Full::default());
        *response.status_mut() = status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        Ok(response)
    }
}
