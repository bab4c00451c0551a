//! What the replicas share, and what it becomes next. Pure: the time is an argument.
//!
//! # Guarantees
//! - A serving certificate that is good is not given up for one that the API server does not know yet.
//! - An authority stays in the bundle for as long as a certificate that it signed may be served.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;

use super::signed::{self, Signed};

/// The keys of the Secret; the first two are those of every TLS Secret.
const LEAF: &str = "tls.crt";
const LEAF_KEY: &str = "tls.key";
const AUTHORITIES: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";

/// Whoever deletes the Secret over and over must not make the bundle grow for ever.
const MOST_AUTHORITIES: usize = 8;

/// What certificates are wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The names and addresses that the API server calls.
    pub hosts: Vec<String>,
    /// For how long a serving certificate is good.
    pub validity: SignedDuration,
    /// For how long its authority is.
    pub authority_validity: SignedDuration,
}

/// The serving certificate, and the authorities behind it.
#[derive(Clone, PartialEq)]
pub struct Stored {
    /// The newest first: it signs what comes. Those behind it have signed what may still be served.
    pub authorities: Vec<Signed>,
    authority_key: String,
    /// The serving certificate.
    pub leaf: Signed,
    /// Its key.
    pub leaf_key: String,
}

/// What is different in the next state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There is a new authority in front.
    Authority,
    /// There is a new serving certificate.
    Leaf,
    /// An authority has gone: nothing that it signed is left.
    Distrust,
}

impl Change {
    /// The label of metrics and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Authority => "authority",
            Change::Leaf => "leaf",
            Change::Distrust => "distrust",
        }
    }
}

impl Stored {
    /// The first: an authority, and what it signs.
    ///
    /// # Errors
    /// A name is not one.
    pub fn new(wanted: &Wanted, now: Timestamp) -> Result<Self> {
        let (authority, authority_key) = signed::authority(now, wanted.authority_validity)?;
        let (leaf, leaf_key) = signed::leaf(&authority, &authority_key, &wanted.hosts, now, wanted.validity)?;
        Ok(Stored { authorities: vec![authority], authority_key, leaf, leaf_key })
    }

    /// As a Secret has it.
    ///
    /// # Errors
    /// Something is missing, cannot be read, or does not go with the rest.
    pub fn from_data(data: &BTreeMap<String, ByteString>) -> Result<Self> {
        let text = |key: &str| -> Result<&str> {
            let bytes = data.get(key).with_context(|| format!("it has no {key}"))?;
            std::str::from_utf8(&bytes.0).with_context(|| format!("its {key} is not text"))
        };
        let authorities = Signed::all(text(AUTHORITIES)?).with_context(|| format!("its {AUTHORITIES}"))?;
        let leaf = Signed::from_pem(text(LEAF)?).with_context(|| format!("its {LEAF}"))?;
        let newest = authorities.first().with_context(|| format!("its {AUTHORITIES} is empty"))?;
        newest.goes_with(text(AUTHORITY_KEY)?).with_context(|| format!("its {AUTHORITY_KEY}"))?;
        leaf.goes_with(text(LEAF_KEY)?).with_context(|| format!("its {LEAF_KEY}"))?;
        let (authority_key, leaf_key) = (text(AUTHORITY_KEY)?.to_owned(), text(LEAF_KEY)?.to_owned());
        let stored = Stored { authorities, authority_key, leaf, leaf_key };
        ensure!(stored.signer().is_some(), "no authority of its {AUTHORITIES} has signed its {LEAF}");
        Ok(stored)
    }

    /// As a Secret has it.
    #[must_use]
    pub fn to_data(&self) -> BTreeMap<String, ByteString> {
        let Stored { authority_key, leaf, leaf_key, .. } = self;
        [(AUTHORITIES, &self.bundle()), (AUTHORITY_KEY, authority_key), (LEAF, &leaf.pem), (LEAF_KEY, leaf_key)]
            .map(|(key, text)| (key.to_owned(), ByteString(text.clone().into_bytes())))
            .into()
    }

    /// What the API server is to trust.
    #[must_use]
    pub fn bundle(&self) -> String {
        self.authorities.iter().map(|authority| authority.pem.as_str()).collect()
    }

