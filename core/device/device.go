// Package device states what core expects of something that computes: the interfaces Device, Program and Execution, and the registry.
// Everything that crosses them can be written as plain data (graph codec, constants by hash, descriptor + offset + length, deadlines), so
// that a device in another process, a recorder or a replayer can implement or wrap them.
package device

import (
	"context"
	"io"
	"time"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Kind is what a device is made of.
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
	Major, Minor int    // version of the device as shown to programs
	BuildHash    string // changes whenever saved programs of an older build must not be loaded: part of cache keys
	Float16      bool   // computes float32 graphs in float16 on request
	Performance  bool   // honours Options.Performance
	Priority     bool   // honours ExecOptions.Priority
	Cache        bool   // Program.Save and Load work
	Dynamic      bool   // accepts unknown dimensions
	DimMin       int64  // smallest and largest size an unknown input dimension may take
	DimMax       int64
	Profiling    bool
	Cores        int      // for core masks; 1 for a device without
	Containers   []string // vendor containers Load understands, e.g. "rknn"
}

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
)

// Options govern a compilation.
type Options struct {
	Float16     bool
	Performance Performance
	Priority    Priority
	Extra       map[string][]byte // names a device may know; unknown ones are ignored
}

// ExecOptions govern an execution.
type ExecOptions struct {
	Priority  Priority
	Threads   int    // compute threads, 0: the device's choice
	CoreMask  uint32 // 0: any
	Profiling bool
}

// NodeSupport is a device's answer for one node.
type NodeSupport struct {
	OK     bool
	Reason string  // why not; empty when OK
	Cost   float64 // estimated seconds, 0: unknown
	Layout string  // preferred layout of the inputs, empty: as they are
}

// WeightStore keeps the constants of a program and their packed forms outside the Go heap, shared by all plans and executions.
type WeightStore interface {
	// Get returns the bytes of constant h in the given form ("" is the original), making the form with pack when it is not there yet.
	// The bytes stay valid until the store is released and must not be written.
	Get(h tensor.Hash, form string, pack func(original []byte) ([]byte, error)) ([]byte, error)
	Retain()
	Release()
}

// Unit is what a device compiles: a validated, inferred graph. Boundary values are the graph's inputs and outputs, in order.
type Unit struct {
	Graph   *graph.Graph
	Weights WeightStore // nil: the constants' own data, which then lives as long as the program
}

// Blob is a saved program (Container "") or a vendor container.
type Blob struct {
	Container string
	Data      []byte
}

// AllocRequest asks for memory that suits a device.
type AllocRequest struct {
	Size  int64
	Align int64 // 0: the device's choice
}

// Device computes programs. All methods are safe for concurrent use.
type Device interface {
	Info() Info
	// Support answers per node of g, in g's order; it never fails because of a node.
	Support(g *graph.Graph, o Options) ([]NodeSupport, error)
	// Compile makes a program; ctx cancels. Nodes it does not support are an error of kind fault.Unsupported that names one.
	Compile(ctx context.Context, u Unit, o Options) (Program, error)
	// Load restores what Save wrote, or opens a vendor container; a damaged or foreign blob is an error of kind fault.File.
	Load(ctx context.Context, b Blob, o Options) (Program, error)
	// Alloc returns memory the device reaches without a copy.
	Alloc(r AllocRequest) (mem.Buffer, error)
	// Import makes b usable by the device: the same memory, or mem.ErrCopy when it must be copied.
	Import(b mem.Buffer) (mem.Buffer, error)
}

// Port is an input or output of a program.
type Port struct {
	Name     string
	Type     tensor.Type // sizes unknown where dynamic
	Min, Max []int64     // range of each dimension, equal where it is fixed
	Align    int64       // preferred alignment of the data in bytes
	Native   []string    // native layouts that bind without a copy
}

// Program is a compiled graph.
type Program interface {
	Ports() (in, out []Port)
	// Save writes what Load reads; fault.Unsupported when the device has no saved form.
	Save(w io.Writer) error
	New(o ExecOptions) (Execution, error)
	Retain()
	Release()
}

// RunRequest starts a run.
type RunRequest struct {
	Deadline time.Time       // zero: none. When it passes the run stops between two steps and ends with fault.Timeout
	Done     func(err error) // called exactly once, on any goroutine, after the outputs are written or the run has failed
	Fences   []<-chan struct{}
}

// Stats tell how an execution went.
type Stats struct {
	Runs       int64
	LastRun    time.Duration
	CopiedIn   int64 // bytes copied because a binding could not be used in place
	CopiedOut  int64
	Nodes      []NodeTime // with ExecOptions.Profiling
	PeakMemory int64
}

// NodeTime is the time one node took in the last run.
type NodeTime struct {
	Node   int // index in the compiled graph
	Name   string
	Op     string
	Start  time.Duration // since the start of the run
	Length time.Duration
}

// Execution holds what one run at a time needs. One goroutine at a time, except Cancel; many executions per program.
type Execution interface {
	// SetShape gives a dynamic input its sizes for the next runs; kind fault.Shape when they do not fit the port.
	SetShape(in int, dims []int64) error
	// Bind gives the memory of an input or output; it keeps a reference until it is bound anew or released.
	BindInput(i int, v mem.View) error
	// BindOutput: the view's buffer may be larger than the result; its Type's sizes are ignored when the port is dynamic. A buffer that
	// turns out too small fails the run with kind fault.Memory. A zero View leaves the output in memory of the device; see OutputData.
	BindOutput(i int, v mem.View) error
	// Start begins a run and returns; an error means that it has not begun and Done will not be called.
	Start(r RunRequest) error
	// Cancel stops the run under way between two steps; the run ends with fault.Canceled. A no-op when none is.
	Cancel()
	// OutputType returns the declared type before, the real one after a run.
	OutputType(i int) (tensor.Type, error)
	// OutputData returns the result of an unbound output after a run, valid until the next one.
	OutputData(i int) ([]byte, error)
	Stats() Stats
	Release()
}
