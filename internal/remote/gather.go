package remote

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// gather brings a run's outputs to where they belong, whatever else the server sends.
type gather struct {
	places  []link.Place
	at      memory
	largest int64
	spilled int64  // bytes that lie in no region
	region  string // of a server that has it: outputs need not be in the answer
}

// find is the place of an output, -1 for one that nobody has asked for.
func (g *gather) find(name string) int {
	return slices.IndexFunc(g.places, func(p link.Place) bool { return p.Name == name })
}

// place is an oip.Placer.
func (g *gather) place(had []oip.Tensor, i int, n int64) ([]byte, error) {
	if i >= len(had) {
		return nil, failed(link.Garbled, "raw contents %d before their output", i)
	}
	if k := g.find(had[i].Name); k >= 0 && g.places[k].Room > 0 {
		p := &g.places[k]
		if n == 0 && g.region != "" {
			return nil, nil
		}
		if n != p.Room {
			return nil, failed(link.Garbled, "output %q has %d bytes, want %d", had[i].Name, n, p.Room)
		}
		return g.at(p.Region, p.Off, n)
	}
	if g.spilled += n; n > g.largest || g.spilled > g.largest {
		return nil, failed(link.TooLarge, "more than %d bytes of outputs (largest_message)", g.largest)
	}
	return make([]byte, n), nil
}

// results checks the outputs of an answer. Those that lie in no region are returned in spill, one after the other.
func (g *gather) results(m *oip.Response) (out []link.Result, spill [][]byte, err error) {
	from := int64(0)
	for i := range g.places {
		p := &g.places[i]
		k := slices.IndexFunc(m.Outputs, func(t oip.Tensor) bool { return t.Name == p.Name })
		if k < 0 {
			return nil, nil, failed(link.Garbled, "no output %q in the answer", p.Name)
		}
		t := &m.Outputs[k]
		shape, raw, err := g.check(t, p)
		if err != nil {
			return nil, nil, err
		}
		r := link.Result{Shape: shape, Off: p.Off, Size: int64(len(raw))}
		switch {
		case g.lies(t):
		case p.Room == 0:
			r.Off, r.Spill = from, true
			spill = append(spill, raw)
			from += r.Size
		case t.Raw == nil || len(raw) == 0 || &raw[0] != g.first(p): // typed, or read elsewhere
			home, err := g.at(p.Region, p.Off, p.Room)
			if err != nil || r.Size != p.Room {
				return nil, nil, failed(link.Garbled, "output %q has %d bytes, want %d", p.Name, r.Size, p.Room)
			}
			copy(home, raw)
		}
		out = append(out, r)
	}
	return out, spill, nil
}

// first is the first byte of an output's room.
func (g *gather) first(p *link.Place) *byte {
	b, err := g.at(p.Region, p.Off, p.Room)
	if err != nil || len(b) == 0 {
		return nil
	}
	return &b[0]
}

// lies says that the server has written an output to its place: Triton then sends empty raw contents.
func (g *gather) lies(t *oip.Tensor) bool {
	where := t.Parameters[oip.SharedMemoryRegion]
	return g.region != "" && len(t.Raw) == 0 && t.Contents == nil && (where == nil || where == g.region)
}

// check returns the shape and the raw contents of an output, which must be as its place says.
func (g *gather) check(t *oip.Tensor, p *link.Place) (shape []int64, raw []byte, err error) {
	d, ok := oip.DType(t.Datatype)
	if !ok || d != p.Type {
		return nil, nil, failed(link.Garbled, "output %q is %.20q, want %v", p.Name, t.Datatype, p.Type)
	}
	if shape, ok = fit(t.Shape, p.Shape); !ok {
		return nil, nil, failed(link.Garbled, "output %q has the shape %v, want %v", p.Name, t.Shape, p.Shape)
	}
	count := int64(1)
	for _, n := range shape {
		if n > 0 && count > math.MaxInt32/n {
			return nil, nil, failed(link.Garbled, "output %q has the shape %v", p.Name, t.Shape)
		}
		count *= n
	}
	want, _ := d.ByteSize(count)
	raw = t.Raw
	if raw == nil && t.Contents != nil {
		if raw, err = t.Contents.AppendRaw(nil, t.Datatype); err != nil {
			return nil, nil, failed(link.Garbled, "output %q: %v", p.Name, err)
		}
	}
	if g.lies(t) {
		if size, is := t.Parameters[oip.SharedMemoryByteSize].(int64); is && size != p.Room {
			return nil, nil, failed(link.Garbled, "output %q has %d bytes in shared memory, want %d", p.Name, size, p.Room)
		}
		if raw, err = g.at(p.Region, p.Off, p.Room); err != nil {
			return nil, nil, failed(link.Internal, "output %q: %v", p.Name, err)
		}
	}
	if int64(len(raw)) != want {
		return nil, nil, failed(link.Garbled, "output %q has %d bytes, want %d for %s%v", p.Name, len(raw), want,
			t.Datatype, shape)
	}
	return shape, raw, nil
}

// fit returns the shape of an answer as it is wanted: -1 stands for any size. Sizes of 1 that some servers add at the
// end, [N,1] for [N], do not count.
func fit(got, want []int64) ([]int64, bool) {
	if len(got) > len(want) {
		for _, n := range got[len(want):] {
			if n != 1 {
				return nil, false
			}
		}
		got = got[:len(want)]
	}
	if len(got) != len(want) {
		return nil, false
	}
	for i, n := range got {
		if n < 0 || want[i] >= 0 && n != want[i] {
			return nil, false
		}
	}
	return slices.Clone(got), true
}
