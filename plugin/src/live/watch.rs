//! One watch: it lists, follows, and heals; it tells what it hears, and whether it hears.
//!
//! kube's own watcher does not tell when it is connected again, which is what a person in front of a stale screen wants
//! to know.

use std::time::Duration;

use eno_shared::client::{ReadError, list_json};
use futures::TryStreamExt;
use kube::Client;
use kube::core::params::{GetParams, ListParams, WatchParams};
use kube::core::{Request, WatchEvent};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::{sleep, timeout};

/// The API server ends a watch after so many seconds: it is begun again where it ended.
const SECONDS: u32 = 60;
/// A connection from which the end does not come is dead.
const DEAD: Duration = Duration::from_secs(SECONDS as u64 + 10);
/// Where watching is forbidden, and listing is not: how often to list.
const POLL: Duration = Duration::from_secs(10);
/// The first pause after an error; it doubles with each.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest one: a person waits.
const LONGEST: Duration = Duration::from_secs(8);

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Slices,
    Compositions,
    Symphonies,
    Namespaces,
    Pods,
    Outbox,
}

/// What a watch hears.
#[derive(Debug)]
pub(super) enum News {
    /// These objects exist, and no others.
    All(Vec<Value>),
    /// An object was made or changed.
    Exists(Value),
    /// An object is gone.
    Gone(Value),
    /// It is connected: what was heard is true, and what changes will be heard.
    Follows,
    /// It hears nothing, and tries again.
    Lost(ReadError),
    /// It may list and not watch: it lists every few seconds. `None` where it reads the only object alone.
    Polls(Option<ReadError>),
}

/// A watch.
pub(super) struct Watch {
    pub subject: Subject,
    /// Where its objects are.
    pub path: String,
    /// Are spec and status left out?
    pub metadata_only: bool,
    pub labels: Option<String>,
    pub fields: Option<String>,
    /// The only object, where it may be allowed to get that and not to list.
    pub only: Option<String>,
    /// The time for one request.
    pub limit: Duration,
}

/// Why it cannot go on where it ended.
enum End {
    /// The version is too old to go on from (410).
    TooOld,
    /// Only lists are allowed; `None` where not even those are, but for a look at the only object.
    OnlyLists(Option<ReadError>),
    Failed(ReadError),
    /// Nobody listens any more.
    Unheard,
}

impl From<ReadError> for End {
    fn from(error: ReadError) -> Self {
        if has_code(&error, 410) { End::TooOld } else { End::Failed(error) }
    }
}

impl From<kube::Error> for End {
    fn from(error: kube::Error) -> Self {
        ReadError::from(error).into()
    }
}

impl Watch {
    /// Runs until nobody listens.
    pub(super) async fn run(self, client: Client, ear: Sender<(Subject, News)>) {
        // Where to go on; nowhere before the first list.
        let mut version = None;
        let mut pause = PAUSE;
        loop {
            // One that ends at once must not spin: there is always a pause.
            let (news, wait) = match self.follow(&client, &ear, &mut version, &mut pause).await {
                Ok(()) => (None, PAUSE),
                Err(End::TooOld) => {
                    version = None;
                    (None, PAUSE)
                }
                Err(End::OnlyLists(error)) => {
                    version = None;
                    (Some(News::Polls(error)), POLL)
                }
                Err(End::Failed(error)) => {
                    let wait = pause;
                    pause = (pause * 2).min(LONGEST);
                    (Some(News::Lost(error)), wait)
                }
                Err(End::Unheard) => return,
            };
            if let Some(news) = news
                && ear.send((self.subject, news)).await.is_err()
            {
                return;
            }
            sleep(wait).await;
        }
    }

    /// Lists where there is nothing to go on from, and follows. `Ok` where it can go on where that ended.
    async fn follow(
        &self,
        client: &Client,
        ear: &Sender<(Subject, News)>,
        version: &mut Option<String>,
        pause: &mut Duration,
    ) -> Result<(), End> {
        let tell = async |news| ear.send((self.subject, news)).await.map_err(|_| End::Unheard);
        let from = match version {
            Some(version) => version.clone(),
            None => {
                let (objects, from) = self.list(client).await?;
                tell(News::All(objects)).await?;
                from
            }
        };
        let from = match from.as_str() {
            // What is read alone has no version to go on from.
            "" => return Err(End::OnlyLists(None)),
            _ => version.insert(from).clone(),
        };
        let params = WatchParams {
            label_selector: self.labels.clone(),
            field_selector: self.fields.clone(),
            timeout: Some(SECONDS),
            ..WatchParams::default()
        };
        let request = Request::new(&self.path);
        let request =
            if self.metadata_only { request.watch_metadata(&params, &from) } else { request.watch(&params, &from) };
        let request = request.map_err(kube::Error::BuildRequest)?;
        let answer = timeout(self.limit, client.request_events::<Value>(request)).await;
        let events = match answer.map_err(|_| ReadError::TimedOut(self.limit))?.map_err(ReadError::from) {
            Err(error) if has_code(&error, 403) => return Err(End::OnlyLists(Some(error))),
            answer => answer?,
        };
        let mut events = std::pin::pin!(events);
        tell(News::Follows).await?;
        *pause = PAUSE;
        loop {
            let next = timeout(DEAD, events.try_next()).await.map_err(|_| ReadError::TimedOut(DEAD))?;
            let Some(event) = next? else { return Ok(()) };
            let (seen, news) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    (resource_version(&object), Some(News::Exists(object)))
                }
                WatchEvent::Deleted(object) => (resource_version(&object), Some(News::Gone(object))),
                WatchEvent::Bookmark(bookmark) => (Some(bookmark.metadata.resource_version), None),
                WatchEvent::Error(status) => return Err(ReadError::Api(status).into()),
            };
            if let Some(seen) = seen {
                *version = Some(seen);
            }
            if let Some(news) = news {
                tell(news).await?;
            }
        }
    }

    /// All objects, and the version to go on from: empty where there is none.
    async fn list(&self, client: &Client) -> Result<(Vec<Value>, String), ReadError> {
        let selection = ListParams {
            label_selector: self.labels.clone(),
            field_selector: self.fields.clone(),
            ..ListParams::default()
        };
        match (list_json(client, &self.path, self.metadata_only, &selection, self.limit).await, &self.only) {
            (Err(error), Some(only)) if has_code(&error, 403) => {
                Ok((self.get(client, only, error).await?, String::new()))
            }
            (answer, _) => answer,
        }
    }

    /// The only object. `forbidden` is why it is not listed.
    async fn get(&self, client: &Client, name: &str, forbidden: ReadError) -> Result<Vec<Value>, ReadError> {
        let request = Request::new(&self.path).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        let answer = timeout(self.limit, client.request::<Value>(request)).await;
        match answer.map_err(|_| ReadError::TimedOut(self.limit))?.map_err(ReadError::from) {
            Ok(object) => Ok(vec![object]),
            Err(error) if has_code(&error, 404) => Ok(vec![]),
            Err(_) => Err(forbidden),
        }
    }
}

fn has_code(error: &ReadError, code: u16) -> bool {
    matches!(error, ReadError::Api(status) if status.code == code)
}

fn resource_version(object: &Value) -> Option<String> {
    Some(object.get("metadata")?.get("resourceVersion")?.as_str()?.to_owned())
}
