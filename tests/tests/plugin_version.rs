//! `kubectl eno version` against a real API server.

use anyhow::{Context, Result, ensure};
use eno_tests::plugin::eno;
use eno_tests::webhook::Guarded;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn the_server_and_the_definitions_tell_their_versions() -> Result<()> {
    let ground = Guarded::unguarded("version").await?;
    let kubectl: Value = serde_json::from_str(&ground.cluster().kubectl(&["version", "-o", "json"]).await?.success()?)?;
    let server = kubectl["serverVersion"]["gitVersion"].as_str().context("kubectl tells the server's version")?;
    let text = eno(ground.cluster(), &["version"]).await?.success()?;
    ensure!(text.contains(&format!("Server Version: {server}\n")), "{text}");
    ensure!(text.contains("Eno CRDs: v1 (compositions, resourceslices, symphonies, synthesizers)\n"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_is_reached_by_url_does_not_say() -> Result<()> {
    let ground = Guarded::new("version-webhook").await?;
    let json: Value = serde_json::from_str(&eno(ground.cluster(), &["version", "-o", "json"]).await?.success()?)?;
    ensure!(json["webhook"]["configured"] == true && json["webhook"]["versions"].is_null(), "{json}");
    let place = json["webhook"]["place"].as_str().context("its place")?;
    ensure!(place.starts_with("https://") && place.matches('/').count() == 2, "{place}");
    Ok(())
}
