package ohnn

import (
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

// array is OH_NN_UInt32Array.
type array struct {
	data *uint32
	size uint32
}

// api is the part of the OH_NN C API that the suite calls. Objects are opaque values.
type api struct {
	descCreate     func() uintptr
	descDestroy    func(*uintptr) int32
	descSetType    func(uintptr, int32) int32
	descSetShape   func(uintptr, *int32, uintptr) int32
	descGetShape   func(uintptr, *uintptr, *uintptr) int32
	descSetFormat  func(uintptr, int32) int32
	quantCreate    func() uintptr
	quantDestroy   func(*uintptr) int32
	quantScales    func(uintptr, *float64, uintptr) int32
	quantZeros     func(uintptr, *int32, uintptr) int32
	quantBits      func(uintptr, *uint32, uintptr) int32
	modelConstruct func() uintptr
	modelDestroy   func(*uintptr)
	addTensor      func(uintptr, uintptr) int32
	setData        func(uintptr, uint32, *byte, uintptr) int32
	setQuant       func(uintptr, uint32, uintptr) int32
	setType        func(uintptr, uint32, int32) int32
	addOperation   func(uintptr, int32, *array, *array, *array) int32
	specify        func(uintptr, *array, *array) int32
	finish         func(uintptr) int32
	availableOps   func(uintptr, uintptr, **bool, *uint32) int32
	compConstruct  func(uintptr) uintptr
	compDestroy    func(*uintptr)
	compBuild      func(uintptr) int32
	execConstruct  func(uintptr) uintptr
	execDestroy    func(*uintptr)
	tensorCreate   func(uintptr, uintptr) uintptr
	tensorDestroy  func(*uintptr) int32
	tensorDesc     func(uintptr) uintptr
	tensorData     func(uintptr) uintptr
	runSync        func(uintptr, *uintptr, uintptr, *uintptr, uintptr) int32
	deviceName     func(uintptr, *uintptr) int32
	lastError      func() string // AnyNPU's own, nil for other libraries
}

// open binds the API of a library file. Every function must be there.
func open(path string) (*api, error) {
	runtime.LockOSThread() // dlerror's text belongs to the thread
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	a := &api{}
	for _, f := range []struct {
		name string
		fn   any
	}{
		{"OH_NNTensorDesc_Create", &a.descCreate}, {"OH_NNTensorDesc_Destroy", &a.descDestroy},
		{"OH_NNTensorDesc_SetDataType", &a.descSetType},
		{"OH_NNTensorDesc_SetShape", &a.descSetShape}, {"OH_NNTensorDesc_GetShape", &a.descGetShape},
		{"OH_NNTensorDesc_SetFormat", &a.descSetFormat},
		{"OH_NNQuantParam_Create", &a.quantCreate}, {"OH_NNQuantParam_Destroy", &a.quantDestroy},
		{"OH_NNQuantParam_SetScales", &a.quantScales},
		{"OH_NNQuantParam_SetZeroPoints", &a.quantZeros}, {"OH_NNQuantParam_SetNumBits", &a.quantBits},
		{"OH_NNModel_Construct", &a.modelConstruct},
		{"OH_NNModel_Destroy", &a.modelDestroy}, {"OH_NNModel_AddTensorToModel", &a.addTensor},
		{"OH_NNModel_SetTensorData", &a.setData},
		{"OH_NNModel_SetTensorQuantParams", &a.setQuant}, {"OH_NNModel_SetTensorType", &a.setType},
		{"OH_NNModel_AddOperation", &a.addOperation},
		{"OH_NNModel_SpecifyInputsAndOutputs", &a.specify}, {"OH_NNModel_Finish", &a.finish}, {"OH_NNCompilation_Construct",
			&a.compConstruct},
		{"OH_NNCompilation_Destroy", &a.compDestroy}, {"OH_NNCompilation_Build", &a.compBuild},
		{"OH_NNExecutor_Construct", &a.execConstruct},
		{"OH_NNExecutor_Destroy", &a.execDestroy}, {"OH_NNTensor_Create", &a.tensorCreate},
		{"OH_NNTensor_Destroy", &a.tensorDestroy},
		{"OH_NNTensor_GetTensorDesc", &a.tensorDesc}, {"OH_NNTensor_GetDataBuffer", &a.tensorData},
		{"OH_NNExecutor_RunSync", &a.runSync},
		{"OH_NNDevice_GetName", &a.deviceName}, {"OH_NNModel_GetAvailableOperations", &a.availableOps},
	} {
		sym, err := purego.Dlsym(lib, f.name)
		if err != nil {
			return nil, fmt.Errorf("%s: %s is missing: %w", path, f.name, err)
		}
		purego.RegisterFunc(f.fn, sym)
	}
	if sym, err := purego.Dlsym(lib, "anynpu_last_error"); err == nil {
		purego.RegisterFunc(&a.lastError, sym)
	}
	return a, nil
}
