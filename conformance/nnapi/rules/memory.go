package rules

import (
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

var memories = []*Rule{
	rule("2.a_descriptor", "the program may close its descriptor when memory was made of it").
		OK("closed", func(t *T) {
			fd, err := unix.MemfdCreate("nnapi", unix.MFD_CLOEXEC)
			t.Check(err == nil && unix.Ftruncate(fd, 8) == nil, "memfd_create: %v", err)
			_, err = unix.Pwrite(fd, bytesOf[float32](7, 8), 0)
			t.Check(err == nil, "pwrite: %v", err)
			memory := t.New(memoryKind.free, "Memory_createFromFd", 8, unix.PROT_READ, fd, 0)
			t.closed(fd)
			r := t.bindFile(memory, 0, 8)
			t.OK("Execution_compute", r.Handle)
			t.Check(slices.Equal(r.Y, []float32{107, 108}), "got %v", r.Y)
		}).
		No("none", func(t *T) {
			t.None(nnapi.OpFailed, "Memory_createFromFd", 8, unix.PROT_READ, int32(-1), 0)
			fd := t.descriptor(8)
			t.None(nnapi.OpFailed, "Memory_createFromFd", 8, unix.PROT_READ, fd+1000, 0)
		}).
		No("null", func(t *T) { t.NullPointer("Memory_createFromFd", 8, unix.PROT_READ, t.descriptor(8), 0, nil) }),
	rule("2.b_offset", "memory begins at an offset of the file").
		OK("page", func(t *T) {
			page := unix.Getpagesize()
			fd := t.descriptor(page + 8)
			_, err := unix.Pwrite(fd, bytesOf[float32](7, 8), int64(page))
			t.Check(err == nil, "pwrite: %v", err)
			r := t.bindFile(t.New(memoryKind.free, "Memory_createFromFd", 8, unix.PROT_READ, fd, page), 0, 8)
			t.OK("Execution_compute", r.Handle)
			t.Check(slices.Equal(r.Y, []float32{107, 108}), "got %v", r.Y)
		}).
		No("beyond", func(t *T) {
			memory := t.New(memoryKind.free, "Memory_createFromFd", 8, unix.PROT_READ, t.descriptor(64), 0)
			t.Bad("Execution_setInputFromMemory", unbound(t), 0, nil, memory, 8, 8)
		}),
	rule("2.c_shared", "results in memory of a file are seen through the file").
		OK("output", func(t *T) {
			memory, data := t.file(16)
			r := t.Ready()
			e := t.Execution(compiled(t))
			t.OK("Execution_setInput", e, 0, nil, r.A, 8)
			t.OK("Execution_setInput", e, 1, nil, r.B, 8)
			t.OK("Execution_setOutputFromMemory", e, 0, nil, memory, 8, 8)
			t.OK("Execution_compute", e)
			want := append(make([]byte, 8), bytesOf[float32](101, 102)...)
			t.Check(slices.Equal(data, want), "the file has %v, want %v", data, want)
		}).
		No("outside", func(t *T) {
			memory := pool(t)
			e := unbound(t)
			for _, at := range [][2]uint64{{1, 8}, {8, 8}, {math.MaxUint64 - 3, 8}, {0, 0}, {0, 12}} {
				t.Bad("Execution_setInputFromMemory", e, 0, nil, memory, at[0], at[1])
				t.Bad("Execution_setOutputFromMemory", e, 0, nil, memory, at[0], at[1])
			}
		}),
	rule("2.d_protection", "memory is used as its protection says").
		OK("readable", func(t *T) {
			memory := t.New(memoryKind.free, "Memory_createFromFd", 8, unix.PROT_READ, t.descriptor(8), 0)
			t.OK("Execution_setInputFromMemory", unbound(t), 0, nil, memory, 0, 8)
		}).
		No("not_writable", func(t *T) {
			memory := t.New(memoryKind.free, "Memory_createFromFd", 8, unix.PROT_READ, t.descriptor(8), 0)
			t.Bad("Execution_setOutputFromMemory", unbound(t), 0, nil, memory, 0, 8)
		}).
		No("nothing", func(t *T) {
			memory := t.New(memoryKind.free, "Memory_createFromFd", 8, unix.PROT_NONE, t.descriptor(8), 0)
			t.Bad("Execution_setInputFromMemory", unbound(t), 0, nil, memory, 0, 8)
		}),
	rule("2.e_hardware_buffers", "memory of a hardware buffer needs one, and where there are none it is refused").
		OK("file", func(t *T) { pool(t) }).
		No("null", func(t *T) {
			t.NullPointer("Memory_createFromAHardwareBuffer", nil, new(uintptr))
			t.NullPointer("Memory_createFromAHardwareBuffer", make([]byte, 64), nil)
		}),
	rule("2.f_descriptions", "descriptions are made one by one").
		OK("two", func(t *T) {
			a, b := empty(t), empty(t)
			t.Check(a != b, "one handle for two descriptions")
		}).
		No("null", func(t *T) { t.NullPointer("MemoryDesc_create", nil) }),
	rule("2.g_roles", "a role is given once").
		OK("different", func(t *T) {
			d, c := empty(t), compiled(t)
			t.OK("MemoryDesc_addInputRole", d, c, 0, float32(1))
			t.OK("MemoryDesc_addInputRole", d, c, 1, float32(0.5))
			t.OK("MemoryDesc_addOutputRole", d, c, 0, float32(0.5))
		}).
		No("again", func(t *T) {
			d, c := empty(t), compiled(t)
			t.OK("MemoryDesc_addInputRole", d, c, 0, float32(1))
			t.Bad("MemoryDesc_addInputRole", d, c, 0, float32(0.5))
		}),
	rule("2.h_frequency", "a frequency is above 0 and at most 1").
		OK("ends", func(t *T) {
			d, c := empty(t), compiled(t)
			t.OK("MemoryDesc_addInputRole", d, c, 0, float32(math.SmallestNonzeroFloat32))
			t.OK("MemoryDesc_addOutputRole", d, c, 0, float32(1))
		}).
		No("others", func(t *T) {
			d, c := empty(t), compiled(t)
			for _, f := range []float64{0, -1, 1.0001, 2, math.NaN(), math.Inf(1)} {
				t.Bad("MemoryDesc_addInputRole", d, c, 0, float32(f))
				t.Bad("MemoryDesc_addOutputRole", d, c, 0, float32(f))
			}
		}),
	rule("2.i_compilation", "roles are of finished compilations").
		OK("finished", func(t *T) { t.OK("MemoryDesc_addInputRole", empty(t), compiled(t), 0, float32(1)) }).
		No("open", func(t *T) {
			d, c := empty(t), open(t)
			t.Bad("MemoryDesc_addInputRole", d, c, 0, float32(1))
			t.Bad("MemoryDesc_addOutputRole", d, c, 0, float32(1))
		}),
	rule("2.j_agreement", "roles agree in type and dimensions").
		OK("open_dimensions", func(t *T) {
			d := empty(t)
			t.OK("MemoryDesc_addInputRole", d, t.Compiled(t.Sum(0).Finish()), 0, float32(1))
			t.OK("MemoryDesc_addInputRole", d, compiled(t), 0, float32(1))
		}).
		No("dimensions", func(t *T) {
			d := empty(t)
			t.OK("MemoryDesc_addInputRole", d, t.Compiled(t.Sum(3).Finish()), 0, float32(1))
			t.Bad("MemoryDesc_addInputRole", d, compiled(t), 0, float32(1))
		}).
		No("type", func(t *T) {
			d := empty(t)
			t.OK("MemoryDesc_addInputRole", d, compiled(t), 0, float32(1))
			t.Bad("MemoryDesc_addInputRole", d, t.Compiled(t.relu(nnapi.TensorFloat16, 2).Finish()), 0, float32(1))
		}),
	rule("2.k_dimensions", "dimensions fit the roles").
		OK("fit", func(t *T) {
			d := withRole(t)
			t.OK("MemoryDesc_setDimensions", d, 1, []uint32{0})
			t.OK("MemoryDesc_setDimensions", d, 1, []uint32{2})
			t.OK("MemoryDesc_setDimensions", d, 0, nil)
		}).
		OK("of_parts", func(t *T) {
			of := func(dims ...uint32) uintptr { // a compilation of RELU
				m := t.Model()
				x, y := m.Operand(nnapi.TensorFloat32, dims...), m.Operand(nnapi.TensorFloat32, dims...)
				m.Operation("RELU", []uint32{x}, []uint32{y})
				m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
				return t.Compiled(m.Finish())
			}
			for _, order := range [][2][]uint32{{{0, 3}, {2, 0}}, {{2, 0}, {0, 3}}} { // each says one of two sizes
				d := empty(t)
				t.OK("MemoryDesc_addInputRole", d, of(order[0]...), 0, float32(1))
				t.OK("MemoryDesc_setDimensions", d, 2, order[1])
				t.Bad("MemoryDesc_setDimensions", d, 2, []uint32{4, 3})
				t.Bad("MemoryDesc_setDimensions", d, 2, []uint32{2, 4})
				t.Bad("MemoryDesc_addInputRole", d, of(2, 4), 0, float32(1))
				t.Bad("MemoryDesc_addInputRole", d, of(4, 3), 0, float32(1))
				t.OK("MemoryDesc_addInputRole", d, of(2, 3), 0, float32(1))
			}
		}).
		No("others", func(t *T) {
			d := withRole(t)
			t.Bad("MemoryDesc_setDimensions", d, 1, []uint32{3})
			t.Bad("MemoryDesc_setDimensions", d, 2, []uint32{1, 2})
		}).
		No("before", func(t *T) {
			d := empty(t)
			t.OK("MemoryDesc_setDimensions", d, 1, []uint32{3})
			t.Bad("MemoryDesc_addInputRole", d, compiled(t), 0, float32(1))
		}).
		No("null", func(t *T) { t.NullPointer("MemoryDesc_setDimensions", withRole(t), 1, nil) }),
	rule("2.l_some_role", "a description has a role when it is finished").
		OK("role", func(t *T) { t.OK("MemoryDesc_finish", withRole(t)) }).
		No("none", func(t *T) { t.Bad("MemoryDesc_finish", empty(t)) }),
	rule("2.m_outlives", "memory lives on when its description is freed").
		OK("used", func(t *T) {
			c := compiled(t)
			d := t.Roles(c, true)
			m := t.Managed(d)
			t.Free(desc.free, d)
			t.computeInto(c, m)
			t.OK("Memory_copy", m, pool(t))
		}).
		No("desc", func(t *T) {
			d := roles(t)
			t.Free(desc.free, d)
			t.None(nnapi.BadData, "Memory_createFromDesc", d)
		}),
	rule("2.n_uninitialised", "memory of a description is without contents until something is written to it").
		OK("output", func(t *T) {
			c := compiled(t)
			m := t.Managed(t.Roles(c, true))
			t.computeInto(c, m)
			to, data := t.file(8)
			t.OK("Memory_copy", m, to)
			t.Check(slices.Equal(data, bytesOf[float32](101, 102)), "got %v", data)
		}).
		No("copied", func(t *T) { t.Bad("Memory_copy", t.Managed(roles(t)), pool(t)) }).
		No("computed", func(t *T) {
			c := compiled(t)
			e := t.input(c, t.Managed(t.Roles(c, false)))
			t.Is(nnapi.OpFailed, "Execution_compute", e)
		}).
		No("failed", func(t *T) { // what an earlier computation has written is gone
			c := compiled(t)
			m := t.Managed(t.Roles(c, true))
			t.computeInto(c, m)
			e := t.Execution(c)
			t.OK("Execution_setInputFromMemory", e, 0, nil, t.Managed(t.Roles(c, false)), 0, 0)
			t.OK("Execution_setInput", e, 1, nil, t.numbers(100, 100), 8)
			t.OK("Execution_setOutputFromMemory", e, 0, nil, m, 0, 0)
			t.Is(nnapi.OpFailed, "Execution_compute", e)
			t.Bad("Memory_copy", m, pool(t))
		}),
	rule("2.o_copy", "a copy takes all bytes").
		OK("file", func(t *T) {
			from, data := t.file(8)
			copy(data, []byte("contents"))
			to, got := t.file(8)
			t.OK("Memory_copy", from, to)
			t.Check(string(got) == "contents", "got %q", got)
		}).
		OK("itself", func(t *T) {
			m := pool(t)
			t.OK("Memory_copy", m, m)
		}).
		No("sizes", func(t *T) {
			from, to := t.pool(8), t.pool(12)
			t.Bad("Memory_copy", from, to)
			t.Bad("Memory_copy", to, from)
		}).
		No("dimensions", func(t *T) {
			from, to := t.Compiled(t.Sum(2, 3).Finish()), t.Compiled(t.Sum(3, 2).Finish())
			m := t.Managed(t.Roles(from, false))
			t.OK("Memory_copy", t.pool(24), m)
			t.OK("Memory_copy", m, t.Managed(t.Roles(from, true)))
			t.Bad("Memory_copy", m, t.Managed(t.Roles(to, false)))
		}),
	rule("2.p_filled", "a copy fills memory of a description, and one that fails empties it").
		OK("input", func(t *T) {
			c := compiled(t)
			m := t.Managed(t.Roles(c, false))
			from, data := t.file(8)
			copy(data, bytesOf[float32](5, 6))
			t.OK("Memory_copy", from, m)
			e := t.input(c, m)
			t.OK("Execution_compute", e)
		}).
		No("emptied", func(t *T) {
			c := compiled(t)
			m := t.Managed(t.Roles(c, false))
			t.OK("Memory_copy", pool(t), m)
			t.Bad("Memory_copy", t.pool(12), m)
			t.Is(nnapi.OpFailed, "Execution_compute", t.input(c, m))
		}),
	rule("2.q_declared", "memory of a description is used in its roles only, and as a whole").
		OK("role", func(t *T) {
			c := compiled(t)
			t.OK("Execution_setInputFromMemory", t.Execution(c), 0, nil, t.Managed(t.Roles(c, false)), 0, 0)
		}).
		No("other_role", func(t *T) {
			c := compiled(t)
			e, m := t.Execution(c), t.Managed(t.Roles(c, false))
			t.Bad("Execution_setInputFromMemory", e, 1, nil, m, 0, 0)
			t.Bad("Execution_setOutputFromMemory", e, 0, nil, m, 0, 0)
		}).
		No("other_compilation", func(t *T) {
			t.Bad("Execution_setInputFromMemory", unbound(t), 0, nil, t.Managed(roles(t)), 0, 0)
		}).
		No("part", func(t *T) {
			c := compiled(t)
			e, m := t.Execution(c), t.Managed(t.Roles(c, false))
			t.Bad("Execution_setInputFromMemory", e, 0, nil, m, 0, 8)
			t.Bad("Execution_setInputFromMemory", e, 0, nil, m, 4, 0)
		}),
	rule("11.a_freed_meanwhile", "memory lives on in the executions that it was bound to").
		OK("bound", func(t *T) {
			memory, data := t.file(8)
			copy(data, bytesOf[float32](7, 8))
			r := t.bindFile(memory, 0, 8)
			t.Free(memoryKind.free, memory)
			t.OK("Execution_compute", r.Handle)
			t.Check(slices.Equal(r.Y, []float32{107, 108}), "got %v", r.Y)
		}).
		No("bound_later", func(t *T) {
			memory := pool(t)
			t.Free(memoryKind.free, memory)
			t.Bad("Execution_setInputFromMemory", unbound(t), 0, nil, memory, 0, 8)
		}),
}

// bindFile is an execution whose first input lies in memory of a file, and whose second is 100 and 100.
func (t *T) bindFile(memory uintptr, offset, length int) *nnapi.Run {
	r := &nnapi.Run{Handle: unbound(t), B: []float32{100, 100}, Y: make([]float32, 2)}
	t.Keep(r)
	t.Keep(r.B)
	t.Keep(r.Y)
	t.OK("Execution_setInputFromMemory", r.Handle, 0, nil, memory, offset, length)
	t.OK("Execution_setInput", r.Handle, 1, nil, r.B, 8)
	t.OK("Execution_setOutput", r.Handle, 0, nil, r.Y, 8)
	return r
}

// numbers is memory with numbers that lives as long as the case.
func (t *T) numbers(v ...float32) []float32 {
	t.Keep(v)
	return v
}

// input is an execution whose first input is memory of a description.
func (t *T) input(compilation, memory uintptr) uintptr { return t.bindTo(compilation, memory, false) }

// computeInto computes 101 and 102 into memory of a description.
func (t *T) computeInto(compilation, memory uintptr) {
	t.OK("Execution_compute", t.bindTo(compilation, memory, true))
}

func (t *T) bindTo(compilation, memory uintptr, output bool) uintptr {
	e, a, b, y := t.Execution(compilation), []float32{1, 2}, []float32{100, 100}, make([]float32, 2)
	for _, v := range [][]float32{a, b, y} {
		t.Keep(v)
	}
	t.OK("Execution_setInput", e, 1, nil, b, 8)
	if output {
		t.OK("Execution_setInput", e, 0, nil, a, 8)
		t.OK("Execution_setOutputFromMemory", e, 0, nil, memory, 0, 0)
	} else {
		t.OK("Execution_setInputFromMemory", e, 0, nil, memory, 0, 0)
		t.OK("Execution_setOutput", e, 0, nil, y, 8)
	}
	return e
}
