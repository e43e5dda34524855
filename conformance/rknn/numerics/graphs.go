package numerics

import (
	"math"
	"sync"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	coretensor "github.com/anynpu/anynpu/core/tensor"
)

// randomGraphs are the cases of conformance/graphs by name.
var randomGraphs = sync.OnceValue(func() map[string]*graphs.Case {
	list, err := graphs.Cases()
	if err != nil {
		panic(err)
	}
	out := map[string]*graphs.Case{}
	for _, c := range list {
		out[c.Name] = c
	}
	return out
})

// graphsAsModels computes the random graphs of conformance/graphs that are there as ONNX models, whose expected outputs
// are those of the onnx package in float64.
func graphsAsModels() *group {
	g := newGroup("graphs", "random graphs with expected outputs of the onnx package in float64")
	for _, name := range graphs.Models() {
		on(g, "rk3588", name, func(t *T) { t.graph(randomGraphs()[name]) })
	}
	return g
}

// graph computes a case twice, with its inputs copied and bound.
func (t *T) graph(c *graphs.Case) {
	model, err := c.ONNX()
	t.Check(err == nil && model != nil, "no model: %v", err)
	ctx := new(uintptr)
	if code := t.Code("init", ctx, model, len(model), 0, nil); code != rknn.Success {
		t.Lacks("rknn_init: %s: %s", rknn.API.CodeName(code), t.LastError())
	}
	t.Owned(*ctx)
	for round := range 2 {
		for i, x := range c.In {
			p := &port{elem: rknn.ONNXFloat, dims: ints(x.Dims)}
			y := tensor32(x)
			v := make([]float64, len(y.v))
			each(y.dims, func(at []int, k int) {
				rows := 0
				if len(at) == 4 {
					rows = y.dims[2]
				}
				v[p.place(p.format(), at, 1, rows)] = y.v[k]
			})
			data := encoded(rknn.Float32, v)
			if round == 0 {
				t.OK("inputs_set", *ctx, 1, []rknn.Input{t.Given(i, rknn.Float32, p.format(), data)})
				continue
			}
			m := t.Mem(*ctx, len(data))
			t.Bind(*ctx, m, t.Attr(*ctx, rknn.QueryInput, i), rknn.Float32, -1)
			copy(m.Bytes(), data)
		}
		t.Run(*ctx)
		for i, want := range c.Want {
			o := []rknn.Output{{Index: uint32(i), WantFloat: 1}}
			t.OK("outputs_get", *ctx, 1, o, nil)
			y := tensor32(want)
			t.Check(int(o[0].Size) == 4*len(y.v), "output %d: %d bytes for %d elements", i, o[0].Size, len(y.v))
			got := cmem.Copy[float32](o[0].Buf, len(y.v))
			var apart numbers.Apart
			for k, w := range y.v {
				g := float64(got[k])
				apart.Add(g, w, !(math.Abs(g-w) <= c.Abs+c.Rel*math.Abs(w)))
			}
			t.Check(apart.Wrong() < 0, "output %d of %v: %v", i, y.dims, &apart)
			t.OK("outputs_release", *ctx, 1, o)
		}
	}
}

func ints(dims []int64) []int {
	out := make([]int, len(dims))
	for i, d := range dims {
		out[i] = int(d)
	}
	return out
}

// tensor32 are float32 elements of a case.
func tensor32(x coretensor.Tensor) tensor { return tensor{ints(x.Dims), decoded(rknn.Float32, x.Data)} }
