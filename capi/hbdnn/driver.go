package hbdnn

/*
#include <stdint.h>

#include "../boundary/boundary.h"

struct memory { // hbSysMem
	uint64_t phys;
	uintptr_t virt;
	uint32_t size;
};

static int32_t flush(void *function, uint64_t phys, uintptr_t virt, uint32_t size, int32_t flag)
{
	struct memory m = {phys, virt, size};
	int inside = anynpu_out();
	int32_t code = ((int32_t (*)(struct memory *, int32_t))function)(&m, flag);
	anynpu_back(inside);
	return code;
}

static uintptr_t version(void *function)
{
	int inside = anynpu_out();
	const char *text = ((const char *(*)(void))function)();
	anynpu_back(inside);
	return (uintptr_t)text;
}
*/
import "C"

import (
	"fmt"
	"strings"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
)

// Beside a driver all memory is its own, and what it lacks for that is refused. hbDNNResize has no object that would
// tell whose it is: the driver scales, unless it cannot. Functions that only compute are this library's where the
// driver lacks them.
func init() {
	boundary.Choose("hbdnn", func(function string) bool {
		if function == "hbDNNResize" {
			return boundary.DriverHas("hbdnn", function)
		}
		return strings.HasPrefix(function, "hbSys") || strings.HasPrefix(function, "_Z")
	}, nil)
}

// forDriver says whether a driver loads the models of a call: there is one, and none of them is for this library, an
// ONNX file or a pack list. What nothing is known of, or cannot be opened, is for the driver to judge.
func forDriver(sources []model.Source) bool {
	if !boundary.HasDriver("hbdnn") {
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

// boardMemory is memory of the driver's, which an NPU may see otherwise than the processor does.
type boardMemory struct {
	mem.Buffer
	at SysMem
}

// pinned pins need bytes, which the memory says it has. name is that of the memory.
func pinned(m *SysMem, name string, need int64) (mem.Buffer, error) {
	buf, err := api.Pinned(m.virt, name, need)
	if err != nil {
		return nil, err
	}
	return onBoard(m, buf, need), nil
}

// onBoard makes memory of the driver's of n bytes that a program describes so. What has no physical address is the
// program's own.
func onBoard(m *SysMem, b mem.Buffer, n int64) mem.Buffer {
	if m.phys == 0 || !boundary.HasDriver("hbdnn") {
		return b
	}
	return &boardMemory{b, SysMem{phys: m.phys, virt: m.virt, size: uint32(n)}}
}

// flush makes what the NPU has written visible to the processor (flushInvalidate), or the other way round (flushClean).
// What the driver refuses to flush is none of its memory, and needs no flush.
func flush(b mem.Buffer, flag int32) {
	own, ok := b.(*boardMemory)
	if !ok {
		return
	}
	f := function("hbSysFlushMem")
	at := boundary.Driver(f)
	if at == nil {
		return
	}
	boundary.InDriver(f, func() {
		C.flush(at, C.uint64_t(own.at.phys), C.uintptr_t(own.at.virt), C.uint32_t(own.at.size), C.int32_t(flag))
	})
}

// function is what the glue knows of a function.
func function(name string) *boundary.Func {
	for i := range funcs {
		if funcs[i].Name == name {
			return &funcs[i]
		}
	}
	panic("hbdnn: no function " + name)
}

// drivers returns the generation of the headers that the driver was made with, nil without a driver: programs on its
// board have the same.
func drivers() *generation {
	f := function("hbDNNGetVersion")
	at := boundary.Driver(f)
	if at == nil || !boundary.HasDriver("hbdnn") {
		return nil
	}
	var addr uintptr
	boundary.InDriver(f, func() { addr = uintptr(C.version(at)) })
	if addr == 0 {
		return nil
	}
	text, err := boundary.CString(cPointer(addr))
	if err != nil {
		return nil
	}
	g := generationOf(text)
	if g == nil {
		caution("the driver's version is not known as one: ANYNPU_HBDNN_ABI names that of the program's headers "+
			"[hbdnn-driver-version-known]", "version",
			text, "used", generations[len(generations)-1].name)
	}
	return g
}

// generationOf is the newest generation that a version, such as "1.9.7_(3.14.5 HBRT)", is not older than; nil for none.
func generationOf(version string) (g *generation) {
	var major, minor, from int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 || major != 1 {
		return nil
	}
	for i := range generations {
		if _, err := fmt.Sscanf(generations[i].name, "1.%d", &from); err == nil && (from <= minor || i == 0) {
			g = &generations[i]
		}
	}
	return g
}
