package hb

/*
#include <stdint.h>

#include "../boundary/boundary.h"

struct memory { // hbUCPSysMem, and hbSysMem with the gap at its end
	uint64_t phys;
	uintptr_t virt;
	uint64_t size;
};

static int32_t flush(void *function, uint64_t phys, uintptr_t virt, uint64_t size, int32_t flag)
{
	struct memory m = {phys, virt, size};
	int inside = anynpu_out();
	int32_t code = ((int32_t (*)(struct memory *, int32_t))function)(&m, flag);
	anynpu_back(inside);
	return code;
}
*/
import "C"

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
)

// Flags of the functions that flush memory.
const (
	FlushInvalidate int32 = 1 // what the NPU has written becomes visible to the processor
	FlushClean      int32 = 2 // the other way round
)

// boardMemory is memory of a driver's, which an NPU may see otherwise than the processor does.
type boardMemory struct {
	mem.Buffer
	phys uint64
	virt uintptr
	size int64
}

// ForDriver says whether a driver loads the models of a call: there is one, and none of them is for this library, an
// ONNX file or a pack list. The driver judges a file of an unknown kind, or one that cannot be opened.
func (a *API) ForDriver(sources []model.Source) bool {
	if !boundary.HasDriver(a.Component) {
		return false
	}
	for _, s := range sources {
		f, err := s.Open()
		if err != nil {
			continue
		}
		f.Close()
		if f.Format == model.ONNX || f.Format == model.JSON {
			return false
		}
	}
	return true
}

// OnBoard makes memory of the driver's of the n bytes at virt, which b has. Memory without a physical address is the
// program's own.
func (a *API) OnBoard(b mem.Buffer, phys uint64, virt uintptr, n int64) mem.Buffer {
	if phys == 0 || !boundary.HasDriver(a.Component) {
		return b
	}
	return &boardMemory{b, phys, virt, n}
}

// FlushBoard flushes memory of the driver's. Memory that the driver refuses to flush is not the driver's, and needs no
// flush.
func (a *API) FlushBoard(b mem.Buffer, flag int32) {
	own, ok := b.(*boardMemory)
	if !ok {
		return
	}
	f := a.Function(a.Flusher)
	if boundary.Driver(f) == nil {
		return
	}
	boundary.InDriver(f, func(at unsafe.Pointer) {
		C.flush(at, C.uint64_t(own.phys), C.uintptr_t(own.virt), C.uint64_t(own.size), C.int32_t(flag))
	})
}

// Function is the glue's description of a function.
func (a *API) Function(name string) *boundary.Func {
	for i := range a.Funcs {
		if a.Funcs[i].Name == name {
			return &a.Funcs[i]
		}
	}
	panic(a.Component + ": no function " + name)
}
