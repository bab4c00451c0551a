//! A proxy between a client and the API server: it holds back what watches say, ends them, or answers by itself.
//!
//! It speaks plain HTTP on loopback and is the administrator to the API server.

use std::convert::Infallible;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::{AUTHORIZATION, CONNECTION, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cluster::Cluster;

/// A request that passed, or was answered here.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When it came.
    pub at: Instant,
    /// Its method.
    pub method: Method,
    /// Its path and query.
    pub path: String,
}

/// What the proxy answers in place of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// 500, as of a broken admission or store.
    Broken,
    /// 429, with so many seconds of `Retry-After`.
    TooMany(u32),
    /// 403.
    Forbidden,
    /// 410, as of a watch that begins too far back.
    Expired,
}

type Rule = Box<dyn Fn(&Asked) -> Option<Refusal> + Send>;
type Answer = Response<UnsyncBoxBody<Bytes, kube::Error>>;

/// A running proxy. Dropping it ends it.
pub struct Proxy {
    shared: Arc<Shared>,
    kubeconfig: PathBuf,
    _serving: JoinSet<()>,
    _dir: TempDir,
}

struct Shared {
    client: Client,
    frozen: watch::Sender<bool>,
    cut: watch::Sender<()>,
    rule: Mutex<Option<Rule>>,
    asked: Mutex<Vec<Asked>>,
}

impl Proxy {
    /// Starts one before this control plane.
    ///
    /// # Errors
    /// The loopback has no port, or the kubeconfig cannot be written.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let shared = Arc::new(Shared {
            // What comes back is for the client behind the proxy to judge.
            client: cluster.without_retries().await?.client(),
            frozen: watch::Sender::new(false),
            cut: watch::Sender::new(()),
            rule: Mutex::default(),
            asked: Mutex::default(),
        });
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let dir = tempfile::Builder::new().prefix("eno-proxy-").tempdir()?;
        let kubeconfig = dir.path().join("kubeconfig");
        let content = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {"server": format!("http://{}", listener.local_addr()?)}}],
            "users": [{"name": "proxy", "user": {}}],
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
        });
        fs::write(&kubeconfig, content.to_string()).context("writing the proxy's kubeconfig")?;
        let mut serving = JoinSet::new();
        serving.spawn(Arc::clone(&shared).accept(listener));
        Ok(Self { shared, kubeconfig, _serving: serving, _dir: dir })
    }

    /// The kubeconfig of its clients.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Holds back what watches say, and new watches; all else passes.
    pub fn freeze(&self) {
        self.shared.frozen.send_replace(true);
    }

    /// Lets watches go on, with all that was held back.
    pub fn thaw(&self) {
        self.shared.frozen.send_replace(false);
    }

    /// Ends all watches: what they held back is lost. Clients begin again where they were.
    pub fn cut(&self) {
        self.shared.cut.send_replace(());
    }

    /// From now on answers by this rule, where it says so.
    pub fn refuse(&self, rule: impl Fn(&Asked) -> Option<Refusal> + Send + 'static) {
        *self.shared.rule.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(rule));
    }

    /// Lets all pass again.
    pub fn refuse_nothing(&self) {
        *self.shared.rule.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The requests so far of a method on paths that contain this.
    pub fn asked(&self, method: &Method, path: &str) -> Vec<Asked> {
        let asked = self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|asked| asked.method == *method && asked.path.contains(path)).cloned().collect()
    }
}

impl Shared {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let mut connections = JoinSet::new();
        // A failed accept ends the proxy, and with it the test.
        while let Ok((stream, _)) = listener.accept().await {
            let shared = Arc::clone(&self);
            let service = service_fn(move |request| Arc::clone(&shared).answer(request));
            connections.spawn(async move {
                // Clients come and go.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Answer, kube::Error> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let asked = Asked { at: Instant::now(), method: request.method().clone(), path };
        let refusal = self.refusal(&asked);
        let is_watch = asked.path.split(['?', '&']).any(|part| matches!(part, "watch=true" | "watch=1"));
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        match refusal {
            Some(refusal) => Ok(refused(refusal)),
            None => self.forward(request, is_watch).await,
        }
    }

    fn refusal(&self, asked: &Asked) -> Option<Refusal> {
        let rule = self.rule.lock().unwrap_or_else(PoisonError::into_inner);
        rule.as_ref().and_then(|rule| rule(asked))
    }

    async fn forward(&self, request: Request<Incoming>, is_watch: bool) -> Result<Answer, kube::Error> {
        let mut frozen = self.frozen.subscribe();
        let cut = self.cut.subscribe();
        let (mut parts, body) = request.into_parts();
        for header in [HOST, CONNECTION, AUTHORIZATION, TRANSFER_ENCODING] {
            parts.headers.remove(header);
        }
        let body = body.collect().await.map_err(|error| kube::Error::Service(error.into()))?.to_bytes();
        if is_watch {
            wait_for_thaw(&mut frozen).await;
        }
        let (mut parts, body) = self.client.send(Request::from_parts(parts, Body::from(body))).await?.into_parts();
        for header in [CONNECTION, TRANSFER_ENCODING] {
            parts.headers.remove(header);
        }
        if !is_watch {
            return Ok(Response::from_parts(parts, UnsyncBoxBody::new(body)));
        }
        let held_back =
            stream::unfold((body.into_data_stream(), frozen, cut), |(mut body, mut frozen, mut cut)| async {
                let next = async {
                    let chunk = body.next().await;
                    wait_for_thaw(&mut frozen).await;
                    chunk
                };
                let chunk = tokio::select! {
                    chunk = next => chunk?,
                    _ = cut.changed() => return None,
                };
                Some((chunk.map(Frame::data), (body, frozen, cut)))
            });
        Ok(Response::from_parts(parts, UnsyncBoxBody::new(StreamBody::new(held_back))))
    }
}

async fn wait_for_thaw(frozen: &mut watch::Receiver<bool>) {
    // Fails only where the proxy has ended.
    let _ = frozen.wait_for(|frozen| !frozen).await;
}

fn refused(refusal: Refusal) -> Answer {
    let (code, reason) = match refusal {
        Refusal::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
        Refusal::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
        Refusal::Forbidden => (StatusCode::FORBIDDEN, "Forbidden"),
        Refusal::Expired => (StatusCode::GONE, "Expired"),
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(), "reason": reason,
        "message": "the proxy of the test refuses this",
    });
    let body = Full::new(Bytes::from(status.to_string())).map_err(|never: Infallible| match never {});
    let mut answer = Response::new(UnsyncBoxBody::new(body));
    *answer.status_mut() = code;
    if let Refusal::TooMany(seconds) = refusal {
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    answer
}
