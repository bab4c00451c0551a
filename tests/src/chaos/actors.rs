//! Who acts while faults strike. Each chooses by a seed of its own; when it does so is up to the machine.

mod executor;
mod pods;
mod users;
mod vandal;

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use kube::ResourceExt;
use kube::api::{DynamicObject, ListParams};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::stage::Stage;

pub use pods::Pods;

/// How often it is asked whether the webhook denies.
const ASKING: Duration = Duration::from_millis(250);

/// All actors at work.
pub struct Actors {
    stop: watch::Sender<bool>,
    acting: JoinSet<()>,
    /// The pods that lived.
    pub pods: Arc<Pods>,
}

/// One actor.
#[derive(Clone)]
struct Actor {
    stage: Arc<Stage>,
    rng: Rng,
    stop: watch::Receiver<bool>,
}

impl Actors {
    /// Sends them all to work.
    pub fn start(stage: &Arc<Stage>, rng: &mut Rng) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut acting = JoinSet::new();
        let pods = Arc::<Pods>::default();
        let mut actor = || Actor { stage: Arc::clone(stage), rng: rng.fork(), stop: stopped.clone() };
        acting.spawn(ask(actor()));
        acting.spawn(users::author(actor()));
        acting.spawn(users::user(actor()));
        acting.spawn(users::founder(actor()));
        acting.spawn(users::litterer(actor()));
        acting.spawn(vandal::vandal(actor()));
        acting.spawn(Arc::clone(&pods).live(actor()));
        if !stage.real_eno {
            acting.spawn(executor::execute(actor()));
        }
        Self { stop, acting, pods }
    }

    /// Lets each end what it is at.
    pub async fn stop(self) -> Arc<Pods> {
        self.stop.send_replace(true);
        self.acting.join_all().await;
        self.pods
    }
}

impl Actor {
    fn goes_on(&self) -> bool {
        !*self.stop.borrow()
    }

    /// Waits for a time between these, or for the end.
    async fn pause(&mut self, from: u64, to: u64) {
        let pause = Duration::from_millis(self.rng.u64(from..=to));
        let mut stop = self.stop.clone();
        tokio::select! {
            () = sleep(pause) => {}
            // Fails only where nobody can stop it any more.
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }

    fn town(&mut self) -> Option<String> {
        self.rng.choice(self.stage.towns_of_actors())
    }

    /// One of Eno's objects of a kind, in any town.
    async fn any(&mut self, kind: &str) -> Option<DynamicObject> {
        let town = self.town()?;
        let objects = self.stage.eno(kind, &town);
        let list = self.stage.call("a list", objects.list(&ListParams::default())).await.1?;
        self.rng.choice(list.items)
    }
}

/// Asks all the time whether the webhook denies what it must.
async fn ask(mut actor: Actor) {
    while actor.goes_on() {
        actor.stage.ask().await;
        let ms = u64::try_from(ASKING.as_millis()).unwrap_or(u64::MAX);
        actor.pause(ms / 2, ms * 3 / 2).await;
    }
}

fn namespace_of(object: &DynamicObject) -> String {
    object.namespace().unwrap_or_default()
}
