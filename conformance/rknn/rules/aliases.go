package rules

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// twoWays is y = max(x, 0) and z = -x.
func twoWays(n int64) *model {
	m := (&model{}).Node("Relu", "y", "x").Node("Neg", "z", "x").Input("x", onnxFloat, 1, n)
	return m.Output("y", onnxFloat, 1, n).Output("z", onnxFloat, 1, n)
}

// part is n bytes of memory at an offset.
func (t *T) part(ctx uintptr, base *tensorMem, n, offset int) *tensorMem {
	return t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, base.FD, base.Virt, n, offset))
}

// holds demands float32 numbers at the begin of memory.
func (t *T) holds(what string, m *tensorMem, want ...float32) {
	got := cmem.As[float32](m.Bytes())[:len(want)]
	t.Check(slices.Equal(got, want), "%s: %v, want %v", what, got, want)
}

// bound binds inputs and outputs of a context as FLOAT32, in order.
func (t *T) bound(ctx uintptr, in, out []*tensorMem) {
	for i, m := range in {
		t.Bind(ctx, m, t.Attr(ctx, queryInput, i), float32T, -1)
	}
	for i, m := range out {
		t.Bind(ctx, m, t.Attr(ctx, queryOutput, i), float32T, -1)
	}
}

// aliases are the rules of memory that several tensors share.
var aliases = []*Rule{
	rule("5.ra_shared_memory", "inputs and outputs may be parts of one memory, one memory may serve several inputs, and "+
		"an "+
		"output may lie over an input that is read before").
		OK("both_inputs", func(t *T) {
			ctx := t.Open(add(1, 4), 0)
			m, y := t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.bound(ctx, []*tensorMem{m, m}, []*tensorMem{y})
			for k := range 3 {
				rknn.Fill[float32](m, 1, -2, float32(k), 4)
				t.Run(ctx)
				t.holds("the sum", y, 2, -4, 2*float32(k), 8)
			}
		}).
		OK("parts_of_one", func(t *T) {
			ctx := t.Open(twoWays(4), 0)
			base := t.Mem(ctx, 64)
			x, y, z := t.part(ctx, base, 16, 32), t.part(ctx, base, 16, 0), t.part(ctx, base, 16, 48)
			t.bound(ctx, []*tensorMem{x}, []*tensorMem{y, z})
			rknn.Fill[float32](base, 9, 9, 9, 9, 5, 6, 7, 8, 1, -2, 3, -4, 9, 9, 9, 9)
			t.Run(ctx)
			t.holds("all", base, 1, 0, 3, 0, 5, 6, 7, 8, 1, -2, 3, -4, -1, 2, -3, 4)
		}).
		OK("over_the_input", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Mem(ctx, 16)
			t.bound(ctx, []*tensorMem{m}, []*tensorMem{m})
			rknn.Fill[float32](m, 1, -2, 3, -4)
			t.Run(ctx)
			t.holds("in place", m, 1, 0, 3, 0)
		}).
		OK("over_one_of_two", func(t *T) {
			ctx := t.Open(add(1, 4), 0)
			a, b := t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.bound(ctx, []*tensorMem{a, b}, []*tensorMem{a})
			rknn.Fill[float32](a, 1, 2, 3, 4)
			rknn.Fill[float32](b, 10, 20, 30, 40)
			for k := range 3 {
				t.Run(ctx)
				n := 10 * float32(k+1)
				t.holds("the sum so far", a, 1+n, 2+2*n, 3+3*n, 4+4*n)
				t.holds("the other input", b, 10, 20, 30, 40)
			}
		}).
		OK("two_contexts", func(t *T) {
			a, b := t.Open(twoWays(4), 0), t.Open(relu(1, 4), 0)
			x, y, z, last := t.Mem(a, 16), t.Mem(a, 16), t.Mem(b, 16), t.Mem(b, 16)
			t.bound(a, []*tensorMem{x}, []*tensorMem{y, z})
			t.bound(b, []*tensorMem{z}, []*tensorMem{last})
			rknn.Fill[float32](x, 1, -2, 3, -4)
			t.Run(a)
			t.Run(b)
			t.holds("of the first's second output", last, 0, 2, 0, 4)
			t.holds("the first output", y, 1, 0, 3, 0)
		}).
		No("part_is_too_small", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			base, in := t.Mem(ctx, 64), *t.Attr(ctx, queryInput, 0)
			in.Kind = float32T
			t.Bad("set_io_mem", ctx, cmem.Address(t.part(ctx, base, 12, 16)), &in)
		}),
	rule("5.rb_one_file", "a file that is described twice is one memory: what a run writes by one description is read by "+
		"another and by the program's own mapping").
		OK("mapped_twice", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			fd, err := unix.MemfdCreate("aliases", unix.MFD_CLOEXEC)
			t.Check(err == nil, "memfd_create: %v", err)
			defer unix.Close(fd)
			t.Check(unix.Ftruncate(fd, 8192) == nil, "ftruncate")
			x := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, nil, 16, 4096))
			y := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, nil, 16, 64))
			again := t.OwnedMem(t.Ptr("create_mem_from_fd", ctx, fd, nil, 16, 64))
			t.bound(ctx, []*tensorMem{x}, []*tensorMem{y})
			_, err = unix.Pwrite(fd, cmem.Bytes([]float32{-1, 2, -3, 4}), 4096)
			t.Check(err == nil, "pwrite: %v", err)
			t.Run(ctx)
			t.holds("the second description", again, 0, 2, 0, 4)
			got := make([]byte, 16)
			_, err = unix.Pread(fd, got, 64)
			t.Check(err == nil && slices.Equal(cmem.As[float32](got), []float32{0, 2, 0, 4}), "the file has %v",
				cmem.As[float32](got))
		}).
		OK("any_order_of_ends", func(t *T) {
			for order := range 6 {
				ctx := t.Open(relu(1, 4), 0)
				base := t.Mem(ctx, 64)
				x, y := t.part(ctx, base, 16, 0), t.part(ctx, base, 16, 32)
				t.bound(ctx, []*tensorMem{x}, []*tensorMem{y})
				rknn.Fill[float32](x, -1, 2, -3, 4)
				t.Run(ctx)
				t.holds("before", y, 0, 2, 0, 4)
				list := []*tensorMem{base, x, y}
				first := list[order/2]
				rest := slices.DeleteFunc(slices.Clone(list), func(m *tensorMem) bool { return m == first })
				if order%2 == 1 {
					slices.Reverse(rest)
				}
				for _, m := range append([]*tensorMem{first}, rest...) {
					t.OK("destroy_mem", ctx, cmem.Address(m))
				}
				t.OK("destroy", ctx)
			}
		}).
		No("read_only_file", func(t *T) {
			f, err := os.Open(t.file("read", make([]byte, 64)))
			t.Check(err == nil, "%v", err)
			defer f.Close()
			t.Null("create_mem_from_fd", t.Open(relu(1, 4), 0), int(f.Fd()), nil, 128, 0)
		}),
	rule("5.rc_after_a_failure", "a run that fails leaves what is bound: the next one gives its own results").
		OK("input_came_later", func(t *T) {
			ctx := t.Open(add(1, 4), 0)
			a, b, y := t.Mem(ctx, 16), t.Mem(ctx, 16), t.Mem(ctx, 16)
			t.bound(ctx, []*tensorMem{a}, []*tensorMem{y})
			rknn.Fill[float32](a, 1, 2, 3, 4)
			rknn.Fill[float32](y, 7, 7, 7, 7)
			t.Is(failed, "run", ctx, nil)
			t.holds("untouched", y, 7, 7, 7, 7)
			t.Bind(ctx, b, t.Attr(ctx, queryInput, 1), float32T, -1)
			rknn.Fill[float32](b, 10, 20, 30, 40)
			t.Run(ctx)
			t.holds("the sum", y, 11, 22, 33, 44)
		}).
		OK("refused_input_between", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
			short := t.Given(0, float32T, undefined, []float32{9, 9})
			t.Check(t.Code("inputs_set", ctx, 1, []input{short}) != success, "an input that is too short was taken")
			t.Computes(ctx, 0, 2, 0, 4)
		}).
		No("results_of_the_run_before", func(t *T) {
			for _, bound := range []bool{false, true} {
				runs, set := 0, t.opsOf(0, unary(double))
				compute := set.f[stageCompute]
				set.f[stageCompute] = func(c opCall) int {
					if runs++; runs == 2 {
						return -1
					}
					return compute(c)
				}
				ctx, o := t.Open(foreign(1, 4), 0), []output{{WantFloat: 1}}
				t.OK("register_custom_ops", ctx, set.op("Twice"), 1)
				if bound {
					t.bound(ctx, nil, []*tensorMem{t.Mem(ctx, 16)})
				}
				t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
				t.Computes(ctx, -2, 4, -6, 8)
				t.Is(failed, "run", ctx, nil)
				t.Check(t.Code("outputs_get", ctx, 1, o, nil) != success, "there are outputs of a run that failed")
				t.Computes(ctx, -2, 4, -6, 8)
				t.Judged(false)
			}
		}).
		No("results_of_no_run", func(t *T) {
			ctx := t.Open(add(1, 4), 0)
			t.Is(failed, "run", ctx, nil)
			o := []output{{WantFloat: 1}}
			t.Check(t.Code("outputs_get", ctx, 1, o, nil) != success, "there are outputs without a run")
			t.Judged(false)
		}),
}
