//! What tests of sinks share.

use std::collections::BTreeMap;

use eno_shared::pods::DestroyCause;
use eno_shared::pods::destroy::{Destroy, PodRef};

/// The end of a pod of that name and uid, in the namespace `ns`.
pub(crate) fn destroy(name: &str, uid: &str) -> Destroy {
    Destroy {
        id: Destroy::id_of("c1", uid, None, DestroyCause::Gone),
        sequence: 1,
        cause: DestroyCause::Gone,
        pod: PodRef { namespace: "ns".to_owned(), name: name.to_owned(), uid: uid.to_owned() },
        node: Some("node-1".to_owned()),
        sandbox: None,
        pod_ips: vec!["10.0.0.7".to_owned()],
        labels: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
        service_account: None,
        observed_at: "2026-03-01T12:00:00Z".parse().expect("a timestamp"),
        deleted_at: None,
        confirmed: true,
    }
}
