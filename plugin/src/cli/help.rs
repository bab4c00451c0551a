//! The long texts of the help. Lines are short enough not to be broken.

/// Of the plugin.
pub(super) const PLUGIN: &str = "\
Shows what may happen to the resource slices of Eno, and why.

Every slice gets one verdict:
  Keep      it is needed, or nothing says that it is not
  Collect   nothing needs it: it may be deleted
  Wait      it is too new to tell
  Hold      it is being deleted, and Eno's finalizer must stay
  Release   it is being deleted, and Eno's finalizer may come off
  Unknown   something could not be read; nothing is done

All commands only read. Flags go after \"eno\": kubectl takes none before the
name of a plugin. \"kubectl eno options\" lists those that every command takes.";

/// At the end of the plugin's.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0   done; also where nothing was found
  1   an error: usage, a failed request, an object that does not exist
  2   cannot tell: the verdict that \"why\" was asked for is Unknown
The code does not depend on -o.

Environment:
  KUBECONFIG, HTTPS_PROXY, HTTP_PROXY, NO_PROXY   as for kubectl
  NO_COLOR, TERM=dumb                             no colour
  KUBECTL_ENO_STUCK_AFTER                         default of --stuck-after";

/// Of `slices`.
pub(super) const SLICES: &str = "\
Lists resource slices with the verdict on each.

A slice is stuck when something blocks it and it has waited longer than
--stuck-after: since its deletion, or, where nobody collects it, since it can
have become garbage.

-o wide adds columns and reads every slice whole; its RESOURCES are
deleted/total. -o json and yaml print a List (a single slice that is named:
that slice alone) of items with these fields:
  namespace, name, uid, verdict, reason, message
  composition         its owner: name, uid, found (null: cannot tell);
                      null where no composition owns it
  blockers            what it waits for: code, message
  stuck               has it waited for too long?
  waitingSince        null where it waits for nothing
  creationTimestamp, deletionTimestamp, finalizers
  resources           total, deleted, failed; null where only metadata was read
  synthesisUUID       likewise";

/// Of `why`.
pub(super) const WHY: &str = "\
Explains why a resource slice or a composition is kept, held or stuck: the
facts in the order in which they count, each with the field it is read from;
the verdict; what it waits for; what would be lost by force; what to do next.

The type is resourceslice or composition in any spelling of kubectl's (plural,
with .eno.azure.io), or slice, or comp. Exits with 2 where the verdict is
Unknown.

-o json and yaml print one object with these fields:
  kind, namespace, name, uid, message, now
  verdict, reason     of a slice
  state               of a composition: Live, Deleting, Finished or Unknown
  syntheses, slices, deletionSteps   of a composition
  because             the facts: fact, source
  blockers, stuck, waitingSince, creationTimestamp, deletionTimestamp
                      as of \"kubectl eno slices\"
  orphans             what force would leave behind: apiVersion, kind,
                      namespace, name
  next                what to do: what, command";
