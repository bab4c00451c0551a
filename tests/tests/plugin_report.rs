//! `kubectl eno report`, opened in a real browser: what it shows, what it never does, and that its filter filters.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use eno_tests::browser::{Browser, url};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use eno_tests::{plugin, workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

const NOW: &str = "2026-03-01T12:00:00Z";

/// Runs the plugin offline, on one of the bundled dumps or on a file.
fn offline(command: &str, dump: &Path, more: &[&str]) -> Result<String> {
    let mut plugin = Command::new(plugin::binary()?);
    plugin.arg(command).arg("-f").arg(dump).args(["--complete", "--now", NOW]).args(more).stdin(Stdio::null());
    let output = plugin.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

fn bundled(name: &str) -> PathBuf {
    workspace::root().join("plugin/tests/data").join(name)
}

/// The report of a dump, opened.
async fn report(dump: &Path) -> Result<(Browser, PathBuf, TempDir)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("report.html");
    std::fs::write(&file, offline("report", dump, &[])?)?;
    let mut browser = Browser::open().await?;
    browser.load(&file).await?;
    Ok((browser, file, folder))
}

/// The texts of what a selector finds.
async fn texts(browser: &mut Browser, selector: &str) -> Result<Vec<String>> {
    let expression = format!("Array.from(document.querySelectorAll({}), e => e.textContent)", json!(selector));
    Ok(serde_json::from_value(browser.evaluate(&expression).await?)?)
}

