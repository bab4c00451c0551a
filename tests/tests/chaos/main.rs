//! The short form of `cargo xtask chaos`: a few faults strike while users, Eno and the garbage collector are at work.

use anyhow::Result;
use eno_tests::chaos::fault::{Fault, Pace};
use eno_tests::chaos::{run, schedule};
use fastrand::Rng;

/// Those that are over soon, one of each kind.
const FAULTS: [Fault; 7] = [
    Fault::CallsReset,
    Fault::ReadsCut,
    Fault::ReplicaKilled,
    Fault::LeaseTaken,
    Fault::EtcdCompacted,
    Fault::DeletesAtOnce,
    Fault::EtcdKilled,
];

#[tokio::test(flavor = "multi_thread")]
async fn loses_nothing_whatever_strikes() -> Result<()> {
    let mut rng = Rng::with_seed(9);
    let steps = schedule::each(&FAULTS, Pace::SHORT, rng.fork()).collect::<Vec<_>>();
    let report = run(rng, steps.into_iter()).await?;
    println!("{report}");
    report.verdict()?;
    assert_eq!(report.strikes(), FAULTS.len());
    let (calls, denied) = report.calls();
    assert!(calls > 100 && denied > 50, "the actors did little: {report}");
    Ok(())
}
