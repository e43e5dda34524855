package sizes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// Runs is how often each model is run with sizes of its own.
const Runs = 5

// dim is a size of a value in each run.
type dim struct {
	n    [Runs]int64
	of   string // the value that has it, on an axis
	axis int64
}

func fixed(n int64) dim { return dim{n: [Runs]int64{n, n, n, n, n}} }

// open reports whether runs have different sizes. One that is open in the model and the same in all runs is as good as
// a fixed one.
func (d dim) open() bool {
	return slices.ContainsFunc(d.n[:], func(n int64) bool { return n != d.n[0] })
}

// with is a size that is computed of d.
func (d dim) with(f func(n int64) int64) dim {
	for r := range d.n {
		d.n[r] = f(d.n[r])
	}
	return d
}

// least and most are the sizes of the runs.
func (d dim) least() int64 { return slices.Min(d.n[:]) }
func (d dim) most() int64  { return slices.Max(d.n[:]) }

// val is a float value of the graph.
type val struct {
	name string
	dims []dim
	// exact says that all its elements are multiples of an eighth and small: what is decided by them is the same with any
	// kernel.
	exact bool
}

func (v val) last() dim { return v.dims[len(v.dims)-1] }

// Input is an input of a model, of float32 elements.
type Input struct {
	Name string
	Dims [Runs][]int64
}

// Output is an output of a model.
type Output struct {
	Name string
	Rank int
	Step float64 // between neighbouring codes of quantized results, which may be one apart; 0: they are no codes
}

// Model is a random model with its runs.
type Model struct {
	Seed uint64
	File []byte // the ONNX model, whose metadata list the sizes of its runs
	In   []Input
	Out  []Output

	calls *calls // the same model in the terms of NNAPI, nil: there are none
}

// maker makes a random graph.
type maker struct {
	*rand.Rand
	*builder
	model  *Model
	sizes  []dim // that inputs have
	values []val
	given  []val // inputs
	outs   []val
	steps  map[string]float64 // of outputs
}

// Random returns the model of a seed.
func Random(seed uint64) *Model {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 7)), builder: &builder{}, model: &Model{Seed: seed},
		steps: map[string]float64{}}
	m.input()
	if m.IntN(3) == 0 {
		m.input()
	}
	for range 1 + m.IntN(5) {
		m.step()
	}
	m.outs = append(m.outs, m.values[len(m.values)-1])
	if m.IntN(2) == 0 {
		m.outs = append(m.outs, m.values[m.IntN(len(m.values))])
	}
	m.outputs()
	m.model.File = m.file(m.metadata())
	return m.model
}

// runs picks the sizes of an open dimension: up and down, with one that comes again.
func (m *maker) runs(most int) dim {
	var d dim
	for r := range d.n {
		d.n[r] = int64(1 + m.IntN(most))
	}
	if m.IntN(2) == 0 {
		d.n[Runs-1] = d.n[0]
	}
	if !d.open() {
		d.n[1]++
	}
	return d
}

// input adds an input of one to five dimensions, of which at least one is open.
func (m *maker) input() {
	rank := []int{1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5}[m.IntN(11)]
	dims := make([]dim, rank)
	for i := range dims {
		dims[i] = fixed(int64(1 + m.IntN(6)))
	}
	most := 9
	switch {
	case rank == 4 && m.IntN(4) == 0: // an image for Winograd
		dims = []dim{fixed(1), fixed(16), fixed(24), fixed(24)}
		most = 24
	case rank == 2 && m.IntN(4) == 0: // wide rows
		dims[1], most = fixed(int64(30+m.IntN(50))), 40
	}
	axes := m.Perm(rank)[:1+m.IntN(min(2, rank))]
	name := fmt.Sprint("in", len(m.model.In))
	shape := make([]any, rank)
	for _, a := range axes {
		s := m.IntN(len(m.sizes) + 1)
		if s == len(m.sizes) || m.sizes[s].most() > int64(most) {
			s = len(m.sizes)
			m.sizes = append(m.sizes, m.runs(most))
		}
		dims[a] = m.sizes[s]
		shape[a] = fmt.Sprint("s", s)
	}
	in := Input{Name: name}
	for a := range dims {
		if dims[a].of, dims[a].axis = name, int64(a); shape[a] == nil {
			shape[a] = dims[a].n[0]
		}
		for r := range Runs {
			in.Dims[r] = append(in.Dims[r], dims[a].n[r])
		}
	}
	m.model.In = append(m.model.In, in)
	m.in = append(m.in, declare(name, float, shape))
	v := val{name, dims, true}
	m.given, m.values = append(m.given, v), append(m.values, v)
}

// outputs declares what the model gives, each value once, behind a node of its own.
func (m *maker) outputs() {
	seen := map[string]bool{}
	for _, v := range m.outs {
		if seen[v.name] || len(v.dims) == 0 {
			continue
		}
		seen[v.name] = true
		shape := make([]any, len(v.dims))
		for a, d := range v.dims {
			if shape[a] = any(d.n[0]); d.open() {
				shape[a] = fmt.Sprint(v.name, "_", a)
			}
		}
		name := v.name
		if slices.ContainsFunc(m.model.In, func(i Input) bool { return i.Name == name }) {
			name = m.node("Neg", []string{name})
		}
		m.out = append(m.out, declare(name, float, shape))
		m.model.Out = append(m.model.Out, Output{Name: name, Rank: len(v.dims), Step: m.steps[v.name]})
	}
}

// metadata lists the sizes of the runs for RKNN, each set once.
func (m *maker) metadata() (meta [][2]string) {
	var sets []int
	for r := range Runs {
		same := func(k int) bool {
			return !slices.ContainsFunc(m.model.In, func(i Input) bool { return !slices.Equal(i.Dims[r], i.Dims[k]) })
		}
		if !slices.ContainsFunc(sets, same) {
			sets = append(sets, r)
		}
	}
	for _, in := range m.model.In {
		var list [][]int64
		for _, r := range sets {
			list = append(list, in.Dims[r])
		}
		text, err := json.Marshal(list)
		if err != nil {
			panic(err)
		}
		meta = append(meta, [2]string{"anynpu.input." + in.Name + ".shapes", string(text)})
	}
	return meta
}

// Inputs are the tensors of a run: multiples of an eighth between -2 and 2.
func (m *Model) Inputs(run int) []tensor.Tensor {
	rnd := rand.New(rand.NewPCG(m.Seed, uint64(100+run)))
	var in []tensor.Tensor
	for i := range m.In {
		t := tensor.New(tensor.Float32, m.In[i].Dims[run]...)
		for k := range t.Count() {
			tensor.PutFloat(tensor.Float32, t.Data, k, float64(rnd.IntN(33)-16)/8, false)
		}
		in = append(in, t)
	}
	return in
}

// some returns a value that f takes, ok false if there is none.
func (m *maker) some(f func(v val) bool) (v val, ok bool) {
	for _, k := range m.Perm(len(m.values)) {
		if f(m.values[k]) {
			return m.values[k], true
		}
	}
	return v, false
}

// elements is the largest number of elements that a value has in a run.
func elements(dims []dim) (most int64) {
	for r := range Runs {
		n := int64(1)
		for _, d := range dims {
			n *= d.n[r]
		}
		most = max(most, n)
	}
	return most
}

// add takes a value over whose sizes are those of dims.
func (m *maker) add(name string, dims []dim, exact bool) val {
	dims = slices.Clone(dims)
	for a := range dims {
		dims[a].of, dims[a].axis = name, int64(a)
	}
	v := val{name, dims, exact}
	m.values = append(m.values, v)
	return v
}
