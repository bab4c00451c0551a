//! A pod as it is shown: one that eno-webhook follows, or the end of one that not everyone has been told.

use eno_shared::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_shared::pods::Sandbox;
use eno_shared::pods::destroy::Destroy;
use eno_shared::pods::outbox::{Delivery, Entry, Undelivered};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::column::{Column, joined, none};
use crate::age::age;
use crate::live::Place;
use crate::outbox::Outbox;
use crate::surroundings::Pod;

/// One pod of `-o json`. Lists are never null; a null means that there is none, or that it is not known.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodItem {
    namespace: String,
    name: String,
    uid: String,
    state: &'static str,
    /// How it ended, as the last one of those that are undelivered says.
    cause: Option<&'static str>,
    node: Option<String>,
    /// `NAMESPACE/NAME` of the composition that it works for.
    composition: Option<String>,
    sandbox: Option<Sandbox>,
    /// Since when it is going, or when it ended.
    since: Option<Timestamp>,
    /// Until when it was given.
    deletion_timestamp: Option<Timestamp>,
    stuck: bool,
    /// How many of its ends are undelivered.
    undelivered: usize,
}

/// The states of a pod.
const FOLLOWED: &str = "Followed";
const GOING: &str = "Going";
const ENDED: &str = "Ended";

impl PodItem {
    /// From what the webhook keeps, and the pod as it is now, where that was read.
    pub fn new(uid: &str, entry: &Entry, pod: Option<&Pod>, now: Timestamp, patience: SignedDuration) -> Self {
        let following = entry.following.as_ref();
        let record = following.and_then(|following| following.record.as_ref());
        let last = entry.undelivered.last().map(|letter| &letter.destroy);
        let going_since = following.and_then(|following| following.going_since);
        let deletion_timestamp = record
            .and_then(|record| record.deleted_at)
            .or_else(|| pod.and_then(|pod| pod.metadata.deletion_timestamp))
            .or_else(|| last.and_then(|destroy| destroy.deleted_at));
        let state = match (following, going_since) {
            (None, _) => ENDED,
            (Some(_), Some(_)) => GOING,
            (Some(_), None) => FOLLOWED,
        };
        let mut item = PodItem {
            namespace: entry.namespace.clone(),
            name: entry.name.clone(),
            uid: uid.to_owned(),
            state,
            cause: last.map(|destroy| destroy.cause.as_str()),
            node: record
                .and_then(|record| record.node.as_deref().map(str::to_owned))
                .or_else(|| following.and_then(|following| following.node.clone()))
                .or_else(|| pod.and_then(|pod| pod.spec.node_name.clone()))
                .or_else(|| last.and_then(|destroy| destroy.node.clone())),
            composition: composition(record.map(|record| record.labels()).as_ref())
                .or_else(|| composition(pod.map(|pod| &pod.metadata.labels)))
                .or_else(|| composition(last.map(|destroy| &destroy.labels))),
            sandbox: record
                .and_then(|record| record.sandboxes.first().cloned())
                .or_else(|| last.and_then(|destroy| destroy.sandbox.clone())),
            since: going_since.or_else(|| last.map(|destroy| destroy.observed_at)),
            deletion_timestamp,
            stuck: false,
            undelivered: entry.undelivered.len(),
        };
        item.stuck = item.stuck_at(patience).is_some_and(|at| at <= now);
        item
    }

    /// When it counts as stuck, if nothing ends it before.
    pub fn stuck_at(&self, patience: SignedDuration) -> Option<Timestamp> {
        self.deletion_timestamp.filter(|_| self.is_being_deleted())?.checked_add(patience).ok()
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// In a word.
    pub fn state(&self) -> &'static str {
        self.state
    }

    /// How it ended, where it has.
    pub fn cause(&self) -> Option<&'static str> {
        self.cause
    }

    /// Does it run in the namespace, or work for a composition there?
    pub fn concerns(&self, namespace: &str) -> bool {
        let of = self.composition.as_deref().and_then(|composition| composition.split_once('/'));
        self.namespace == namespace || of.is_some_and(|(home, _)| home == namespace)
    }

    /// Where it runs, or ran.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// `NAMESPACE/NAME` of the composition that it works for.
    pub fn composition(&self) -> Option<&str> {
        self.composition.as_deref()
    }

    /// Since when it is going, or when it ended.
    pub fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Does something say that it ends, and is that not certain yet?
    pub fn is_being_deleted(&self) -> bool {
        self.state == GOING
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Is it going, or has it ended?
    pub fn is_going(&self) -> bool {
        self.state != FOLLOWED
    }

    /// Does it take longer than it was given, and patience lasts?
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }
}

