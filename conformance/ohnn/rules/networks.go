package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// The models of cases in which one object is used again, or in which every port differs from the others.

// open adds tensors of a data type and these shapes to a model.
func (t *T) open(m uintptr, dataType int32, shapes ...[]int32) {
	for _, dims := range shapes {
		t.OK("Model_AddTensorToModel", m, t.desc(dataType, dims...))
	}
}

// compiled finishes a model with these inputs and outputs and makes an executor of it.
func (t *T) compiled(m uintptr, in, out *ohnn.Array) uintptr {
	c := t.compilation(t.closed(m, in, out))
	t.OK("Compilation_Build", c)
	return t.executorOf(c)
}

func (t *T) closed(m uintptr, in, out *ohnn.Array) uintptr {
	t.OK("Model_SpecifyInputsAndOutputs", m, in, out)
	t.OK("Model_Finish", m)
	return m
}

// pattern is n numbers that are exact, mostly different, of both signs and without symmetry; seeds give other ones.
func pattern(n, seed int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32((i*37+seed*53+i*i*3)%97)/4 - 11
	}
	return out
}

// turned is a finished model of y = transpose(x + b), where x has rows and columns and b a value for each column. It
// tells every shape from any other, also from one with as many elements.
func (t *T) turned(rows, columns int32) uintptr {
	m := t.emptyModel()
	t.open(m, float32T, []int32{rows, columns}, []int32{columns}, []int32{rows, columns})
	t.open(m, int32T, []int32{2})
	t.open(m, float32T, []int32{columns, rows})
	t.OK("Model_SetTensorData", m, 3, []int32{1, 0}, 8)
	t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_AddOperation", m, opTranspose, &ohnn.Array{}, ohnn.List(2, 3), ohnn.List(4))
	return t.closed(m, ohnn.List(0, 1), ohnn.List(4))
}

// turning is an executor of turned with open dimensions.
func (t *T) turning() uintptr {
	c := t.compilation(t.turned(-1, -1))
	t.OK("Compilation_Build", c)
	return t.executorOf(c)
}

// turn is what turned computes of these numbers.
func turn(x, b []float32, rows, columns int) []float32 {
	y := make([]float32, 0, len(x))
	for j := range columns {
		for i := range rows {
			y = append(y, x[i*columns+j]+b[j])
		}
	}
	return y
}

// shapes are those in which an object is used one after the other: with as many elements, with fewer, with more.
var shapes = [][2]int{{2, 3}, {3, 2}, {4, 1}, {1, 4}, {5, 7}, {2, 3}}

// turns runs e, of turned with any dimensions, with data of a seed, and demands result, shapes and what lies behind the
// result. The output tensor is the caller's, with room for 64 floats.
func (t *T) turns(e, out uintptr, rows, columns, seed int) {
	x, b := pattern(rows*columns, seed), pattern(columns, seed+1)
	in := []uintptr{t.tensor(x, int32(rows), int32(columns)), t.tensor(b, int32(columns))}
	canary := cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", out), 64)
	for i := range canary {
		canary[i] = -777
	}
	t.OK("Executor_RunSync", e, in, 2, []uintptr{out}, 1)
	t.turnedRight(e, out, rows, columns, seed)
	for i := rows * columns; i < 64; i++ {
		t.Check(canary[i] == -777, "element %d behind the result of %d was written", i, rows*columns)
	}
	t.Check(slices.Equal(t.floats(in[0], len(x)), x) && slices.Equal(t.floats(in[1], len(b)), b), "the run has changed "+
		"its inputs")
	t.wantShape(t.Ptr("Tensor_GetTensorDesc", in[0]), int32(rows), int32(columns))
	t.wantShape(t.Ptr("Tensor_GetTensorDesc", in[1]), int32(columns))
}

// turnedRight demands the result of turns and the shapes that are told of it.
func (t *T) turnedRight(e, out uintptr, rows, columns, seed int) {
	want := turn(pattern(rows*columns, seed), pattern(columns, seed+1), rows, columns)
	got := t.floats(out, len(want))
	t.Check(slices.Equal(got, want), "%d x %d: got %v, want %v", rows, columns, got, want)
	shape := t.outputShape(e)
	t.Check(slices.Equal(shape, []int32{int32(columns), int32(rows)}), "GetOutputShape: %v, want [%d %d]", shape, columns,
		rows)
	d := t.Ptr("Tensor_GetTensorDesc", out)
	t.wantShape(d, int32(columns), int32(rows))
	t.Check(t.size("TensorDesc_GetElementCount", d) == uint64(len(want)), "%d elements, want %d",
		t.size("TensorDesc_GetElementCount", d), len(want))
	t.Check(t.size("TensorDesc_GetByteSize", d) == uint64(4*len(want)), "%d bytes, want %d",
		t.size("TensorDesc_GetByteSize", d), 4*len(want))
}

// room is a tensor with room for 64 floats, whose shape is open.
func (t *T) room() uintptr { return t.newTensor("CreateWithSize", 0, t.desc(float32T, -1, -1), 256) }

// port is an input or output of switchboard.
type port struct {
	index    int // of its tensor in the model
	dataType int32
	dims     []int32
}

