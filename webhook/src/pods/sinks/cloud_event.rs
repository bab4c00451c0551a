//! A destroy as a CloudEvent 1.0: the form in which all sinks but Events tell it.
//!
//! Written out by hand: of the SDK we would use one builder, for eight attributes, and bring in a second library of dates.

use std::borrow::Cow;
use std::fmt::Write as _;

use eno_shared::pods::DestroyCause;
use eno_shared::pods::destroy::Destroy;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::Failure;

/// What every intermediary must let through.
const LARGEST: usize = 64 * 1024;
/// What the data must leave of it to the attributes: far more than they can need.
const LARGEST_DATA: usize = LARGEST - 4 * 1024;

/// The content type of the data.
pub(super) const DATA_CONTENT_TYPE: &str = "application/json";

/// A destroy, ready to be told.
#[derive(Debug)]
pub(super) struct CloudEvent {
    /// The attributes by their names in the specification; all are needed ones or ours.
    attributes: [(&'static str, String); 9],
    data: Box<RawValue>,
}

/// The data: the destroy itself.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(flatten)]
    destroy: Cow<'a, Destroy>,
    /// How many labels were left out to keep it small enough.
    #[serde(skip_serializing_if = "is_zero")]
    labels_omitted: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The `type` for each cause.
fn type_of(cause: DestroyCause) -> &'static str {
    match cause {
        DestroyCause::Gone => "dev.kubectl-eno.pod.gone.v1",
        DestroyCause::Replaced => "dev.kubectl-eno.pod.replaced.v1",
        DestroyCause::Moved => "dev.kubectl-eno.pod.moved.v1",
        DestroyCause::SandboxChanged => "dev.kubectl-eno.pod.sandbox-changed.v1",
    }
}

impl CloudEvent {
    /// Of a destroy in the cluster of that uid.
    ///
    /// # Errors
    /// It is too large even without labels: something else in it is no identity.
    pub(super) fn of(destroy: &Destroy, cluster: &str) -> Result<Self, Failure> {
        let pod = &destroy.pod;
        Ok(CloudEvent {
            attributes: [
                ("specversion", "1.0".to_owned()),
                ("id", destroy.id.clone()),
                ("source", format!("/clusters/{cluster}")),
                ("type", type_of(destroy.cause).to_owned()),
                ("subject", format!("/api/v1/namespaces/{}/pods/{}", pod.namespace, pod.name)),
                ("time", destroy.observed_at.to_string()),
                ("poduid", pod.uid.clone()),
                // What is told in order: see the courier.
                ("partitionkey", format!("{}/{}", pod.namespace, pod.name)),
                // Compared as text.
                ("sequence", format!("{:010}", destroy.sequence)),
            ],
            data: data_of(destroy)?,
        })
    }

    /// Attributes and data in one JSON object.
    pub(super) fn structured(&self) -> Vec<u8> {
        // What was serialized once, can be again.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The data alone, for attributes that go into headers.
    pub(super) fn data(&self) -> Vec<u8> {
        self.data.get().as_bytes().to_vec()
    }

    /// The attributes as headers: name, and value in percent-encoding.
    pub(super) fn headers(&self) -> impl Iterator<Item = (String, String)> {
        self.attributes.iter().map(|(name, value)| (format!("ce-{name}"), percent_encoded(value)))
    }
}

impl Serialize for CloudEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.attributes.len() + 2))?;
        for (name, value) in &self.attributes {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("datacontenttype", DATA_CONTENT_TYPE)?;
        map.serialize_entry("data", &self.data)?;
        map.end()
    }
}