/// Where the pods of the outbox are, each by itself: namesakes follow each other, so that the uid goes with the name.
pub fn places(outbox: &Outbox) -> impl Iterator<Item = Place> {
    outbox.entries().into_iter().map(|(uid, entry)| (entry.namespace.clone(), format!("{}/{uid}", entry.name)))
}

/// The uid of such a place.
pub fn uid_of((_, name): &Place) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

fn composition(labels: Option<&std::collections::BTreeMap<String, String>>) -> Option<String> {
    let labels = labels?;
    Some(format!("{}/{}", labels.get(POD_COMPOSITION_NAMESPACE)?, labels.get(POD_COMPOSITION)?))
}

/// The columns of tables of pods. The first is shown only where there are several namespaces.
pub const COLUMNS: [Column<PodItem>; 10] = [
    Column::new("NAMESPACE", ".namespace", |item, _| item.namespace.clone()),
    Column::new("NAME", ".name", |item, _| item.name.clone()),
    Column::new("STATE", ".state", |item, _| item.state.to_owned()),
    Column::new("CAUSE", ".cause", |item, _| item.cause.map_or_else(none, str::to_owned)),
    Column::new("NODE", ".node", |item, _| item.node.clone().unwrap_or_else(none)),
    Column::new("COMPOSITION", ".composition", |item, _| item.composition.clone().unwrap_or_else(none)),
    Column::new("FOR", ".since", |item, now| item.since.map_or_else(none, |since| age(Some(since), now))),
    Column::wide("SANDBOX", ".sandbox.id", |item, _| {
        let shown =
            |sandbox: &Sandbox| format!("{}:{}", sandbox.source, sandbox.id.chars().take(20).collect::<String>());
        item.sandbox.as_ref().map_or_else(none, shown)
    }),
    Column::wide("UNDELIVERED", ".undelivered", |item, _| item.undelivered.to_string()),
    Column::wide("UID", ".uid", |item, _| item.uid.clone()),
];

/// One end of `pods undelivered -o json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LetterItem {
    #[serde(flatten)]
    destroy: Destroy,
    sinks: Vec<SinkItem>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SinkItem {
    name: String,
    state: &'static str,
    /// Why it was given up.
    why: Option<String>,
}

impl LetterItem {
    /// As the outbox has it.
    pub fn new(letter: &Undelivered) -> Self {
        let sinks = letter.sinks.iter().map(|(name, delivery)| {
            let (state, why) = match delivery {
                Delivery::Pending => ("Pending", None),
                Delivery::Dead { why, .. } => ("Dead", Some(why.clone())),
            };
            SinkItem { name: name.clone(), state, why }
        });
        LetterItem { sinks: sinks.collect(), destroy: letter.destroy.clone() }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.destroy.id
    }

    /// Did some sink give it up?
    pub fn is_dead(&self) -> bool {
        self.sinks.iter().any(|sink| sink.why.is_some())
    }
}

/// The columns of tables of undelivered ends.
pub const LETTER_COLUMNS: [Column<LetterItem>; 8] = [
    Column::new("ID", ".id", |item, _| item.destroy.id.clone()),
    Column::new("CAUSE", ".cause", |item, _| item.destroy.cause.as_str().to_owned()),
    Column::new("POD", ".pod.name", |item, _| format!("{}/{}", item.destroy.pod.namespace, item.destroy.pod.name)),
    Column::new("SINKS", ".sinks[*].name", |item, _| {
        let sinks: Vec<String> = item.sinks.iter().map(|sink| format!("{}:{}", sink.name, sink.state)).collect();
        joined(sinks.iter().map(String::as_str))
    }),
    Column::new("AGE", ".observedAt", |item, now| age(Some(item.destroy.observed_at), now)),
    Column::wide("CONFIRMED", ".confirmed", |item, _| item.destroy.confirmed.to_string()),
    Column::wide("UID", ".pod.uid", |item, _| item.destroy.pod.uid.clone()),
    Column::wide("WHY", ".sinks[*].why", |item, _| joined(item.sinks.iter().filter_map(|sink| sink.why.as_deref()))),
];
