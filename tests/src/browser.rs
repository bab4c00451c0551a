//! A browser without a window: Chromium, driven over a pipe by its DevTools protocol.

use std::env;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// No answer of the browser's takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    requests: BufReader<ChildStdout>,
    commands: ChildStdin,
    sent: u64,
    session: Option<String>,
    events: Vec<Value>,
    // In this order: the folder goes when nobody writes to it any more.
    _child: Child,
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium: `CHROMIUM`, else `chromium`. No name is ever resolved.
    ///
    /// # Errors
    /// There is none, or it does not start.
    pub async fn open() -> Result<Self> {
        let program = env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
        let profile = tempfile::tempdir()?;
        let mut command = Command::new("sh");
        // The protocol is spoken on descriptors 3 and 4.
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"]).arg(&program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]);
        command.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe", "--window-size=1280,900"]);
        command.arg("--hide-scrollbars");
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let commands = child.stdin.take().context("it has a stdin")?;
        let requests = BufReader::new(child.stdout.take().context("it has a stdout")?);
        let mut browser =
            Browser { requests, commands, sent: 0, session: None, events: vec![], _child: child, _profile: profile };
        browser.attach().await.with_context(|| {
            format!(
                "starting {}\nhint: install Debian's package chromium, or let CHROMIUM name the program",
                program.display()
            )
        })?;
        Ok(browser)
    }

    async fn attach(&mut self) -> Result<()> {
        let page = self.call("Target.createTarget", json!({"url": "about:blank"})).await?;
        let attached = json!({"targetId": page["targetId"], "flatten": true});
        let session = self.call("Target.attachToTarget", attached).await?;
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Network.enable", "Log.enable", "Runtime.enable"] {
            self.call(domain, json!({})).await?;
        }
        Ok(())
    }

    /// Sends a command, and waits for its answer. What happens meanwhile is kept.
    ///
    /// # Errors
    /// The browser refuses, or is gone.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.sent += 1;
        let mut command = json!({"id": self.sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).await.context("the browser is gone")?;
        let sent = self.sent;
        loop {
            let message = self.next().await?;
            if message["id"] == sent {
                ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    /// The next message; events are kept.
    async fn next(&mut self) -> Result<Value> {
        let mut bytes = vec![];
        let read = tokio::time::timeout(LIMIT, self.requests.read_until(0, &mut bytes));
        let read = read.await.context("the browser does not answer")??;
        ensure!(read > 0, "the browser has ended");
        let message: Value = serde_json::from_slice(bytes.strip_suffix(b"\0").unwrap_or(&bytes))?;
        if !message["method"].is_null() {
            self.events.push(message.clone());
        }
        Ok(message)
    }

    /// Opens a file. Returns how long it took until the first frame after all was loaded.
    ///
    /// # Errors
    /// It does not load.
    pub async fn load(&mut self, file: &Path) -> Result<Duration> {
        let begun = Instant::now();
        self.navigate(file).await?;
        self.frame().await?;
        Ok(begun.elapsed())
    }

    /// Opens a file, and waits until all is loaded.
    ///
    /// # Errors
    /// It does not load.
    pub async fn navigate(&mut self, file: &Path) -> Result<()> {
        self.events.clear();
        let loaded = self.call("Page.navigate", json!({"url": url(file)?})).await?;
        ensure!(loaded["errorText"].is_null(), "{loaded}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.next().await?;
        }
        Ok(())
    }

    /// Waits until what was changed is on the screen.
    ///
    /// # Errors
    /// The browser is gone.
    pub async fn frame(&mut self) -> Result<()> {
        let frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
        self.evaluate(frames).await.map(drop)
    }

    /// The value of an expression in the page.
    ///
    /// # Errors
    /// It throws.
    pub async fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", params).await?;
        if !answer["exceptionDetails"].is_null() {
            bail!("{expression}: {}", answer["exceptionDetails"]);
        }
        Ok(answer["result"]["value"].take())
    }

    /// Presses a key, such as `/` or `Tab`.
    ///
    /// # Errors
    /// The browser is gone.
    pub async fn press(&mut self, key: &str) -> Result<()> {
        let text = if key.chars().count() == 1 { key } else { "" };
        let code = if key == "Tab" { 9 } else { 0 };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        for kind in [down, "keyUp"] {
            let mut params = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" {
                params["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", params).await?;
        }
        Ok(())
    }

    /// Types into what has the focus.
    ///
    /// # Errors
    /// The browser is gone.
    pub async fn type_in(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", json!({"text": text})).await.map(drop)
    }

    /// What was asked for since the file was opened, by URL.
    pub fn requests(&self) -> Vec<&str> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }

    /// What the browser complained of since the file was opened.
    pub fn complaints(&self) -> Vec<&Value> {
        let of = ["Log.entryAdded", "Runtime.exceptionThrown"];
        self.events.iter().filter(|event| of.iter().any(|method| event["method"] == *method)).collect()
    }

    /// Light or dark, screen or print.
    ///
    /// # Errors
    /// The browser is gone.
    pub async fn prefer(&mut self, scheme: &str, media: &str) -> Result<()> {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": media, "features": features})).await.map(drop)
    }

    /// A picture of the page down to the end of the element that a selector finds, as PNG in base64, so many pixels wide.
    ///
    /// # Errors
    /// The browser is gone, or there is no such element.
    pub async fn picture(&mut self, width: u32, last: &str) -> Result<String> {
        let end =
            format!("Math.ceil(document.querySelector({}).getBoundingClientRect().bottom + scrollY)", json!(last));
        // What has never been in sight has no true height yet: it is measured again when all is.
        for _ in 0..3 {
            let height = self.evaluate(&end).await?;
            let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
            self.call("Emulation.setDeviceMetricsOverride", size).await?;
            self.frame().await?;
        }
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"})).await?;
        answer["data"].as_str().map(str::to_owned).context("a picture")
    }

    /// The page on paper, as PDF in base64.
    ///
    /// # Errors
    /// It cannot be printed.
    pub async fn paper(&mut self) -> Result<String> {
        let answer = self.call("Page.printToPDF", json!({"preferCSSPageSize": true})).await?;
        answer["data"].as_str().map(str::to_owned).context("a document")
    }
}

/// `file:` and the path.
///
/// # Errors
/// There is no such file.
pub fn url(file: &Path) -> Result<String> {
    let path = file.canonicalize().with_context(|| format!("no {}", file.display()))?;
    Ok(format!("file://{}", path.to_str().context("a path in UTF-8")?))
}
