//! What to do against a blocker.

use eno_shared::api::{Composition, Kind};
use eno_shared::names::{
    ENO_GROUP, FOREGROUND_FINALIZER, IGNORE_SIDE_EFFECTS, MANAGED_BY_ENO, MANAGED_BY_LABEL, ORPHAN_FINALIZER,
};
use eno_shared::stuck::Blocker;

use super::{Step, quoted};

/// What to do, where anything can be done. `namespace` is that of what is blocked, quoted.
pub(super) fn against(blocker: &Blocker, namespace: &str) -> Option<Step> {
    let pods = |app: &str| format!("kubectl get pods -A -l app={app}");
    let kind = format!("{}.{ENO_GROUP}", Composition::PLURAL);
    Some(match blocker {
        Blocker::DeletionNotObserved | Blocker::NobodyActs => {
            Step::new("see whether eno-controller runs", pods("eno-controller"))
        }
        Blocker::NoReconcilerSeen => Step::new("see whether eno-reconciler runs", pods("eno-reconciler")),
        Blocker::ResourcesLeft { .. } => Step::new("see how eno-reconciler fares", pods("eno-reconciler")),
        Blocker::ReconcileError { .. } => {
            Step::new("mend what the error says; eno-reconciler tries again by itself", pods("eno-reconciler"))
        }
        Blocker::NotReconciled { composition } => Step::new(
            "see what else the composition waits for",
            format!("kubectl eno why composition/{} -n {namespace}", quoted(composition)),
        ),
        Blocker::StatusMismatch { .. } => Step::new("see what eno-reconciler says of it", pods("eno-reconciler")),
        Blocker::DependentsExist { dependents } => {
            let (home, name) = quoted_place(dependents.first()?)?;
            let what = "delete what depends on it first, where that is meant to go too";
            Step::new(what, format!("kubectl delete {kind} {name} -n {home}"))
        }
        Blocker::CircularDependency { circle } => {
            let (home, name) = quoted_place(circle.first()?)?;
            Step::new(
                "break the circle: drop a dependency of dependsOn",
                format!("kubectl edit {kind} {name} -n {home}"),
            )
        }
        Blocker::StaleDependents { .. } => Step {
            what: "touch it (set any annotation): Eno then looks again who depends on it".to_owned(),
            command: None,
        },
        Blocker::DependenciesNotReady { dependencies } => {
            let (home, name) = quoted_place(dependencies.first()?)?;
            Step::new("see what its dependency waits for", format!("kubectl eno why composition/{name} -n {home}"))
        }
        Blocker::SynthesizerMissing { synthesizer } => Step::new(
            "create the synthesizer, or name another",
            format!("kubectl get synthesizers.{ENO_GROUP} {}", quoted(synthesizer)),
        ),
        Blocker::CompositionsLeft { compositions } | Blocker::CompositionsUnreconciled { compositions } => {
            let name = quoted(compositions.first()?);
            Step::new(
                "see what its compositions wait for",
                format!("kubectl eno why composition/{name} -n {namespace}"),
            )
        }
        Blocker::ObjectsLeft { .. } => Step::new(
            "see what the compositions of the namespace wait for",
            format!("kubectl eno compositions -n {namespace}"),
        ),
        Blocker::SlicesUnowned { slices } => Step::new(
            "see the slice that has lost its owner",
            format!("kubectl eno why resourceslice/{} -n {namespace}", quoted(slices.first()?)),
        ),
        Blocker::DuplicateResource { .. } | Blocker::MalformedManifest { .. } | Blocker::ReadinessDeadlock { .. } => {
            Step { what: "mend the synthesizer: its output is at fault".to_owned(), command: None }
        }
        Blocker::Unreconciled { .. } => Step::new("see how eno-reconciler fares", pods("eno-reconciler")),
        Blocker::SynthesisFailing { .. } => Step::new(
            "see what the synthesizer's pod says",
            format!("kubectl get pods -A -l {MANAGED_BY_LABEL}={MANAGED_BY_ENO}"),
        ),
        Blocker::PodOverdue => Step::new("see whether the pod's node is alive", "kubectl get nodes".to_owned()),
        Blocker::ResynthesisNeeded { composition } => {
            let composition = quoted(composition);
            let what = "ask for a new synthesis, which replaces the slice";
            Step::new(what, format!("kubectl eno resynth {composition} -n {namespace} --wait"))
        }
        Blocker::SideEffectsIgnored { composition } => Step::new(
            "allow new syntheses again, if that is meant",
            format!("kubectl annotate {kind} {} -n {namespace} {IGNORE_SIDE_EFFECTS}-", quoted(composition)),
        ),
        Blocker::SynthesisInFlight { .. } => Step::new(
            "see whether the synthesizer's pod runs",
            format!("kubectl get pods -A -l {MANAGED_BY_LABEL}={MANAGED_BY_ENO}"),
        ),
        Blocker::ForeignFinalizer { finalizers } => Step { what: who_releases(finalizers), command: None },
        Blocker::MissingSlice { .. } => Step::new(
            "make the lost slice again, from a backup or a snapshot that has it",
            format!("kubectl eno restore FILE -n {namespace}"),
        ),
        // Only what the verdict says helps against these.
        Blocker::NamespaceTerminating
        | Blocker::NoOwner
        | Blocker::SelectorIgnored
        | Blocker::NameTooLong { .. }
        | Blocker::InputsMissing
        | Blocker::ForceDeleteIneffective => return None,
    })
}

/// Namespace and name.
fn quoted_place(place: &str) -> Option<(String, String)> {
    place.split_once('/').map(|(home, name)| (quoted(home), quoted(name)))
}

fn who_releases(finalizers: &[String]) -> String {
    let collector = |finalizer: &&String| matches!(finalizer.as_str(), FOREGROUND_FINALIZER | ORPHAN_FINALIZER);
    let others: Vec<&str> = finalizers.iter().filter(|finalizer| !collector(finalizer)).map(String::as_str).collect();
    if others.is_empty() {
        return "wait: Kubernetes' garbage collector takes its finalizer off, once what it waits for is gone"
            .to_owned();
    }
    format!("find who is to take off {}: Eno never does", others.join(", "))
}
