package rules

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// turned is y = the transpose of x, whose elements a run must have read before it writes them elsewhere.
func turned(n int64) *model {
	return (&model{}).Op("Transpose", []string{"y"}, []string{"x"}, nil).Input("x", onnxFloat, n, n).Output("y",
		onnxFloat, n, n)
}

// grid are the numbers 0 to n*n-1, and transposed.
func grid(n int) (x, y []float32) {
	x, y = make([]float32, n*n), make([]float32, n*n)
	for i := range x {
		x[i], y[i%n*n+i/n] = float32(i), float32(i)
	}
	return x, y
}

// shared is a file of some bytes.
func (t *T) shared(size int64) int {
	fd, err := unix.MemfdCreate("places", unix.MFD_CLOEXEC)
	t.Check(err == nil, "memfd_create: %v", err)
	t.Check(unix.Ftruncate(fd, size) == nil, "ftruncate")
	return fd
}

// mapped is a mapping of a file by the program.
func (t *T) mapped(fd int, size int) uintptr {
	t.Outside("a mapping of the program's own")
	b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	t.Check(err == nil, "mmap: %v", err)
	t.Later(func() { unix.Munmap(b) }) //nolint:errcheck // the mapping is the case's
	return cmem.First(b)
}

// descriptors is the number of open descriptors of the process.
func descriptors() uint64 {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 1 << 20
	}
	return uint64(len(entries))
}

