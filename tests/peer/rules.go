package main

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	cleanupFinalizer = "eno.azure.io/cleanup"
	// Eno's controller and the API server have clocks of their own.
	clockMargin = 30 * time.Second
	minAge      = 5 * time.Second
)

// outcome is the answer to a request.
type outcome int

const (
	allow outcome = iota
	deny
	retry // something could not be read
)

// verdict is what the rules say of a slice.
type verdict string

const (
	keep    verdict = "Keep"
	collect verdict = "Collect"
	wait    verdict = "Wait"
	hold    verdict = "Hold"
	release verdict = "Release"
	unknown verdict = "Unknown"
)

// facts are the compositions that decide about a slice, read live.
type facts struct {
	// found has nil for a composition that does not exist.
	found map[string]*Composition
	// unread are those that could not be read.
	unread map[string]error
}

// ownership is what became of the slice's owner.
type ownership int

const (
	unowned ownership = iota
	owned
	gone
	replaced
	unreadable
)

func (f *facts) owner(slice *ResourceSlice) (*Composition, ownership) {
	ref := compositionOwner(slice)
	if ref == nil {
		return nil, unowned
	}
	if _, failed := f.unread[ref.Name]; failed {
		return nil, unreadable
	}
	switch owner := f.found[ref.Name]; {
	case owner == nil:
		return nil, gone
	case owner.UID != ref.UID:
		return nil, replaced
	default:
		return owner, owned
	}
}

func (f *facts) incomplete() bool { return len(f.unread) > 0 }

// referrers are the compositions for which the predicate holds.
func (f *facts) referrers(refers func(*Composition) bool) []*Composition {
	var out []*Composition
	for _, comp := range f.found {
		if comp != nil && refers(comp) {
			out = append(out, comp)
		}
	}
	return out
}

func (f *facts) current(slice string) []*Composition {
	return f.referrers(func(c *Composition) bool { return c.Status.CurrentSynthesis.lists(slice) })
}

func (f *facts) previous(slice string) []*Composition {
	return f.referrers(func(c *Composition) bool { return c.Status.PreviousSynthesis.lists(slice) })
}

// mayDelete is rule C1.
func mayDelete(slice *ResourceSlice, f *facts, now time.Time) (outcome, string) {
	v, reason := judgeLive(slice, f, now)
	switch v {
	case collect, wait:
		return allow, reason
	case unknown:
		return retry, reason
	}
	if reason == "Unowned" {
		if f.incomplete() {
			return retry, "ReferencesUnknown"
		}
		return allow, reason
	}
	keepers := append(f.current(slice.Name), f.previous(slice.Name)...)
	if owner, state := f.owner(slice); state == owned && mayBeInFlight(owner, slice) {
		keepers = append(keepers, owner)
	}
	for _, keeper := range keepers {
		if keeper.DeletionTimestamp == nil {
			return deny, reason
		}
	}
	if v, released := judgeDeleting(slice, f); v == release {
		return allow, released
	}
	return deny, reason
}

// mayStrip is rule C2, for an update that takes the finalizer or the owner off the old slice.
func mayStrip(old *ResourceSlice, f *facts) (outcome, string) {
	switch v, reason := judgeDeleting(old, f); v {
	case release:
		return allow, reason
	case unknown:
		return retry, reason
	default:
		return deny, reason
	}
}

// judgeLive is part A of the rules.
func judgeLive(slice *ResourceSlice, f *facts, now time.Time) (verdict, string) {
	owner, state := f.owner(slice)
	current := f.current(slice.Name)
	if state == owned && finished(owner) && !f.incomplete() && only(current, owner) {
		return collect, "CompositionFinished"
	}
	if len(current) > 0 {
		return keep, "ReferencedByCurrent"
	}
	if len(f.previous(slice.Name)) > 0 {
		return keep, "ReferencedByPrevious"
	}
	switch {
	case state == unowned:
		return keep, "Unowned"
	case state == unreadable:
		return unknown, "OwnerUnknown"
	case state == owned && mayBeInFlight(owner, slice):
		return keep, "InFlight"
	case f.incomplete():
		return unknown, "ReferencesUnknown"
	case now.Sub(slice.CreationTimestamp.Time) < minAge:
		return wait, "TooNew"
	case state == gone:
		return collect, "OwnerGone"
	case state == replaced:
		return collect, "OwnerReplaced"
	default:
		return collect, "Unreferenced"
	}
}

// judgeDeleting is part B of the rules, for a slice that has the finalizer.
func judgeDeleting(slice *ResourceSlice, f *facts) (verdict, string) {
	owner, state := f.owner(slice)
	if state == unreadable {
		return unknown, "OwnerUnknown"
	}
	if state == owned && !finished(owner) && mayBeInFlight(owner, slice) {
		return hold, "InFlight"
	}
	live := false
	for _, comp := range f.current(slice.Name) {
		switch {
		case finished(comp):
		case comp.DeletionTimestamp == nil:
			live = true
		case !done(comp, slice):
			return hold, "NeededForDeletion"
		}
	}
	switch {
	case live:
		return hold, "ReferencedByCurrent"
	case f.incomplete():
		return unknown, "ReferencesUnknown"
	case state == unowned:
		return release, "Unowned"
	case state == gone:
		return release, "OwnerGone"
	case state == replaced:
		return release, "OwnerReplaced"
	case finished(owner):
		return release, "CompositionFinished"
	case owner.DeletionTimestamp != nil && owner.Status.CurrentSynthesis.lists(slice.Name):
		return release, "CompositionReconciled"
	default:
		return release, "Unreferenced"
	}
}

// finished says that Eno has let go of the composition.
func finished(comp *Composition) bool {
	return comp.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(comp, cleanupFinalizer)
}

// done says that a deleting composition does not need the slice of its current synthesis any more.
func done(comp *Composition, slice *ResourceSlice) bool {
	current := comp.Status.CurrentSynthesis
	if current.Reconciled == nil || current.ObservedCompositionGeneration < comp.Generation {
		return false
	}
	if comp.Annotations["eno.azure.io/deletion-strategy"] == "orphan" ||
		comp.Labels["eno.azure.io/symphony-deleting"] == "true" {
		return true
	}
	if slice.Spec == nil || len(slice.Spec.Resources) != len(slice.Status.Resources) {
		return false
	}
	for _, state := range slice.Status.Resources {
		if !state.Deleted {
			return false
		}
	}
	return true
}

// mayBeInFlight says that the slice may belong to the synthesis that is being made.
func mayBeInFlight(comp *Composition, slice *ResourceSlice) bool {
	synthesis := comp.Status.InFlightSynthesis
	if synthesis == nil {
		return false
	}
	if synthesis.lists(slice.Name) || synthesis.Initialized == nil ||
		!slice.CreationTimestamp.Time.Before(synthesis.Initialized.Add(-clockMargin)) {
		return true
	}
	return slice.Spec == nil || slice.Spec.SynthesisUUID == synthesis.UUID
}

// only says that there is no other composition than this one.
func only(comps []*Composition, this *Composition) bool {
	for _, comp := range comps {
		if comp.UID != this.UID {
			return false
		}
	}
	return true
}

// compositionOwner is the controller owner, where it is a composition.
func compositionOwner(slice *ResourceSlice) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(slice)
	if ref == nil || ref.Kind != "Composition" || !strings.HasPrefix(ref.APIVersion, groupVersion.Group+"/") {
		return nil
	}
	return ref
}
