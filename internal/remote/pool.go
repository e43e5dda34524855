package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// Pool is the servers of a manifest. Its methods are safe for concurrent use.
type Pool struct {
	remote *dl.Remote
	list   []*endpoint
	turn   atomic.Uint64
	ids    atomic.Uint64
	mu     sync.Mutex
	notes  []string
	// named is the file of shared memory that a region is; nil: there is none.
	named func(region uint64) (file string, size int64, err error)
}

// NewPool opens no connection.
func NewPool(r *dl.Remote) (*Pool, error) {
	p := &Pool{remote: r}
	for i, a := range r.Addresses {
		e, err := newEndpoint(a, r)
		if err != nil {
			return nil, err
		}
		if r.Upload != nil {
			e.repository = e
		}
		if r.Upload != nil && r.Repository(i) != a {
			if e.repository, err = newEndpoint(r.Repository(i), r); err != nil {
				return nil, err
			}
		}
		p.list = append(p.list, e)
	}
	return p, nil
}

// Close closes connections that no call uses.
func (p *Pool) Close() {
	for _, e := range p.list {
		e.close()
	}
}

// maxNotes bounds what is kept for the log.
const maxNotes = 32

func (p *Pool) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) < maxNotes {
		p.notes = append(p.notes, fmt.Sprintf(format, args...))
	}
}

// Notes are what became of addresses since it was last asked.
func (p *Pool) Notes() (notes []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes, p.notes = p.notes, nil
	return notes
}

// choose returns an address that may be asked, other than those had, nil when there is none.
func (p *Pool) choose(had []*endpoint) (e *endpoint, probe bool) {
	from := 0
	if p.remote.Choice == dl.ChoiceRoundRobin {
		from = int(p.turn.Add(1) % uint64(len(p.list)))
	}
	now := time.Now()
	for i := range p.list {
		e := p.list[(from+i)%len(p.list)]
		if slices.Contains(had, e) {
			continue
		}
		if ok, probe := e.breaker.admit(now); ok {
			return e, probe
		}
	}
	return nil, false
}

// probeLimit is how long a probe may take.
const probeLimit = time.Second

// mostSent is how often one run is sent.
const mostSent = 2

// try has f computed by an address, and by another one if the first fails in a way that allows it. What could not be
// sent is tried at every address.
func (p *Pool) try(ctx context.Context, model oip.ModelName, f func(ctx context.Context, e *endpoint) error) (*endpoint,
	int, error) {
	var had []*endpoint
	var last *failure
	sent := 0
	for sent < mostSent {
		e, probe := p.choose(had)
		if e == nil {
			break
		}
		had = append(had, e)
		err := error(nil)
		if probe {
			limited, cancel := context.WithTimeout(ctx, probeLimit)
			if err = e.ready(limited, model); err != nil && ctx.Err() == nil {
				err = failed(link.Down, "ModelReady: %v", err)
			}
			cancel()
		}
		if err == nil {
			sent++
			err = f(ctx, e)
		}
		fail := ofError(ctx, err)
		if fail == nil {
			if e.breaker.success() {
				p.note("%s answers again", e.address)
			}
			return e, len(had), nil
		}
		if fail.unsent {
			sent--
		}
		if e.breaker.failure(fail, time.Now()) {
			p.note("%s rests: %v", e.address, fail)
		}
		fail.text = e.address + ": " + fail.text
		last = fail
		if !fail.repeatable() || ctx.Err() != nil {
			return e, len(had), fail
		}
	}
	if last != nil {
		return nil, len(had), last
	}
	var why []string
	for _, e := range p.list {
		_, reason := e.breaker.state()
		why = append(why, e.address+" rests: "+reason)
	}
	return nil, 0, failed(link.Down, "%s", strings.Join(why, "; "))
}

// Describe asks for a model's metadata. When no address has them, the failure is that of one that answers and lacks the
// model, if there is such.
func (p *Pool) Describe(ctx context.Context, m link.Model) (out *link.Metadata, err error) {
	name := oip.ModelName{Name: m.Name, Version: m.Version}
	lacks := error(nil)
	_, _, err = p.try(ctx, name, func(ctx context.Context, e *endpoint) (err error) {
		out, err = e.describe(ctx, name)
		if f := ofError(ctx, err); f != nil && f.class == link.Missing && lacks == nil {
			lacks = failed(link.Missing, "%s: %s", e.address, f.text)
		}
		return err
	})
	if err != nil && lacks != nil {
		return nil, lacks
	}
	return out, err
}

// describe is a model's metadata as a process gets them.
func (e *endpoint) describe(ctx context.Context, name oip.ModelName) (*link.Metadata, error) {
	got, err := e.metadata(ctx, name)
	if err != nil {
		return nil, err
	}
	ports := func(list []oip.Port) (out []link.Port) {
		for _, p := range list {
			d, _ := oip.DType(p.Datatype)
			out = append(out, link.Port{Name: p.Name, Datatype: p.Datatype, Type: d, Shape: p.Shape})
		}
		return out
	}
	return &link.Metadata{Inputs: ports(got.Inputs), Outputs: ports(got.Outputs), Address: e.address}, nil
}

// memory are regions that a run's tensors lie in.
type memory func(region uint64, off, size int64) ([]byte, error)

