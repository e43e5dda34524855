package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/backends/remote/triton"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
)

// A graph that is sent and has no name in the manifest is called by its content: programs with the same graph share the
// server's model.
const (
	sentPrefix = "anynpu-"
	sentDigits = 32
)

// The pauses before a model is sent again.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// errLacking is the error of a graph whose model no server has.
var errLacking = errors.New("the server has no such model")

// sender has servers load models. A model is sent by one goroutine at a time; others wait for it.
type sender struct {
	life context.Context
	end  context.CancelFunc
	wait sync.WaitGroup

	mu     sync.Mutex
	closed bool
	models map[link.Model]*sending
}

// sending is the outcome of sending a model.
type sending struct {
	done  chan struct{} // closed when it was sent; nil while it is not under way
	err   error
	next  time.Time // when it may be sent again
	pause time.Duration
}

func (s *sender) close() {
	s.end()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wait.Wait()
}

// once has f send a model, unless that is under way or has been done just now, and waits for its end or ctx. keep is
// called first, and its result when f has ended.
func (s *sender) once(ctx context.Context, m link.Model, keep func() (drop func()),
	f func(ctx context.Context) error) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fault.New(fault.State, "the device is closed")
	}
	if s.models == nil || len(s.models) >= maxModels {
		s.models = map[link.Model]*sending{}
	}
	now := s.models[m]
	if now == nil {
		now = &sending{}
		s.models[m] = now
	}
	if now.done == nil && time.Now().Before(now.next) {
		s.mu.Unlock()
		return now.err
	}
	if now.done == nil {
		done := make(chan struct{})
		now.done = done
		drop := keep()
		s.wait.Go(func() {
			defer drop()
			err := f(s.life)
			s.mu.Lock()
			if time.Since(now.next) > longestPause {
				now.pause = 0
			}
			now.pause = min(max(2*now.pause, firstPause), longestPause)
			now.err, now.next, now.done = err, time.Now().Add(now.pause), nil
			s.mu.Unlock()
			close(done)
		})
	}
	done := now.done
	s.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.err
}

// send has servers load a graph, and returns how their model stands for it.
func (d *Device) send(ctx context.Context, u device.Unit) (*plan, error) {
	g := u.Graph
	m, err := d.modelFor(g)
	if err != nil {
		return nil, err
	}
	keep := func() (drop func()) {
		if u.Weights == nil {
			return func() {}
		}
		u.Weights.Retain()
		return u.Weights.Release
	}
	err = d.sender.once(ctx, m, keep, func(ctx context.Context) error { return d.load(ctx, g, m) })
	switch {
	case ctx.Err() != nil:
		return nil, fault.As(fault.Canceled, ctx.Err(), "")
	case err != nil:
		return nil, err
	}
	return d.match(g)
}

