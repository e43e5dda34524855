// Package device states what core expects of something that computes: the interfaces Device, Program and Execution, and
// the registry. Everything that crosses them can be written as plain data (graph codec, constants by hash, descriptor +
// offset + length, deadlines), so that a device in another process, a recorder or a replayer can implement or wrap
// them.
package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Kind is the kind of hardware of a device.
type Kind uint8

// The kinds of device.
const (
	Other Kind = iota
	CPU
	GPU
	Accelerator
)

// Info describes a device; it never changes while the device is registered.
type Info struct {
	ID           string // stable and unique, e.g. "cpu"
	Name         string // for people
	Vendor       string
	Kind         Kind
	Major, Minor int     // version of the device as shown to programs
	BuildHash    string  // changes whenever saved programs of an older build must not be loaded: part of cache keys
	Float16      Ability // what becomes of Options.Float16
	Performance  Ability // what becomes of Options.Performance
	Priority     bool    // honours ExecOptions.Priority
	Cache        bool    // Program.Save and Load work
	Dynamic      bool    // accepts unknown dimensions
	// smallest and largest size an unknown input dimension may take, as reported in Port.Min and Port.Max
	DimMin int64
	DimMax int64
	Cores  int // cores that ExecOptions.CoreMask chooses from, 0: the mask has no effect
	// Containers are the formats of models compiled elsewhere that Load takes besides what Save wrote, e.g. "rknn"; nodes
	// of type Compiled with them are computed
	Containers []string
}

// Ability says how a device treats an option. Compile takes every option on every device, as a graph may be split
// between devices that differ; it is for callers to refuse a program that asks for an ability that the device lacks.
type Ability uint8

// The abilities.
const (
	Lacks   Ability = iota // the option has no effect, and callers should refuse it
	Accepts                // callers may set it; it has no effect: the device has no better way, or always takes it
	Honours                // it has its effect
)

// String returns "lacks", "accepts" or "honours".
func (a Ability) String() string {
	if int(a) < len(abilities) {
		return abilities[a]
	}
	return fmt.Sprintf("ability %d", uint8(a))
}

var abilities = [...]string{Lacks: "lacks", Accepts: "accepts", Honours: "honours"}

// Performance is how much power a program may take.
type Performance uint8

// The performance levels.
const (
	PerformanceDefault Performance = iota
	PerformanceLow
	PerformanceMedium
	PerformanceHigh
	PerformanceExtreme
)

// Priority orders executions that compete for a device.
type Priority uint8

// The priorities.
const (
	PriorityDefault Priority = iota
	PriorityLow
	PriorityMedium
	PriorityHigh
	PriorityLowest // below low; of executions alone
)

// Options govern a compilation.
type Options struct {
	Float16     bool // float32 graphs may be computed in float16
	Performance Performance
	Priority    Priority
	// Program.Save will not be called, and fails: the device need not keep what only Save wants
	Unsaved bool
	// Part tells Support that the graph is a piece of another one, made of one of its operators
	Part  bool
	Extra map[string][]byte // names a device may know; unknown ones are ignored
}

// ExecOptions govern an execution.
type ExecOptions struct {
	Priority Priority
	Threads  int // compute threads, 0: the device's choice
	// bit k lets core k compute, 0: the device's choice. Bits from Info.Cores on mean nothing; a mask of nothing else is
	// an error of kind fault.Argument of New
	CoreMask uint32
	// the API object whose runs these are, a pointer: runs of one owner take turns with those of others as one. nil: the
	// program. A device that is made for objects of a type refuses others with fault.Argument. It stays within the process
	Owner     any
	Profiling bool
}

// Cores returns the cores among n that the mask lets compute; ok is false when it names others alone.
func (o *ExecOptions) Cores(n int) (mask uint32, ok bool) {
	all := uint32(1)<<n - 1
	if o.CoreMask == 0 || n == 0 {
		return all, true
	}
	return o.CoreMask & all, o.CoreMask&all != 0
}