    /// Who has signed the serving certificate.
    #[must_use]
    pub fn signer(&self) -> Option<&Signed> {
        self.authorities.iter().find(|authority| self.leaf.is_signed_by(authority))
    }

    /// Is it to be served in place of that? Not where that is good, and this has ended or is not known to the API server.
    #[must_use]
    pub fn replaces(&self, served: Option<&Self>, known: bool, now: Timestamp) -> bool {
        let is_good = served.is_some_and(|served| served.leaf.is_valid(now));
        !is_good || known && self.leaf.is_valid(now)
    }

    /// What it becomes now; `None` where all is as wanted. `known` says that the API server has known the whole bundle for
    /// long enough.
    ///
    /// # Errors
    /// A name is not one.
    pub fn next(&self, wanted: &Wanted, now: Timestamp, known: bool) -> Result<Option<(Change, Self)>> {
        if !self.authorities[0].is_fresh(now) {
            return Ok(Some((Change::Authority, self.with_authority(wanted, now)?)));
        }
        let as_wanted = self.leaf.is_fresh(now) && self.leaf.hosts == wanted.hosts;
        let by_newest = self.is_by_newest();
        // Without a certificate that is good there is nothing to lose.
        let may_change = by_newest || known || !self.leaf.is_valid(now);
        if may_change && !(as_wanted && by_newest) {
            return Ok(Some((Change::Leaf, self.with_leaf(wanted, now)?)));
        }
        // What an authority has signed last, it signed when the one before it was made.
        let ended = |newer: &Signed| newer.made() + wanted.validity <= now;
        let needed = 1 + self.authorities.iter().take_while(|authority| !ended(authority)).count();
        if by_newest && needed < self.authorities.len() {
            let authorities = self.authorities[..needed].to_vec();
            return Ok(Some((Change::Distrust, Stored { authorities, ..self.clone() })));
        }
        Ok(None)
    }

    /// What to store where the Secret was deleted or spoilt: a new authority, for the key of the old one may be known to
    /// others. Where one is on its way in already, that stays.
    ///
    /// # Errors
    /// A name is not one.
    pub fn after_loss(&self, wanted: &Wanted, now: Timestamp) -> Result<Self> {
        if self.is_by_newest() { self.with_authority(wanted, now) } else { Ok(self.clone()) }
    }

    /// The same, trusting also who has signed what is served at present, where that is somebody else.
    #[must_use]
    pub fn trusting(&self, served: &Stored, now: Timestamp) -> Option<Self> {
        let signer = served.signer().filter(|signer| signer.is_valid(now) && served.leaf.is_valid(now))?;
        let missing = !self.authorities.contains(signer);
        missing.then(|| {
            let authorities = [self.authorities.as_slice(), std::slice::from_ref(signer)].concat();
            Stored { authorities, ..self.clone() }
        })
    }

    /// When to look again at the latest.
    #[must_use]
    pub fn due(&self) -> Timestamp {
        self.leaf.due().min(self.authorities[0].due())
    }

    fn is_by_newest(&self) -> bool {
        self.leaf.is_signed_by(&self.authorities[0])
    }

    fn with_authority(&self, wanted: &Wanted, now: Timestamp) -> Result<Self> {
        // The last act of the old key: a certificate that lives until the new authority is known.
        let kept = match self.is_by_newest() && self.authorities[0].is_valid(now) {
            true => self.with_leaf(wanted, now)?,
            false => self.clone(),
        };
        let fresh = Stored::new(wanted, now)?;
        let older = kept.authorities.iter().take(MOST_AUTHORITIES - 1).cloned();
        let authorities = fresh.authorities.iter().cloned().chain(older).collect();
        let kept = if kept.leaf.is_valid(now) { kept } else { fresh.clone() };
        Ok(Stored { authorities, authority_key: fresh.authority_key, leaf: kept.leaf, leaf_key: kept.leaf_key })
    }

    fn with_leaf(&self, wanted: &Wanted, now: Timestamp) -> Result<Self> {
        let (leaf, leaf_key) =
            signed::leaf(&self.authorities[0], &self.authority_key, &wanted.hosts, now, wanted.validity)?;
        Ok(Stored { leaf, leaf_key, ..self.clone() })
    }
}

#[cfg(test)]
mod tests;
