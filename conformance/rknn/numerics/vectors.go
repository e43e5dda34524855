package numerics

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/conformance/onnx/attributes"
	"github.com/anynpu/anynpu/conformance/onnx/cases"
	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// given is a tensor of a vector: a TensorProto.
type given struct {
	tensor
	elem int64
	raw  []byte // the elements of integers, of which float64 does not hold all
}

// other has what is no integer turned round: truths negated, and the opposite of real numbers.
func (g given) other() given {
	p := &port{elem: g.elem, dims: g.dims}
	if kind := kindOf(g.elem); kind != rknn.Bool && !p.reals() {
		return g
	}
	g.v = slices.Clone(g.v)
	for i, x := range g.v {
		if g.elem == rknn.ONNXBool {
			g.v[i] = 1 - x
		} else {
			g.v[i] = -x
		}
	}
	g.raw = nil
	return g
}

// fields calls f with the fields of a message: the number of a varint, or the bytes of another field.
func fields(b []byte, f func(n protowire.Number, v uint64, b []byte)) {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		switch kind {
		case protowire.VarintType:
			v, size := protowire.ConsumeVarint(b)
			f(n, v, nil)
			b = b[max(size, 1):]
		case protowire.BytesType:
			v, size := protowire.ConsumeBytes(b)
			f(n, 0, v)
			b = b[max(size, 1):]
		default:
			size := protowire.ConsumeFieldValue(n, kind, b)
			if size < 0 {
				return
			}
			b = b[size:]
		}
	}
}

