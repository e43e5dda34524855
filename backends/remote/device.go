// Package remote is a device whose programs servers compute: those that a manifest names, over the Open Inference
// Protocol. A program that starts beside the library on demand has the network's code (package link); tensors go there
// in shared memory.
//
// A server computes a model that it has, not the graph that it is given: the device compares the model's ports with the
// graph's once. The whole graph goes there or nothing, but for the conversions at its border: decoding and scaling of
// images, codes and layouts that only this side knows.
package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// Config holds the parts of a device.
type Config struct {
	Remote *dl.Remote
	// Start starts the helper program with a socket as its descriptor link.SocketFD; end is called once, when the
	// connection is closed or lost.
	Start func(socket *os.File) (end func(), err error)
	// Local computes the other nodes, if the manifest's fallback is cpu.
	Local device.Device
	// Ran takes note of a run: where it was computed, with the time there and back. It may be nil.
	Ran func(where string, took time.Duration, err error)
	// Tell writes a line of the log that is shown wherever errors are; Note one that is shown on request.
	Tell, Note func(text string)
}

// Prefix begins the ids of devices of this package; a manifest's name follows.
const Prefix = "remote:"

// Device implements device.Device.
type Device struct {
	config Config
	info   device.Info
	helper *helper

	mu     sync.Mutex
	models map[link.Model]*described
	told   map[string]time.Time
	local  counter
}

// described holds a server's metadata of a model, or why there are none.
type described struct {
	meta *link.Metadata
	err  error
	at   time.Time
}

// again is for how long a failure to describe a model counts.
const again = 2 * time.Second

// describeLimit is how long a server may take to describe a model at least.
const describeLimit = 5 * time.Second

// New returns the device of a manifest; nothing is started or opened.
func New(c Config) (*Device, error) {
	text, err := json.Marshal(c.Remote)
	if err != nil {
		return nil, fault.As(fault.Argument, err, "remote device")
	}
	sum := sha256.Sum256(text)
	d := &Device{config: c, models: map[link.Model]*described{}, told: map[string]time.Time{}}
	d.info = device.Info{ID: Prefix + c.Remote.Name, Name: c.Remote.Name, Vendor: "Open Inference Protocol",
		Kind: device.Accelerator, Major: 1, BuildHash: hex.EncodeToString(sum[:]), Float16: device.Accepts,
		Performance: device.Accepts, Dynamic: true, DimMin: 1, DimMax: 1 << 30}
	d.helper = &helper{start: c.Start, device: text, note: d.note}
	return d, nil
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info }

// Close ends the helper program. Runs under way fail.
func (d *Device) Close() { d.helper.close() }

// Support implements device.Device: every node of a graph that a server's model stands for, but those at its border.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	answers := make([]device.NodeSupport, len(g.Nodes))
	p, err := d.match(g)
	if err != nil {
		d.note(fmt.Sprintf("%s: stays here: %d nodes of graph %s: %v", d.info.ID, len(g.Nodes), nameOf(g), err))
	}
	for i := range answers {
		switch {
		case err != nil:
			answers[i].Reason = err.Error()
		case !p.core[i]:
			answers[i].Reason = "it stands at the border of the server's model, and stays here"
		default:
			answers[i].OK = true
		}
	}
	return answers, nil
}

// match is how a server's model stands for a graph. Kind fault.Unsupported when none does.
func (d *Device) match(g *graph.Graph) (*plan, error) {
	if !hasCore(g) {
		return nil, fault.New(fault.Unsupported, "servers compute whole models alone")
	}
	name, sum := nameOf(g), ""
	for _, m := range d.config.Remote.Models {
		if m.SHA256 != "" && sum == "" {
			var err error
			if sum, err = sumOf(g); err != nil {
				return nil, err
			}
			d.note("graph " + name + " has the sha256 " + sum)
		}
	}
	model, version, ok := d.config.Remote.ModelFor(name, sum)
	if !ok {
		return nil, fault.New(fault.Unsupported, "the manifest names no model for the graph %q", name)
	}
	m := link.Model{Name: model, Version: version}
	meta, err := d.describe(m)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(g, m, meta)
	if err != nil {
		return nil, fault.As(fault.Unsupported, err, "model %q of %s", model, meta.Address)
	}
	return p, nil
}

