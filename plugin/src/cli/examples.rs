//! The examples of the help texts. Tests run each of them.

/// One example.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The command it belongs to.
    pub command: &'static str,
    /// What it does.
    pub says: &'static str,
    /// The command line, as for a shell.
    pub line: &'static str,
    /// Does it need a cluster? Else it reads the files of `tests/data`.
    pub live: bool,
}

const fn live(command: &'static str, says: &'static str, line: &'static str) -> Example {
    Example { command, says, line, live: true }
}

const fn offline(command: &'static str, says: &'static str, line: &'static str) -> Example {
    Example { command, says, line, live: false }
}

/// All examples of the help texts. Lines are short enough not to be broken.
pub const EXAMPLES: &[Example] = &[
    live("slices", "All slices of a namespace", "kubectl eno slices -n team-a"),
    live("slices", "What is stuck anywhere, longest first", "kubectl eno slices -A --stuck --sort-by=.waitingSince"),
    live("slices", "Garbage that nobody collects", "kubectl eno slices -A --verdict=collect"),
    live("slices", "All about the slices of a composition", "kubectl eno slices -n team-a --composition=web -o wide"),
    offline(
        "slices",
        "Slices of a dump, as of the time it was made",
        "kubectl eno slices -f dump.yaml --complete --now 2026-03-01T12:00:00Z",
    ),
    offline(
        "slices",
        "The words of the verdicts only",
        "kubectl eno slices -f dump.yaml -o jsonpath='{.items[*].verdict}'",
    ),
    offline(
        "slices",
        "What each slice waits for",
        "kubectl eno slices -f dump.yaml -o custom-columns=N:.name,B:.blockers[*].code",
    ),
    offline("slices", "A dump that comes from a pipe", "cat dump.yaml | kubectl eno slices -f - --complete -o name"),
    live("why", "Why is this slice still there?", "kubectl eno why resourceslice/web-b -n team-a"),
    live("why", "What does this composition wait for?", "kubectl eno why composition/web -n team-a"),
    live("why", "The facts, for a program", "kubectl eno why composition web -n team-a -o json"),
    offline(
        "why",
        "All resources that force would orphan",
        "kubectl eno why comp/legacy -f dump.yaml --complete --show-all",
    ),
    offline(
        "why",
        "Only the codes of what it waits for",
        "kubectl eno why slice/legacy-a -f dump.yaml -o jsonpath='{.blockers[*].code}'",
    ),
    live("snapshot", "All there is, to look at later", "kubectl eno snapshot -A > snapshot.json"),
    live("snapshot", "One namespace, for people", "kubectl eno snapshot -n team-a -o yaml"),
    live("wait", "Until a composition is gone", "kubectl eno wait composition/web -n team-a --timeout=10m"),
    live("wait", "Until its resources are as they should be", "kubectl eno wait comp/web -n team-a --for=reconciled"),
    live("cleanup", "See what would be cleaned up, and have it checked", "kubectl eno cleanup -n team-a --dry-run=server"),
    live("cleanup", "Everywhere, only what is a day old", "kubectl eno cleanup -A --min-age=1d --wait"),
    live("cleanup", "In a script", "kubectl eno cleanup -n team-a --yes -o name"),
    live("resynth", "Set a slice free that must not go before it is replaced", "kubectl eno resynth web -n team-a --wait"),
    live("resynth", "Would Eno be asked?", "kubectl eno resynth web -n team-a --dry-run=server"),
    live("release", "What would be lost?", "kubectl eno release slice/web-b -n team-a --dry-run=server"),
    live("release", "Go on though it is needed", "kubectl eno release slice/web-b -n team-a --force"),
    live("release", "A finalizer of others", "kubectl eno release comp/web --finalizer=example.com/x --force"),
    live("restore", "What would be made again?", "kubectl eno restore backup.yaml --dry-run=server"),
    live("restore", "One slice of a dump", "kubectl eno restore dump.yaml --name=web-b -n team-a"),
    live("doctor", "Is all well?", "kubectl eno doctor"),
    live("doctor", "After an installation", "kubectl eno doctor --wait=2m"),
    live("doctor", "What is not well, for a program", "kubectl eno doctor -o jsonpath='{.items[?(@.outcome==\"failed\")].id}'"),
    offline("doctor", "What a check is about", "kubectl eno doctor --explain PROBE-DENY"),
];

/// The examples of a command, for its help.
pub(super) fn help(command: &str) -> String {
    let examples = EXAMPLES.iter().filter(|example| example.command == command);
    let shown: Vec<String> = examples.map(|example| format!("  # {}\n  {}\n", example.says, example.line)).collect();
    format!("Examples:\n{}\nUse \"kubectl eno options\" for a list of global command-line options.", shown.join("\n"))
}
