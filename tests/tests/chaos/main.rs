//! The short form of `cargo xtask chaos`: a few faults strike while users, Eno and the garbage collector are at work.

use anyhow::Result;
use clap::ValueEnum;
use eno_tests::chaos::fault::{Fault, Pace};
use eno_tests::chaos::{run, schedule};
use eno_tests::workspace;
use fastrand::Rng;

/// One of each kind, and those that have found something.
const FAULTS: [Fault; 11] = [
    Fault::CallsReset,
    Fault::CallsDelayed,
    Fault::ReadsCut,
    Fault::ReplicaKilled,
    Fault::EtcdCompacted,
    Fault::CertificateEnded,
    Fault::LogDiskFull,
    Fault::Flood,
    Fault::DeletesAtOnce,
    Fault::NamespacesInRestart,
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

/// docs/reliability.md says of each fault what the code says, and what was measured.
#[test]
fn the_page_has_every_fault() -> Result<()> {
    let page = std::fs::read_to_string(workspace::root().join("docs/reliability.md"))?;
    for fault in Fault::value_variants() {
        let begin = fault.line();
        assert!(page.contains(&begin), "docs/reliability.md has no row {begin}");
    }
    Ok(())
}
