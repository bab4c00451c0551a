//! A server on real sockets, and a client that speaks by hand.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eno_webhook::{Certificate, Options, Server};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::api_server::ApiServer;

/// A self-signed certificate for the loopback.
pub struct Issued {
    pub cert: String,
    pub key: String,
    pub der: CertificateDer<'static>,
}

pub fn issue() -> Issued {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    Issued { cert: issued.cert.pem(), key: issued.signing_key.serialize_pem(), der: issued.cert.der().clone() }
}

/// A folder with `tls.crt` and `tls.key`, as a mounted Secret has them: links into `..data`, which is a link itself.
pub struct Mounted {
    folder: TempDir,
    versions: usize,
}

impl Mounted {
    pub fn new(cert: &str, key: &str) -> Self {
        let mut mounted = Mounted { folder: tempfile::tempdir().unwrap(), versions: 0 };
        mounted.swap(cert, key);
        for file in ["tls.crt", "tls.key"] {
            std::os::unix::fs::symlink(Path::new("..data").join(file), mounted.folder.path().join(file)).unwrap();
        }
        mounted
    }

    /// Puts another version in place, in one step.
    pub fn swap(&mut self, cert: &str, key: &str) {
        self.versions += 1;
        let at = |name: &str| self.folder.path().join(name);
        let version = format!("..version-{}", self.versions);
        std::fs::create_dir(at(&version)).unwrap();
        std::fs::write(at(&version).join("tls.crt"), cert).unwrap();
        std::fs::write(at(&version).join("tls.key"), key).unwrap();
        std::os::unix::fs::symlink(&version, at("..new")).unwrap();
        std::fs::rename(at("..new"), at("..data")).unwrap();
    }

    pub fn cert(&self) -> PathBuf {
        self.folder.path().join("tls.crt")
    }

    pub fn key(&self) -> PathBuf {
        self.folder.path().join("tls.key")
    }

    pub fn options(&self) -> Options {
        Options::new(Certificate::files(self.cert(), self.key())).on_loopback()
    }
}

/// A server that runs.
pub struct Running {
    pub secure: SocketAddr,
    pub plain: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    pub ended: JoinHandle<()>,
}

impl Running {
    pub async fn start(server: &ApiServer, options: Options) -> Self {
        let server = Server::bind(server.client(), options).await.unwrap();
        let (secure, plain) = (server.local_addr().unwrap(), server.metrics_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(async {
            let stopped = async move {
                let _ = stopped.await;
            };
            server.run(stopped).await.unwrap();
        });
        Running { secure, plain, stop: Some(stop), ended }
    }

    /// What SIGTERM does.
    pub fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub async fn probe(&self, path: &str) -> io::Result<Reply> {
        let mut stream = TcpStream::connect(self.plain).await?;
        exchange(&mut stream, &format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")).await
    }
}

/// TLS to the server, trusting that certificate.
pub async fn connect(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
) -> io::Result<TlsStream<TcpStream>> {
    connect_as(None, address, trusted, versions).await
}

/// The same, showing a certificate of its own.
pub async fn connect_as(
    client: Option<&Issued>,
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let key = PrivateKeyDer::from_pem_slice(client.key.as_bytes()).unwrap();
            config.with_client_auth_cert(vec![client.der.clone()], key).unwrap()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await
}

/// A POST of JSON to a hook.
pub fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Head and body of a response.
#[derive(Debug)]
pub struct Reply {
    pub head: String,
    pub body: String,
}

pub async fn exchange(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &str) -> io::Result<Reply> {
    stream.write_all(request.as_bytes()).await?;
    receive(stream).await
}

pub async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Reply> {
    let mut received = vec![];
    loop {
        let text = String::from_utf8_lossy(&received).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse().unwrap() {
                return Ok(Reply { head, body: body.to_owned() });
            }
        }
        if stream.read_buf(&mut received).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
