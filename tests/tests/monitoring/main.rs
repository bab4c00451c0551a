//! `manifests/monitoring`: the rules by promtool, what the dashboard asks for, and who finds whom.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use eno_tests::controlplane::Component;
use eno_tests::{reference, workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The unit tests of the rules, in promtool's own words.
const TESTS: &str = include_str!("rules.test.yaml");

/// Metrics of the API server's that the rules may use; all but the last are stable.
const OF_THE_API_SERVER: [&str; 2] =
    ["apiserver_admission_webhook_rejection_count", "apiserver_admission_webhook_fail_open_count"];

fn folder() -> PathBuf {
    workspace::root().join("manifests/monitoring")
}

fn kustomize(folder: &str) -> Result<Vec<Value>> {
    let kubectl = Component::Kubectl.find()?.context("no kubectl: run `cargo xtask controlplane build`")?;
    let output =
        Command::new(kubectl).arg("kustomize").arg(workspace::root().join("manifests").join(folder)).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_saphyr::from_multiple(&String::from_utf8(output.stdout)?)?)
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Result<&'a Value> {
    objects.iter().find(|object| object["kind"] == kind).with_context(|| format!("no {kind} is rendered"))
}

fn rules() -> Result<Value> {
    Ok(of_kind(&kustomize("monitoring")?, "PrometheusRule")?["spec"].clone())
}

/// Each alert: its name and the rule.
fn alerts(rules: &Value) -> Vec<(&str, &Value)> {
    let groups = rules["groups"].as_array().into_iter().flatten();
    groups
        .flat_map(|group| group["rules"].as_array().into_iter().flatten())
        .filter_map(|rule| Some((rule["alert"].as_str()?, rule)))
        .collect()
}

/// The names of metrics in a query: `eno_webhook_…` and `apiserver_…`.
fn metrics_in(query: &str) -> BTreeSet<String> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("eno_webhook_") || word.starts_with("apiserver_")).map(str::to_owned).collect()
}

/// All that Prometheus has of us.
fn known() -> Result<BTreeSet<String>> {
    let mut known: BTreeSet<_> = OF_THE_API_SERVER.map(str::to_owned).into();
    for metric in reference::metrics()? {
        if metric.kind == "histogram" {
            known.extend(["_bucket", "_sum", "_count"].map(|part| format!("{}{part}", metric.name)));
        } else {
            known.insert(metric.name);
        }
    }
    Ok(known)
}

#[test]
fn alerts_fire_when_they_should_and_not_before() -> Result<()> {
    let dir = TempDir::new()?;
    // JSON is YAML.
    fs::write(dir.path().join("rules.yaml"), rules()?.to_string())?;
    fs::write(dir.path().join("rules.test.yaml"), TESTS)?;
    for args in [["check", "rules", "rules.yaml"], ["test", "rules", "rules.test.yaml"]] {
        let output = Command::new("promtool").args(args).current_dir(dir.path()).output();
        let output = output
            .context("no promtool\nhint: install Debian's package prometheus, or the binary from prometheus.io")?;
        let said = [output.stdout, output.stderr].concat();
        ensure!(output.status.success(), "promtool {args:?}:\n{}", String::from_utf8_lossy(&said));
    }
    Ok(())
}

#[test]
fn each_alert_is_seen_to_fire_and_not_to_fire() -> Result<()> {
    let tests: Value = serde_saphyr::from_str(TESTS)?;
    let checks: Vec<_> =
        tests["tests"].as_array().context("tests")?.iter().map(|test| &test["alert_rule_test"]).collect();
    let checks: Vec<_> = checks.into_iter().flat_map(|checks| checks.as_array().into_iter().flatten()).collect();
    for (alert, _) in alerts(&rules()?) {
        let fires = |check: &&Value| check["alertname"] == alert && check["exp_alerts"] != json!([]);
        let rests = |check: &&Value| check["alertname"] == alert && check["exp_alerts"] == json!([]);
        assert!(checks.iter().copied().any(|check| fires(&check)), "{alert} is never seen to fire");
        assert!(checks.iter().copied().any(|check| rests(&check)), "{alert} is never seen to rest");
    }
    Ok(())
}

#[test]
fn each_alert_says_how_bad_it_is_and_has_a_chapter_in_the_runbooks() -> Result<()> {
    let runbooks = fs::read_to_string(workspace::root().join("docs/runbooks.md"))?;
    let chapters: BTreeSet<_> = runbooks.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let rules = rules()?;
    let alerts = alerts(&rules);
    assert!(alerts.len() > 10, "{alerts:?}");
    for (alert, rule) in &alerts {
        let severity = rule["labels"]["severity"].as_str().unwrap_or_default();
        assert!(["critical", "warning", "info"].contains(&severity), "{alert}: {severity}");
        let url = rule["annotations"]["runbook_url"].as_str().unwrap_or_default();
        assert!(url.ends_with(&format!("/docs/runbooks.md#{}", alert.to_lowercase())), "{alert}: {url}");
        assert!(chapters.contains(alert), "docs/runbooks.md has no chapter {alert}");
    }
    let names: BTreeSet<_> = alerts.iter().map(|(alert, _)| *alert).collect();
    let others: Vec<_> = chapters.difference(&names).collect();
    assert!(others.is_empty(), "chapters of no alert: {others:?}");
    Ok(())
}

#[test]
fn rules_and_dashboard_ask_only_for_metrics_that_exist() -> Result<()> {
    let known = known()?;
    let rules = rules()?;
    let mut queries: Vec<_> =
        alerts(&rules).iter().filter_map(|(_, rule)| rule["expr"].as_str()).map(str::to_owned).collect();
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(folder().join("dashboard.json"))?)?;
    let panels = dashboard["panels"].as_array().context("panels")?;
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    queries.extend(targets.filter_map(|target| target["expr"].as_str()).map(str::to_owned));
    let asked: BTreeSet<_> = queries.iter().flat_map(|query| metrics_in(query)).collect();
    assert!(asked.len() > 20, "{asked:?}");
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:?}");
    Ok(())
}

#[test]
fn prometheus_finds_the_port_of_the_service_and_grafana_the_dashboard() -> Result<()> {
    let (monitoring, base) = (kustomize("monitoring")?, kustomize("base")?);
    let (monitor, service) = (of_kind(&monitoring, "ServiceMonitor")?, of_kind(&base, "Service")?);
    assert_eq!(monitor["metadata"]["namespace"], service["metadata"]["namespace"]);
    for (label, value) in monitor["spec"]["selector"]["matchLabels"].as_object().context("matchLabels")? {
        assert_eq!(&service["metadata"]["labels"][label], value, "{label}");
    }
    let port = &monitor["spec"]["endpoints"][0]["port"];
    let ports = service["spec"]["ports"].as_array().context("ports")?;
    assert!(ports.iter().any(|found| found["name"] == *port), "{ports:?} has no {port}");

    let dashboard = of_kind(&monitoring, "ConfigMap")?;
    assert_eq!(dashboard["metadata"]["labels"]["grafana_dashboard"], "1");
    let content = dashboard["data"]["eno-webhook.json"].as_str().context("the dashboard")?;
    let content: Value = serde_json::from_str(content)?;
    assert_eq!(content["title"], "eno-webhook");
    Ok(())
}