// places are the rules of memory that is known by more than one structure or address, and of outputs that share it.
var places = []*Rule{
	rule("5.rd_copied_structure", "a structure that the program copied describes the same memory").
		OK("bound_by_copies", func(t *T) {
			ctx := t.Open(twoWays(4), 0)
			x, y, z := t.Mem(ctx, 16), t.Mem(ctx, 16), t.Mem(ctx, 16)
			copies := []tensorMem{*x, *y, *z}
			t.bound(ctx, []*tensorMem{&copies[0]}, []*tensorMem{&copies[1], &copies[2]})
			for k := range 2 {
				rknn.Fill[float32](x, 1, -2, 3, float32(-4-k))
				t.Run(ctx)
				t.holds("the first output", y, 1, 0, 3, 0)
				t.holds("the second output", z, -1, 2, -3, float32(4+k))
			}
		}).
		OK("part_of_a_copy", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			base := *t.Mem(ctx, 64)
			x, y := t.part(ctx, &base, 16, 32), t.part(ctx, &base, 16, 0)
			t.bound(ctx, []*tensorMem{x}, []*tensorMem{y})
			rknn.Fill[float32](x, 1, -2, 3, -4)
			t.Run(ctx)
			t.holds("the output", y, 1, 0, 3, 0)
		}).
		No("of_destroyed_memory", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Mem(ctx, 16)
			kept, in := *m, *t.Attr(ctx, queryInput, 0)
			in.Kind = float32T
			t.OK("destroy_mem", ctx, cmem.Address(m))
			t.Bad("set_io_mem", ctx, cmem.Address(&kept), &in)
		}),
	rule("5.re_file_over_itself", "an output may lie over an input by another description of the same file, at another "+
		"address: the input is read before").
		OK("same_place", func(t *T) {
			x, y := grid(32)
			fd := t.shared(8192)
			defer unix.Close(fd)
			ctx := t.Open(turned(32), 0)
			in := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, t.mapped(fd, 8192), 4096, 0))
			out := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, t.mapped(fd, 8192), 4096, 0))
			t.bound(ctx, []*tensorMem{in}, []*tensorMem{out})
			for range 2 {
				copy(in.Bytes(), cmem.Bytes(x))
				t.Run(ctx)
				t.holds("the transposed", out, y...)
			}
		}).
		OK("half_over", func(t *T) {
			x, y := grid(32)
			fd := t.shared(8192)
			defer unix.Close(fd)
			ctx := t.Open(turned(32), 0)
			in := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, t.mapped(fd, 8192), 4096, 0))
			out := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, t.mapped(fd, 8192), 4096, 2048))
			t.bound(ctx, []*tensorMem{in}, []*tensorMem{out})
			copy(in.Bytes(), cmem.Bytes(x))
			t.Run(ctx)
			t.holds("the transposed", out, y...)
		}).
		No("not_of_the_file", func(t *T) {
			fd := t.shared(4096)
			defer unix.Close(fd)
			t.Null("create_mem_from_fd", t.Open(relu(1, 4), 0), fd, nil, 4096, 4096)
		}),
	rule("5.rf_outputs_over_each_other", "of two outputs in one memory, one lies there whole").
		OK("one_of_two", func(t *T) {
			n := int64(32)
			m := (&model{}).Node("Neg", "y", "x").Op("Transpose", []string{"z"}, []string{"y"}, nil)
			m = m.Input("x", onnxFloat, n, n).Output("y", onnxFloat, n, n).Output("z", onnxFloat, n, n)
			x, turned := grid(int(n))
			y, z := slices.Clone(x), turned
			for i := range y {
				y[i], z[i] = -y[i], -z[i]
			}
			ctx := t.Open(m, 0)
			in, both := t.Mem(ctx, 4096), t.Mem(ctx, 4096)
			t.bound(ctx, []*tensorMem{in}, []*tensorMem{both, both})
			copy(in.Bytes(), cmem.Bytes(x))
			t.Run(ctx)
			got := cmem.As[float32](both.Bytes())
			t.Check(slices.Equal(got, y) || slices.Equal(got, z), "neither of the two: %v...", got[:8])
		}).
		No("too_small_for_one", func(t *T) {
			m := (&model{}).Node("Neg", "y", "x").Op("Concat", []string{"z"}, []string{"x", "x"}, rknn.Attrs{"axis": 1})
			m = m.Input("x", onnxFloat, 1, 4).Output("y", onnxFloat, 1, 4).Output("z", onnxFloat, 1, 8)
			ctx := t.Open(m, 0)
			both, z := t.Mem(ctx, 16), *t.Attr(ctx, queryOutput, 1)
			t.bound(ctx, nil, []*tensorMem{both})
			z.Kind = float32T
			t.Bad("set_io_mem", ctx, cmem.Address(both), &z)
		}),
	rule("5.rg_with_functions_of_the_program", "an output over the input of a model with an operator of the program: "+
		"what "+
		"is computed later reads the input").
		OK("over_the_input", func(t *T) {
			m := (&model{}).Node("Relu", "y", "x").Custom("Twice", "z", 1, 1, "x").Input("x", onnxFloat, 1, 4)
			m = m.Output("y", onnxFloat, 1, 4).Output("z", onnxFloat, 1, 4)
			for over := range 2 {
				set, ctx := t.opsOf(0, unary(double)), t.Open(m, 0)
				t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
				x, apart := t.Mem(ctx, 16), t.Mem(ctx, 16)
				out := []*tensorMem{x, apart}
				if over == 1 {
					slices.Reverse(out)
				}
				t.bound(ctx, []*tensorMem{x}, out)
				rknn.Fill[float32](x, 1, -2, 3, -4)
				t.Run(ctx)
				t.holds("max(x, 0)", out[0], 1, 0, 3, 0)
				t.holds("2x", out[1], 2, -4, 6, -8)
			}
		}).
		No("without_the_function", func(t *T) {
			ctx := t.Open(foreign(1, 4), 0)
			x := t.Mem(ctx, 16)
			t.bound(ctx, []*tensorMem{x}, []*tensorMem{x})
			rknn.Fill[float32](x, 1, -2, 3, -4)
			t.Is(failed, "run", ctx, nil)
			t.holds("the input", x, 1, -2, 3, -4)
		}),
	rule("5.rh_few_descriptors", "memory that is made while the process has few descriptors left is whole or refused; "+
		"when there are some again, it has one again").
		OK("and_enough_again", func(t *T) {
			t.Outside("a limit of descriptors")
			ctx := t.Open(relu(1, 4), 0)
			if t.Mem(ctx, 16).FD < 0 {
				t.Skip("memory has no descriptors")
			}
			var limit unix.Rlimit
			t.Check(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil, "getrlimit")
			low := limit
			if low.Cur = descriptors() + 64; low.Cur > limit.Cur {
				t.Skip("the process has few descriptors already")
			}
			t.Check(unix.Setrlimit(unix.RLIMIT_NOFILE, &low) == nil, "setrlimit")
			defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) //nolint:errcheck // it was the limit before
			var made []*tensorMem
			for k := range 100 {
				p := uintptr(t.Call("create_mem", ctx, 4096))
				if p == 0 {
					break
				}
				m := cmem.At[tensorMem](p)
				made = append(made, m)
				rknn.Fill[float32](m, float32(k), 0, 0, 0)
			}
			for k, m := range made {
				t.holds("its own bytes", m, float32(k), 0, 0, 0)
				t.OK("destroy_mem", ctx, cmem.Address(m))
			}
			t.Check(t.Mem(ctx, 4096).FD >= 0, "memory has no descriptor, though there are some again")
		}).
		No("no_descriptor", func(t *T) {
			t.Null("create_mem_from_fd", t.Open(relu(1, 4), 0), -1, nil, 4096, 0)
		}),
}
