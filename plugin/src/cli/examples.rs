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
    live("slices", "The same as it changes", "kubectl eno slices -A --stuck -w"),
    live(
        "slices",
        "Until nothing is stuck, in a script",
        "kubectl eno slices -A --stuck -w --until=empty --timeout=10m",
    ),
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
    live("why", "The same as it changes, until it is gone", "kubectl eno why composition/web -n team-a -w"),
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
    live("top", "All namespaces", "kubectl eno top -A"),
    live("top", "With a screen reader", "kubectl eno top -n team-a --plain"),
    offline("top", "What was stuck in a dump", "kubectl eno top -f dump.yaml --complete --plain < /dev/null"),
    live("wait", "Until a composition is gone", "kubectl eno wait composition/web -n team-a --timeout=10m"),
    live("wait", "Until its resources are as they should be", "kubectl eno wait comp/web -n team-a --for=reconciled"),
    live(
        "cleanup",
        "See what would be cleaned up, and have it checked",
        "kubectl eno cleanup -n team-a --dry-run=server",
    ),
    live("cleanup", "Everywhere, only what is a day old", "kubectl eno cleanup -A --min-age=1d --wait"),
    live("cleanup", "In a script", "kubectl eno cleanup -n team-a --yes -o name"),
    live(
        "resynth",
        "Set a slice free that must not go before it is replaced",
        "kubectl eno resynth web -n team-a --wait",
    ),
    live("resynth", "Would Eno be asked?", "kubectl eno resynth web -n team-a --dry-run=server"),
    live("release", "What would be lost?", "kubectl eno release slice/web-b -n team-a --dry-run=server"),
    live("release", "Go on though it is needed", "kubectl eno release slice/web-b -n team-a --force"),
    live("release", "A finalizer of others", "kubectl eno release comp/web --finalizer=example.com/x --force"),
    live("restore", "What would be made again?", "kubectl eno restore backup.yaml --dry-run=server"),
    live("restore", "One slice of a dump", "kubectl eno restore dump.yaml --name=web-b -n team-a"),
    live("pods", "All pods that are going, stuck ones first", "kubectl eno pods -A --going"),
    live("pods", "Where each runs, and what tells its sandbox", "kubectl eno pods -A -o wide"),
    live("pods release", "Would it be safe?", "kubectl eno pods release web-x7k2 -n eno --dry-run=server"),
    live("pods undelivered", "Why a sink would not take them", "kubectl eno pods undelivered --dead -o wide"),
    live("pods redeliver", "After the receiver was mended", "kubectl eno pods redeliver --all"),
    live("pods drop", "Those that nobody will ever take", "kubectl eno pods drop --all"),
    live("doctor", "Is all well?", "kubectl eno doctor"),
    live("doctor", "After an installation", "kubectl eno doctor --wait=2m"),
    live(
        "doctor",
        "What is not well, for a program",
        "kubectl eno doctor -o jsonpath='{.items[?(@.outcome==\"failed\")].id}'",
    ),
    offline("doctor", "What a check is about", "kubectl eno doctor --explain PROBE-DENY"),
    live("compositions", "What is stuck anywhere, and on what", "kubectl eno compositions -A --stuck"),
    live("compositions", "Changes, one JSON document on a line", "kubectl eno compositions -A -w -o json"),
    live("compositions", "Deletions that take longer than a day", "kubectl eno comp -A --deleting --stuck-after 1d"),
    offline(
        "compositions",
        "Those of a dump that something blocks, with all that blocks them",
        "kubectl eno compositions -f symphony.yaml -o wide",
    ),
    offline(
        "compositions",
        "How far the resources are",
        "kubectl eno comp legacy -f dump.yaml -o jsonpath='{.resources.deleted}'",
    ),
    live("why", "Why is this namespace still there?", "kubectl eno why namespace/team-a --target-same"),
    offline("why", "Why is this pod still there?", "kubectl eno why pod/synthesis-1 -n eno -f symphony.yaml"),
    live("tree", "All of a namespace", "kubectl eno tree -n team-a"),
    live("tree", "A composition as it is made", "kubectl eno tree comp/web -n team-a -w --until=reconciled"),
    live("tree", "A symphony, and whether its resources exist", "kubectl eno tree symphony/shop --target-context prod"),
    offline("tree", "A composition of a dump", "kubectl eno tree comp/web -f dump.yaml --complete --ascii"),
    live("plan-delete", "What would go with this namespace?", "kubectl eno plan-delete namespace/team-a"),
    live("plan-delete", "As Argo CD deletes", "kubectl eno plan-delete comp/web -n team-a --cascade=foreground"),
    offline(
        "plan-delete",
        "What would a symphony leave behind?",
        "kubectl eno plan-delete symphony/shop -f symphony.yaml --complete",
    ),
    live("orphans", "In the cluster that holds Eno's objects", "kubectl eno orphans -A --target-same"),
    live(
        "orphans",
        "Of slices that were lost, in another cluster",
        "kubectl eno orphans -A --from backup.yaml --target-context prod",
    ),
    offline("orphans", "Among the objects of a dump", "kubectl eno orphans -f symphony.yaml --complete"),
    live("report", "All there is, for a ticket", "kubectl eno report -A > report.html"),
    live("report", "One namespace", "kubectl eno report -n team-a --output-file=report.html"),
    offline("report", "Of a dump", "kubectl eno report -f symphony.yaml --complete"),
    offline("completion", "For this bash", "kubectl eno completion bash"),
    offline("completion", "For kubectl: save it as kubectl_complete-eno", "kubectl eno completion kubectl"),
    live("version", "Of all that is at work", "kubectl eno version"),
    offline("version", "Of the plugin", "kubectl eno version --client"),
];

/// The examples of a command, for its help.
pub(super) fn help(command: &str) -> String {
    let examples = EXAMPLES.iter().filter(|example| example.command == command);
    let shown: Vec<String> = examples.map(|example| format!("  # {}\n  {}\n", example.says, example.line)).collect();
    format!("Examples:\n{}\nUse \"kubectl eno options\" for a list of global command-line options.", shown.join("\n"))
}