// The ports of switchboard, in their order. No two have the same shape, and none has the number of its tensor.
var (
	boardInputs = []port{{6, float32T, []int32{7}}, {3, int32T, []int32{5, 1}}, {1, float32T, []int32{1, 3}},
		{0, float32T, []int32{2, 3}}}
	boardOutputs = []port{{5, int32T, []int32{5, 1}}, {7, float32T, []int32{7}}, {2, float32T, []int32{2, 3}}}
)

// switchboard is a finished model of three operations whose inputs and outputs are not in the order of their tensors:
// t2 = t0 + t1, t5 = t3 - t4 with t4 constant, t7 = relu(t6). With open dimensions every first one is -1.
func (t *T) switchboard(open bool) uintptr {
	m := t.emptyModel()
	for i, p := range []port{boardInputs[3], boardInputs[2], boardOutputs[2], boardInputs[1], {4, int32T, []int32{5, 1}},
		boardOutputs[0], boardInputs[0], boardOutputs[1]} {
		d := t.desc(p.dataType, declared(p, open && i != 4 && i != 1)...)
		t.OK("TensorDesc_SetName", d, "mine")
		t.OK("TensorDesc_SetFormat", d, 1)
		t.OK("Model_AddTensorToModel", m, d)
	}
	t.OK("Model_SetTensorData", m, 4, []int32{1, -2, 30, 400, -5000}, 20)
	t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_AddOperation", m, opSub, &ohnn.Array{}, ohnn.List(3, 4), ohnn.List(5))
	t.OK("Model_AddOperation", m, opRelu, &ohnn.Array{}, ohnn.List(6), ohnn.List(7))
	return t.closed(m, ohnn.List(6, 3, 1, 0), ohnn.List(5, 7, 2))
}

// declared is the shape of a port in a model, whose first dimension may be open.
func declared(p port, open bool) []int32 {
	dims := slices.Clone(p.dims)
	if open {
		dims[0] = -1
	}
	return dims
}

// wired demands what an executor of switchboard tells of its ports, and what it computes.
func (t *T) wired(e uintptr, open bool) {
	t.Check(t.size("Executor_GetInputCount", e) == 4 && t.size("Executor_GetOutputCount", e) == 3, "%d inputs and %d "+
		"outputs, want 4 and 3", t.size("Executor_GetInputCount", e), t.size("Executor_GetOutputCount", e))
	in, out := make([]uintptr, 4), make([]uintptr, 3)
	for i, p := range boardInputs {
		d := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateInputTensorDesc", e, i))
		t.describes(d, p, declared(p, open && i != 2), "input", i)
		t.OK("TensorDesc_SetShape", d, p.dims, len(p.dims))
		in[i] = t.newTensor("Create", 0, d)
	}
	for i, p := range boardOutputs {
		d := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateOutputTensorDesc", e, i))
		t.describes(d, p, declared(p, open), "output", i)
		out[i] = t.newTensor("CreateWithSize", 0, d, 256)
	}
	b, c := pattern(3, 2), pattern(6, 3)
	copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", in[0]), 7), pattern(7, 1))
	copy(cmem.Span[int32](t.Ptr("Tensor_GetDataBuffer", in[1]), 5), []int32{10, 20, 300, 4000, 50000})
	copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", in[2]), 3), b)
	copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", in[3]), 6), c)
	t.OK("Executor_RunSync", e, in, 4, out, 3)
	sums, cut := make([]float32, 6), pattern(7, 1)
	for i := range sums {
		sums[i] = c[i] + b[i%3]
	}
	for i := range cut {
		cut[i] = max(cut[i], 0)
	}
	got := cmem.Copy[int32](t.Ptr("Tensor_GetDataBuffer", out[0]), 5)
	t.Check(slices.Equal(got, []int32{9, 22, 270, 3600, 55000}), "output 0: %v", got)
	t.Check(slices.Equal(t.floats(out[1], 7), cut), "output 1: %v, want %v", t.floats(out[1], 7), cut)
	t.Check(slices.Equal(t.floats(out[2], 6), sums), "output 2: %v, want %v", t.floats(out[2], 6), sums)
	for i, p := range boardOutputs {
		t.describes(t.Ptr("Tensor_GetTensorDesc", out[i]), p, p.dims, "output tensor", i)
		var shape uintptr
		var n uint32
		t.OK("Executor_GetOutputShape", e, i, &shape, &n)
		t.Check(slices.Equal(cmem.Copy[int32](shape, int(n)), p.dims), "output %d has the shape %v, want %v", i,
			cmem.Copy[int32](shape, int(n)), p.dims)
	}
}

// describes demands what a descriptor of a port tells.
func (t *T) describes(d uintptr, p port, dims []int32, what string, i int) {
	t.Check(slices.Equal(t.shape(d), dims), "%s %d: shape %v, want %v", what, i, t.shape(d), dims)
	t.Check(t.enum("TensorDesc_GetDataType", d) == p.dataType, "%s %d: data type %d, want %d", what, i,
		t.enum("TensorDesc_GetDataType", d), p.dataType)
	t.Check(t.enum("TensorDesc_GetFormat", d) == 2, "%s %d: format %d, want NHWC", what, i,
		t.enum("TensorDesc_GetFormat", d))
	want := "Tensor: " + string(compact(p.index))
	t.Check(t.name(d) == want, "%s %d: name %q, want %q", what, i, t.name(d), want)
}
