//! The CRDs that the tests install hold what the project reads, and agree with Eno's own where those are at hand.

use std::fs;

use anyhow::{Context, Result, bail};
use eno_shared::names::{ENO_GROUP, ENO_VERSION};
use eno_tests::{crds, workspace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use kube::ResourceExt;

/// Each field that the project reads: its path (`[]` is an item of a list) and its type.
const READ: [(&str, &[(&str, &str)]); 3] = [
    (
        "Composition",
        &[
            ("spec.synthesizer.name", "string"),
            ("spec.dependsOn[].name", "string"),
            ("spec.dependsOn[].namespace", "string"),
            ("status.dependencyStatus.blocked", "boolean"),
            ("status.dependencyStatus.reason", "string"),
            ("status.dependencyStatus.blockedBy[].name", "string"),
            ("status.dependencyStatus.blockedBy[].namespace", "string"),
            ("status.dependencyStatus.blockedBy[].reason", "string"),
            ("status.simplified.status", "string"),
            ("status.simplified.error", "string"),
        ],
    ),
    (
        "Symphony",
        &[
            ("spec.variations[].synthesizer.name", "string"),
            ("status.observedGeneration", "integer int64"),
            ("status.synthesized", "string date-time"),
            ("status.reconciled", "string date-time"),
            ("status.ready", "string date-time"),
        ],
    ),
    (
        "ResourceSlice",
        &[
            ("spec.synthesisUUID", "string"),
            ("spec.resources[].manifest", "string"),
            ("spec.resources[].deleted", "boolean"),
            ("status.resources[].reconciled", "boolean"),
            ("status.resources[].ready", "string date-time"),
            ("status.resources[].deleted", "boolean"),
            ("status.resources[].reconciliationError", "string"),
        ],
    ),
];

/// Fields of each of a composition's syntheses.
const SYNTHESES: [&str; 3] = ["currentSynthesis", "previousSynthesis", "inFlightSynthesis"];
const SYNTHESIS: [(&str, &str); 10] = [
    ("uuid", "string"),
    ("initialized", "string date-time"),
    ("synthesized", "string date-time"),
    ("reconciled", "string date-time"),
    ("ready", "string date-time"),
    ("canceled", "string date-time"),
    ("attempts", "integer"),
    ("observedCompositionGeneration", "integer int64"),
    ("observedSynthesizerGeneration", "integer int64"),
    ("resourceSlices[].name", "string"),
];

fn fields_read(kind: &str) -> Vec<(String, &'static str)> {
    let own = READ.iter().filter(|(of, _)| *of == kind).flat_map(|(_, fields)| fields.iter());
    let mut fields: Vec<_> = own.map(|&(path, of)| (path.to_owned(), of)).collect();
    if kind == "Composition" {
        for synthesis in SYNTHESES {
            fields.extend(SYNTHESIS.map(|(path, of)| (format!("status.{synthesis}.{path}"), of)));
        }
    }
    fields
}

fn ours() -> Vec<CustomResourceDefinition> {
    crds::SOURCES.iter().map(|yaml| crds::parse(yaml).expect("our CRDs are well-formed")).collect()
}

fn served(crd: &CustomResourceDefinition) -> &CustomResourceDefinitionVersion {
    let versions: Vec<_> = crd.spec.versions.iter().filter(|version| version.served).collect();
    assert_eq!(versions.len(), 1, "{} serves one version", crd.name_any());
    versions[0]
}

/// Type and format of the field at a path.
fn type_at(crd: &CustomResourceDefinition, path: &str) -> Result<String> {
    let mut schema: &JSONSchemaProps = served(crd)
        .schema
        .as_ref()
        .and_then(|schema| schema.open_api_v3_schema.as_ref())
        .context("it has no schema")?;
    for step in path.split('.') {
        let name = step.trim_end_matches("[]");
        schema =
            schema.properties.as_ref().and_then(|p| p.get(name)).with_context(|| format!("no {name} in {path}"))?;
        if step.ends_with("[]") {
            schema = match &schema.items {
                Some(JSONSchemaPropsOrArray::Schema(item)) => item,
                Some(JSONSchemaPropsOrArray::Schemas(_)) | None => bail!("{name} in {path} is not a list"),
            };
        }
    }
    let of = schema.type_.clone().unwrap_or_default();
    Ok(schema.format.as_ref().map_or(of.clone(), |format| format!("{of} {format}")))
}

#[test]
fn names_group_kind_and_plural_as_eno_does() {
    let names: Vec<_> = ours()
        .iter()
        .map(|crd| {
            assert_eq!(crd.spec.group, ENO_GROUP);
            assert_eq!(served(crd).name, ENO_VERSION);
            assert_eq!(crd.name_any(), format!("{}.{ENO_GROUP}", crd.spec.names.plural));
            (crd.spec.names.kind.clone(), crd.spec.names.plural.clone(), crd.spec.scope.clone())
        })
        .collect();
    let expected = [
        ("Composition", "compositions", "Namespaced"),
        ("ResourceSlice", "resourceslices", "Namespaced"),
        ("Symphony", "symphonies", "Namespaced"),
        ("Synthesizer", "synthesizers", "Cluster"),
    ];
    assert_eq!(names, expected.map(|(kind, plural, scope)| (kind.into(), plural.into(), scope.into())));
}

#[test]
fn have_a_status_subresource() {
    for crd in ours() {
        let subresources = served(&crd).subresources.as_ref().and_then(|s| s.status.as_ref());
        assert!(subresources.is_some(), "{} lacks it: status would be written with spec", crd.name_any());
    }
}

#[test]
fn hold_every_field_that_the_project_reads() {
    for crd in ours() {
        for (path, of) in fields_read(&crd.spec.names.kind) {
            assert_eq!(type_at(&crd, &path).unwrap(), of, "{path} of {}", crd.name_any());
        }
    }
}

#[test]
fn agree_with_enos_own_crds() {
    let Some(dir) = workspace::eno_facts().map(|dir| dir.join("crds")).filter(|dir| dir.is_dir()) else {
        println!("not compared: Eno's CRDs are not at hand (set ENO_SHARED)");
        return;
    };
    for crd in ours() {
        let path = dir.join(format!("{ENO_GROUP}_{}.yaml", crd.spec.names.plural));
        let theirs = crds::parse(&fs::read_to_string(&path).expect("Eno has this CRD")).unwrap();
        assert_eq!(crd.name_any(), theirs.name_any());
        assert_eq!(crd.spec.names, theirs.spec.names);
        assert_eq!(crd.spec.scope, theirs.spec.scope);
        assert_eq!(served(&crd).name, served(&theirs).name);
        assert_eq!(served(&crd).subresources, served(&theirs).subresources);
        for (path, of) in fields_read(&crd.spec.names.kind) {
            assert_eq!(type_at(&theirs, &path).unwrap(), of, "{path} of Eno's {}", crd.name_any());
        }
    }
}
