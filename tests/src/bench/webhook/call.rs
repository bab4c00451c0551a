//! Calls of a hook, as the API server makes them: HTTP/1.1 over TLS, connections kept alive, bodies made before.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use futures::future::try_join_all;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc};
use tokio_rustls::TlsConnector;

use super::contestant::Contestant;
use super::review::Review;
use crate::bench::figures::Times;

/// Connections of a load of a given rate: an API server keeps 25 idle ones.
const POOL: usize = 25;

/// How a load went.
pub struct Outcome {
    /// How long each call took. Of a load of a given rate it counts from when the call was due.
    pub times: Times,
    /// How long the load lasted.
    pub took: Duration,
}

impl Outcome {
    /// Calls in a second.
    pub fn rate(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }
}

/// A connection.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// A server that only reads gives no answer.
    is_answered: bool,
}

impl Connection {
    async fn open(to: &Contestant) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(to.ca())?)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let address: SocketAddr = to.url().strip_prefix("https://").context("no URL")?.parse()?;
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let stream = TlsConnector::from(Arc::new(config)).connect(address.ip().into(), stream).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, is_answered: to.answers() })
    }

    async fn call(&mut self, review: &Review) -> Result<()> {
        self.sender.ready().await?;
        let request = Request::post(review.path).header("host", "webhook").header("content-type", "application/json");
        let answer = self.sender.send_request(request.body(Full::new(review.body.clone()))?).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        let expected: &[u8] = if review.allowed { b"\"allowed\":true" } else { b"\"allowed\":false" };
        let answered = memmem::find(&body, expected).is_some() || !self.is_answered && body.is_empty();
        ensure!(status == StatusCode::OK && answered, "{status}: {}", String::from_utf8_lossy(&body));
        Ok(())
    }
}

/// As many calls as are answered in this time, so many at once.
///
/// # Errors
/// An answer is not as expected.
pub async fn flood(to: &Contestant, reviews: &[Review], at_once: usize, lasting: Duration) -> Result<Outcome> {
    let mut connections = try_join_all((0..at_once).map(|_| Connection::open(to))).await?;
    let begun = Instant::now();
    let end = begun + lasting;
    let calling = connections.drain(..).enumerate().map(|(first, mut connection)| {
        let reviews = reviews.to_vec();
        tokio::spawn(async move {
            let mut times = Times::default();
            for review in reviews.iter().cycle().skip(first) {
                let started = Instant::now();
                if started >= end {
                    break;
                }
                connection.call(review).await?;
                times.add(started.elapsed());
            }
            anyhow::Ok(times)
        })
    });
    let mut times = Times::default();
    for called in calling.collect::<Vec<_>>() {
        times.merge(called.await??);
    }
    Ok(Outcome { times, took: begun.elapsed() })
}

/// Calls at a rate, each when it is due, whatever became of those before. As in an API server's pool, a call takes any
/// connection on which none is under way.
///
/// # Errors
/// An answer is not as expected, or the load falls far behind.
pub async fn pace(to: &Contestant, reviews: &[Review], rate: u32, lasting: Duration) -> Result<Outcome> {
    let connections = try_join_all((0..POOL).map(|_| Connection::open(to))).await?;
    let (idle, free) = mpsc::unbounded_channel();
    connections
        .into_iter()
        .try_for_each(|connection| idle.send(connection))
        .ok()
        .context("nobody takes connections")?;
    let free = Arc::new(Mutex::new(free));
    paced(rate, lasting, |call| {
        let (review, idle, free) = (reviews[call % reviews.len()].clone(), idle.clone(), Arc::clone(&free));
        async move {
            let mut connection = free.lock().await.recv().await.context("all connections are closed")?;
            connection.call(&review).await?;
            // Fails only where the load has ended.
            let _ = idle.send(connection);
            Ok(())
        }
    })
    .await
}

/// The same of any call.
///
/// # Errors
/// A call fails, or the load falls far behind.
pub async fn paced<F>(rate: u32, lasting: Duration, call: impl Fn(usize) -> F) -> Result<Outcome>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let begun = Instant::now();
    let calls = (lasting.as_secs_f64() * f64::from(rate)) as u32;
    // On a thread of its own: the runtime's timers are late by up to a millisecond, and that would count.
    let (due, mut ticks) = mpsc::unbounded_channel();
    let clock = tokio::task::spawn_blocking(move || {
        for call in 0..calls {
            let at = begun + Duration::from_secs(1) * call / rate;
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            if due.send(at).is_err() {
                break;
            }
        }
    });
    let mut calling = vec![];
    while let Some(due) = ticks.recv().await {
        let called = call(calling.len());
        calling.push(tokio::spawn(async move {
            called.await?;
            anyhow::Ok(due.elapsed())
        }));
    }
    clock.await?;
    let mut times = Times::default();
    for called in calling {
        times.add(called.await??);
    }
    let took = begun.elapsed();
    if took > lasting * 2 {
        bail!("{calls} calls in {lasting:?} took {took:?}");
    }
    Ok(Outcome { times, took })
}
