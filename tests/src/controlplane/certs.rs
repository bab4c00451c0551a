//! Keys, certificates and kubeconfigs of a control plane.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use serde_json::json;

/// The authority's certificate.
pub const CA: &str = "ca.crt";
/// kube-apiserver's certificate and key.
pub const SERVER: (&str, &str) = ("apiserver.crt", "apiserver.key");
/// The public and the private key that service account tokens are checked and signed by.
pub const SERVICE_ACCOUNT: (&str, &str) = ("service-account.pub", "service-account.key");
/// kube-controller-manager's kubeconfig.
pub const CONTROLLER_MANAGER_KUBECONFIG: &str = "kube-controller-manager.kubeconfig";
/// The administrator's kubeconfig while the control plane starts.
pub const ADMIN_KUBECONFIG: &str = "starting.kubeconfig";
/// The administrator's kubeconfig when the control plane is ready.
pub const KUBECONFIG: &str = "kubeconfig";

const ADMIN: &str = "admin";
const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// A certificate and its key, in PEM.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The certificate.
    pub cert: String,
    /// The private key (PKCS #8).
    pub key: String,
}

/// A certificate authority for tests.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// No key can be made.
    pub fn new() -> Result<Self> {
        let mut params = params("eno-tests", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// Its certificate, in PEM: the `caBundle` of what it signs.
    pub fn cert(&self) -> String {
        self.0.pem()
    }

    /// A server's certificate for these names and addresses.
    ///
    /// # Errors
    /// A name is not one.
    pub fn server(&self, names: &[&str]) -> Result<Pair> {
        let mut params = params(names.first().copied().unwrap_or("server"), None);
        let alternative = CertificateParams::new(names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>())?;
        params.subject_alt_names = alternative.subject_alt_names;
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client's certificate: the user's name, and the group it is in.
    ///
    /// # Errors
    /// No key can be made.
    pub fn client(&self, user: &str, group: Option<&str>) -> Result<Pair> {
        self.sign(params(user, group), ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, usage: ExtendedKeyUsagePurpose) -> Result<Pair> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let cert = params.signed_by(&key, &self.0)?;
        Ok(Pair { cert: cert.pem(), key: key.serialize_pem() })
    }
}

fn params(common_name: &str, organization: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    if let Some(organization) = organization {
        params.distinguished_name.push(DnType::OrganizationName, organization);
    }
    params
}

/// Writes all that the components read, save the kubeconfigs.
///
/// # Errors
/// The folder cannot be written.
pub fn write(authority: &Authority, dir: &Path) -> Result<()> {
    let put = |name: &str, text: &str| fs::write(dir.join(name), text).with_context(|| format!("writing {name}"));
    let put_pair = |(cert, key): (&str, &str), pair: &Pair| put(cert, &pair.cert).and_then(|()| put(key, &pair.key));
    put(CA, &authority.cert())?;
    put_pair(SERVER, &authority.server(&["127.0.0.1", "10.0.0.1", "localhost", "kubernetes.default.svc"])?)?;
    for (name, user, group) in
        [(ADMIN, ADMIN, Some("system:masters")), (CONTROLLER_MANAGER, "system:kube-controller-manager", None)]
    {
        put_pair((&format!("{name}.crt"), &format!("{name}.key")), &authority.client(user, group)?)?;
    }
    let tokens = KeyPair::generate()?;
    put_pair(SERVICE_ACCOUNT, &Pair { cert: tokens.public_key_pem(), key: tokens.serialize_pem() })
}

/// Writes the kubeconfigs of the administrator and of kube-controller-manager, for the API server at `server`.
///
/// # Errors
/// The folder cannot be written.
pub fn write_kubeconfigs(dir: &Path, server: &str) -> Result<()> {
    for (file, user) in [(ADMIN_KUBECONFIG, ADMIN), (CONTROLLER_MANAGER_KUBECONFIG, CONTROLLER_MANAGER)] {
        let path = |name: String| dir.join(name).display().to_string();
        // JSON is YAML.
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "eno-tests",
            "clusters": [{"name": "eno-tests", "cluster": {"server": server, "certificate-authority": path(CA.into())}}],
            "users": [{"name": user, "user": {
                "client-certificate": path(format!("{user}.crt")), "client-key": path(format!("{user}.key")),
            }}],
            "contexts": [{"name": "eno-tests", "context": {"cluster": "eno-tests", "user": user}}],
        });
        fs::write(dir.join(file), format!("{config:#}\n")).with_context(|| format!("writing {file}"))?;
    }
    Ok(())
}
