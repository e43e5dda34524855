package rknn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// What users of the vendor's library get wrong most, and the sentence that tells them: the field that was read, its
// value, and what would fit.
func TestMessages_nameFieldValueAndWhatFits(t *testing.T) {
	image := open(t, identity(onnxtest.Float, 1, 3, 2, 4), 0) // 24 elements
	quant := open(t, quantized(0.5, -10, 1, 24), 0)
	pair := open(t, identity(onnxtest.Float, 1, 4).Node("Neg", "z", "x").Output("z", onnxtest.Float, 1, 4), 0)
	dynamic := open(t, dynamicModel(), 0)
	outside := open(t, identity(onnxtest.Float, 1, 4), flagMemAllocOutside)
	fenced := open(t, identity(onnxtest.Float, 1, 4), flagFenceOut)
	info := open(t, identity(onnxtest.Float, 1, 4), flagInfoOnly)
	bytes24 := make([]uint8, 24)
	set := func(c *Context, change func(*Input)) error {
		in := inputOf(t, spec.Uint8, spec.NHWC, bytes24)
		change(&in)
		return inputsSet(c, []Input{in})
	}
	bind := func(c *Context, cmd spec.QueryCmd, size uint32, change func(*spec.TensorAttr)) error {
		a := attrOf(t, c, cmd)
		change(&a)
		return setIoMem(c, created(t, size), &a)
	}
	ran := func(c *Context) *Context {
		require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.NHWC, make([]float32, 24))}))
		require.NoError(t, run(c, nil))
		return c
	}
	get := func(c *Context, o ...Output) error { return outputsGet(ran(c), o, nil) }
	shape := func(c *Context, a ...spec.TensorAttr) error { return setInputShapes(c, a) }
	for _, c := range []struct {
		code spec.Code
		want string
		err  error
	}{
		// A size that does not fit the type, which was forgotten, or pass_through.
		{spec.ErrParam,
			`inputs[0].size is 24: input "x" has 24 elements, which as RKNN_TENSOR_FLOAT32, the type in inputs[0].type, take 96 bytes; 24 bytes fit RKNN_TENSOR_INT8, RKNN_TENSOR_UINT8, RKNN_TENSOR_BOOL; a type that was not set is 0, which is RKNN_TENSOR_FLOAT32`,
			set(image, func(i *Input) { i.kind = 0 })},
		{spec.ErrParam,
			`inputs[0].size is 24: input "x" has 24 elements, which as RKNN_TENSOR_FLOAT16, the type in inputs[0].type, take 48 bytes; 24 bytes fit RKNN_TENSOR_INT8, RKNN_TENSOR_UINT8, RKNN_TENSOR_BOOL`,
			set(image, func(i *Input) { i.kind = spec.Float16 })},
		{spec.ErrParam,
			`inputs[0].size is 23: input "x" has 24 elements, which as RKNN_TENSOR_UINT8, the type in inputs[0].type, take 24 bytes`,
			set(image, func(i *Input) { i.size = 23 })},
		{spec.ErrParam,
			`inputs[0].size is 24: input "x" takes its 24 elements as RKNN_TENSOR_FLOAT16, as inputs[0].pass_through is 1, and wants 48 bytes`,
			set(image, func(i *Input) { i.passThrough = 1 })},
		// Formats, types, counts, indices, pointers.
		{spec.ErrFail,
			`inputs[0].fmt is RKNN_TENSOR_NC1HWC2: input "x" takes RKNN_TENSOR_NHWC or RKNN_TENSOR_NCHW, unless anynpu.input.x.layout in the model's metadata says otherwise`,
			set(image, func(i *Input) { i.format = spec.NC1HWC2 })},
		{spec.ErrFail,
			`inputs[0].type is RKNN_TENSOR_INT4: input "x" takes RKNN_TENSOR_FLOAT32 to RKNN_TENSOR_BOOL and RKNN_TENSOR_BFLOAT16, and converts them to RKNN_TENSOR_INT8`,
			set(quant, func(i *Input) { i.kind = spec.Int4 })},
		{spec.ErrInput, `inputs[0].index is 7: the model has 1 input, whose index is 0`,
			set(image, func(i *Input) { i.index = 7 })},
		{spec.ErrParam, `inputs[0].buf is NULL: input "x" wants the address of its elements`,
			set(image, func(i *Input) { i.buf = 0 })},
		{spec.ErrParam, `n_inputs is 2: the model has 1 input to be set`, inputsSet(image, make([]Input, 2))},
		{spec.ErrParam, `n_outputs is 3: the model has 2 outputs, of which 1 to 2 can be fetched at once`,
			outputsGet(pair, make([]Output, 3), nil)},
		{spec.ErrParam, `n_ouputs is 0: the model has 1 output to be released`, outputsRelease(image, nil)},
		{spec.ErrOutput, `outputs[0].index is 2: the model has 2 outputs, whose indices are 0 to 1`,
			outputsGet(pair, []Output{{index: 2, isPrealloc: 1}}, nil)},
		{spec.ErrOutput,
			`outputs[0].buf is NULL: outputs[0].is_prealloc is 1, so the program must bring a buffer of 48 bytes; 0 has the library make one`,
			get(image, Output{isPrealloc: 1, size: 48})},
		{spec.ErrOutput, `outputs[0].size is 48: output "y" as RKNN_TENSOR_FLOAT32, with outputs[0].want_float 1, takes 96 bytes`,
			get(image, Output{isPrealloc: 1, wantFloat: 1, size: 48, buf: cMemory(t, bytes24)})},
		// The wrong time.
		{spec.ErrFail,
			`context has no results: rknn_run must succeed after rknn_init and after each change of shapes, before rknn_outputs_get`, outputsGet(pair, make([]Output, 1), nil)},
		{spec.ErrFail, `context has no data for input "x": rknn_inputs_set or rknn_set_io_mem must give it before rknn_run`,
			run(pair, nil)},
		{spec.ErrFail, `context has run nothing: rknn_run must succeed before rknn_wait`, wait(pair, nil)},
		{spec.ErrFail,
			`context has no memory for input "x": it was opened with RKNN_FLAG_MEM_ALLOC_OUTSIDE, which wants rknn_set_io_mem before rknn_run`, run(outside, nil)},
		{spec.ErrFail,
			`context was opened with RKNN_FLAG_FENCE_IN_OUTSIDE (0x40) or RKNN_FLAG_FENCE_OUT_OUTSIDE (0x80) in flag: there are no fences, so it cannot run`, run(fenced, nil)},
		{spec.ErrFail, `context was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY (0x100) in flag: it answers rknn_query only`,
			run(info, nil)},
		// Zero copy.
		{spec.ErrParam, `mem->size is 95: "x" as RKNN_TENSOR_FLOAT32 in RKNN_TENSOR_NHWC takes 96 bytes`,
			bind(image, spec.QueryInputAttr, 95, func(a *spec.TensorAttr) { a.Kind = spec.Float32 })},
		{spec.ErrParam, `mem->size is 50: "y" as RKNN_TENSOR_FLOAT16 in RKNN_TENSOR_NC1HWC2 takes 128 bytes`,
			bind(image, spec.QueryNativeOutputAttr, 50, func(*spec.TensorAttr) {})},
		{spec.ErrParam, `attr->fmt is RKNN_TENSOR_NC1HWC2: input "x" takes RKNN_TENSOR_NHWC or RKNN_TENSOR_NCHW`,
			bind(image, spec.QueryInputAttr, 96, func(a *spec.TensorAttr) { a.Format = spec.NC1HWC2 })},
		{spec.ErrParam,
			`attr->fmt is RKNN_TENSOR_UNDEFINED: output "y" gives RKNN_TENSOR_NCHW, RKNN_TENSOR_NHWC or RKNN_TENSOR_NC1HWC2`,
			bind(image, spec.QueryOutputAttr, 96, func(a *spec.TensorAttr) { a.Format = spec.Undefined })},
		{spec.ErrParam, `attr->type is RKNN_TENSOR_INT8: output "y" gives RKNN_TENSOR_FLOAT16 or RKNN_TENSOR_FLOAT32`,
			bind(image, spec.QueryOutputAttr, 96, func(a *spec.TensorAttr) { a.Kind = spec.Int8 })},
		{spec.ErrParam, `attr->h_stride is 1: input "x" has 2 rows and wants as many or more, or 0 for its own`,
			bind(image, spec.QueryInputAttr, 96, func(a *spec.TensorAttr) { a.HStride = 1 })},
		{spec.ErrParam, `attr->name is "images": the model has the inputs ["x"] and the outputs ["y" "z"]`,
			bind(pair, spec.QueryInputAttr, 96, func(a *spec.TensorAttr) { setText(a.Name[:], "images") })},
		{spec.ErrParam, `size is 0: memory has 1 to 4294967295 bytes`, second(createMem(product(t), 0))},
		{spec.ErrParam,
			`mode is 4: it can be RKNN_MEMORY_SYNC_TO_DEVICE (1), RKNN_MEMORY_SYNC_FROM_DEVICE (2) or RKNN_MEMORY_SYNC_BIDIRECTIONAL (3)`, memSync(product(t), nil, 4)},
		{spec.ErrFail,
			`phys_addr is 0x1000, virt_addr NULL, size 64: physical memory cannot be reached from this process: give the address at which the program has mapped it, or use rknn_create_mem, or rknn_create_mem_from_fd with the memory's descriptor`, second(createMemFromPhys(image, 0x1000, nil, 64))},
		// Queries.
		{spec.ErrParam, `size is 368: rknn_tensor_attr has 376 bytes, in older headers 372 or 360`,
			query(image, spec.QueryInputAttr, make([]byte, 368))},
		{spec.ErrParam, `size is 9: rknn_mem_size has 64 bytes, in older headers 8`,
			query(image, spec.QueryMemSize, make([]byte, 9))},
		{spec.ErrParam, `size is 4: rknn_input_output_num has 8 bytes`, query(image, spec.QueryInOutNum, make([]byte, 4))},
		{spec.ErrParam, `cmd is 18: the commands are 0 to 17`, query(image, 18, make([]byte, 4))},
		{spec.ErrModel,
			`cmd is RKNN_QUERY_INPUT_DYNAMIC_RANGE: the shapes of this model are fixed; a dynamic one lists them in anynpu.input.NAME.shapes of its metadata`, query(image, spec.QueryInputDynamicRange, make([]byte, 33040))},
		// Shapes and cores.
		{spec.ErrFail,
			`attr[].dims are [[1 1 3 2]], in the model's order: the model runs with [[[1 1 2 2]] [[1 1 4 2]] [[1 1 1 2]]]`,
			shape(dynamic, shapeAttr(spec.NHWC, 1, 3, 2, 1))},
		{spec.ErrParam, `attr[0].n_dims is 2: input "x" has 4 dimensions`, shape(dynamic, shapeAttr(spec.NHWC, 1, 3))},
		{spec.ErrParam, `n_inputs is 0: the model has 1 input, and all get their shapes together`, shape(dynamic)},
		{spec.ErrFail,
			`core_mask is 0x8: the board rk3588 of ANYNPU_RKNN_TARGET has three cores and takes 0 (AUTO), 1, 2, 4, 3, 7 and 0xffff (ALL); the context stays as it was`, setCoreMask(image, 8)},
		{spec.ErrParam, `core_num is 4: it can be 1 to 3`, setBatchCoreNum(image, 4)},
		// Models.
		{spec.ErrParam, `model is NULL: size says that it is a model of 64 bytes`, second(init_(nil, 64, 0, nil))},
		{spec.ErrParam, `model is NULL: with size 0 it is the name of a file`, second(init_(nil, 0, 0, nil))},
		{spec.ErrModel, `model: it begins with "hello, w", which is no ONNX model: export the network to ONNX and pass that file`,
			second(load([]byte("hello, world"), "", 0))},
	} {
		require.Error(t, c.err, c.want)
		require.Equal(t, c.want, c.err.Error())
		require.Equal(t, c.code, status(c.err), c.want)
	}
}

func second[T any](_ T, err error) error { return err }