// sendAgain has servers load a program's graph, as one of them has lost it. It reports whether they have it, if it is
// to wait for that, at most for so long.
func (d *Device) sendAgain(ctx context.Context, p *program, limit time.Duration, wait bool) bool {
	if !wait {
		limit = 0
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	keep := func() (drop func()) { p.Retain(); return p.Release }
	return d.sender.once(ctx, p.model, keep, func(ctx context.Context) error {
		return d.load(ctx, p.graph, p.model)
	}) == nil
}

// load sends a graph as a model to the addresses that lack it. Whatever keeps one from having it is in the log.
func (d *Device) load(ctx context.Context, g *graph.Graph, m link.Model) error {
	r, loaded, err := d.prepare(g, m)
	if err != nil {
		d.announceError(err)
		return err
	}
	s, err := d.helper.session()
	if err == nil {
		err = s.share(r)
	}
	if err != nil {
		r.buf.Release()
		d.announceError(err)
		return err
	}
	var to []string
	for i := range d.config.Remote.Addresses {
		to = append(to, d.config.Remote.Repository(i))
	}
	d.announce("the model %s leaves this machine, %d bytes for each server that lacks it, as the manifest of remote "+
		"device %s says: %s [remote-model-leaves]", m.Name, r.buf.Size(), d.config.Remote.Name, strings.Join(to, ", "))
	limit := time.Duration(d.config.Remote.Upload.DeadlineMS) * time.Millisecond
	a, pending, err := d.helper.call(ctx, s, &link.Request{Do: link.Load, Model: m, LeftMS: milliseconds(limit),
		Load: loaded}, limit+helperLimit, func() { d.free(r) })
	if !pending {
		d.free(r)
	}
	if err != nil {
		d.announceError(err)
		return err
	}
	a.drop()
	return d.loaded(m, a)
}

// prepare writes a graph as a model for servers.
func (d *Device) prepare(g *graph.Graph, m link.Model) (*region, *link.Loaded, error) {
	model, err := export.Of(g, export.Options{})
	if err != nil {
		return nil, nil, err
	}
	inputs, outputs, err := sentPorts(g, model)
	if err != nil {
		return nil, nil, err
	}
	config, err := triton.New(m.Name, d.config.Remote.Upload.Backend, inputs, outputs)
	if err != nil {
		return nil, nil, err
	}
	shared, files, err := d.files(model, config, cmp.Or(m.Version, "1"))
	if err != nil {
		return nil, nil, err
	}
	r := &region{id: d.helper.newRegion(), buf: shared}
	for i := range files {
		files[i].Region = r.id
	}
	return r, &link.Loaded{Config: config.JSON(), Files: files}, nil
}

// loaded takes note of the outcome at each address.
func (d *Device) loaded(m link.Model, a *answered) (err error) {
	if a.Failure != nil {
		err = refused("the program beside the library", m.Name, a.Failure)
		d.announceError(err)
		return err
	}
	for _, o := range a.Offers {
		switch {
		case o.Failure != nil:
			why := refused(o.Address, m.Name, o.Failure)
			d.announceError(why)
			err = cmp.Or(err, why)
		case !o.Had:
			d.note(fmt.Sprintf("%s has loaded the model %s: %d bytes in %.0f ms", o.Address, m.Name, o.Sent, o.TookMS))
		}
	}
	if a.Metadata == nil {
		return cmp.Or(err, fault.New(fault.Device, "no server has the model %s", m.Name))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keepLocked(m, &described{meta: a.Metadata, at: time.Now()})
	d.tellLocked(leaves(a.Metadata.Address, d.config.Remote.Name), time.Hour)
	return nil
}

// refused is the error of an address that has not loaded a model.
func refused(address, model string, f *link.Failure) error {
	switch text := f.Text; f.Class {
	case link.Missing:
		return fault.New(fault.Unsupported, "%s takes no models, such as %s: %s [remote-load-unknown]", address, model,
			text)
	case link.TooLarge:
		return fault.New(fault.Memory, "%s gets no model of that size, %s: %s [remote-load-size]", address, model, text)
	case link.Late, link.Stopped:
		return fault.New(fault.Timeout, "%s has not loaded the model %s within upload.deadline_ms: %s [remote-load-late]",
			address, model, text)
	case link.Down:
		return fault.New(fault.Device, "%s is away and gets no model %s: %s [remote-load-away]", address, model, text)
	case link.Denied:
		return fault.New(fault.Device, "%s denies access to load the model %s: %s [remote-load-denied]", address, model,
			text)
	case link.Garbled:
		return fault.New(fault.Device, "%s answers wrongly when it is to load the model %s: %s [remote-load-answer]",
			address, model, text)
	}
	return fault.New(fault.Device, "%s has not loaded the model %s: %s [remote-load-refused]", address, model, f.Text)
}

// announce writes a line of the log that is shown wherever errors are.
func (d *Device) announce(format string, args ...any) {
	text, id := fault.Message(format, args...)
	d.tell(text+" ["+id+"]", 0)
}

func (d *Device) announceError(err error) { d.tell(err.Error()+" ["+fault.IDOf(err)+"]", 0) }
