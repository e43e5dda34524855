// Package toy is the behaviour of a made-up API: a context adds numbers and keeps blocks of them. Its driver is the
// library that TOY_DRIVER names; a context called "ours" stays here in any case.
package toy

/*
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "../boundary/boundary.h"

// Opening a driver runs functions of its own.
static void *open_driver(const char *file)
{
	int inside = anynpu_out();
	void *lib = secure_getenv("TOY_NAMESPACE") ? dlmopen(LM_ID_NEWLM, file, RTLD_NOW | RTLD_LOCAL) : dlopen(file,
		RTLD_NOW | RTLD_LOCAL);
	anynpu_back(inside);
	return lib;
}

static uintptr_t lookup(void *lib, const char *symbol) { return lib ? (uintptr_t)dlsym(lib, symbol) : 0; }
*/
import "C"

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// Status is toy_status.
type Status int32

func status(err error) Status {
	if err != nil {
		return -1
	}
	return 0
}

// A Context is a toy_context.
type Context struct{ handle.Ref }

// A Block is a toy_block.
type Block struct {
	data  uintptr
	count int32
	owner uintptr
}

// Place, Pair and Spot are toy_place, toy_pair and toy_spot.
type (
	Place struct {
		dims [8]int32
		n    int32
	}
	Pair struct {
		whole int64
		part  float64
	}
	Spot struct {
		x, y float32
		sort uint32
	}
)

// A List is a toy_list.
type List struct{ handle.Ref }

// A block is what stands behind a toy_block, which has its handle.
type block struct {
	handle.Ref
	numbers, info boundary.Block
}

var library, none boundary.Block

func init() {
	library.SetString("library")
	none.SetString("none")
	boundary.Decide("toy", func() (boundary.State, error) {
		file := boundary.Getenv("TOY_DRIVER")
		if file == "" {
			return boundary.CPU, nil
		}
		path := C.CString(file)
		defer C.free(unsafe.Pointer(path))
		lib := C.open_driver(path)
		functions := map[string]uintptr{}
		for _, name := range []string{"toy_open", "toy_add", "toy_close", "toy_share", "toy_alloc", "toy_fill", "toy_free",
			"toy_move", "toy_list_make", "toy_list_length", "toy_list_end", "toy_list_free", "tallyCalls", "toy_who",
			"toy_board"} {
			symbol := C.CString(name)
			functions[name] = uintptr(C.lookup(lib, symbol))
			C.free(unsafe.Pointer(symbol))
		}
		boundary.SetDriver("toy", file, functions)
		if boundary.Getenv("TOY_DEVICE") != "" {
			return boundary.Device, nil
		}
		return boundary.PassThrough, nil
	})
}

// open is toy_open.
func open(name string) (*Context, error) {
	if name == "panic" {
		panic("asked for")
	}
	if name != "ours" && boundary.HasDriver("toy") {
		return nil, boundary.ErrPassOn
	}
	return &Context{}, nil
}

// add is toy_add.
func add(_ *Context, a int32, b float64, c int32, sum *int32) error {
	*sum = a + int32(b) + c
	return nil
}

// close is toy_close.
func close(*Context) error { return nil }

// share is toy_share: another context.
func share(from *uintptr) (*Context, error) {
	if _, err := handle.Hold[Context](*from); err != nil {
		return nil, err
	}
	handle.Unhold(*from)
	return &Context{}, nil
}

// alloc is toy_alloc.
func alloc(_ *Context, count int32) (uintptr, error) {
	if count < 1 || count > 1000 {
		return 0, fault.New(fault.Argument, "count: %d: want 1 to 1000", count)
	}
	b := &block{}
	owner, err := handle.Of(b)
	if err != nil {
		return 0, err
	}
	boundary.SetSlice(&b.numbers, make([]int32, count))
	boundary.SetSlice(&b.info, []Block{{b.numbers.Addr(), count, owner}})
	return b.info.Addr(), nil
}

// fill is toy_fill.
func fill(_ *Context, info *Block, value int32) error {
	b, err := handle.Hold[block](info.owner)
	if err != nil {
		return err
	}
	defer handle.Unhold(info.owner)
	for i := range info.count {
		*(*int32)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&info.data)), 4*i)) = value
	}
	_ = b
	return nil
}

// free is toy_free.
func free(info *Block) error {
	b, err := handle.Close[block](info.owner)
	if err != nil {
		return err
	}
	handle.Drop(b)
	b.numbers.Free()
	b.info.Free()
	return nil
}

// move is toy_move. Without a context it is the driver's.
func move(c *Context, place *Place, pair *Pair, first int32, spot *Spot, sum *int32) error {
	if c == nil && boundary.HasDriver("toy") {
		return boundary.ErrPassOn
	}
	*sum = first + place.n + int32(pair.whole) + int32(pair.part) + int32(spot.x) + 2*int32(spot.y) + int32(spot.sort)
	for i, d := range place.dims {
		*sum += d << i
	}
	return nil
}

// listMake is toy_list_make: the driver's where there is one, and no lists are asked of us.
func listMake() (*List, error) {
	if boundary.HasDriver("toy") && boundary.Getenv("TOY_LISTS") == "" {
		return nil, boundary.ErrPassOn
	}
	return &List{}, nil
}

func listLength(*List) (int32, error) { return 3, nil }

func listEnd(*List) error { return nil }

func listFree(*List) error { return nil }

func tallyCalls(n int32) (int32, error) { return n + 1, nil }

// board is toy_board without a driver.
func board() (uintptr, error) { return none.Addr(), nil }

// who is toy_who.
func who() (uintptr, error) { return library.Addr(), nil }
