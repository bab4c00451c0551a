//! Golden text: the files of `tests/cmd`. `TRYCMD=overwrite cargo test -p kubectl-eno --test golden` writes them anew.

#[test]
fn command_line_prints_what_the_golden_files_say() {
    let cases = trycmd::TestCases::new();
    // Nothing of the caller's reaches the plugin.
    cases.env("NO_COLOR", "").env("CLICOLOR_FORCE", "").env("KUBECTL_ENO_STUCK_AFTER", "5m");
    cases.case("tests/cmd/*.trycmd");
}
