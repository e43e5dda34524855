package sizes

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/core/tensor"
)

// ohnnDoor is OH_NN: an offline model, and what its compilation exports.
type ohnnDoor struct{ library *suite.Library }

func (*ohnnDoor) Name() string { return ohnn.API.Name }

func (*ohnnDoor) Forms() []string { return []string{fresh, saved} }

func (d *ohnnDoor) use(_ context.Context, m *Model, form, dir string, f func(run runner) error) error {
	path := filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(path, m.File, 0o600); err != nil {
		return err
	}
	t := &suite.T{Library: d.library, Dir: dir}
	var judged error
	err := t.Compute(func() {
		c := owned(t, "Compilation_Destroy", t.Ptr("Compilation_ConstructWithOfflineModelFile", path))
		if form == saved {
			t.OK("Compilation_Build", c)
			file, n := make([]byte, 4<<20), new(uint64)
			t.OK("Compilation_ExportCacheToBuffer", c, file, len(file), n)
			t.Keep(file)
			c = owned(t, "Compilation_Destroy", t.Ptr("Compilation_ConstructForCache"))
			t.OK("Compilation_ImportCacheFromBuffer", c, file, int(*n))
		}
		t.OK("Compilation_Build", c)
		e := owned(t, "Executor_Destroy", t.Ptr("Executor_Construct", c))
		judged = f(func(_ int, in []tensor.Tensor, out [][]int64) ([]tensor.Tensor, error) {
			return ohnnRun(t, e, in, out), nil
		})
	})
	if err == nil {
		err = judged
	}
	return err
}

// owned has an object destroyed when the case ends.
func owned(t *suite.T, destroy string, object uintptr) uintptr {
	t.Later(func() { t.Call(destroy, &object) })
	return object
}

// ohnnRun runs an executor with tensors of its own.
func ohnnRun(t *suite.T, e uintptr, in []tensor.Tensor, out [][]int64) (got []tensor.Tensor) {
	var tensors []uintptr
	defer func() {
		for i := range tensors {
			t.Call("Tensor_Destroy", &tensors[i])
		}
	}()
	add := func(dims []int64) uintptr {
		desc := t.Ptr("TensorDesc_Create")
		defer t.Call("TensorDesc_Destroy", &desc)
		t.OK("TensorDesc_SetDataType", desc, model.DataTypes["float32"].Number)
		own := make([]int32, len(dims))
		for i, n := range dims {
			own[i] = int32(n)
		}
		t.OK("TensorDesc_SetShape", desc, own, len(own))
		tensors = append(tensors, t.Ptr("Tensor_Create", 0, desc))
		return tensors[len(tensors)-1]
	}
	for _, x := range in {
		copy(cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", add(x.Dims)), len(x.Data)), x.Data)
	}
	for _, dims := range out {
		add(dims)
	}
	t.OK("Executor_RunSync", e, tensors[:len(in)], len(in), tensors[len(in):], len(out))
	for _, x := range tensors[len(in):] {
		var p, n uintptr
		t.OK("TensorDesc_GetShape", t.Ptr("Tensor_GetTensorDesc", x), &p, &n)
		y := tensor.Tensor{DType: tensor.Float32}
		for _, n := range cmem.Copy[int32](p, int(n)) {
			y.Dims = append(y.Dims, int64(n))
		}
		y.Data = slices.Clone(cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", x), 4*y.Count()))
		got = append(got, y)
	}
	return got
}