// NodeSupport is a device's answer for one node.
type NodeSupport struct {
	OK     bool
	Reason string // why not; empty when OK
	// an estimate of the time that the node takes in one run at the sizes of the graph, to compare devices by; 0 when not
	// OK, for sizes that are unknown, and from a device that has none
	Cost time.Duration
	// Least says that Cost is not an estimate but the least that the node can take, as nothing is known of the device's
	// speed. Such a device keeps a graph that it computes alone.
	Least bool
}

// WeightStore keeps the constants of a program and their packed forms outside the Go heap, shared by all plans and
// executions.
type WeightStore interface {
	// Get returns the bytes of constant h in the given form ("" is the original), making the form with pack when it is not
	// there yet. The bytes stay valid until the store is released and must not be written.
	Get(h tensor.Hash, form string, pack func(original []byte) ([]byte, error)) ([]byte, error)
	// Drop frees the original of constant h if it can, and reports whether it did. Only the holder of an exclusive unit
	// may call it.
	Drop(h tensor.Hash) bool
	Retain()
	Release()
}

// Unit is the input of a device's compiler: a validated, inferred graph whose inputs and outputs are the program's
// ports, in order. A device never changes the graph, but for constants of an exclusive unit; package compile makes
// units.
type Unit struct {
	Graph *graph.Graph
	// Weights holds the originals of all constants of the graph, and their Const.Data point into it: the program retains
	// it. nil: the constants' data live on the Go heap, the program keeps them alive by reference.
	Weights WeightStore
	// Order holds for each input the order of dimensions, as in Port.Native, in which it will mostly be bound, nil for
	// row-major. It may be shorter than the inputs. A device that can begin with such an input says so in Port.Native, any
	// other ignores it.
	Order [][]int
	// Exclusive: the device alone reads the constants of Graph, from it or from Weights, once Compile is called. It may
	// drop originals that it has another form of, and sets their Const.Data to nil then.
	Exclusive bool
}

// ErrDied is in the chain of errors of a device whose other side (driver process, remote machine) has gone for good.
// Its kind is fault.Device. Runs under way end with it.
var ErrDied = errors.New("the device has died")

// Device computes programs. All methods are safe for concurrent use.
type Device interface {
	Info() Info
	// Support answers per node of g, in g's order; it never fails because of a node.
	Support(g *graph.Graph, o Options) ([]NodeSupport, error)
	// Compile makes a program; ctx cancels. Nodes it does not support are an error of kind fault.Unsupported that names
	// one.
	Compile(ctx context.Context, u Unit, o Options) (Program, error)
	// Load restores what Save wrote, with the options of then, or loads a model in one of Info.Containers; data may end
	// afterwards. Data that are damaged or of another kind are an error of kind fault.File; a device without either
	// answers fault.Unsupported.
	Load(ctx context.Context, data []byte) (Program, error)
	// Alloc returns size bytes of memory that the device reaches without a copy, aligned as suits it.
	Alloc(size int64) (mem.Buffer, error)
}

// Port is an input or output of a program.
type Port struct {
	Name     string
	Type     tensor.Type // sizes unknown where dynamic
	Min, Max []int64     // range of each dimension, equal where it is fixed
	// the order of the dimensions in memory, the slowest first, in which an input without gaps is read as it lies; nil:
	// row-major. Any other view will do, and is copied
	Native []int
}

// Program is a compiled graph. It starts with one reference; its executions hold their own. All methods are safe for
// concurrent use.
type Program interface {
	// Ports describes the inputs and outputs. The caller must not change the slices.
	Ports() (in, out []Port)
	// Save writes what Load reads; fault.Unsupported when the device has no saved form.
	Save(w io.Writer) error
	New(o ExecOptions) (Execution, error)
	Retain()
	Release()
}

// ConstantHolder is a program that gives back the constants of its graph, also those whose originals it has dropped.
// add may keep no bytes.
type ConstantHolder interface {
	Constants(add func(h tensor.Hash, data []byte) error) error
}

// GraphHolder is a program that gives back the graph that it was compiled from, with its constants, which are valid
// until done is called. The caller leaves the graph as it is.
type GraphHolder interface {
	Held() (g *graph.Graph, done func(), err error)
}

// Keeper is a program that tells which values of its graph are in memory during a run, by their names; those within a
// fused step are not. known is false where that depends on the run.
type Keeper interface {
	Kept() (names []string, known bool)
}

