package queue

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/tensor"
)

// joining is what is known of a program's first dimension. Ports with an open first dimension suggest that its indices
// are computed apart from one another, and do not prove it: before requests of some sizes are joined, a batch of them
// is computed both ways and compared.
type joining struct {
	open   bool // every input and output has an open first dimension
	most   int64
	joined func(ok bool, why string)

	mu      sync.Mutex
	refuted bool            // the indices are not computed apart
	proved  map[string]bool // keys of requests that may be joined
}

// maxProved bounds how many sizes are known; requests of others are computed alone.
const maxProved = 1024

func (j *joining) set(in, out []device.Port, c Config) {
	j.most, j.joined, j.proved = int64(c.Batch), c.Joined, map[string]bool{}
	j.open = c.Batch > 1 && len(in) > 0
	for _, p := range in {
		j.open = j.open && openFirst(p) && (len(in) == 1 || p.Type.Shape.Dims[0].Same(in[0].Type.Shape.Dims[0]))
	}
	for _, p := range out {
		j.open = j.open && openFirst(p)
	}
	if c.Batch > 1 && !j.open {
		j.tell(false, "not every input and output has an open first dimension, the same for all inputs")
	}
}

// openFirst tells whether the first size of a port is open.
func openFirst(p device.Port) bool {
	return p.Type.Shape.Rank() > 0 && !p.Type.Shape.Dims[0].Known()
}

func (j *joining) tell(ok bool, why string) {
	if j.joined != nil {
		j.joined(ok, why)
	}
}

// sort returns the first size of all inputs and the key of the others, 0 for a request that is computed alone.
func (j *joining) sort(in []tensor.Tensor) (rows int64, key string) {
	if !j.open || len(in) == 0 {
		return 0, ""
	}
	var b []byte
	for _, t := range in {
		if len(t.Dims) == 0 || t.Dims[0] < 1 || t.Dims[0] != in[0].Dims[0] || t.Dims[0] >= j.most {
			return 0, ""
		}
		for _, n := range t.Dims[1:] {
			b = strconv.AppendInt(append(b, ','), n, 10)
		}
		b = append(b, ';')
	}
	return in[0].Dims[0], string(b)
}

// may tells whether others are to be looked for that a job can be joined with.
func (j *joining) may(first *job) bool {
	if first.rows == 0 {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.refuted && (j.proved[first.key] || len(j.proved) < maxProved)
}

// known tells what a comparison has shown for requests with this key.
func (j *joining) known(key string) (proved, refuted bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.proved[key], j.refuted
}

// prove notes that requests with this key may be joined.
func (j *joining) prove(key string) {
	j.mu.Lock()
	first := len(j.proved) == 0 && !j.refuted
	if len(j.proved) < maxProved {
		j.proved[key] = true
	}
	j.mu.Unlock()
	if first {
		j.tell(true, "")
	}
}

// refute notes that no requests may be joined.
func (j *joining) refute(why string) {
	j.mu.Lock()
	first := !j.refuted
	j.refuted = true
	j.mu.Unlock()
	if first {
		j.tell(false, why)
	}
}

// tolerance is how far a number may be off when it was computed in a batch, relative to the largest of its tensor:
// other sizes are added up in another order.
func tolerance(d tensor.DType) float64 {
	switch d {
	case tensor.Float64:
		return 1e-10
	case tensor.Float32:
		return 1e-4
	case tensor.Float16:
		return 1e-2
	}
	return 5e-2 // bfloat16 and the types of 8 bits
}

// alike tells whether two tensors are equal but for rounding. Integers and booleans have to be equal.
func alike(a, b tensor.Tensor) bool {
	if a.DType != b.DType || len(a.Data) != len(b.Data) || !slices.Equal(a.Dims, b.Dims) {
		return false
	}
	if !a.DType.IsFloat() {
		return bytes.Equal(a.Data, b.Data)
	}
	n := a.Count()
	largest := 0.0
	for i := range n {
		if v := math.Abs(tensor.FloatAt(a.DType, a.Data, i)); v > largest && !math.IsInf(v, 0) {
			largest = v
		}
	}
	limit := tolerance(a.DType) * largest
	for i := range n {
		x, y := tensor.FloatAt(a.DType, a.Data, i), tensor.FloatAt(b.DType, b.Data, i)
		if x != y && !(math.Abs(x-y) <= limit) && !(math.IsNaN(x) && math.IsNaN(y)) {
			return false
		}
	}
	return true
}
