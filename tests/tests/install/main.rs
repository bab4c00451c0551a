//! The manifests, installed on a control plane of each test's own, and run as their Deployment says.
//!
//! Pods cannot start there. So [`eno_tests::manifests::replica`] runs the program as the pod would be run: with the flags, the
//! user, the mounts and the service account that the Deployment names, and no others.

mod apply;
mod certificates;
mod live;
mod mend;
mod pod;
mod rights;
mod uninstall;
mod upgrade;
