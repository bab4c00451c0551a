//! Ends a wait by force: deletes the object of a pod whose node is known to be off.
//!
//! The API server then forgets the pod without asking its node. That is safe only where nothing can run there any more: two
//! pods of a StatefulSet would write to one volume, an address would be given twice.

use std::process::ExitCode;

use eno_shared::Lookup;
use eno_shared::client::{self, Effect, Written};
use eno_shared::pods::node::Node;
use eno_shared::pods::pod::Pod;

use crate::cli::{Cli, DryRun, PodsReleaseFlags};
use crate::cluster::goes_into_url;
use crate::cmd::webhook_namespace::webhook_namespace;
use crate::confirm::Question;
use crate::failure::{Failure, REFUSED};
use crate::outbox::Place;
use crate::output::table::sanitized;
use crate::writer::Writer;

pub(super) async fn run(flags: &PodsReleaseFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    with(flags, &Writer::open(&flags.write, cli)?).await
}

/// The same with a writer of the caller's.
///
/// # Errors
/// It may not be released, or a request fails.
pub(in crate::cmd) async fn with(flags: &PodsReleaseFlags, writer: &Writer) -> Result<ExitCode, Failure> {
    let dialogue = &writer.dialogue;
    let name = flags.pod.strip_prefix("pod/").unwrap_or(&flags.pod);
    goes_into_url("resource name", name)?;
    let home = webhook_namespace(&writer.cluster, &flags.outbox).await;
    let place = Place::new(&writer.cluster, &home)?;
    let pod = assessed(name, writer).await?;
    let outbox = place.read().await?;
    dialogue.say(sanitized(&format!("pod/{name} is being deleted, and its node {}", off(&pod))));
    dialogue.say("This deletes it at once: its node is not asked.");
    if outbox.get(&pod.identity()).is_none() {
        dialogue.say("Warning: no eno-webhook follows it: nobody will be told of its end");
    }
    if !pod.metadata.finalizers.is_empty() {
        dialogue.say(sanitized(&format!(
            "Warning: it stays until others take their finalizers off: {}",
            pod.metadata.finalizers.join(", ")
        )));
    }
    let dry_run = flags.write.dry_run;
    if dry_run == DryRun::None && !flags.write.yes {
        let question = Question::Type { what: "the name", word: name.to_owned() };
        if !dialogue.confirm(&question, "release", "--yes").await? {
            dialogue.say("release is cancelled");
            return Ok(ExitCode::SUCCESS);
        }
    }
    // A person takes time to answer.
    let now = assessed(name, writer).await?;
    if (&now.metadata.uid, &now.metadata.resource_version) != (&pod.metadata.uid, &pod.metadata.resource_version) {
        return Err(changed(name));
    }
    let effect = match dry_run {
        DryRun::Client => None,
        DryRun::Server => Some(Effect::DryRun),
        DryRun::None => Some(Effect::Real),
    };
    if let Some(effect) = effect {
        let written = client::delete_pod_at_once(&writer.cluster.client, &now.metadata, effect, writer.timeout()).await;
        match written.map_err(|error| Failure::core(&error, "pods", &writer.cluster.host))? {
            Written::Done(_) | Written::Gone => {}
            Written::Changed => return Err(changed(name)),
        }
    }
    dialogue.result(&format!("pod/{name} force deleted{}", dry_run.suffix()))?;
    Ok(ExitCode::SUCCESS)
}

fn off(pod: &Pod) -> String {
    match &pod.spec.node_name {
        Some(node) => format!("{node} is gone or out of service"),
        None => "is none: it was never bound to one".to_owned(),
    }
}

fn changed(name: &str) -> Failure {
    Failure::local(format_args!(
        "pod/{name} has changed since it was looked at, and was not released. Run the command again"
    ))
}

/// The pod, where it may be released.
async fn assessed(name: &str, writer: &Writer) -> Result<Pod, Failure> {
    let path = format!("/api/v1/namespaces/{}/pods", writer.namespace);
    let pod: Pod = match writer.cluster.core(&path, name).await {
        Lookup::Found(pod) => pod,
        Lookup::Missing => {
            return Err(Failure::verbatim(format!("Error from server (NotFound): pods \"{name}\" not found")));
        }
        Lookup::Unknown(why) => return Err(Failure::local(format_args!("cannot read pod {name}: {why}"))),
    };
    let node = match pod.spec.node_name.as_deref().filter(|node| !node.is_empty()) {
        Some(node) => Some((node, writer.cluster.core::<Node>("/api/v1/nodes", node).await)),
        None => None,
    };
    match refusal(&pod, node.as_ref().map(|(name, node)| (*name, node))) {
        None => Ok(pod),
        Some(why) => Err(Failure::local(format_args!("refused: pod/{name} {why}")).with_code(REFUSED)),
    }
}

/// Why a pod may not be deleted by force, if so.
fn refusal(pod: &Pod, node: Option<(&str, &Lookup<Node>)>) -> Option<String> {
    let (name, namespace) = (&pod.metadata.name, &pod.metadata.namespace);
    if !pod.metadata.is_deleting() {
        return Some(format!("is not being deleted. To delete it: kubectl delete pod {name} -n {namespace}"));
    }
    if pod.is_mirror() {
        return Some("only shows a static pod of its node, which makes it again".to_owned());
    }
    let (node, found) = node?;
    match found {
        Lookup::Missing => None,
        Lookup::Found(found) if found.is_out_of_service() => None,
        Lookup::Found(found) if found.is_lost() => Some(format!(
            "may still run: nobody has heard of its node {node} for long. If you know that it is off: kubectl taint node \
             {node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
        )),
        Lookup::Found(_) => Some(format!(
            "may still run: its node {node} is there, and will end it. See: kubectl describe pod {name} -n {namespace}"
        )),
        Lookup::Unknown(why) => Some(format!("may still run: its node {node} cannot be read: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(deleting: bool) -> Pod {
        let deleted = deleting.then_some("2026-03-01T12:00:00Z");
        let metadata = json!({"name": "p", "namespace": "n", "uid": "u", "deletionTimestamp": deleted});
        serde_json::from_value(json!({"metadata": metadata, "spec": {"nodeName": "node-1"}})).unwrap()
    }

    fn node(ready: &str, taint: Option<&str>) -> Lookup<Node> {
        let taints: Vec<_> = taint.iter().map(|key| json!({"key": key})).collect();
        let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
        Lookup::Found(serde_json::from_value(json!({"spec": {"taints": taints}, "status": status})).unwrap())
    }

    fn refused(pod: &Pod, node: Lookup<Node>) -> String {
        refusal(pod, Some(("node-1", &node))).unwrap_or_default()
    }

    #[test]
    fn only_a_node_that_is_gone_or_out_of_service_lets_go() {
        let out = Some("node.kubernetes.io/out-of-service");
        assert_eq!(refused(&pod(true), Lookup::Missing), "");
        assert_eq!(refused(&pod(true), node("Unknown", out)), "");
        assert_eq!(refusal(&pod(true), None), None, "it was never bound to one");
        assert!(refused(&pod(true), node("True", None)).contains("is there, and will end it"));
        assert!(refused(&pod(true), node("False", None)).contains("is there, and will end it"), "it speaks");
        assert!(refused(&pod(true), node("Unknown", None)).contains("kubectl taint node node-1"));
        assert!(refused(&pod(true), Lookup::Unknown("forbidden".into())).contains("cannot be read: forbidden"));
    }

    #[test]
    fn what_is_not_being_deleted_stays() {
        assert!(refused(&pod(false), Lookup::Missing).contains("kubectl delete pod p -n n"));
    }
}