fn data_of(destroy: &Destroy) -> Result<Box<RawValue>, Failure> {
    let json = |data: &Data<'_>| {
        serde_json::value::to_raw_value(data).map_err(|error| Failure::lasting(format!("it has no JSON: {error}")))
    };
    let whole = json(&Data { destroy: Cow::Borrowed(destroy), labels_omitted: 0 })?;
    if whole.get().len() <= LARGEST_DATA {
        return Ok(whole);
    }
    // Quotes, colon and comma; what needs escapes is no label.
    let size = |(key, value): (&String, &String)| key.len() + value.len() + 6;
    let mut left = whole.get().len() + "\"labelsOmitted\":1234567,".len();
    let mut trimmed = destroy.clone();
    while left > LARGEST_DATA
        && let Some(label) = trimmed.labels.pop_last()
    {
        left -= size((&label.0, &label.1));
    }
    let labels_omitted = destroy.labels.len() - trimmed.labels.len();
    let data = json(&Data { destroy: Cow::Owned(trimmed), labels_omitted })?;
    match data.get().len() {
        size if size <= LARGEST_DATA => Ok(data),
        size => Err(Failure::lasting(format!("it takes {size} bytes, and a CloudEvent may have {LARGEST}"))),
    }
}

/// As the HTTP binding wants it: all but printable ASCII, and of that not the space, `"` and `%`.
fn percent_encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'"' | b'%' | ..=b' ' | 0x7f.. => {
                // Writing to a String does not fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
            byte => encoded.push(byte.into()),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::super::fixtures::destroy;
    use super::*;

    fn structured(destroy: &Destroy) -> Value {
        serde_json::from_slice(&CloudEvent::of(destroy, "c1").unwrap().structured()).unwrap()
    }

    #[test]
    fn says_what_ended_where_and_in_which_order() {
        let destroy = Destroy { cause: DestroyCause::SandboxChanged, sequence: 2, ..destroy("web-0", "u1") };
        let event = structured(&destroy);
        let data = event["data"].clone();
        assert_eq!(
            event,
            json!({
                "specversion": "1.0",
                "id": destroy.id,
                "source": "/clusters/c1",
                "type": "dev.kubectl-eno.pod.sandbox-changed.v1",
                "subject": "/api/v1/namespaces/ns/pods/web-0",
                "time": "2026-03-01T12:00:00Z",
                "poduid": "u1",
                "partitionkey": "ns/web-0",
                "sequence": "0000000002",
                "datacontenttype": "application/json",
                "data": data,
            })
        );
        assert_eq!(serde_json::from_value::<Destroy>(data).unwrap(), destroy, "the data is the destroy");
    }

    #[test]
    fn the_document_shows_it_as_it_is() {
        let document = include_str!("../../../../docs/pods.md");
        let (_, shown) = document.split_once("```json\n").unwrap();
        let shown: Value = serde_json::from_str(shown.split_once("```").unwrap().0).unwrap();
        assert_eq!(shown, structured(&destroy("web-0", "u1")));
    }

    #[test]
    fn headers_carry_the_same_attributes_in_percent_encoding() {
        let event = CloudEvent::of(&destroy("web-0", "ü \"1\" %"), "c1").unwrap();
        let headers: BTreeMap<_, _> = event.headers().collect();
        assert_eq!(headers["ce-poduid"], "%C3%BC%20%221%22%20%25");
        assert_eq!(headers["ce-type"], "dev.kubectl-eno.pod.gone.v1");
        assert_eq!(headers.len(), event.attributes.len());
    }

    #[test]
    fn leaves_out_labels_rather_than_be_too_large_and_says_so() {
        let labels: BTreeMap<_, _> = (0..2000).map(|n| (format!("label-{n:05}"), "v".repeat(63))).collect();
        let event = CloudEvent::of(&Destroy { labels, ..destroy("web-0", "u1") }, "c1").unwrap();
        let size = event.structured().len();
        assert!(size <= LARGEST && size > LARGEST - 6 * 1024, "{size} bytes");
        let data: Value = serde_json::from_slice(&event.data()).unwrap();
        let (kept, omitted) = (data["labels"].as_object().unwrap().len(), data["labelsOmitted"].as_u64().unwrap());
        assert_eq!(kept as u64 + omitted, 2000);
        assert!(structured(&destroy("web-0", "u1"))["data"].get("labelsOmitted").is_none());
    }

    #[test]
    fn what_no_label_makes_too_large_is_refused_for_good() {
        let node = Some("n".repeat(LARGEST));
        let failure = CloudEvent::of(&Destroy { node, ..destroy("web-0", "u1") }, "c1").unwrap_err();
        assert_eq!(failure.retry, crate::pods::sinks::Retry::Never);
    }
}