// nameOf returns the name by which a manifest may call a graph.
func nameOf(g *graph.Graph) string {
	if n := g.Meta["anynpu.name"]; n != "" {
		return n
	}
	return g.Name
}

// sumOf is the SHA-256 of a graph's operators and constants.
func sumOf(g *graph.Graph) (string, error) {
	h := sha256.New()
	o := graph.EncodeOptions{External: func(tensorHash, []byte) bool { return true }}
	if err := graph.Encode(h, g, o); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// describe asks for a model's ports, once if a server answers.
func (d *Device) describe(m link.Model) (*link.Metadata, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if had := d.models[m]; had != nil && (had.err == nil || time.Since(had.at) < again) {
		return had.meta, had.err
	}
	limit := max(d.deadline(), describeLimit)
	ctx, cancel := context.WithTimeout(context.Background(), limit+helperLimit)
	defer cancel()
	r := &link.Request{Do: link.Describe, Model: m, LeftMS: milliseconds(limit)}
	a, err := d.helper.ask(ctx, r)
	now := &described{at: time.Now()}
	switch {
	case err != nil:
		now.err = err
	case a.Failure != nil:
		now.err = failure(fault.Unsupported, a.Failure)
	default:
		now.meta = a.Metadata
		d.tellLocked("data leaves this process for "+a.Metadata.Address+", as the manifest of remote device "+
			d.config.Remote.Name+" says", time.Hour)
	}
	if now.err != nil {
		d.tellLocked("remote device "+d.config.Remote.Name+" is not used: "+now.err.Error(), time.Minute)
	}
	d.models[m] = now
	return now.meta, now.err
}

func (d *Device) deadline() time.Duration {
	return time.Duration(d.config.Remote.DeadlineMS) * time.Millisecond
}

func milliseconds(t time.Duration) float64 { return float64(t) / float64(time.Millisecond) }

// tell writes a line of the log, the same one not more often than once in a time.
func (d *Device) tell(text string, often time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tellLocked(text, often)
}

// maxTold bounds the number of remembered lines.
const maxTold = 256

func (d *Device) tellLocked(text string, often time.Duration) {
	if d.config.Tell == nil || !d.told[text].IsZero() && time.Since(d.told[text]) < often {
		return
	}
	if len(d.told) >= maxTold {
		clear(d.told)
	}
	d.told[text] = time.Now()
	d.config.Tell(text)
}

func (d *Device) note(text string) {
	if d.config.Note != nil {
		d.config.Note(text)
	}
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.As(fault.Canceled, err, "")
	}
	p, err := d.match(u.Graph)
	if err != nil {
		return nil, err
	}
	return newProgram(d, u, o, p)
}

// Load implements device.Device.
func (d *Device) Load(context.Context, []byte) (device.Program, error) {
	return nil, fault.New(fault.Unsupported, "%s saves no programs", d.info.ID)
}

// Save implements the method of device.Program.
func (p *program) Save(io.Writer) error {
	return fault.New(fault.Unsupported, "%s saves no programs", p.dev.info.ID)
}

// Alloc implements device.Device: memory with a file descriptor.
func (d *Device) Alloc(size int64) (mem.Buffer, error) {
	return mem.Memfd(size, mem.Options{Name: "anynpu-remote"})
}

// State tells of the addresses, and how many runs were computed here instead; probe asks every address for its server
// and models.
func (d *Device) State(ctx context.Context, probe bool) (list []link.Address, local int64, err error) {
	r := &link.Request{Do: link.State}
	if probe {
		r.Do, r.LeftMS = link.Probe, milliseconds(d.deadline())
	} else if !d.helper.running() {
		for _, a := range d.config.Remote.Addresses {
			list = append(list, link.Address{Address: a, State: "untried"})
		}
		return list, d.local.Load(), nil
	}
	a, err := d.helper.ask(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	return a.State, d.local.Load(), nil
}
