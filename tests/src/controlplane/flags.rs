//! The command lines of the components.

use std::net::TcpListener;
use std::path::Path;

use anyhow::Result;
use eno_shared::names::{WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use serde_json::json;

use super::{Options, certs};

/// The controllers that the tests need: what deletes, what makes service accounts and roles work, what checks the types in
/// policies, and what makes pods of one name again.
const CONTROLLERS: &str = "garbage-collector-controller,namespace-controller,serviceaccount-controller,clusterrole-aggregation-controller,\
     validatingadmissionpolicy-status-controller,statefulset-controller";

/// The ports of a control plane, on loopback.
#[derive(Debug)]
pub struct Ports {
    /// kube-apiserver.
    pub apiserver: u16,
    etcd: u16,
    etcd_peer: u16,
}

impl Ports {
    /// Ports that are free now. Another process may take one before it is used: the start is then tried again.
    ///
    /// # Errors
    /// The loopback interface has none.
    pub fn free() -> Result<Self> {
        // All are held at once, so that they differ.
        let held = [bind()?, bind()?, bind()?];
        let [apiserver, etcd, etcd_peer] = held.each_ref().map(TcpListener::local_addr);
        Ok(Self { apiserver: apiserver?.port(), etcd: etcd?.port(), etcd_peer: etcd_peer?.port() })
    }

    /// Where etcd answers its clients.
    pub fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.etcd)
    }
}

fn bind() -> std::io::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", 0))
}

/// Flags of etcd. The data need not survive anything, so it is never synced to disk.
pub fn etcd(dir: &Path, ports: &Ports) -> Vec<String> {
    let client = ports.etcd_url();
    let peer = format!("http://127.0.0.1:{}", ports.etcd_peer);
    vec![
        format!("--data-dir={}", dir.join("etcd").display()),
        "--unsafe-no-fsync".into(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--log-level=error".into(),
    ]
}

/// Flags of kube-apiserver; writes the audit policy where an audit log is asked for.
///
/// # Errors
/// The policy cannot be written.
pub fn apiserver(dir: &Path, ports: &Ports, options: &Options) -> Result<Vec<String>> {
    let file = |name: &str| dir.join(name).display().to_string();
    let mut flags = vec![
        format!("--etcd-servers={}", ports.etcd_url()),
        format!("--secure-port={}", ports.apiserver),
        "--bind-address=127.0.0.1".into(),
        // The default is the machine's own address, which a network namespace does not have.
        "--advertise-address=127.0.0.1".into(),
        "--endpoint-reconciler-type=none".into(),
        // Services are resolved to their endpoints: there is no kube-proxy.
        "--enable-aggregator-routing=true".into(),
        format!("--tls-cert-file={}", file(certs::SERVER.0)),
        format!("--tls-private-key-file={}", file(certs::SERVER.1)),
        format!("--client-ca-file={}", file(certs::CA)),
        format!("--service-account-key-file={}", file(certs::SERVICE_ACCOUNT.0)),
        format!("--service-account-signing-key-file={}", file(certs::SERVICE_ACCOUNT.1)),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        "--service-cluster-ip-range=10.0.0.0/24".into(),
        "--authorization-mode=RBAC".into(),
        "--allow-privileged=true".into(),
        format!("--enable-priority-and-fairness={}", options.fairness),
        "--max-requests-inflight=3000".into(),
        "--max-mutating-requests-inflight=1500".into(),
    ];
    if let Some(config) = &options.admission {
        flags.push(format!("--admission-control-config-file={}", config.display()));
    }
    if let Some(log) = &options.audit {
        let policy = json!({
            "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [
                // All of it: what it does is compared with what it may do.
                {"level": "Metadata", "users": [format!("system:serviceaccount:{WEBHOOK_NAMESPACE}:{WEBHOOK_NAME}")]},
                {"level": "None", "verbs": ["get", "list", "watch"]},
                {"level": "Metadata"},
            ],
        });
        std::fs::write(dir.join("audit-policy.yaml"), policy.to_string())?;
        flags.push(format!("--audit-policy-file={}", file("audit-policy.yaml")));
        flags.push(format!("--audit-log-path={}", log.display()));
        // In megabytes; by default it begins anew after 100, and who reads it would miss what came before.
        flags.push("--audit-log-maxsize=10000".into());
    }
    Ok(flags)
}

/// Flags of kube-controller-manager. Each controller uses its own service account.
pub fn controller_manager(dir: &Path) -> Vec<String> {
    let file = |name: &str| dir.join(name).display().to_string();
    vec![
        format!("--kubeconfig={}", file(certs::CONTROLLER_MANAGER_KUBECONFIG)),
        format!("--service-account-private-key-file={}", file(certs::SERVICE_ACCOUNT.1)),
        format!("--root-ca-file={}", file(certs::CA)),
        "--use-service-account-credentials=true".into(),
        "--leader-elect=false".into(),
        "--secure-port=0".into(),
        format!("--controllers={CONTROLLERS}"),
    ]
}
