//! Of the commands that write.

/// Of `cleanup`.
pub(in crate::cli) const CLEANUP: &str = "\
Deletes the resource slices whose verdict is Collect, and takes Eno's finalizer
off those whose verdict is Release. It shows them first, and asks.

Just before each write the slice and the compositions of its namespace are read
again. Where the verdict is another by then, the slice is skipped; uid and
resourceVersion of what was judged go with each write, so that nothing newer is
hit. Slices whose verdict is Hold or Unknown are never touched: there is no
--force. See \"kubectl eno release\" for single ones.

Slices without an owner are kept, unless --unowned is given: then those that no
composition lists go as well.

-o json prints a List of items with these fields:
  namespace, name, uid, composition, reason, message, creationTimestamp
  action              Collect or Release
  outcome             deleted, released, gone, skipped or failed
  finalizerReleased   has Eno's finalizer come off?
  why                 why it was skipped, or failed
  previewTimestamp    when it was listed";

/// Of `resynth`.
pub(in crate::cli) const RESYNTH: &str = "\
Asks Eno for a new synthesis of a composition, by its annotation
eno.azure.io/force-resynthesis. That heals a slice which is being deleted though
the composition needs it: the new synthesis writes new slices, and the old one
is needed by nobody then.

It is refused, with exit code 4, where Eno would ignore it: the composition is
being deleted, was never synthesized, waits for inputs or other compositions, or
a synthesis is in flight. And where it could orphan resources: composition or
synthesizer have changed since the current synthesis, or the annotation
eno.azure.io/ignore-side-effects forbids it; these, and a synthesis in flight,
--force passes over.";

/// Of `release`.
pub(in crate::cli) const RELEASE: &str = "\
Takes one finalizer off a resource slice or a composition that is being deleted,
and leaves all others. What still needs the object is refused with exit code 4,
unless --force is given: then its resources are left behind, and nobody deletes
them.

It says what would be lost, writes a backup (for \"kubectl eno restore\"), tries
the removal on the server, and asks to type the name; --yes skips the question,
and not --force. Where our webhook denies the removal, and --force is given, the
annotation kubectl-eno.dev/force is set in the same step: that overrides it, if
you may \"force\" the resource. Then it looks for 5 s what came of it: gone,
held by others, or put back, and by whom.

Of several objects none is released where one is refused.";

/// Of `restore`.
pub(in crate::cli) const RESTORE: &str = "\
Makes lost resource slices again: those of the file that a current or previous
synthesis lists, and that do not exist. A composition that is being deleted
waits for such a slice for ever. The slice gets its name, its manifests, Eno's
finalizer, and the composition as it is now for its owner; no status.

What exists is left as it is. Slices that no synthesis lists, whose namespace is
being deleted or whose manifests were cut are not restored; where there are only
such, the exit code is 4.";
