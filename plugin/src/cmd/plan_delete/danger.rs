//! Ways in which Eno is known to lose resources, or to delete too many. The codes are a closed list.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A danger of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Danger {
    /// Slices are deleted before Eno has seen that their composition is (L2).
    SlicesGoFirst,
    /// The slices lose their owner, and nothing wakes Eno for them (S20).
    OwnerLost,
    /// Eno has not put its finalizer on the composition: it goes at once.
    NotHeld,
    /// Resources of compositions stay when their symphony goes (L8).
    SymphonyOrphans,
    /// Compositions of the symphony are being deleted already, without the mark: a part is deleted, a part stays (L8).
    PartlyOrphaned { compositions: Vec<String> },
    /// Eno drops the finalizer when it believes the symphony gone (L9).
    ForcedWithSymphony { compositions: Vec<String> },
    /// Eno goes by the symphony's name, and takes what another owner of that name owns for the symphony's (L11).
    NamesakeOwned { compositions: Vec<String> },
    /// Eno keeps the order of dependencies only as long as eno-reconciler does not restart (L13).
    OrderMayBreak { compositions: Vec<String> },
    /// Another composition makes the same resource: it is deleted under it (L19).
    SharedResource { resource: String, composition: String },
    /// The namespace is marked so that eno-reconciler deletes all of Eno's objects in it (L16).
    MarkedNamespace,
    /// Resources that the next synthesis lacks are forgotten (L7).
    TombstonesLost,
}

impl Danger {
    /// The code.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Danger::SlicesGoFirst => "SlicesGoFirst",
            Danger::OwnerLost => "OwnerLost",
            Danger::NotHeld => "NotHeld",
            Danger::SymphonyOrphans => "SymphonyOrphans",
            Danger::PartlyOrphaned { .. } => "PartlyOrphaned",
            Danger::ForcedWithSymphony { .. } => "ForcedWithSymphony",
            Danger::NamesakeOwned { .. } => "NamesakeOwned",
            Danger::OrderMayBreak { .. } => "OrderMayBreak",
            Danger::SharedResource { .. } => "SharedResource",
            Danger::MarkedNamespace => "MarkedNamespace",
            Danger::TombstonesLost => "TombstonesLost",
        }
    }
}

impl fmt::Display for Danger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Danger::SlicesGoFirst => f.write_str(
                "slices are asked to go before Eno has seen the deletion; without eno-webhook it lets them go, and forgets what they hold",
            ),
            Danger::OwnerLost => f.write_str(
                "the slices lose their owner, so that nothing wakes Eno for them: the deletion hangs; take background",
            ),
            Danger::NotHeld => f.write_str(
                "Eno has not put its finalizer on it, so that it goes at once, and its resources are orphaned; delete it once it has that",
            ),
            Danger::SymphonyOrphans => f.write_str(
                "Eno leaves the resources of a symphony's compositions behind, by design; to delete them, delete the compositions first",
            ),
            Danger::PartlyOrphaned { compositions } => write!(
                f,
                "these are being deleted already: a part of their resources is deleted, and a part left behind: {}",
                compositions.join(", ")
            ),
            Danger::ForcedWithSymphony { compositions } => write!(
                f,
                "Eno gives these up, resources and all, as soon as it believes their symphony gone: {}",
                compositions.join(", ")
            ),
            Danger::NamesakeOwned { compositions } => write!(
                f,
                "another owner of the symphony's name owns these, and Eno deletes them with the symphony: {}",
                compositions.join(", ")
            ),
            Danger::OrderMayBreak { compositions } => write!(
                f,
                "if eno-reconciler restarts while these are waited for, it deletes the resources before theirs: {}",
                compositions.join(", ")
            ),
            Danger::SharedResource { resource, composition } => {
                write!(f, "{resource} is of composition {composition} too, and is deleted under it")
            }
            Danger::MarkedNamespace => f.write_str(
                "the namespace is marked as re-created: eno-reconciler deletes it, and all of Eno's objects in it",
            ),
            Danger::TombstonesLost => f.write_str(
                "Eno makes the next synthesis without it: what that does not hold any more, nobody deletes",
            ),
        }
    }
}

impl Serialize for Danger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut danger = serializer.serialize_struct("Danger", 2)?;
        danger.serialize_field("code", self.code())?;
        danger.serialize_field("message", &self.to_string())?;
        danger.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_codes_lists_each_danger() {
        let names = || vec!["web".to_owned()];
        let all = [
            Danger::SlicesGoFirst,
            Danger::OwnerLost,
            Danger::NotHeld,
            Danger::SymphonyOrphans,
            Danger::PartlyOrphaned { compositions: names() },
            Danger::ForcedWithSymphony { compositions: names() },
            Danger::NamesakeOwned { compositions: names() },
            Danger::OrderMayBreak { compositions: names() },
            Danger::SharedResource { resource: "v1/Secret a/b".into(), composition: "web".into() },
            Danger::MarkedNamespace,
            Danger::TombstonesLost,
        ];
        let page = include_str!("../../../../docs/codes.md");
        let dangers = page.split("## Dangers").nth(1).unwrap();
        let rows = dangers.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| code"));
        let listed: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).map(str::trim).collect();
        assert_eq!(listed, all.map(|danger| danger.code()));
    }
}
