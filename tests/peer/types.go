package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	groupVersion  = schema.GroupVersion{Group: "eno.azure.io", Version: "v1"}
	schemeBuilder = &scheme.Builder{GroupVersion: groupVersion}
)

func init() {
	schemeBuilder.Register(&Composition{}, &CompositionList{}, &ResourceSlice{})
}

// Composition has the fields that the rules read.
type Composition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status CompositionStatus `json:"status,omitempty"`
}

// CompositionList is what the cache lists.
type CompositionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Composition `json:"items"`
}

// CompositionStatus holds the syntheses.
type CompositionStatus struct {
	CurrentSynthesis  *Synthesis `json:"currentSynthesis,omitempty"`
	PreviousSynthesis *Synthesis `json:"previousSynthesis,omitempty"`
	InFlightSynthesis *Synthesis `json:"inFlightSynthesis,omitempty"`
}

// Synthesis lists the slices that hold its resources.
type Synthesis struct {
	UUID                          string       `json:"uuid,omitempty"`
	Initialized                   *metav1.Time `json:"initialized,omitempty"`
	Reconciled                    *metav1.Time `json:"reconciled,omitempty"`
	ObservedCompositionGeneration int64        `json:"observedCompositionGeneration,omitempty"`
	ResourceSlices                []*SliceRef  `json:"resourceSlices,omitempty"`
}

// SliceRef names a slice of the composition's namespace.
type SliceRef struct {
	Name string `json:"name,omitempty"`
}

// ResourceSlice has the fields that the rules read: manifests are counted, not kept.
type ResourceSlice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   *ResourceSliceSpec  `json:"spec,omitempty"`
	Status ResourceSliceStatus `json:"status,omitempty"`
}

// ResourceSliceSpec holds the manifests.
type ResourceSliceSpec struct {
	SynthesisUUID string     `json:"synthesisUUID,omitempty"`
	Resources     []struct{} `json:"resources,omitempty"`
}

// ResourceSliceStatus has a state for each manifest, by index.
type ResourceSliceStatus struct {
	Resources []ResourceState `json:"resources,omitempty"`
}

// ResourceState says what became of a resource.
type ResourceState struct {
	Deleted bool `json:"deleted,omitempty"`
}

func (s *Synthesis) lists(slice string) bool {
	if s == nil {
		return false
	}
	for _, ref := range s.ResourceSlices {
		if ref != nil && ref.Name == slice {
			return true
		}
	}
	return false
}

func (s *Synthesis) deepCopy() *Synthesis {
	if s == nil {
		return nil
	}
	out := *s
	out.Initialized = s.Initialized.DeepCopy()
	out.Reconciled = s.Reconciled.DeepCopy()
	out.ResourceSlices = make([]*SliceRef, len(s.ResourceSlices))
	for i, ref := range s.ResourceSlices {
		if ref != nil {
			copied := *ref
			out.ResourceSlices[i] = &copied
		}
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (c *Composition) DeepCopyObject() runtime.Object {
	out := &Composition{TypeMeta: c.TypeMeta}
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.CurrentSynthesis = c.Status.CurrentSynthesis.deepCopy()
	out.Status.PreviousSynthesis = c.Status.PreviousSynthesis.deepCopy()
	out.Status.InFlightSynthesis = c.Status.InFlightSynthesis.deepCopy()
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *CompositionList) DeepCopyObject() runtime.Object {
	out := &CompositionList{TypeMeta: l.TypeMeta, Items: make([]Composition, len(l.Items))}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Composition)
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (s *ResourceSlice) DeepCopyObject() runtime.Object {
	out := &ResourceSlice{TypeMeta: s.TypeMeta}
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if s.Spec != nil {
		spec := *s.Spec
		out.Spec = &spec
	}
	out.Status.Resources = append([]ResourceState(nil), s.Status.Resources...)
	return out
}