// readTensor decodes a TensorProto that has its elements in raw_data.
func readTensor(b []byte) given {
	var t given
	var raw []byte
	fields(b, func(n protowire.Number, v uint64, b []byte) {
		switch {
		case n == 1 && b == nil:
			t.dims = append(t.dims, int(v))
		case n == 1: // packed
			for len(b) > 0 {
				v, size := protowire.ConsumeVarint(b)
				t.dims, b = append(t.dims, int(v)), b[size:]
			}
		case n == 2:
			t.elem = int64(v)
		case n == 9:
			raw = b
		}
	})
	switch t.elem {
	case rknn.ONNXFloat:
		t.v = decoded(rknn.Float32, raw)
	case rknn.ONNXDouble:
		for ; len(raw) >= 8; raw = raw[8:] {
			t.v = append(t.v, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
	default:
		t.v, t.raw = decoded(kindOf(t.elem), raw), raw
	}
	return t
}

// inputNames are the names of a model's inputs.
func inputNames(model []byte) (out []string) {
	fields(model, func(n protowire.Number, _ uint64, graph []byte) {
		if n != 7 {
			return
		}
		fields(graph, func(n protowire.Number, _ uint64, input []byte) {
			if n != 11 {
				return
			}
			fields(input, func(n protowire.Number, _ uint64, name []byte) {
				if n == 1 {
					out = append(out, string(name))
				}
			})
		})
	})
	return out
}

// ofFunctions stands for the functions that a model defines, among operators.
const ofFunctions = "function"

// operators are those of a model's nodes, without those of bodies and functions.
func operators(model []byte) (out []string) {
	fields(model, func(n protowire.Number, _ uint64, graph []byte) {
		if n == 25 {
			out = append(out, ofFunctions)
		}
		if n != 7 {
			return
		}
		fields(graph, func(n protowire.Number, _ uint64, node []byte) {
			if n != 1 {
				return
			}
			op, domain := "", ""
			fields(node, func(n protowire.Number, _ uint64, b []byte) {
				switch n {
				case 4:
					op = string(b)
				case 7:
					domain = string(b)
				}
			})
			switch domain {
			case "", "ai.onnx":
				out = append(out, op)
			case "com.microsoft":
				out = append(out, domain+"."+op)
			} // others are those of functions
		})
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// archive is an opened archive of vectors.
type archive func() *zip.Reader

func opened(read func() []byte) archive {
	return sync.OnceValue(func() *zip.Reader {
		b := read()
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			panic(err)
		}
		return z
	})
}

var modelCases, attributeCases = opened(func() []byte { return cases.Archive }), opened(attributes.Archive)

// read returns a file, nil if there is none.
func (a archive) read(name string) []byte {
	f, err := a().Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		panic(err)
	}
	return b
}

// dataDependent are vectors with an output whose shape depends on data: the API has to tell sizes before a run, so it
// refuses the model.
var dataDependent = []string{"compress_axis", "loop_0", "loop_1", "loop_4", "nms", "nonzero",
	"oldest_tile_open_0_1", "oldest_tile_open_1_1", "oldest_tile_open_3_1", "range_half_1", "range_half_None", "sequence_read_in_if_false", "sequence_read_in_if_true", "unique_counts"}

// untyped tells whether a case has elements that the API has no type for; beyond, float64 that no float32 holds.
func untyped(name string) bool {
	return strings.HasPrefix(name, "bit_cast_") && strings.Contains(name, "uint64")
}
func beyond(name string) bool {
	return strings.HasPrefix(name, "bit_cast_") && strings.Contains(name, "float64")
}

// slack is a tolerance that a case needs beyond the usual one. In the network of branches the mean of four codes lies
// halfway between two as often as not: results may be two codes apart.
func slack(name string) float64 {
	if strings.HasPrefix(name, "network_branches_") && !strings.Contains(name, "float") {
		return 0.034
	}
	return 0
}

// vectors computes the small models of conformance/onnx/cases, whose expected outputs are those of ONNX Runtime and the
// onnx package.
func vectors() *group {
	return archivedCases(newGroup("vectors", "models with expected outputs of ONNX Runtime and the onnx package"),
		modelCases)
}

// operatorAttributes computes the models of conformance/onnx/attributes.
func operatorAttributes() *group {
	return archivedCases(newGroup("attributes", "each attribute left out and at other values, each optional input absent "+
		"and present, at the opset versions that differ, operators that may be computed together, and forms that no "+
		"operator "+
		"has"),
		attributeCases)
}

// archivedCases adds the cases of an archive.
func archivedCases(g *group, a archive) *group {
	for _, f := range a().File {
		name, is := strings.CutSuffix(f.Name, "/model.onnx")
		switch {
		case !is:
		case slices.Contains(dataDependent, name) || strings.HasPrefix(name, "refused_") || untyped(name):
			g.No(name, func(t *T) {
				model := a.read(f.Name)
				t.Is(rknn.ModelInvalid, "init", new(uintptr), model, len(model), 0, nil)
			})
		case !beyond(name):
			on(g, "rk3588", name, func(t *T) { t.vector(a, name) })
		}
	}
	return g
}

// plainest are cases with an operator that have the fewest others. A library that takes one of them has the operator.
func (a archive) plainest(op string) (names []string) {
	const most = 40
	least := math.MaxInt
	for _, f := range a().File {
		n, is := strings.CutSuffix(f.Name, "/model.onnx")
		if !is || slices.Contains(dataDependent, n) || strings.HasPrefix(n, "refused_") || untyped(n) {
			continue
		}
		ops := operators(a.read(f.Name))
		if !slices.Contains(ops, op) || len(ops) > least {
			continue
		}
		if len(ops) < least {
			names, least = nil, len(ops)
		}
		names = append(names, n)
	}
	for len(names) > most { // of all kinds: those of one follow one another
		kept := names[:0]
		for i := 0; i < len(names); i += 2 {
			kept = append(kept, names[i])
		}
		names = kept
	}
	return names
}

// has tells whether the library takes a model with an operator.
func (t *T) has(a archive, op string) bool {
	for _, name := range a.plainest(op) {
		ctx, model := new(uintptr), a.read(name+"/model.onnx")
		if t.Code("init", ctx, model, len(model), 0, nil) == rknn.Success {
			t.Owned(*ctx)
			return true
		}
	}
	return false
}

// numbered are the tensors of a case: "input" or "output".
func (a archive) numbered(name, kind string) (out []given) {
	for i := 0; ; i++ {
		b := a.read(fmt.Sprintf("%s/%s_%d.pb", name, kind, i))
		if b == nil {
			return out
		}
		out = append(out, readTensor(b))
	}
}

// vector computes a case, by rknn_inputs_set, three times: in between with other inputs, which a library may refuse, so
// that its memory holds other results.
func (t *T) vector(a archive, name string) {
	model := a.read(name + "/model.onnx")
	in, want, names := a.numbered(name, "input"), a.numbered(name, "output"), inputNames(model)
	meta := &rknn.Model{}
	for i, x := range in {
		for d, n := range x.dims { // open dimensions are named so
			if n > 0 {
				meta.Meta(fmt.Sprintf("anynpu.dim.%s_%d", names[i], d), n)
			}
		}
	}
	data, ctx := append(model, meta.Metadata()...), new(uintptr)
	if code := t.Code("init", ctx, data, len(data), 0, nil); code != rknn.Success {
		refusal := fmt.Sprintf("rknn_init: %s: %s", rknn.API.CodeName(code), t.LastError())
		for _, op := range operators(model) {
			if !t.has(a, op) {
				t.Lacks("%s", refusal)
			}
		}
		t.Failf("a model is refused whose operators are all computed in others: %s", refusal)
	}
	t.Owned(*ctx)
	n := rknn.InOutNum{}
	t.OK("query", *ctx, rknn.QueryInOutNum, &n, 8)
	t.Check(int(n.In) == len(in) && int(n.Out) == len(want), "%d inputs and %d outputs, want %d and %d", n.In, n.Out,
		len(in), len(want))
	endless := bytes.Contains(model, []byte("Loop")) // with other inputs
	for run := range 3 {
		if run == 1 && endless {
			continue
		}
		list := make([]rknn.Input, len(in))
		for i, x := range in {
			if run == 1 {
				x = x.other()
			}
			p := &port{elem: x.elem, dims: x.dims}
			kind := kindOf(x.elem)
			if p.reals() && x.elem != rknn.ONNXHalf {
				kind = rknn.Float32
			}
			data, size := encoded(kind, x.v), elemBytes(kind)
			if x.raw != nil && kind == kindOf(x.elem) {
				data = x.raw
			}
			laid := make([]byte, len(data))
			each(x.dims, func(at []int, k int) {
				rows := 0
				if len(at) == 4 {
					rows = x.dims[2]
				}
				copy(laid[p.place(p.format(), at, 1, rows)*size:][:size], data[k*size:])
			})
			list[i] = t.Given(i, kind, p.format(), laid)
		}
		slices.Reverse(list)
		t.OK("inputs_set", *ctx, len(list), list)
		if run == 1 {
			t.Code("run", *ctx, nil)
			continue
		}
		t.Run(*ctx)
		for i, y := range want {
			t.compareVector(*ctx, i, y, slack(name))
		}
	}
}

func (t *T) compareVector(ctx uintptr, i int, y given, more float64) {
	a := t.Attr(ctx, rknn.QueryOutput, i)
	dims := make([]uint32, len(y.dims))
	for d, n := range y.dims {
		dims[d] = uint32(n)
	}
	t.Check(slices.Equal(a.Shape(), dims), "output %d: dims %v, want %v", i, a.Shape(), y.dims)
	o := []rknn.Output{{Index: uint32(i), WantFloat: 1}}
	kind := uint32(rknn.Float32)
	if !(&port{elem: y.elem}).reals() && a.Qnt == rknn.QntNone {
		o[0].WantFloat, kind = 0, kindOf(y.elem)
		t.Check(a.Kind == kind, "output %d: type %d, want %d", i, a.Kind, kind)
	}
	t.OK("outputs_get", ctx, 1, o, nil)
	size := elemBytes(kind)
	data := cmem.Span[byte](o[0].Buf, len(y.v)*size)
	got := decoded(kind, data)
	exact := y.raw != nil && kind == kindOf(y.elem) && y.elem != rknn.ONNXHalf
	var apart numbers.Apart
	for k, w := range y.v {
		tol := 0.0
		if kind == rknn.Float32 {
			tol = 2e-6 + 1e-4*math.Abs(w) + more
			if y.elem == rknn.ONNXHalf {
				tol = 1e-3 + 1e-3*math.Abs(w)
			}
		}
		g := got[k]
		apart.Add(g, w, exact && !bytes.Equal(data[k*size:][:size], y.raw[k*size:][:size]) ||
			!(math.Abs(g-w) <= tol) && g != w && !(g != g && w != w))
	}
	t.Check(apart.Wrong() < 0, "output %d of %v: %v", i, y.dims, &apart)
	t.OK("outputs_release", ctx, 1, o)
}
