//! Where a command is about to write, and as whom.

use std::fmt;

use crate::output::table::sanitized;

/// Context, cluster and user, by their names.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The context of the kubeconfig; empty where there is none.
    pub context: String,
    /// The address of the API server.
    pub cluster: String,
    /// The user of the kubeconfig; empty where there is none.
    pub user: String,
    /// Whom the user impersonates.
    pub impersonated: Option<String>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |name: &str| if name.is_empty() { "<none>".to_owned() } else { sanitized(name) };
        let cluster = self.cluster.trim_end_matches('/');
        write!(f, "Context: {}   Cluster: {}   User: {}", named(&self.context), named(cluster), named(&self.user))?;
        match &self.impersonated {
            Some(impersonated) => write!(f, " (as {})", sanitized(impersonated)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_there_is() {
        let mut identity = Identity {
            context: "prod".into(),
            cluster: "https://prod:6443/".into(),
            user: "alice".into(),
            impersonated: None,
        };
        assert_eq!(identity.to_string(), "Context: prod   Cluster: https://prod:6443   User: alice");
        identity.impersonated = Some("root".into());
        assert!(identity.to_string().ends_with("User: alice (as root)"));
        assert_eq!(Identity::default().to_string(), "Context: <none>   Cluster: <none>   User: <none>");
    }
}
