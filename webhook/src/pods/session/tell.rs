//! Who is told of an end, and what comes back.

use std::sync::Arc;

use eno_shared::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_shared::pods::destroy::{Destroy, PodRef};
use eno_shared::pods::tracker::{Changed, Ended, Place};
use jiff::Timestamp;
use tracing::{info, warn};

use super::Session;
use crate::controllers::Hint;
use crate::pods::requests::Asked;
use crate::pods::sinks::{Ack, Outcome};
use crate::store::Key;

impl Session {
    pub(super) fn ended(&mut self, ended: Ended, confirmed: bool) {
        let destroy = ended.destroy(&self.cluster, confirmed);
        let PodRef { namespace, name, uid } = &destroy.pod;
        let (cause, node) = (destroy.cause.as_str(), destroy.node.as_deref());
        self.hint_slices(&destroy);
        if self.options.dry_run {
            info!(%namespace, %name, uid, cause, node, confirmed, "would tell that a pod is destroyed (--dry-run)");
            return;
        }
        info!(%namespace, %name, uid, cause, node, confirmed, id = destroy.id, "a pod is destroyed");
        self.metrics.destroyed(&destroy);
        let destroy = self.backlog.add(destroy, &self.sinks);
        self.offer(&destroy);
    }

    /// A synthesizer's pod has ended: what its synthesis has left may be garbage by now. With `--dry-run`, too: those who
    /// look at slices know of it themselves.
    fn hint_slices(&self, destroy: &Destroy) {
        let label = |label| destroy.labels.get(label);
        if let (Some(namespace), Some(name)) = (label(POD_COMPOSITION_NAMESPACE), label(POD_COMPOSITION)) {
            let _ = self.slices.try_send(Hint::Composition(Key::new(namespace, name)));
        }
    }

    fn offer(&mut self, destroy: &Arc<Destroy>) {
        // Who does not lead any more tells nothing: another does.
        if !self.leadership.leads() {
            return;
        }
        for courier in &self.couriers {
            self.offer_again |= !courier.offer(Arc::clone(destroy));
        }
    }

    /// Everything that is to be told, to whom it is to be told. What is in a queue already is not taken twice.
    pub(super) fn offer_all(&mut self) {
        self.offer_again = false;
        for (sink, destroy) in self.backlog.due() {
            let courier = self.couriers.iter().find(|courier| *courier.name() == sink);
            self.offer_again |= courier.is_some_and(|courier| !courier.offer(destroy));
        }
    }

    pub(super) fn acknowledged(&mut self, ack: &Ack) {
        let dead = match &ack.outcome {
            Outcome::Delivered => None,
            Outcome::DeadLetter(why) => Some(why.clone()),
        };
        if let Some(destroy) = self.backlog.acknowledged(&ack.id, &ack.sink, dead, Timestamp::now()) {
            self.note(&destroy);
        }
        let dropped = self.backlog.drop_oldest_dead();
        self.metrics.dropped(dropped.len());
        for destroy in dropped {
            warn!(id = destroy.id, pod = ?destroy.pod, "a dead letter is dropped to make room for others");
            self.note(&destroy);
        }
    }

    fn note(&mut self, destroy: &Destroy) {
        let PodRef { namespace, name, uid } = &destroy.pod;
        self.outbox.note(Changed { place: Place::new(namespace, name), uid: uid.as_str().into(), urgent: true });
    }

    pub(super) fn carry_out(&mut self, asked: Asked) {
        // Each list of them has it again until it is removed; but what it asks for was meant once.
        if !self.known_requests.insert(asked.uid().to_owned()) {
            return;
        }
        let concerned = self.backlog.carry_out(&asked.request);
        info!(destroys = concerned.len(), request = ?asked.request, "carries out a request");
        concerned.iter().for_each(|destroy| self.note(destroy));
        for dropped in concerned.iter().filter(|destroy| !self.backlog.has(&destroy.id)) {
            self.couriers.iter().for_each(|courier| courier.withdraw(&dropped.id));
        }
        self.offer_all();
        self.carried_out.push(asked);
    }
}
