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
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
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
	local  atomic.Int64

	sender sender
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
	d.sender.life, d.sender.end = context.WithCancel(context.Background())
	return d, nil
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info }

// Close ends the helper program. Runs under way fail.
func (d *Device) Close() {
	d.sender.close()
	d.helper.close()
}

// Support implements device.Device: every node of a graph that a server's model stands for, but those at its border; of
// a graph that servers lack and would be sent, all but those that make tensors of images.
func (d *Device) Support(g *graph.Graph, o device.Options) ([]device.NodeSupport, error) {
	answers := make([]device.NodeSupport, len(g.Nodes))
	core, err := d.claim(g, o.Part)
	if err != nil {
		d.note(fmt.Sprintf("%s: stays here: %d nodes of graph %s: %v", d.info.ID, len(g.Nodes), nameOf(g), err))
	}
	for i := range answers {
		switch {
		case err != nil:
			answers[i].Reason = err.Error()
		case !core[i]:
			answers[i].Reason = "it stands at the border of the server's model, and stays here"
		default:
			answers[i].OK = true
		}
	}
	return answers, nil
}

// claim finds the nodes of a graph that a server would compute. part: it is a piece of a graph, made of one operator.
func (d *Device) claim(g *graph.Graph, part bool) (core []bool, err error) {
	if part || !hasCore(g) {
		return nil, errPart
	}
	p, err := d.match(g)
	switch {
	case err == nil:
		return p.core, nil
	case d.config.Remote.Upload == nil:
		return nil, err
	}
	core, sub, why := sendable(g)
	if why != nil {
		if errors.Is(err, errLacking) {
			return nil, why
		}
		return nil, err
	}
	if _, err = d.match(sub); err == nil || errors.Is(err, errLacking) {
		return core, nil
	}
	return nil, err
}

// errPart is the error of a graph without a model's nodes.
var errPart = fault.New(fault.Unsupported, "servers compute whole models alone")

// match is how a server's model stands for a graph. Kind fault.Unsupported when none does; errLacking when servers
// answer and have none.
func (d *Device) match(g *graph.Graph) (*plan, error) {
	if !hasCore(g) {
		return nil, errPart
	}
	m, err := d.modelFor(g)
	if err != nil {
		return nil, err
	}
	meta, err := d.describe(m)
	if err != nil {
		return nil, err
	}
	if d.config.Remote.Upload != nil {
		if p := sentPlan(g, m, meta); p != nil {
			return p, nil
		}
	}
	p, err := newPlan(g, m, meta)
	if err != nil {
		return nil, fault.As(fault.Unsupported, err, "model %q of %s", m.Name, meta.Address)
	}
	return p, nil
}

// modelFor is the server's model for a graph: the manifest's, or one with the name of a graph that is sent.
func (d *Device) modelFor(g *graph.Graph) (link.Model, error) {
	name, sum, sends := nameOf(g), "", d.config.Remote.Upload != nil
	for _, m := range d.config.Remote.Models {
		if m.SHA256 != "" && sum == "" {
			var err error
			if sum, err = sumOf(g); err != nil {
				return link.Model{}, err
			}
			d.note("graph " + name + " has the sha256 " + sum)
		}
	}
	model, version, ok := d.config.Remote.ModelFor(name, sum)
	switch {
	case ok:
		return link.Model{Name: model, Version: version}, nil
	case !sends:
		return link.Model{}, fault.New(fault.Unsupported, "the manifest names no model for the graph %q", name)
	}
	sum, err := sumOf(g)
	if err != nil {
		return link.Model{}, err
	}
	return link.Model{Name: sentPrefix + sum[:sentDigits]}, nil
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
	o := graph.EncodeOptions{External: func(tensor.Hash, []byte) bool { return true }}
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
		if a.Failure.Class == link.Missing {
			now.err = fault.As(fault.Unsupported, errLacking, "%s", a.Failure.Text)
		}
	default:
		now.meta = a.Metadata
		d.tellLocked(leaves(a.Metadata.Address, d.config.Remote.Name), time.Hour)
	}
	if now.err != nil && !(d.config.Remote.Upload != nil && errors.Is(now.err, errLacking)) {
		d.tellLocked("remote device "+d.config.Remote.Name+" is not used: "+now.err.Error(), time.Minute)
	}
	d.keepLocked(m, now)
	return now.meta, now.err
}

// leaves is the line that says where tensors go.
func leaves(address, name string) string {
	return "data leaves this process for " + address + ", as the manifest of remote device " + name + " says"
}

// maxModels bounds the models whose metadata are kept.
const maxModels = 1024

func (d *Device) keepLocked(m link.Model, now *described) {
	if len(d.models) >= maxModels {
		clear(d.models)
	}
	d.models[m] = now
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
	if errors.Is(err, errLacking) && d.config.Remote.Upload != nil {
		p, err = d.send(ctx, u)
	}
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
