//! `kubectl eno version`, and what the webhook's pods tell.

use serde_json::{Value, json};

use super::api_server::{ApiServer, Request, Response};
use crate::run;

const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const PODS: &str = "/api/v1/namespaces/eno-webhook-system/pods";

fn pod(image: &str, args: &[&str]) -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"containers": [{"image": image, "args": args}]}})
}

/// A cluster with Eno, and a webhook behind a Service with these pods.
fn installed(pods: Vec<Value>) -> impl Fn(&Request) -> Response {
    move |request| match request.path.as_str() {
        "/version" => Response::ok(json!({"gitVersion": "v1.37.2", "platform": "linux/amd64"})),
        "/apis/eno.azure.io" => Response::ok(json!({
            "versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"},
        })),
        "/apis/eno.azure.io/v1" => Response::ok(json!({"resources": [
            {"name": "compositions"}, {"name": "compositions/status"}, {"name": "resourceslices"},
        ]})),
        CONFIGURATIONS => Response::list(&[json!({"webhooks": [{
            "name": "slices-delete.webhook.kubectl-eno.dev",
            "clientConfig": {"service": {"namespace": "eno-webhook-system", "name": "eno-webhook"}},
        }]})]),
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations" => Response::list(&[]),
        "/api/v1/namespaces/eno-webhook-system/services/eno-webhook" => {
            Response::ok(json!({"spec": {"selector": {"app.kubernetes.io/name": "eno-webhook"}}}))
        }
        PODS => {
            assert_eq!(request.query, "labelSelector=app.kubernetes.io%2Fname%3Deno-webhook");
            Response::list(&pods)
        }
        path => Response::not_found(path),
    }
}

#[test]
fn all_that_is_at_work_tells_its_version() {
    let server = ApiServer::start(installed(vec![pod("example.com/eno-webhook:v0.1.0", &["--mode=audit"])]));
    let (code, stdout, stderr) = run(&server, &["version"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let client = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "Client Version: v{client}\nServer Version: v1.37.2\nEno CRDs: v1 (compositions, resourceslices)\n\
         Webhook Version: v0.1.0, mode audit, at service eno-webhook-system/eno-webhook\n"
    );
    assert_eq!(stdout, expected);
}

#[test]
fn programs_read_the_same() {
    let server = ApiServer::start(installed(vec![pod("x:v1", &[]), pod("x:v2", &[])]));
    let (code, stdout, _) = run(&server, &["version", "-o", "json"]);
    let versions: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 0);
    assert_eq!(versions["serverVersion"]["gitVersion"], "v1.37.2");
    let definition = json!({"name": "compositions.eno.azure.io", "versions": ["v1"]});
    assert_eq!(versions["definitions"][0], definition);
    assert_eq!(
        versions["webhook"],
        json!({"configured": true, "place": "service eno-webhook-system/eno-webhook", "versions": ["v1", "v2"],
            "modes": ["enforce"], "message": null})
    );
    let (_, yaml, _) = run(&server, &["version", "-o", "yaml"]);
    assert!(yaml.contains("gitVersion: v1.37.2"), "{yaml}");
}

#[test]
fn what_may_not_be_read_is_not_guessed() {
    let all = installed(vec![]);
    let server = ApiServer::start(move |request: &Request| match request.path.as_str() {
        PODS => Response::forbidden("pods is forbidden"),
        _ => all(request),
    });
    let (code, stdout, _) = run(&server, &["version"]);
    let webhook = "Webhook Version: <unknown>, at service eno-webhook-system/eno-webhook (cannot read its pods: pods is \
                   forbidden)\n";
    assert!(code == 0 && stdout.ends_with(webhook), "{stdout}");

    let all = installed(vec![]);
    let server = ApiServer::start(move |request: &Request| match request.path.as_str() {
        CONFIGURATIONS => Response::forbidden("you may not"),
        _ => all(request),
    });
    let (code, stdout, stderr) = run(&server, &["version"]);
    assert!(code == 1 && !stdout.contains("Webhook"), "{stdout}");
    assert_eq!(stderr, "Warning: cannot list validatingwebhookconfigurations: you may not\n");
}

#[test]
fn where_nothing_is_installed_that_is_said() {
    let server = ApiServer::start(|request: &Request| match request.path.as_str() {
        "/version" => Response::ok(json!({"gitVersion": "v1.37.2"})),
        path if path.ends_with("configurations") => Response::list(&[]),
        path => Response::not_found(path),
    });
    let (code, stdout, _) = run(&server, &["version"]);
    assert_eq!(code, 0);
    assert!(
        stdout.ends_with("Eno CRDs: none: Eno is not installed\nWebhook Version: none is configured\n"),
        "{stdout}"
    );
}

#[test]
fn the_plugins_own_is_told_without_a_server() {
    let server = ApiServer::start(installed(vec![])).stop();
    let client = format!("Client Version: v{}\n", env!("CARGO_PKG_VERSION"));
    let (code, stdout, stderr) = run(&server, &["version"]);
    assert_eq!((code, stdout), (1, client.clone()));
    assert!(stderr.contains("was refused"), "{stderr}");
    assert_eq!(run(&server, &["version", "--client"]), (0, client, String::new()));
}
