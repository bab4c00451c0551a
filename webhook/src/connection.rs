//! Connections: accepted, served, kept while idle, and drained with a hard end.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::{Semaphore, oneshot};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::metrics::Metrics;

/// Connections of one port. An API server keeps 25 idle ones for each host.
const MOST: usize = 1000;
/// The most that is buffered of a request before it is handled; a head must fit.
const BUFFER: usize = 64 * 1024;
/// After a failed accept (no file descriptors, say).
const PAUSE: Duration = Duration::from_millis(100);

/// The times a connection has.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// For the TLS handshake.
    pub handshake: Duration,
    /// From the end of one request to the whole head of the next. The API server keeps idle connections for 90 s and does
    /// not repeat a call that meets a closed one, so ours must last longer. A head that trickles in gets no more than this.
    pub idle: Duration,
}

/// What the connections of a port share.
#[derive(Clone)]
pub struct Connections {
    /// TLS, or plain.
    pub tls: Option<TlsAcceptor>,
    /// What answers.
    pub app: Router,
    /// The times.
    pub times: Times,
    /// Where connections are counted.
    pub metrics: Metrics,
    /// Cancelled: accept nothing more; end each connection after the request it is at.
    pub stop: CancellationToken,
    /// Cancelled: end each connection now.
    pub end: CancellationToken,
    /// The connections that are open.
    pub open: TaskTracker,
}

impl Connections {
    /// [Accepts](Connections::accept) and serves on a thread of its own. Returns what ends when nothing more is accepted.
    ///
    /// One thread answers faster than two that wake each other, and what else the process does does not keep it waiting:
    /// docs/performance.md has the figures.
    ///
    /// # Errors
    /// There is no thread to be had, or no runtime.
    pub async fn accept_apart(self, listener: TcpListener) -> io::Result<oneshot::Receiver<()>> {
        let listener = listener.into_std()?;
        let ((started, is_started), (closed, is_closed)) = (oneshot::channel(), oneshot::channel());
        thread::Builder::new().name("admission".to_owned()).spawn(move || {
            let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            runtime.block_on(async {
                let listener = match TcpListener::from_std(listener) {
                    Ok(listener) => listener,
                    Err(error) => return drop(started.send(Err(error))),
                };
                let open = self.open.clone();
                // Whoever waits for these has given up where they fail.
                let _ = started.send(Ok(()));
                self.accept(listener).await;
                let _ = closed.send(());
                open.close();
                open.wait().await;
            });
        })?;
        is_started.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
        Ok(is_closed)
    }

    /// Accepts connections until told to stop.
    pub async fn accept(self, listener: TcpListener) {
        let room = Arc::new(Semaphore::new(MOST));
        loop {
            let accepted = async {
                let place = Arc::clone(&room).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                accepted = accepted => accepted,
                () = self.stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    let connection = self.clone();
                    self.open.spawn(async move {
                        connection.serve(stream).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Accepts nothing more, lets the open requests end within `limit`, then ends what is left. `accepting` ends when nothing
    /// more is accepted.
    pub async fn finish(self, accepting: impl Future, limit: Duration) {
        self.stop.cancel();
        // With it goes the socket: from here on connections are refused, not left waiting.
        accepting.await;
        self.open.close();
        if tokio::time::timeout(limit, self.open.wait()).await.is_err() {
            tracing::warn!(connections = self.open.len(), "ending connections that are still open after {limit:?}");
            self.end.cancel();
            self.open.wait().await;
        }
    }

    async fn serve(self, stream: TcpStream) {
        let _open = self.metrics.connection();
        // Answers are small, and someone waits for each.
        let _ = stream.set_nodelay(true);
        let Some(acceptor) = &self.tls else { return self.speak(stream).await };
        let handshake = tokio::time::timeout(self.times.handshake, acceptor.accept(stream));
        let shaken = tokio::select! {
            shaken = handshake => shaken,
            () = self.stop.cancelled() => return,
        };
        match shaken {
            Ok(Ok(stream)) => self.speak(stream).await,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a TLS handshake failed");
                self.metrics.handshake_failed();
            }
            Err(_) => self.metrics.handshake_failed(),
        }
    }

    async fn speak(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = TowerToHyperService::new(self.app.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.times.idle)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let mut stopping = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended early");
                    }
                    return;
                }
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.end.cancelled() => return,
            }
        }
    }
}