/// The names in the rows of a table that are shown.
async fn shown(browser: &mut Browser, table: &str) -> Result<Vec<String>> {
    texts(browser, &format!("table.{table} > tbody > tr:not([hidden]) > th")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_slice_is_there_with_its_verdict_and_reason() -> Result<()> {
    for dump in ["demo.yaml", "symphony.yaml"] {
        let (mut browser, _, _folder) = report(&bundled(dump)).await?;
        let listed: Value = serde_json::from_str(&offline("slices", &bundled(dump), &["-o", "json"])?)?;
        let rows = "Array.from(document.querySelectorAll('table.slices > tbody > tr'), r => \
                    [r.cells[0], r.cells[1], r.cells[3].firstChild, r.cells[4]].map(c => c.textContent).join('|'))";
        let mut rows: Vec<String> = serde_json::from_value(browser.evaluate(rows).await?)?;
        let text = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
        let items = listed["items"].as_array().context("a list")?;
        let mut expected: Vec<String> = items
            .iter()
            .map(|item| {
                let [namespace, name, verdict, reason, message] =
                    ["namespace", "name", "verdict", "reason", "message"].map(|field| text(item, field));
                format!("{namespace}|{name}|{verdict}|{reason}: {message}")
            })
            .collect();
        rows.sort();
        expected.sort();
        ensure!(rows == expected && !rows.is_empty(), "{rows:#?}\n{expected:#?}");
        // Each is drawn, too, and leads to its row.
        let drawn = browser.evaluate("document.querySelectorAll('svg a[href^=\"#s\"]').length").await?;
        ensure!(drawn == items.len(), "{drawn}");
        let dead = "Array.from(document.querySelectorAll('a')).filter(a => !document.getElementById(a.getAttribute('href').slice(1))).length";
        ensure!(browser.evaluate(dead).await? == 0);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stuck_stands_on_top_longest_first() -> Result<()> {
    let (mut browser, _, _folder) = report(&bundled("demo.yaml")).await?;
    let headline = texts(&mut browser, ".headline").await?;
    ensure!(headline == ["5 slices and 2 compositions are stuck, for up to 3d3h."], "{headline:?}");
    let stuck = texts(&mut browser, ".stuck-table > tbody > tr").await?;
    ensure!(stuck[0].contains("billing-ff0q1") && stuck[0].contains("NobodyActs"), "{stuck:#?}");
    ensure!(stuck[1].contains("2026-03-01T11:34:00Z") && stuck[1].contains("for 26m"), "{stuck:#?}");
    ensure!(stuck[1].contains("kubectl eno why composition/legacy -n team-a"), "{stuck:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_leads_from_symphonies_to_slices() -> Result<()> {
    let (mut browser, _, _folder) = report(&bundled("symphony.yaml")).await?;
    let trees = "Array.from(document.querySelectorAll('.tree'), t => Array.from(t.querySelectorAll('title'), \
                 e => e.textContent))";
    let trees: Vec<Vec<String>> = serde_json::from_value(browser.evaluate(trees).await?)?;
    let shop = trees.iter().find(|tree| tree[0].starts_with("Symphony shop")).context("the symphony's tree")?;
    let order: Vec<&str> = shop.iter().map(|title| title.split([':', '(']).next().unwrap_or_default()).collect();
    ensure!(
        order
            == [
                "Symphony shop",
                "Composition db-x2",
                "db-x2-a",
                "db-x2-old",
                "Composition web-x1",
                "web-x1-a",
                "web-x1-b"
            ],
        "{order:?}"
    );
    // A slice that should be there and is not is drawn as such.
    ensure!(trees.iter().flatten().any(|title| title.starts_with("left-b: the synthesis lists it")), "{trees:#?}");
    Ok(())
}

/// Names of all kinds that would do harm where they are taken for markup.
const HOSTILE: [&str; 8] = [
    "\"><script>document.title='taken'</script>",
    "'><img src=http://example.com/a onerror=\"document.title='taken'\">",
    "</title><script>document.title='taken'</script>",
    "</style></script><svg onload=\"document.title='taken'\">",
    "--><iframe src=javascript:alert(1)></iframe>",
    "\" onmouseover=\"document.title='taken'\" x=\"",
    "&lt;b&gt; &amp; \u{202e}txt",
    "line\nbreak <a href=http://example.com>here</a>",
];

/// A dump in which every text is hostile.
fn hostile(folder: &Path) -> Result<PathBuf> {
    let mut items = vec![];
    for (index, name) in HOSTILE.iter().enumerate() {
        let owner = |kind: &str, uid: &str| {
            let api_version = "eno.azure.io/v1";
            json!([{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true}])
        };
        let metadata = |uid: String, owners: Value| {
            json!({"name": name, "namespace": name, "uid": uid, "creationTimestamp": "2026-02-01T00:00:00Z",
                "deletionTimestamp": "2026-03-01T11:00:00Z", "finalizers": ["eno.azure.io/cleanup", name],
                "ownerReferences": owners, "labels": {"x": name}})
        };
        let (symphony, composition) = (format!("y{index}"), format!("c{index}"));
        items.push(json!({"apiVersion": "eno.azure.io/v1", "kind": "Symphony",
            "metadata": metadata(symphony.clone(), json!([])), "spec": {}}));
        items.push(json!({"apiVersion": "eno.azure.io/v1", "kind": "Composition",
            "metadata": metadata(composition.clone(), owner("Symphony", &symphony)),
            "spec": {"synthesizer": {"name": name}, "dependsOn": [{"name": name, "namespace": name}]},
            "status": {"simplified": {"status": name, "error": name},
                "currentSynthesis": {"uuid": name, "resourceSlices": [{"name": name}, {"name": format!("{name}-missing")}]}}}));
        items.push(json!({"apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
            "metadata": metadata(format!("s{index}"), owner("Composition", &composition)),
            "spec": {"synthesisUUID": name, "resources": [{"manifest": name}]},
            "status": {"resources": [{"reconciliationError": name}]}}));
        // One that does not decode: what is said of it quotes the name.
        items.push(json!({"apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": format!("{name}-odd"), "namespace": name}, "spec": name}));
        // Garbage of an owner that does not exist.
        items.push(json!({"apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": format!("{name}-gone"), "namespace": name, "uid": "g",
                "creationTimestamp": "2026-02-01T00:00:00Z",
                "ownerReferences": [{"apiVersion": "eno.azure.io/v1", "kind": "Composition",
                    "name": format!("gone {name}"), "uid": "gone", "controller": true}]}}));
    }
    let file = folder.join("hostile & <b>.json");
    std::fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())?;
    Ok(file)
}

#[tokio::test(flavor = "multi_thread")]
async fn names_never_become_markup() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (mut browser, file, _folder) = report(&hostile(folder.path())?).await?;
    let count = async |browser: &mut Browser, selector: &str| {
        browser.evaluate(&format!("document.querySelectorAll({}).length", json!(selector))).await
    };
    ensure!(count(&mut browser, "script").await? == 1);
    ensure!(count(&mut browser, "style").await? == 1);
    for element in ["img", "iframe", "object", "embed", "base", "link", "svg svg", "code code"] {
        ensure!(count(&mut browser, element).await? == 0, "{element}");
    }
    let attributes = "Array.from(document.querySelectorAll('*')).flatMap(e => Array.from(e.attributes)).filter(a => \
                      a.name.startsWith('on') || a.name === 'src' || (a.name === 'href' && !/^#[a-z0-9-]+$/.test(a.value)) \
                      || a.name === 'style').map(a => a.name + '=' + a.value)";
    ensure!(browser.evaluate(attributes).await? == json!([]), "{}", browser.evaluate(attributes).await?);
    let title = texts(&mut browser, "head > title").await?;
    ensure!(title[0].starts_with("Eno report: "), "{title:?}");
    // Nothing was even tried: not one request, and no complaint of the policy's.
    ensure!(browser.requests() == [url(&file)?], "{:?}", browser.requests());
    ensure!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
    // They are there, as what they are.
    let names = shown(&mut browser, "slices").await?;
    ensure!(names.iter().any(|name| name == HOSTILE[0]), "{names:#?}");
    ensure!(names.iter().any(|name| name.contains("\\u{202e}")), "{names:#?}");
    let gaps = texts(&mut browser, ".gaps li").await?;
    ensure!(gaps.iter().any(|gap| gap.contains("<iframe") && gap.contains("-odd")), "{gaps:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_runs_and_no_request_leaves_even_if_markup_got_in() -> Result<()> {
    let (mut browser, file, _folder) = report(&bundled("demo.yaml")).await?;
    ensure!(browser.requests() == [url(&file)?], "{:?}", browser.requests());
    let page = std::fs::read_to_string(&file)?;
    let markup = "<script>document.title = 'taken'</script><img src=\"http://example.com/a.png\" \
                  onerror=\"document.title = 'taken'\"><style>body { color: red }</style>\
                  <link rel=stylesheet href=http://example.com/a.css>\
                  <iframe src=\"http://example.com/frame\"></iframe>";
    let with = page.replacen("<body>", &format!("<body>{markup}"), 1);
    std::fs::write(&file, &with)?;
    browser.load(&file).await?;
    ensure!(texts(&mut browser, "head > title").await?[0].starts_with("Eno report: "));
    let blocked =
        browser.complaints().iter().filter(|entry| entry.to_string().contains("Content Security Policy")).count();
    ensure!(blocked >= 5, "{:#?}", browser.complaints());
    ensure!(browser.evaluate("getComputedStyle(document.body).color").await? != "rgb(255, 0, 0)");
    // Without the policy the same would have run: this test can fail.
    let start = with.find("<meta http-equiv").context("the policy")?;
    let end = start + with[start..].find('>').context("its end")? + 1;
    std::fs::write(&file, [&with[..start], &with[end..]].concat())?;
    browser.load(&file).await?;
    ensure!(texts(&mut browser, "head > title").await? == ["taken"]);
    ensure!(browser.requests().iter().any(|url| url.starts_with("http://example.com/")), "{:?}", browser.requests());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filter_is_used_by_keyboard() -> Result<()> {
    let (mut browser, _, _folder) = report(&bundled("demo.yaml")).await?;
    ensure!(shown(&mut browser, "slices").await?.len() == 8);
    browser.press("/").await?;
    browser.type_in("LEGACY hold").await?;
    browser.frame().await?;
    ensure!(shown(&mut browser, "slices").await? == ["legacy-2h8vd"]);
    ensure!(shown(&mut browser, "compositions").await? == ["legacy"]);
    let found = texts(&mut browser, "#found").await?;
    ensure!(found == ["Filtered: 1 of 8 slices, 1 of 4 compositions"], "{found:?}");
    // The drawing follows: of the one tree that is left, the other slice is dimmed.
    ensure!(texts(&mut browser, ".home:not([hidden]) .tree:not([hidden]) .off title").await?.len() == 1);
    ensure!(browser.evaluate("document.querySelectorAll('.home:not([hidden])').length").await? == 1);

    // The search is emptied, and the verdicts are chosen: Tab goes on to them, Space unticks.
    browser.evaluate("document.activeElement.select()").await?;
    browser.type_in("").await?;
    browser.evaluate("document.activeElement.value = ''").await?;
    browser.press("Tab").await?;
    browser.press(" ").await?;
    browser.frame().await?;
    let names = shown(&mut browser, "slices").await?;
    ensure!(names.len() == 5 && !names.contains(&"orders-c4v9n".to_owned()), "{names:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_stuck_can_be_shown() -> Result<()> {
    let (mut browser, _, _folder) = report(&bundled("demo.yaml")).await?;
    browser.evaluate("document.querySelector('input[name=stuck]').click()").await?;
    browser.frame().await?;
    let listed: Value = serde_json::from_str(&offline("slices", &bundled("demo.yaml"), &["--stuck", "-o", "json"])?)?;
    let items = listed["items"].as_array().context("a list")?;
    let mut names = shown(&mut browser, "slices").await?;
    names.sort();
    let mut expected: Vec<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
    expected.sort_unstable();
    ensure!(names == expected, "{names:?} {expected:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_whole_without_its_script_and_on_paper() -> Result<()> {
    let (mut browser, file, _folder) = report(&bundled("demo.yaml")).await?;
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true})).await?;
    browser.navigate(&file).await?;
    // Scripts of the page do not run; what the protocol asks does.
    let hidden = "document.getElementById('filter').hidden && document.querySelectorAll('.slices tbody tr').length";
    ensure!(browser.evaluate(hidden).await? == 8);
    ensure!(shown(&mut browser, "slices").await?.len() == 8);
    browser.prefer("dark", "print").await?;
    let ground = "getComputedStyle(document.body).backgroundColor";
    ensure!(browser.evaluate(ground).await? == "rgb(255, 255, 255)");
    ensure!(browser.evaluate("getComputedStyle(document.querySelector('nav')).display").await? == "none");
    // `%PDF` in base64.
    ensure!(browser.paper().await?.starts_with("JVBER"));
    browser.prefer("dark", "screen").await?;
    ensure!(browser.evaluate(ground).await? != "rgb(255, 255, 255)");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_cannot_see_it_has_tables_and_few_stops() -> Result<()> {
    let (mut browser, _, _folder) = report(&bundled("demo.yaml")).await?;
    let bare = "Array.from(document.querySelectorAll('table')).filter(t => !t.caption || \
                t.querySelectorAll('thead th[scope=col]').length === 0 || \
                t.querySelectorAll('tbody tr').length !== t.querySelectorAll('tbody th[scope=row]').length).length";
    ensure!(browser.evaluate(bare).await? == 0);
    // Drawings are left out of reading and of the Tab key: thousands of slices would be thousands of stops.
    let silent = "Array.from(document.querySelectorAll('svg')).every(s => s.getAttribute('aria-hidden') === 'true') && \
                  Array.from(document.querySelectorAll('svg a')).every(a => a.tabIndex === -1)";
    ensure!(browser.evaluate(silent).await? == true);
    ensure!(browser.evaluate("document.documentElement.lang").await? == "en");
    let labels = "Array.from(document.querySelectorAll('input')).every(i => i.labels.length === 1)";
    ensure!(browser.evaluate(labels).await? == true);
    // The first press of Tab is at the first link.
    browser.press("Tab").await?;
    ensure!(browser.evaluate("document.activeElement.textContent").await? == "Stuck");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_told_as_it_is() -> Result<()> {
    let ground = Guarded::unguarded("report").await?;
    let web = ground.live("web", 2).await?;
    ground.garbage(&web, "garbage").await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("report.html");
    let path = file.to_str().context("a path of the system's")?;
    let written = plugin::eno(ground.cluster(), &["report", "-n", ground.name(), "--output-file", path]).await?;
    ensure!(written.code == 0 && written.stdout.is_empty(), "{written:?}");
    ensure!(written.stderr.contains(&format!("report written to {path}")), "{written:?}");
    let mut browser = Browser::open().await?;
    browser.load(&file).await?;
    let mut names = shown(&mut browser, "slices").await?;
    names.sort();
    ensure!(names == ["garbage", "web-0"], "{names:?}");
    let origin = texts(&mut browser, "header p").await?.join(" ");
    ensure!(origin.contains(&format!("namespace {}", ground.name())), "{origin}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_gets_no_html() -> Result<()> {
    let mut command = tokio::process::Command::new(plugin::binary()?);
    command.arg("report").arg("-f").arg(bundled("demo.yaml"));
    let (code, shown) = Terminal::open(command)?.ended().await?;
    ensure!(code == 1 && shown.contains("--output-file report.html") && !shown.contains("<html"), "{code} {shown}");
    Ok(())
}
