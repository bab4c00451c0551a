//! Weeks and months pass, and clocks are set.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use eno_webhook::clock::Clock;
use jiff::{SignedDuration, Timestamp};

use crate::ground::{Ground, Replica};

/// A clock that is ahead of the real one by what it is told.
#[derive(Clone, Default)]
struct Ahead(Arc<Mutex<SignedDuration>>);

impl Ahead {
    fn clock(&self) -> Clock {
        let ahead = Arc::clone(&self.0);
        Clock::new(move || Timestamp::now() + *ahead.lock().expect("no test panics while it sets the clock"))
    }

    fn set(&self, days: i64) {
        *self.0.lock().expect("no test panics while it reads the clock") = SignedDuration::from_hours(24 * days);
    }

    fn now(&self) -> Timestamp {
        self.clock().now()
    }
}

async fn replica(ground: &Ground, ahead: &Ahead) -> Result<Replica> {
    let mut options = ground.options(|options| options.period = Duration::from_millis(200));
    options.clock = ahead.clock();
    Replica::start(ground.cluster().client(), options).await
}

#[tokio::test(flavor = "multi_thread")]
async fn renews_in_time_week_after_week_and_changes_its_authority_after_months() -> Result<()> {
    let ground = Ground::new("weeks").await?;
    let ahead = Ahead::default();
    let replica = replica(&ground, &ahead).await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    let first = ground.stored().await?;
    for day in [5, 10, 15] {
        ahead.set(day);
        let stored = ground.stored_until("a fresh certificate", |stored| stored.leaf.is_fresh(ahead.now())).await?;
        assert!(stored.authorities == first.authorities, "day {day}");
        assert_eq!(replica.unready().await?, None, "day {day}");
    }
    ahead.set(244);
    // This machine slept for months: the certificate has ended, so nothing waits for the API server to know.
    let changed = |stored: &eno_webhook::certificates::stored::Stored| {
        stored.authorities[0] != first.authorities[0] && stored.leaf.is_signed_by(&stored.authorities[0])
    };
    let stored = ground.stored_until("another authority to sign", changed).await?;
    assert!(stored.authorities[1] == first.authorities[0]);
    ground.told().await?;
    replica.ready().await?;
    ahead.set(252);
    ground.stored_until("the old authority to go", |stored| stored.authorities.len() == 1).await?;
    ground.told().await?;
    replica.ready().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_was_wrong_and_is_put_right_leaves_a_certificate_that_is_accepted() -> Result<()> {
    let ground = Ground::new("clock").await?;
    let ahead = Ahead::default();
    let replica = replica(&ground, &ahead).await?;
    ground.configure(&replica).await?;
    ground.answered(&replica).await?;
    for wrong in [3650, -400] {
        ahead.set(wrong);
        ground.stored_until("a certificate of a wrong time", |stored| stored.leaf.is_fresh(ahead.now())).await?;
        ahead.set(0);
        ground.stored_until("a certificate of the right time", |stored| stored.leaf.is_fresh(ahead.now())).await?;
        ground.told().await?;
        replica.ready().await?;
        ground.answered(&replica).await?;
    }
    Ok(())
}
