package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// refersTo is the index of compositions by the slices that they refer to.
const refersTo = "refersTo"

func indexReferences(ctx context.Context, c cache.Cache) error {
	return c.IndexField(ctx, &Composition{}, refersTo, func(obj client.Object) []string {
		var names []string
		status := obj.(*Composition).Status
		for _, synthesis := range []*Synthesis{status.CurrentSynthesis, status.PreviousSynthesis} {
			if synthesis == nil {
				continue
			}
			for _, ref := range synthesis.ResourceSlices {
				if ref != nil {
					names = append(names, ref.Name)
				}
			}
		}
		return names
	})
}

// sliceGuard answers reviews of slices. The cache finds the compositions; what decides is read live.
type sliceGuard struct {
	cached  client.Reader
	live    client.Reader
	decoder admission.Decoder
}

// deleteHook is C1.
func (g *sliceGuard) deleteHook(ctx context.Context, req admission.Request) admission.Response {
	slice := &ResourceSlice{}
	if err := g.decoder.DecodeRaw(req.OldObject, slice); err != nil {
		return admission.Errored(http.StatusServiceUnavailable, err)
	}
	if slice.DeletionTimestamp != nil {
		return respond(slice, allow, "AlreadyDeleting", nil)
	}
	f := g.read(ctx, slice)
	outcome, reason := mayDelete(slice, f, time.Now())
	return respond(slice, outcome, reason, f)
}

// updateHook is C2.
func (g *sliceGuard) updateHook(ctx context.Context, req admission.Request) admission.Response {
	before, after := &ResourceSlice{}, &ResourceSlice{}
	if err := g.decoder.DecodeRaw(req.OldObject, before); err != nil {
		return admission.Errored(http.StatusServiceUnavailable, err)
	}
	if err := g.decoder.DecodeRaw(req.Object, after); err != nil {
		return admission.Errored(http.StatusServiceUnavailable, err)
	}
	dropsFinalizer := controllerutil.ContainsFinalizer(before, cleanupFinalizer) &&
		!controllerutil.ContainsFinalizer(after, cleanupFinalizer)
	if !dropsFinalizer && !dropsOwner(before, after) {
		return respond(before, allow, "NothingDropped", nil)
	}
	f := g.read(ctx, before)
	outcome, reason := mayStrip(before, f)
	return respond(before, outcome, reason, f)
}

func dropsOwner(before, after *ResourceSlice) bool {
	was, is := compositionOwner(before), compositionOwner(after)
	return was != nil && (is == nil || was.Name != is.Name || was.UID != is.UID)
}

// read reads the owner and those that the cache names as referring to the slice, live.
func (g *sliceGuard) read(ctx context.Context, slice *ResourceSlice) *facts {
	names := map[string]struct{}{}
	if ref := compositionOwner(slice); ref != nil {
		names[ref.Name] = struct{}{}
	}
	f := &facts{found: map[string]*Composition{}, unread: map[string]error{}}
	var list CompositionList
	err := g.cached.List(ctx, &list, client.InNamespace(slice.Namespace), client.MatchingFields{refersTo: slice.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		f.unread["*"] = fmt.Errorf("finding the compositions that refer to it: %w", err)
	}
	for i := range list.Items {
		names[list.Items[i].Name] = struct{}{}
	}
	var lock sync.Mutex
	var group sync.WaitGroup
	for name := range names {
		group.Go(func() {
			comp := &Composition{}
			err := g.live.Get(ctx, types.NamespacedName{Namespace: slice.Namespace, Name: name}, comp)
			lock.Lock()
			defer lock.Unlock()
			switch {
			case err == nil:
				f.found[name] = comp
			case apierrors.IsNotFound(err):
				f.found[name] = nil
			default:
				f.unread[name] = err
			}
		})
	}
	group.Wait()
	return f
}

func respond(slice *ResourceSlice, outcome outcome, reason string, f *facts) admission.Response {
	object := fmt.Sprintf("resourceslice %s/%s", slice.Namespace, slice.Name)
	var response admission.Response
	switch outcome {
	case allow:
		response = admission.Allowed("")
		if reason == "Unowned" && f != nil {
			response = response.WithWarnings(object + " has no composition as controller owner")
		}
	case deny:
		response = admission.Denied(fmt.Sprintf("%s is needed (%s)", object, reason))
	case retry:
		response = admission.Errored(http.StatusServiceUnavailable,
			fmt.Errorf("%s cannot be judged now (%s): %s; try again", object, reason, f.why()))
	}
	response.AuditAnnotations = map[string]string{"reason": reason}
	return response
}

// why says what could not be read.
func (f *facts) why() string {
	var all []string
	for name, err := range f.unread {
		all = append(all, fmt.Sprintf("composition %s: %v", name, err))
	}
	return strings.Join(all, "; ")
}
