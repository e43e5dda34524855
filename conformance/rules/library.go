package rules

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the OH_NN C API of one file, called by name. All parameters of this API are integers or pointers, so one
// way of calling serves every function.
type library struct {
	symbols  map[string]uintptr
	called   map[string]bool // functions called since the last reset
	counters [2]uintptr      // of the library's handles and buffers, 0 where it has none
}

// live counts the library's handles and buffers, 0 where it does not tell.
func (l *library) live() (counts [2]int) {
	for i, symbol := range l.counters {
		if symbol != 0 {
			n, _, _ := purego.SyscallN(symbol)
			counts[i] = int(n)
		}
	}
	return counts
}

// open binds every function of Functions.
func open(path string) (*library, error) {
	runtime.LockOSThread() // dlerror's text belongs to the thread
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l := &library{symbols: map[string]uintptr{}, called: map[string]bool{}}
	for _, name := range Functions {
		if l.symbols[name], err = purego.Dlsym(lib, name); err != nil {
			return nil, fmt.Errorf("%s: %s is missing: %w", path, name, err)
		}
	}
	for i, name := range []string{"anynpu_live_handles", "anynpu_live_buffers"} {
		if symbol, err := purego.Dlsym(lib, name); err == nil {
			l.counters[i] = symbol
		}
	}
	return l, nil
}

// prefix begins the name of every function; cases leave it out.
const prefix = "OH_NN"

// call calls a function by its name without the prefix. Arguments are nil, integers, booleans, strings (passed with a
// final 0), slices (passed as their first element's address) and pointers. A negative int stands for a 64-bit value, a
// negative int32 for a 32-bit one.
func (l *library) call(name string, args ...any) uintptr {
	symbol, ok := l.symbols[prefix+name]
	if !ok {
		panic("rules: no function " + prefix + name)
	}
	l.called[prefix+name] = true
	values := make([]uintptr, len(args))
	keep := slices.Clone(args)
	for i, a := range args {
		values[i], keep[i] = argument(a)
	}
	r, _, _ := purego.SyscallN(symbol, values...)
	runtime.KeepAlive(keep)
	return r
}

// argument returns the register value of a, and what must live as long as the call.
func argument(a any) (uintptr, any) {
	switch v := a.(type) {
	case nil:
		return 0, nil
	case int:
		return uintptr(v), nil
	case int32:
		return uintptr(uint32(v)), nil
	case uint32:
		return uintptr(v), nil
	case uint64:
		return uintptr(v), nil
	case uintptr:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		b := append([]byte(v), 0)
		return address(&b[0]), b
	case []byte:
		return first(v), v
	case []int32:
		return first(v), v
	case []uint32:
		return first(v), v
	case []float32:
		return first(v), v
	case []float64:
		return first(v), v
	case []uintptr:
		return first(v), v
	case []tensorInfo:
		return first(v), v
	case []extension:
		return first(v), v
	case *uintptr:
		return address(v), v
	case *uint32:
		return address(v), v
	case *int32:
		return address(v), v
	case *uint64:
		return address(v), v
	case *bool:
		return address(v), v
	case *array:
		return address(v), v
	case *legacyTensor:
		return address(v), v
	case *memory:
		return address(v), v
	}
	panic(fmt.Sprintf("rules: argument of type %T", a))
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func first[T any](v []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(v))) }

// at returns the value at an address that the library gave.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// load copies n values from an address that the library gave.
func load[T any](addr uintptr, n int) []T {
	if addr == 0 {
		return nil
	}
	return slices.Clone(unsafe.Slice(at[T](addr), n))
}

// text copies the string at an address that the library gave.
func text(addr uintptr) string {
	var b []byte
	for p := addr; ; p++ {
		c := *at[byte](p)
		if c == 0 {
			return string(b)
		}
		b = append(b, c)
	}
}

// The structs of the API, as OH_NN types notes, sections 3 and 4, lay them out.

// array is OH_NN_UInt32Array.
type array struct {
	data *uint32
	size uint32
}

func list(v ...uint32) *array {
	if len(v) == 0 {
		return &array{}
	}
	return &array{&v[0], uint32(len(v))}
}

// legacyQuant is OH_NN_QuantParam.
type legacyQuant struct {
	count  uint32
	bits   *uint32
	scales *float64
	zeros  *int32
}

// legacyTensor is OH_NN_Tensor.
type legacyTensor struct {
	dataType   int32
	rank       uint32
	dims       *int32
	quant      *legacyQuant
	tensorType int32
}

func legacy(dataType int32, dims ...int32) *legacyTensor {
	t := &legacyTensor{dataType: dataType, rank: uint32(len(dims))}
	if len(dims) > 0 {
		t.dims = &dims[0]
	}
	return t
}

// memory is OH_NN_Memory.
type memory struct {
	data   uintptr
	length uintptr
}

// tensorInfo is OH_NN_TensorInfo.
type tensorInfo struct {
	name     [128]byte
	dataType int32
	rank     uint32
	dims     *int32
	format   int32
}

// extension is OH_NN_Extension.
type extension struct {
	name  [128]byte
	value *byte
	size  uintptr
}

// Return codes of the API.
const (
	success  = 0
	failed   = 1
	invalid  = 2
	memError = 3
	forbid   = 4
	nullPtr  = 5
	badFile  = 6
	timedOut = 9
	unsup    = 10
	saveErr  = 12
	dynamic  = 13
	unavail  = 14
)

var codeNames = map[int]string{
	success: "SUCCESS", failed: "FAILED", invalid: "INVALID_PARAMETER", memError: "MEMORY_ERROR",
	forbid:  "OPERATION_FORBIDDEN",
	nullPtr: "NULL_PTR", badFile: "INVALID_FILE", 7: "UNAVALIDABLE_DEVICE", 8: "INVALID_PATH", timedOut: "TIMEOUT",
	unsup: "UNSUPPORTED",
	11:    "CONNECTION_EXCEPTION", saveErr: "SAVE_CACHE_EXCEPTION", dynamic: "DYNAMIC_SHAPE",
	unavail: "UNAVAILABLE_DEVICE",
}

// codeName shows a code by name and number.
func codeName(c int) string {
	if n, ok := codeNames[c]; ok {
		return fmt.Sprintf("%s(%d)", n, c)
	}
	return fmt.Sprint(c)
}

// Enumerators that the cases use.
const (
	boolean  = 1
	int8T    = 2
	int32T   = 4
	int64T   = 5
	float32T = 11

	opAdd     = 1
	opMatMul  = 19
	opReshape = 45
	opRelu    = 47

	addActivation = 1 // OH_NN_ADD_ACTIVATIONTYPE
)

const maxBuffer = 1 << 30

var hugeSize = uint64(math.MaxUint64)
