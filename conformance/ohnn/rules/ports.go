package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// wantRange demands the range of an input's dimensions.
func (t *T) wantRange(e uintptr, index int, least, most []uint64) {
	var lo, hi uintptr
	n := uint64(77)
	t.OK("Executor_GetInputDimRange", e, index, &lo, &hi, &n)
	from, to := cmem.Copy[uint64](lo, int(n)), cmem.Copy[uint64](hi, int(n))
	t.Check(slices.Equal(from, least) && slices.Equal(to, most), "input %d: %v to %v, want %v to %v", index, from, to,
		least, most)
}

// boardOf is an executor of switchboard on the first device.
func (t *T) boardOf(open bool) uintptr {
	c := t.compilation(t.switchboard(open))
	t.OK("Compilation_Build", c)
	return t.executorOf(c)
}

// typedShapes are the data types with the shapes of every rank that a tensor can have at run time.
var typedShapes = []struct {
	dataType int32
	dims     []int32
}{
	{boolean, []int32{3}}, {int8T, []int32{2, 3}}, {int16T, []int32{1, 2, 3}}, {int32T, []int32{3, 1, 2, 1}},
	{int64T, []int32{1, 2, 1, 3, 1}}, {uint8T, []int32{2, 1, 1, 1, 1, 3}}, {uint16T, []int32{1, 1, 1, 1, 1, 2, 2}},
	{uint32T, []int32{1, 1, 1, 2, 1, 1, 1, 3}}, {uint64T, []int32{5}}, {float16T, []int32{2, 2}},
	{float64T, []int32{7, 1}},
}

