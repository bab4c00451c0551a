//! C3, and what the webhook is not asked about: the matchConditions as the API server evaluates them.

use anyhow::{Context, Result, ensure};
use eno_shared::admission::slice::Dropped;
use eno_shared::api::{ResourceSlice, decode_value};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use eno_tests::fixtures::{composition, reconciled_states, reconciled_synthesis, slice};
use eno_tests::webhook::Guarded;
use eno_tests::webhook::answer::warnings;
use kube::ResourceExt;
use kube::api::{DynamicObject, PostParams};
use serde_json::{Value, json};

const OTHER: &str = "example.com/other";

/// Creates a slice by kubectl, and returns its finalizers and the warnings.
async fn created(ground: &Guarded, object: &Value) -> Result<(Vec<String>, Vec<String>)> {
    let output = ground.kubectl_with(&["create", "-f", "-", "-o", "json"], &object.to_string()).await?;
    let warned = warnings(&output).into_iter().map(str::to_owned).collect();
    let object: DynamicObject = serde_json::from_str(&output.success()?)?;
    Ok((object.finalizers().to_vec(), warned))
}

#[tokio::test(flavor = "multi_thread")]
async fn adds_the_finalizer_to_a_new_slice_that_lacks_it() -> Result<()> {
    let ground = Guarded::new("create").await?;
    let owner = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    let cases = [
        (json!(null), vec![CLEANUP_FINALIZER]),
        (json!([]), vec![CLEANUP_FINALIZER]),
        (json!([OTHER]), vec![OTHER, CLEANUP_FINALIZER]),
        (json!([CLEANUP_FINALIZER, OTHER]), vec![CLEANUP_FINALIZER, OTHER]),
    ];
    for (index, (finalizers, expected)) in cases.into_iter().enumerate() {
        let mut object = slice(&owner, &format!("web-{index}"), "some", &[]);
        object["metadata"]["finalizers"] = finalizers.clone();
        let (found, warned) = created(&ground, &object).await?;
        assert_eq!(found, expected, "of {finalizers}");
        assert!(warned.is_empty(), "{warned:?}");
    }
    let mut absent = slice(&owner, "web-absent", "some", &[]);
    absent["metadata"].as_object_mut().context("metadata")?.remove("finalizers");
    assert_eq!(created(&ground, &absent).await?.0, [CLEANUP_FINALIZER]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn warns_of_a_new_slice_that_no_composition_owns() -> Result<()> {
    let ground = Guarded::new("stray").await?;
    let owner = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    let warning =
        "this resourceslice has no composition as controller owner: Eno cannot clean it up, and fails on its deletion";
    let mut ownerless = slice(&owner, "ownerless", "some", &[]);
    ownerless["metadata"]["ownerReferences"] = json!([]);
    assert_eq!(created(&ground, &ownerless).await?, (vec![CLEANUP_FINALIZER.to_owned()], vec![warning.to_owned()]));
    let mut uncontrolled = slice(&owner, "uncontrolled", "some", &[]);
    uncontrolled["metadata"]["ownerReferences"][0]["controller"] = json!(null);
    assert_eq!(created(&ground, &uncontrolled).await?.1, [warning]);
    Ok(())
}

/// Whatever delays a new slice widens the window in which Eno takes it for garbage (L1).
#[tokio::test(flavor = "multi_thread")]
async fn is_not_asked_about_what_eno_itself_does_all_the_time() -> Result<()> {
    let mut ground = Guarded::new("unasked").await?;
    let before = ["slices-create", "slices-update", "compositions-update"];
    let mut asked = vec![];
    for hook in before {
        asked.push(ground.webhook().reviews(hook).await?);
    }
    let web = ground.live("web", 2).await?; // creates, and writes both statuses
    ground.states("web-0", &reconciled_states(2, true)).await?;
    ground.patch_slice("web-0", "merge", &json!({"metadata": {"labels": {"some": "label"}}})).await?.success()?;
    ground.reconcile(&web).await?;
    let patch = json!({"metadata": {"annotations": {"some": "annotation"}}}).to_string();
    ground.kubectl(&["patch", "compositions", "web", "--type=merge", "--patch", &patch]).await?.success()?;
    for (hook, before) in before.into_iter().zip(asked) {
        assert_eq!(ground.webhook().reviews(hook).await?, before, "{hook}");
    }
    Ok(())
}

/// Every form of the two lists that the webhook guards.
fn shapes(owner: &DynamicObject, other: &DynamicObject, foreign: &DynamicObject) -> Vec<(Value, Value)> {
    let reference = |owner: &DynamicObject| json!({"apiVersion": ENO_API_VERSION, "kind": "Composition", "name": owner.name_any(), "uid": owner.uid()});
    let controller = |owner: &DynamicObject, controller: Value| {
        let mut reference = reference(owner);
        reference["controller"] = controller;
        reference
    };
    // It exists: the garbage collector takes references to what does not.
    let foreign = json!({"apiVersion": "v1", "kind": "Namespace", "name": foreign.name_any(), "uid": foreign.uid()});
    let finalizers =
        [json!(null), json!([]), json!([OTHER]), json!([CLEANUP_FINALIZER]), json!([OTHER, CLEANUP_FINALIZER])];
    let owners = [
        json!(null),
        json!([]),
        json!([reference(owner)]),
        json!([controller(owner, json!(false))]),
        json!([controller(owner, json!(true))]),
        json!([controller(other, json!(true))]),
        json!([reference(other), controller(owner, json!(true))]),
        json!([foreign, reference(other)]),
    ];
    // Each form of one list, with a form of the other that is guarded.
    let guarded = (finalizers[3].clone(), owners[4].clone());
    let of_finalizers = finalizers.into_iter().map(|finalizers| (finalizers, guarded.1.clone()));
    let of_owners = owners.into_iter().map(|owners| (guarded.0.clone(), owners));
    of_finalizers.chain(of_owners).collect()
}

/// With the webhook down, an update that the condition matches is refused by name of the webhook, and any other passes. An
/// error in the condition would be refused with other words.
#[tokio::test(flavor = "multi_thread")]
async fn conditions_match_what_the_rules_call_a_loss_and_never_fail() -> Result<()> {
    let mut ground = Guarded::unguarded("shapes").await?;
    let namespace = ground.name().to_owned();
    let [owner, other] = ["web", "api"].map(|name| composition(&namespace, name));
    let (owner, other) = (ground.cluster().apply(&owner).await?, ground.cluster().apply(&other).await?);
    let foreign = ground.cluster().api("v1", "Namespace", None).get(&namespace).await?;
    let shapes = shapes(&owner, &other, &foreign);
    let slices = ground.cluster().eno("ResourceSlice", &namespace);
    let mut objects = vec![];
    for (index, (finalizers, owners)) in shapes.iter().enumerate() {
        let mut object = slice(&owner, &format!("web-{index}"), "some", &[]);
        object["metadata"]["finalizers"] = finalizers.clone();
        object["metadata"]["ownerReferences"] = owners.clone();
        objects.push(slices.create(&PostParams::default(), &serde_json::from_value(object)?).await?);
    }
    ground.guard(&[]).await?;
    ground.webhook().kill();

    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    let (mut matched, mut passed) = (0, 0);
    for (old, from) in objects.iter().zip(&shapes) {
        for to @ (finalizers, owners) in &shapes {
            let mut new = serde_json::to_value(old)?;
            // Null lists are sent as they are, as a replace may.
            new["metadata"]["finalizers"] = finalizers.clone();
            new["metadata"]["ownerReferences"] = owners.clone();
            new["metadata"]["labels"] = json!({"some": "change"});
            let (before, after): (ResourceSlice, ResourceSlice) =
                (decode_value(serde_json::to_value(old)?)?, decode_value(new.clone())?);
            let replaced = replace(&ground, &old.name_any(), &new, &dry_run).await;
            let what = || format!("from {} {} to {} {}", from.0, from.1, to.0, to.1);
            match (Dropped::between(&before, &after).any(), replaced) {
                (true, Err(kube::Error::Api(status))) => {
                    let down = "failed calling webhook \"slices-update.webhook.kubectl-eno.dev\"";
                    ensure!(status.message.contains(down), "{}: {}", what(), status.message);
                    matched += 1;
                }
                (false, Ok(())) => passed += 1,
                (dropped, replaced) => panic!("{}: {dropped} but {replaced:?}", what()),
            }
        }
    }
    assert_eq!(matched + passed, objects.len() * objects.len());
    assert!(matched > 50 && passed > 50, "{matched} matched, {passed} passed");
    Ok(())
}

/// A PUT of exactly this JSON: a typed object would leave out what is null.
async fn replace(ground: &Guarded, name: &str, object: &Value, params: &PostParams) -> kube::Result<()> {
    let path = format!("/apis/{ENO_API_VERSION}/namespaces/{}/resourceslices", ground.name());
    let request = kube::core::Request::new(path);
    let request = request.replace(name, params, object.to_string().into_bytes()).map_err(kube::Error::BuildRequest)?;
    ground.cluster().client().request::<DynamicObject>(request).await.map(drop)
}

/// The same for compositions, which Eno updates all the time.
#[tokio::test(flavor = "multi_thread")]
async fn updates_of_compositions_pass_while_the_webhook_is_down() -> Result<()> {
    let mut ground = Guarded::unguarded("comp-shapes").await?;
    let namespace = ground.name().to_owned();
    for (name, finalizers) in
        [("absent", json!(null)), ("other", json!([OTHER])), ("both", json!([OTHER, CLEANUP_FINALIZER]))]
    {
        let mut object = composition(&namespace, name);
        object["metadata"]["finalizers"] = finalizers;
        ground.kubectl_with(&["create", "-f", "-"], &object.to_string()).await?.success()?;
    }
    ground.guard(&[]).await?;
    ground.webhook().kill();
    for name in ["absent", "other", "both"] {
        let current = reconciled_synthesis("some", Some(1), &[]);
        ground.set_status("Composition", name, &json!({"currentSynthesis": current})).await?;
        for patch in [
            json!({"metadata": {"annotations": {"eno.azure.io/force-resynthesis": "some"}}}),
            json!({"metadata": {"finalizers": [CLEANUP_FINALIZER]}}),
        ] {
            let patch = patch.to_string();
            ground.kubectl(&["patch", "compositions", name, "--type=merge", "--patch", &patch]).await?.success()?;
        }
    }
    Ok(())
}
