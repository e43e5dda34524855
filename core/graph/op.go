// Package graph holds a model as a graph of values and operator nodes: building, validation, ordering, inference,
// partition and a binary codec. It knows operators only through the interface Op; the operators themselves are in
// package op, which registers them.
package graph

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/anynpu/anynpu/core/tensor"
)

// Op is an operator with its attributes. Implementations are pointers to plain structs whose exported fields are the
// attributes (bool, integers, floats, strings, tensor.DType, named integer types, slices of these, tensor constants and
// *Graph bodies): the codec writes exactly those. An Op is immutable once it is in a graph.
type Op interface {
	// Infer returns what is known of the outputs, given what is known of the inputs. An absent optional input has DType
	// Invalid. declared holds what the model says of the outputs (nothing known: the zero Fact's Type), one entry per
	// output of the node; their number decides how many facts are returned. It is monotone: called again with sharper
	// facts it returns sharper facts or an error, and with all input shapes (and the values that set shapes) known it
	// returns static shapes, unless its traits say DataDependent. Errors are of kind fault.Shape, fault.Type,
	// fault.Argument or fault.Unsupported and name the input: "input 1: want rank 4, got 3".
	Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error)
}

// Adjuster is an operator some of whose traits depend on its attributes or bodies.
type Adjuster interface {
	Op
	// AdjustTraits returns the traits of this operator, given those that it was registered with.
	AdjustTraits(t Traits) Traits
}

// Traits tell a compiler what holds for an operator at every shape.
type Traits struct {
	Impure bool // two calls with equal inputs may differ (random numbers): never folded or merged
	// output shapes depend on input values that are not in ShapeInputs (NonZero): known only after the run
	DataDependent bool
	ShapeInputs   []int // inputs whose VALUES decide output shapes or attributes (Reshape's shape, Pad's pads)
	InPlace       []int // inputs whose memory output 0 may reuse, element for element
	Effect        bool  // has an effect beyond its outputs (Assert): never removed
	Elementwise   bool  // each output element depends on the elements at the same (broadcast) position only
	Moves         bool  // each output element is one of an input, a zero or a size: no element is computed
	Sign          Sign  // of float outputs
}

// Sign bounds the sign of an operator's float outputs. NaN and -0 may be there in any case.
type Sign uint8

// The signs.
const (
	AnySign            Sign = iota
	NonNegative             // no element is below zero
	NonNegativeIfFirst      // none is if none of input 0 is
	NonNegativeIfAll        // none is if none of any input is
)

// Composite is an operator that can be expressed by simpler ones.
type Composite interface {
	Op
	// Decompose adds the parts to b and returns the values that replace the outputs. in are the inputs in b, None where
	// absent. It returns fault.Unsupported when it needs facts that are not known yet.
	Decompose(b *Builder, in []Value) ([]Value, error)
}

// Control is an operator with bodies; what a body uses from outside is an explicit input of the node.
type Control interface {
	Op
	Bodies() []*Graph
}

// registration holds the arguments of one operator's registration.
type registration struct {
	name   string
	traits Traits
	op     reflect.Type // the struct, not the pointer
}

var (
	registryMu sync.RWMutex
	byName     = map[string]*registration{}
	byType     = map[reflect.Type]*registration{} // by the pointer's type
)

// Register makes an operator known, P being a pointer to its struct, by its name, e.g. "conv", which is stable: caches,
// placement reports and support tables hold it. It panics when the name or the type is taken.
func Register[P Op](name string, traits Traits) { register(name, traits, reflect.TypeFor[P]()) }

// register is the part of Register that is compiled once, not for each operator; pointer is the type P.
func register(name string, traits Traits, pointer reflect.Type) {
	registryMu.Lock()
	defer registryMu.Unlock()
	if byName[name] != nil || byType[pointer] != nil {
		panic(fmt.Sprintf("graph: operator %q, %v: registered twice", name, pointer))
	}
	r := &registration{name, traits, pointer.Elem()}
	byName[name], byType[pointer] = r, r
}

// unknownTraits belong to an operator without registration: it is never folded, merged or removed.
var unknownTraits = Traits{Impure: true, DataDependent: true, Effect: true}

// registered returns the registration of o's type; for an unregistered type, its Go name and unknownTraits.
func registered(o Op) *registration {
	registryMu.RLock()
	defer registryMu.RUnlock()
	if r := byType[reflect.TypeOf(o)]; r != nil {
		return r
	}
	return &registration{name: fmt.Sprintf("%T", o), traits: unknownTraits}
}

// NameOf returns the name that o was registered with.
func NameOf(o Op) string { return registered(o).name }

// TraitsOf returns the traits of o with its attributes.
func TraitsOf(o Op) Traits {
	t := registered(o).traits
	if a, ok := o.(Adjuster); ok {
		return a.AdjustTraits(t)
	}
	return t
}

// NewOp returns a new operator of that name with all fields zero; ok is false when the name is unknown.
func NewOp(name string) (op Op, ok bool) {
	registryMu.RLock()
	defer registryMu.RUnlock()
	r := byName[name]
	if r == nil {
		return nil, false
	}
	return reflect.New(r.op).Interface().(Op), true
}

// OpNames returns the names of all registered operators in order.
func OpNames() []string {
	registryMu.RLock()
	defer registryMu.RUnlock()
	return slices.Sorted(maps.Keys(byName))
}