// connections are the rules of what executors tell of several inputs and outputs.
var connections = []*Rule{
	rule("s8_ports", "inputs and outputs are told, taken and given in the order of SpecifyInputsAndOutputs, each with "+
		"its own shape, data type and name").
		OK("fixed", func(t *T) { t.wired(t.boardOf(false), false) }).
		OK("open", func(t *T) { t.wired(t.boardOf(true), true) }).
		OK("twice", func(t *T) {
			e := t.boardOf(true)
			t.wired(e, true)
			t.wired(e, true)
		}).
		No("behind_the_last", func(t *T) {
			e := t.boardOf(false)
			for _, i := range []uint64{4, 5, 200, 1 << 32, hugeSize} {
				t.Null("Executor_CreateInputTensorDesc", e, i)
				t.Bad("Executor_GetInputDimRange", e, i, new(uintptr), new(uintptr), new(uint64))
			}
			for _, i := range []uint64{3, 4, 200, 1 << 32, hugeSize} {
				t.Null("Executor_CreateOutputTensorDesc", e, i)
			}
			for _, i := range []uint32{3, 4, 200, 1<<32 - 1} {
				t.Bad("Executor_GetOutputShape", e, i, new(uintptr), new(uint32))
			}
		}).
		No("in_another_order", func(t *T) {
			e := t.boardOf(false)
			in, out := make([]uintptr, 4), make([]uintptr, 3)
			for i, p := range boardInputs {
				in[(i+1)%4] = t.newTensor("CreateWithSize", 0, t.desc(p.dataType, p.dims...), 256)
			}
			for i, p := range boardOutputs {
				out[i] = t.newTensor("CreateWithSize", 0, t.desc(p.dataType, p.dims...), 256)
			}
			t.Bad("Executor_RunSync", e, in, 4, out, 3)
		}),
	rule("s8_ports_types", "a descriptor of an input or output has data type and shape of the model's tensor, whatever "+
		"they are").
		OK("each", func(t *T) {
			for _, x := range typedShapes {
				m := t.emptyModel()
				t.open(m, x.dataType, x.dims, x.dims)
				t.open(m, int32T, []int32{int32(len(x.dims))})
				t.OK("Model_SetTensorData", m, 2, x.dims, 4*len(x.dims))
				t.OK("Model_AddOperation", m, opReshape, &ohnn.Array{}, ohnn.List(0, 2), ohnn.List(1))
				c := t.compilation(t.closed(m, ohnn.List(0), ohnn.List(1)))
				if t.Code("Compilation_Build", c) != success {
					continue // the library has no reshape of this type
				}
				e := t.executorOf(c)
				in := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateInputTensorDesc", e, 0))
				out := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateOutputTensorDesc", e, 0))
				t.describes(in, port{0, x.dataType, x.dims}, x.dims, "input", 0)
				t.describes(out, port{1, x.dataType, x.dims}, x.dims, "output", 0)
				t.copied(e, in, out)
			}
		}).
		No("another_size", func(t *T) {
			e := t.boardOf(false)
			in, out := make([]uintptr, 4), make([]uintptr, 3)
			for i, p := range boardInputs {
				in[i] = t.newTensor("Create", 0, t.desc(p.dataType, p.dims...))
			}
			for i, p := range boardOutputs {
				out[i] = t.newTensor("Create", 0, t.desc(p.dataType, p.dims...))
			}
			in[1] = t.newTensor("Create", 0, t.desc(int8T, 5, 1))
			t.Is(failed, "Executor_RunSync", e, in, 4, out, 3)
		}),
	rule("s8_ports_scalar", "a scalar input or output has a descriptor without dimensions").
		OK("scalar", func(t *T) {
			e := t.executor()
			for i, function := range []string{"Executor_CreateInputTensorDesc", "Executor_CreateOutputTensorDesc"} {
				d := t.object("TensorDesc_Destroy", t.Ptr(function, e, 0))
				t.describes(d, port{2 * i, float32T, nil}, nil, "port", i)
			}
			t.Check(len(t.outputShape(e)) == 0, "GetOutputShape: %v, want no dimension", t.outputShape(e))
		}).
		No("vector", func(t *T) {
			e := t.executor()
			in := []uintptr{t.tensor(nil, 2), t.tensor(nil, 1)}
			t.Bad("Executor_RunSync", e, in, 2, []uintptr{t.tensor(nil, 1)}, 1)
		}),
	rule("s8_ports_own", "a descriptor that an executor has made is the program's: what is set in it changes no other, "+
		"and it outlives the executor").
		OK("changed", func(t *T) {
			e := t.boardOf(true)
			d := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateOutputTensorDesc", e, 2))
			again := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateOutputTensorDesc", e, 2))
			t.Check(d != again, "the same descriptor twice")
			t.OK("TensorDesc_SetShape", d, []int32{9, 8, 7}, 3)
			t.OK("TensorDesc_SetName", d, "other")
			t.OK("TensorDesc_SetDataType", d, int8T)
			t.OK("TensorDesc_SetFormat", d, 3)
			t.describes(again, boardOutputs[2], declared(boardOutputs[2], true), "output", 2)
			t.wired(e, true)
			t.wantShape(d, 9, 8, 7)
		}).
		OK("outlives", func(t *T) {
			e := t.Ptr("Executor_Construct", t.built(3, 2))
			d := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateInputTensorDesc", e, 1))
			t.Call("Executor_Destroy", &e)
			t.describes(d, port{1, float32T, []int32{3, 2}}, []int32{3, 2}, "input", 1)
			x := t.newTensor("Create", 0, d)
			t.describes(t.Ptr("Tensor_GetTensorDesc", x), port{1, float32T, []int32{3, 2}}, []int32{3, 2}, "input", 1)
		}).
		No("not_made", func(t *T) {
			e := t.Ptr("Executor_Construct", t.built(3, 2))
			stale := e
			t.Call("Executor_Destroy", &e)
			t.Null("Executor_CreateInputTensorDesc", stale, 0)
			t.Null("Executor_CreateOutputTensorDesc", stale, 0)
			t.Bad("Executor_GetOutputShape", stale, 0, new(uintptr), new(uint32))
			t.Bad("Executor_GetInputCount", stale, new(uint64))
		}),
	rule("s8_ranges", "every input has its own ranges: those of the device where a dimension is open, its size twice "+
		"where it is not").
		OK("each_input", func(t *T) {
			e := t.boardOf(true)
			for range 2 {
				t.wantRange(e, 0, []uint64{1}, []uint64{largestDim})
				t.wantRange(e, 1, []uint64{1, 1}, []uint64{largestDim, 1})
				t.wantRange(e, 2, []uint64{1, 3}, []uint64{1, 3})
				t.wantRange(e, 3, []uint64{1, 3}, []uint64{largestDim, 3})
				t.wired(e, true)
			}
		}).
		OK("each_dimension", func(t *T) {
			e := t.turning()
			t.wantRange(e, 0, []uint64{2, 3}, []uint64{5, 7})
			t.wantRange(e, 1, []uint64{2}, []uint64{5})
			t.turns(e, t.room(), 2, 3, 1)
			t.turns(e, t.room(), 5, 4, 2)
			t.wantRange(e, 0, []uint64{2, 3}, []uint64{5, 7})
		}).With(RangeVariable+"=2:5,3:7").
		No("outside", func(t *T) {
			e, out := t.turning(), t.room()
			for _, s := range [][2]int32{{1, 3}, {6, 3}, {2, 2}, {2, 8}, {6, 8}, {1, 2}} {
				in := []uintptr{t.newTensor("Create", 0, t.desc(float32T, s[0], s[1])), t.newTensor("Create", 0,
					t.desc(float32T, s[1]))}
				t.Bad("Executor_RunSync", e, in, 2, []uintptr{out}, 1)
			}
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), -1, -1)
			t.turns(e, out, 5, 3, 1)
		}).With(RangeVariable+"=2:5,3:7").
		No("outside_by_input", func(t *T) {
			e := t.turning()
			x, b := pattern(12, 1), pattern(6, 2)
			t.OK("Executor_SetInput", e, 1, legacy(float32T, 5), b, 20)
			t.Bad("Executor_SetInput", e, 1, legacy(float32T, 6), b, 24)
			t.Bad("Executor_SetInput", e, 1, legacy(float32T, 1), b, 4)
			t.OK("Executor_SetInput", e, 0, legacy(float32T, 4, 3), x, 48)
			t.Bad("Executor_SetInput", e, 0, legacy(float32T, 6, 2), x, 48)
			t.Bad("Executor_SetInput", e, 0, legacy(float32T, 3, 2), x, 48)
		}).With(RangeVariable + "=2:5,3:7"),
	rule("s8_several_devices", "a model runs on each device that computes it, with the same result").
		OK("each", func(t *T) {
			for _, name := range []string{plainDevice, noFloat16Device, gpuDevice, acceleratorDevice, otherDevice, fullDevice} {
				t.runs(t.executorOn(name))
			}
		}).
		OK("tensors_of_another_device", func(t *T) {
			in, _ := t.pair()
			e := t.executorOn(gpuDevice)
			out := t.newTensor("Create", t.named(acceleratorDevice), t.desc(float32T, 2))
			t.OK("Executor_RunSync", e, in, 2, []uintptr{out}, 1)
			t.Check(slices.Equal(t.floats(out, 2), []float32{11, 22}), "got %v", t.floats(out, 2))
		}).
		No("one_without_relu", func(t *T) {
			m := t.additionAndRelu()
			for _, name := range []string{fullDevice, plainDevice, gpuDevice} {
				c := t.compilation(m)
				t.OK("Compilation_SetDevice", c, t.named(name))
				t.Is(map[bool]int{true: failed}[name == plainDevice], "Compilation_Build", c)
			}
		}),
}

// copied runs e, which gives its only input back, with tensors of descriptors and bytes that all differ.
func (t *T) copied(e, in, out uintptr) {
	n := int(t.size("TensorDesc_GetByteSize", in))
	x := t.newTensor("Create", 0, in)
	y := t.newTensor("CreateWithSize", 0, out, n+8)
	from := cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", x), n)
	to := cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", y), n+8)
	for i := range from {
		from[i] = byte(1 + 3*i)
		if t.enum("TensorDesc_GetDataType", in) == boolean {
			from[i] = byte(i % 2)
		}
	}
	for i := range to {
		to[i] = 0xa5
	}
	t.OK("Executor_RunSync", e, []uintptr{x}, 1, []uintptr{y}, 1)
	t.Check(slices.Equal(to[:n], from), "data type %d: got %v, want %v", t.enum("TensorDesc_GetDataType", in), to[:n],
		from)
	t.Check(slices.Equal(to[n:], slices.Repeat([]byte{0xa5}, 8)), "bytes behind the result were written")
}
