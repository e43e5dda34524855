package rules

import (
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Makers of what cases need. Objects are destroyed when the case ends, unless the case has done it.

// handle is an object's variable in the program.
type handle struct{ v uintptr }

func (t *T) object(destroy string, v uintptr) uintptr {
	h := &handle{v}
	t.Later(func() { t.Call(destroy, &h.v) })
	return v
}

// destroysNoOther gives a function that destroys something else a descriptor.
func (t *T) destroysNoOther(destroy string) {
	d := floatDesc(t)
	v := d
	t.Call(destroy, &v)
	t.NoEffect(v != d, "the variable with a descriptor holds %#x", v)
	t.wantShape(d, 2, 3)
}

// desc makes a descriptor; without dims its shape is not set.
func (t *T) desc(dataType int32, dims ...int32) uintptr {
	d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
	t.OK("TensorDesc_SetDataType", d, dataType)
	if len(dims) > 0 {
		t.OK("TensorDesc_SetShape", d, dims, len(dims))
	}
	return d
}

// tensor makes a float tensor with data.
func (t *T) tensor(data []float32, dims ...int32) uintptr {
	x := t.object("Tensor_Destroy", t.Ptr("Tensor_Create", 0, t.desc(float32T, dims...)))
	copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", x), len(data)), data)
	return x
}

// integers makes a tensor of a list of int32.
func (t *T) integers(data ...int32) uintptr {
	x := t.newTensor("Create", 0, t.desc(int32T, int32(len(data))))
	copy(cmem.Span[int32](t.Ptr("Tensor_GetDataBuffer", x), len(data)), data)
	return x
}

// floats reads a tensor's first values.
func (t *T) floats(x uintptr, n int) []float32 {
	return cmem.Copy[float32](t.Ptr("Tensor_GetDataBuffer", x), n)
}

func (t *T) emptyModel() uintptr { return t.object("Model_Destroy", t.Ptr("Model_Construct")) }

// openModel has float tensors 0, 1 and 2 of the given shape, and the activation parameter 3. It has no operation yet.
func (t *T) openModel(dims ...int32) uintptr {
	m := t.emptyModel()
	for range 3 {
		t.OK("Model_AddTensorToModel", m, t.desc(float32T, dims...))
	}
	t.OK("Model_AddTensorToModel", m, t.desc(int8T))
	t.OK("Model_SetTensorType", m, 3, addActivation)
	t.OK("Model_SetTensorData", m, 3, []byte{0}, 1)
	return m
}

// unspecified has its operation, tensor 2 = tensor 0 + tensor 1.
func (t *T) unspecified(dims ...int32) uintptr {
	m := t.openModel(dims...)
	t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
	return m
}

// unfinished has its inputs and outputs as well.
func (t *T) unfinished(dims ...int32) uintptr {
	m := t.unspecified(dims...)
	t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
	return m
}

// model is finished.
func (t *T) model(dims ...int32) uintptr {
	m := t.unfinished(dims...)
	t.OK("Model_Finish", m)
	return m
}

// unbuilt is a compilation of a finished model of two floats.
func (t *T) unbuilt() uintptr { return t.compilation(t.model(2)) }

func (t *T) compilation(m uintptr) uintptr {
	return t.object("Compilation_Destroy", t.Ptr("Compilation_Construct", m))
}

func (t *T) forCache() uintptr {
	return t.object("Compilation_Destroy", t.Ptr("Compilation_ConstructForCache"))
}

// built is a compilation that is built.
func (t *T) built(dims ...int32) uintptr {
	c := t.compilation(t.model(dims...))
	t.OK("Compilation_Build", c)
	return c
}

// executor runs tensor 2 = tensor 0 + tensor 1.
func (t *T) executor(dims ...int32) uintptr { return t.executorOf(t.built(dims...)) }

func (t *T) executorOf(c uintptr) uintptr {
	return t.object("Executor_Destroy", t.Ptr("Executor_Construct", c))
}

// runs demands that executor e of float[2] computes 1+10 and 2+20.
func (t *T) runs(e uintptr) {
	in := []uintptr{t.tensor([]float32{1, 2}, 2), t.tensor([]float32{10, 20}, 2)}
	out := []uintptr{t.tensor(nil, 2)}
	t.OK("Executor_RunSync", e, in, 2, out, 1)
	got := t.floats(out[0], 2)
	t.Check(got[0] == 11 && got[1] == 22, "1+10, 2+20: got %v", got)
}

// builds demands that a compilation can be built, and runs it.
func (t *T) builds(c uintptr) {
	t.OK("Compilation_Build", c)
	t.runs(t.executorOf(c))
}

// unknownDevice is an id that no device has.
func (t *T) unknownDevice() uint64 {
	var ids uintptr
	var n uint32
	t.OK("Device_GetAllDevicesID", &ids, &n)
	id := uint64(123456789)
	for again := true; again; {
		again = false
		for _, have := range cmem.Copy[uint64](ids, int(n)) {
			if have == id {
				id, again = id+1, true
			}
		}
	}
	return id
}
