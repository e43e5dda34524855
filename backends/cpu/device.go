// Package cpu is the built-in device: it computes graphs on the host's processor. Device, program and execution
// implement the interfaces of core/device; what computes stands behind the interface engine.
package cpu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"runtime/debug"
	"sync"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// ID is the id of the CPU in a process that does not name it otherwise.
const ID = "cpu"

// Config holds the settings of a program's environment; zero values mean the default.
type Config struct {
	ID             string // default ID
	Name           string // default "CPU"
	Vendor         string // default "AnyNPU"
	Major, Minor   int    // version shown to programs
	DimMin, DimMax int64  // range reported for unknown dimensions, default 1 to the largest int32
	Threads        int    // threads that compute, default pool.DefaultThreads
	Reference      bool   // compute everything by reference
	// Trace, when set, gets the result of each pass for a graph that gets a plan, on any goroutine.
	Trace func(pass, text string)
}

// Device is the CPU as a device.
type Device struct {
	info    device.Info
	engines []engine
	threads *threads
	byRef   bool // everything is computed by reference
}

// New returns a CPU device. Kind fault.Argument when the dimension range is empty or the number of threads negative.
func New(c Config) (*Device, error) {
	if c.ID == "" {
		c.ID = ID
	}
	if c.Name == "" {
		c.Name = "CPU"
	}
	if c.Vendor == "" {
		c.Vendor = "AnyNPU"
	}
	if c.DimMin == 0 {
		c.DimMin = 1
	}
	if c.DimMax == 0 {
		c.DimMax = math.MaxInt32
	}
	if c.DimMin < 0 || c.DimMax < c.DimMin {
		return nil, fault.New(fault.Argument, "cpu device: dimension range %d to %d", c.DimMin, c.DimMax)
	}
	if c.Threads < 0 {
		return nil, fault.New(fault.Argument, "cpu device: %d threads", c.Threads)
	}
	if c.Threads == 0 {
		c.Threads = pool.DefaultThreads()
	}
	threads := &threads{count: c.Threads}
	return &Device{
		info: device.Info{
			ID: c.ID, Name: c.Name, Vendor: c.Vendor, Kind: device.CPU, Major: c.Major, Minor: c.Minor, BuildHash: buildHash(),
			Float16: device.Accepts, Performance: device.Accepts, Priority: true, Cache: true, Dynamic: true,
			DimMin: c.DimMin, DimMax: c.DimMax,
		},
		engines: engines(c, threads), threads: threads, byRef: c.Reference,
	}, nil
}

// Threads returns how many threads compute, for all programs together.
func (d *Device) Threads() int { return d.threads.count }

// engines returns the ways to compute, the preferred one first.
func engines(c Config, t *threads) []engine {
	ref := reference{t}
	if c.Reference {
		return []engine{ref}
	}
	return []engine{planned{t, ref, c.Trace}, ref}
}

// buildHash identifies the code and the operator vocabulary: a saved program is loaded by the build that saved it only.
var buildHash = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintln(h, savedVersion, graph.OpNames())
	if info, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(h, info)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
})

// Info describes the device.
func (d *Device) Info() device.Info { return d.info }

// Support answers per node of g, bodies included: the device computes what it has a reference kernel for.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		reason := unsupported(g.Nodes[i].Op)
		out[i] = device.NodeSupport{OK: reason == "", Reason: reason}
		if out[i].OK {
			out[i].Cost = d.cost(g, &g.Nodes[i])
		}
	}
	return out, nil
}

// unsupported returns why o cannot be computed, empty when it can.
func unsupported(o graph.Op) string {
	if !ref.Has(o) {
		return "no kernel for " + graph.NameOf(o)
	}
	c, ok := o.(graph.Control)
	if !ok {
		return ""
	}
	for _, b := range c.Bodies() {
		for i := range b.Nodes {
			if reason := unsupported(b.Nodes[i].Op); reason != "" {
				return fmt.Sprintf("body %q: %s", b.Name, reason)
			}
		}
	}
	return ""
}

// Compile makes a program of u's graph.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	return d.compile(ctx, u, o)
}

func (d *Device) compile(ctx context.Context, u device.Unit, o device.Options) (*program, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.As(fault.Canceled, err, "compile")
	}
	if err := u.Graph.Validate(); err != nil {
		return nil, err
	}
	for i := range u.Graph.Nodes {
		n := &u.Graph.Nodes[i]
		if reason := unsupported(n.Op); reason != "" {
			return nil, fault.New(fault.Unsupported, "%s: %s", n.Label(), reason)
		}
	}
	var refused error
	for _, e := range d.engines {
		p, err := e.prepare(ctx, u, o)
		if err == nil {
			return newProgram(d, u, o, p), nil
		}
		refused = fault.Wrap(err, "engine %s", e.name())
		if fault.KindOf(err) != fault.Unsupported {
			break
		}
	}
	return nil, refused
}

// Alloc returns host memory.
func (d *Device) Alloc(size int64) (mem.Buffer, error) {
	return mem.Host(size, mem.Options{Huge: size >= 8<<20})
}