// Infer makes a run: inputs are read from memory, outputs written there or, those without room, returned in spill.
func (p *Pool) Infer(ctx context.Context, r *link.Request, at memory) (out []link.Result, spill [][]byte,
	done *link.Done,
	err error) {
	inputs, lending := make([]oip.Tensor, len(r.In)), make([]oip.Tensor, len(r.In))
	for i, t := range r.In {
		raw, err := at(t.Region, t.Off, t.Size)
		if err != nil {
			return nil, nil, nil, failed(link.Internal, "input %d: %v", i, err)
		}
		datatype, ok := oip.Datatype(t.Type)
		if !ok {
			return nil, nil, nil, failed(link.Internal, "input %d is %v", i, t.Type)
		}
		inputs[i] = oip.Tensor{Name: t.Name, Datatype: datatype, Shape: t.Shape, Raw: raw}
		lending[i] = oip.Tensor{Name: t.Name, Datatype: datatype, Shape: t.Shape}
	}
	only, lends := onlyRegion(r)
	lends = lends && p.remote.SharedMemory
	lost := false // a server may write outputs to the region later
	for i, o := range r.Out {
		if _, err := at(o.Region, o.Off, o.Room); err != nil && o.Room > 0 {
			return nil, nil, nil, failed(link.Internal, "output %d: %v", i, err)
		}
	}
	begin := time.Now()
	done = &link.Done{}
	send := func(ctx context.Context, e *endpoint, region string) error {
		from := time.Now()
		q := &oip.Request{Model: r.Model.Name, Version: r.Model.Version, Inputs: inputs,
			ID: fmt.Sprintf("anynpu-%010d", p.ids.Add(1))} // of one length: so are equal runs' messages
		g := &gather{places: r.Out, at: at, largest: p.remote.Largest, region: region}
		if lost {
			g.places = slices.Clone(r.Out)
			for i := range g.places {
				g.places[i].Room = 0
			}
		}
		if region != "" {
			q.Inputs = lending
			for i, t := range r.In {
				q.Inputs[i].Parameters = placed(region, t.Off, t.Size)
			}
		}
		for _, o := range r.Out {
			out := oip.Requested{Name: o.Name}
			if region != "" {
				out.Parameters = placed(region, o.Off, o.Room)
			}
			q.Outputs = append(q.Outputs, out)
		}
		var there timing
		infer := e.grpcInfer
		if e.rest {
			infer = e.restInfer
		}
		answer, sent, received, err := infer(ctx, q, p.remote.Largest, g.place, &there)
		if err == nil {
			out, spill, err = g.results(answer)
		}
		if f := ofError(ctx, err); f != nil && f.class == link.Missing {
			done.Lacking = true
		}
		e.counts.add(err == nil, sent, received, time.Since(from), &there)
		done.Sent, done.Received = sent, received
		return err
	}
	e, attempts, err := p.try(ctx, oip.ModelName(r.Model), func(ctx context.Context, e *endpoint) error {
		region := ""
		if lends && !lost && !e.rest {
			region = p.lend(ctx, e, only)
		}
		err := send(ctx, e, region)
		if region == "" || err == nil {
			return err
		}
		switch f := ofError(ctx, err); {
		case f.class == link.Refused || f.class == link.Missing: // by a server that has begun anew, and lost the region
			e.take(ctx, only)
			return send(ctx, e, "")
		default:
			lost = lost || !f.unsent
			return err
		}
	})
	if err != nil {
		f := ofError(ctx, err)
		f.lacks = done.Lacking
		return nil, nil, nil, f
	}
	done.Address, done.Attempts, done.TookMS = e.address, attempts, ms(time.Since(begin))
	return out, spill, done, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// State tells of the addresses.
func (p *Pool) State() (out []link.Address) {
	for _, e := range p.list {
		a := link.Address{Address: e.address}
		a.State, a.Why = e.breaker.state()
		e.counts.mu.Lock()
		a.Runs, a.Failures, a.Sent, a.Received = e.counts.runs, e.counts.failures, e.counts.sent, e.counts.received
		a.TookMS = ms(e.counts.took)
		a.Timed, a.QueueMS, a.ComputeMS = e.counts.timed, ms(e.counts.there.queue), ms(e.counts.there.compute)
		e.counts.mu.Unlock()
		out = append(out, a)
	}
	return out
}

// Probe asks every address what it is and whether it has the manifest's models.
func (p *Pool) Probe(ctx context.Context) []link.Address {
	out := p.State()
	var wait sync.WaitGroup
	for i := range p.list {
		wait.Go(func() { p.list[i].probe(ctx, p.remote, &out[i]) })
	}
	wait.Wait()
	return out
}

// probe fills in what the server says.
func (e *endpoint) probe(ctx context.Context, r *dl.Remote, a *link.Address) {
	s, err := e.server(ctx)
	if f := ofError(ctx, err); f != nil && f.class != link.Missing {
		a.State, a.Why = "away", f.Error()
		return
	}
	a.State = "ready"
	if s != nil && err == nil {
		a.Server, a.Extension = oneLine(strings.TrimSpace(s.Name+" "+s.Version)), s.Extensions
	}
	models := slices.Clone(r.Models)
	if r.Model != "" {
		models = append(models, dl.RemoteModel{Model: r.Model, Version: r.Version})
	}
	for _, m := range models {
		name := oip.ModelName{Name: m.Model, Version: m.Version}
		from := time.Now()
		err := e.ready(ctx, name)
		a.LatencyMS = ms(time.Since(from))
		state := "ready"
		if err != nil {
			state = err.Error()
		}
		var about *oip.Model
		if err == nil {
			about, err = e.metadata(ctx, name)
		}
		if err == nil {
			if of := e.statistics(ctx, name); of != nil {
				a.Statistics = a.Statistics.Plus(of)
			}
		}
		if err == nil && len(about.Versions) > 0 {
			state += ", versions " + oneLine(strings.Join(about.Versions, " "))
		}
		text := m.Model
		if m.Version != "" {
			text += " version " + m.Version
		}
		a.Models = append(a.Models, text+": "+state)
	}
}