// RunRequest starts a run.
type RunRequest struct {
	Deadline time.Time // zero: none. When it passes the run stops between two steps and ends with fault.Timeout
	// 0: none. How long a loop of the graph may take: one that is about to begin a trip later than that after its start
	// ends the run with fault.Timeout. Each loop counts from its own start, those inside others too.
	LoopLimit time.Duration
	// called exactly once, on any goroutine, after the outputs are written or the run has failed; may be nil
	Done   func(err error)
	Fences []Fence // the run waits for each of them before it reads an input
	Burst  *Burst  // the run is part of it; nil: of none. No other run of it is under way
	// the caller only waits: the device may compute on the calling goroutine and return when Done has been called
	Here bool
}

// Stats tell how an execution went.
type Stats struct {
	Runs       int64 // runs that ended without an error
	LastRun    time.Duration
	CopiedIn   int64 // bytes copied, over all runs, because a binding could not be used in place
	CopiedOut  int64
	Nodes      []NodeTime // of the last run, with ExecOptions.Profiling
	PeakMemory int64      // bytes of intermediate results held at once, 0: not measured
}

// NodeTime is the time one node took in the last run.
type NodeTime struct {
	Node   int // the node's Origin: its index in the program's own model
	Name   string
	Op     string
	Device string
	Kernel string        // how it was computed, one of the names below; empty: the device does not say
	Start  time.Duration // since the start of the run
	Length time.Duration
}

// The names in NodeTime.Kernel.
const (
	KernelFast      = "fast"      // by a kernel made for this processor
	KernelReference = "reference" // by the plain form of the operator
	KernelFused     = "fused"     // within another node's time
)

// LayoutTime takes the device's changes of layout, which are no operators of the model, out of the times of a run: each
// is counted with the operator computed before it, those at the start are returned as the time of the input.
func LayoutTime(times []NodeTime) (input time.Duration, operators []NodeTime) {
	for _, n := range times {
		switch {
		case n.Node >= 0:
			operators = append(operators, n)
		case len(operators) == 0:
			input += n.Length
		default:
			operators[len(operators)-1].Length += n.Length
		}
	}
	return input, operators
}

// Execution holds what one run at a time needs. One goroutine at a time, except Cancel and Release; many executions per
// program. SetShape, Bind and Start are errors of kind fault.State while a run is under way, that is until Done is
// called: Done may start the next run. Indices that name no port are errors of kind fault.Argument.
type Execution interface {
	// SetShape gives an input its sizes for the next runs, needed only for inputs with unknown sizes; kind fault.Shape
	// when they do not fit the port's type. Port.Min and Max are advice for programs and are not enforced.
	SetShape(in int, dims []int64) error
	// BindInput gives the memory of an input; the execution keeps a reference until it is bound anew or released. Any
	// buffer will do: what the device cannot use in place is copied when the run starts, and Stats says so. The view's
	// element type must be the port's; its sizes come from SetShape: a view with known sizes sets them. Kinds fault.Type,
	// fault.Shape, fault.Memory (buffer too small).
	BindInput(i int, v mem.View) error
	// BindOutput gives the memory of an output. The buffer may be larger than the result. A view of type tensor.Type{}
	// takes whatever the run produces, contiguous from Off to the end of the buffer; one that turns out too small fails
	// the run with kind fault.Memory. A zero View leaves the output in memory of the device; see OutputData.
	BindOutput(i int, v mem.View) error
	// Start begins a run and returns; an error means that it has not begun and Done will not be called. Inputs that are
	// not bound or whose sizes are not set are errors of kind fault.State.
	Start(r RunRequest) error
	// Cancel stops the run under way between two steps; the run ends with fault.Canceled. A no-op when none is.
	Cancel()
	// OutputType returns the declared type before, the real one after a run.
	OutputType(i int) (tensor.Type, error)
	// OutputData returns the result of an unbound output after a run, contiguous, valid until the next Start or Release.
	// Kind fault.State when there is none.
	OutputData(i int) ([]byte, error)
	Stats() Stats
	// Release cancels a run under way, waits for its end and frees everything; it may be called from within Done. Later
	// calls of any method are errors of kind fault.State.
	Release()
}
