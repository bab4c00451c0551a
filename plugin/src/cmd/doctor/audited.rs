//! Was a hook called, though it said nothing? The API server counts its calls.

use eno_shared::names::HOOK_DOMAIN;

use crate::cluster::Cluster;

/// The API server's counter of calls that were answered.
const CALLS: &str = "apiserver_admission_webhook_request_total{";

/// How often this API server has called the hook and got an answer; `None` where it does not say.
pub(super) async fn calls(cluster: &Cluster, hook: &str) -> Option<f64> {
    let request = http::Request::get("/metrics").body(vec![]).ok()?;
    let answer = tokio::time::timeout(cluster.timeout, cluster.client.request_text(request)).await;
    Some(counted(&answer.ok()?.ok()?, hook))
}

fn counted(metrics: &str, hook: &str) -> f64 {
    let name = format!("name=\"{hook}.{HOOK_DOMAIN}\"");
    let of_hook = |line: &&str| line.starts_with(CALLS) && line.contains(&name) && line.contains("code=\"200\"");
    metrics.lines().filter(of_hook).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_answered_calls_of_one_hook() {
        let line = |name: &str, code: &str, calls: &str| {
            format!(
                "{CALLS}code=\"{code}\",name=\"{name}.{HOOK_DOMAIN}\",operation=\"DELETE\",rejected=\"false\",type=\"validating\"}} {calls}\n"
            )
        };
        let metrics = [
            line("slices-delete", "200", "3"),
            line("slices-delete", "200", "4"),
            line("slices-delete", "600", "9"),
            line("slices-update", "200", "9"),
            "# HELP apiserver_admission_webhook_request_total 5\n".to_owned(),
        ];
        assert_eq!(counted(&metrics.concat(), "slices-delete").to_bits(), 7f64.to_bits());
    }
}
