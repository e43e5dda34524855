package rules

import (
	"math/bits"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

var compilations = []*Rule{
	rule("4.a_all_devices", "a compilation for all devices computes").
		OK("computed", func(t *T) {
			c := t.Compilation(finished(t))
			t.OK("Compilation_finish", c)
			r := t.Bound(c, 2)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("unfinished", func(t *T) { t.None(nnapi.BadState, "Compilation_create", sum(t)) }),
	rule("4.b_devices", "a compilation for devices has each of them once").
		OK("processor", func(t *T) { t.Alone(finished(t)) }).
		No("none", func(t *T) { t.None(nnapi.BadData, "Compilation_createForDevices", finished(t), t.Processor(), 0) }).
		No("twice", func(t *T) {
			d := device(t)
			t.None(nnapi.BadData, "Compilation_createForDevices", finished(t), []uintptr{d, d}, 2)
		}).
		No("null", func(t *T) {
			t.None(nnapi.UnexpectedNull, "Compilation_createForDevices", finished(t), []uintptr{0}, 1)
			t.None(nnapi.UnexpectedNull, "Compilation_createForDevices", finished(t), []uintptr{device(t), 0}, 2)
		}),
	rule("4.c_preference", "the preference is 0 to 2").
		OK("all", func(t *T) {
			c := open(t)
			for _, p := range []int32{0, 1, 2} {
				t.OK("Compilation_setPreference", c, p)
			}
			t.OK("Compilation_finish", c)
		}).
		No("others", func(t *T) {
			c := open(t)
			for _, p := range []int32{3, 4, 100, 1<<31 - 1} {
				t.Bad("Compilation_setPreference", c, p)
			}
		}),
	rule("4.d_priority", "the priority is 90, 100 or 110").
		OK("all", func(t *T) {
			c := open(t)
			for _, p := range []int32{90, 100, 110} {
				t.OK("Compilation_setPriority", c, p)
			}
			t.OK("Compilation_finish", c)
		}).
		No("others", func(t *T) {
			c := open(t)
			for _, p := range []int32{0, 1, 89, 91, 95, 109, 111, -1, -1 << 31} {
				t.Bad("Compilation_setPriority", c, p)
			}
		}),
	rule("4.e_timeout", "a time limit is for compilations for exactly one device").
		OK("one", func(t *T) {
			c := open(t)
			t.OK("Compilation_setTimeout", c, uint64(1<<63))
			t.OK("Compilation_setTimeout", c, 0)
			t.OK("Compilation_finish", c)
		}).
		No("all", func(t *T) { t.Bad("Compilation_setTimeout", t.Compilation(finished(t)), 0) }).
		No("over", func(t *T) {
			c := open(t)
			t.OK("Compilation_setTimeout", c, 1)
			t.missed("Compilation_finish", c)
			t.None(nnapi.BadState, "Execution_create", c)
		}),
	rule("4.f_caching", "trouble with the cache fails no compilation").
		OK("folder", func(t *T) {
			for range 2 {
				c := open(t)
				t.OK("Compilation_setCaching", c, t.Dir, token)
				t.OK("Compilation_finish", c)
				r := t.Bound(c, 2)
				t.OK("Execution_compute", r.Handle)
				t.Right(r)
			}
		}).
		OK("nowhere", func(t *T) {
			c := open(t)
			t.OK("Compilation_setCaching", c, filepath.Join(t.Dir, "no/such/folder"), token)
			t.OK("Compilation_finish", c)
		}).
		OK("file", func(t *T) {
			file := filepath.Join(t.Dir, "file")
			t.Check(os.WriteFile(file, nil, 0o600) == nil, "no file")
			c := open(t)
			t.OK("Compilation_setCaching", c, file, token)
			t.OK("Compilation_finish", c)
		}).
		No("null", func(t *T) {
			t.NullPointer("Compilation_setCaching", open(t), nil, token)
			t.NullPointer("Compilation_setCaching", open(t), t.Dir, nil)
		}),
	rule("4.g_cache_content", "a token of another model gives that model's results nowhere").
		OK("other_model", func(t *T) {
			for _, op := range []string{"ADD", "MUL"} {
				m := t.Model()
				for range 3 {
					m.Operand(nnapi.TensorFloat32, 2)
				}
				m.Scalar(0)
				m.Operation(op, []uint32{nnapi.A, nnapi.B, nnapi.None}, []uint32{nnapi.Y})
				m.Identify(0, []uint32{nnapi.A, nnapi.B}, []uint32{nnapi.Y})
				c := t.Alone(m.Finish())
				t.OK("Compilation_setCaching", c, t.Dir, token)
				t.OK("Compilation_finish", c)
				r := t.Bound(c, 2)
				t.OK("Execution_compute", r.Handle)
				want := map[string]float32{"ADD": 102, "MUL": 200}[op]
				t.Check(r.Y[1] == want, "%s gives %v, want %v", op, r.Y[1], want)
			}
		}).
		No("late", func(t *T) { t.WrongState("Compilation_setCaching", compiled(t), t.Dir, token) }),
	rule("4.h_preferred", "alignment and padding are powers of two").
		OK("powers", func(t *T) {
			c, n := compiled(t), new(uint32)
			for _, f := range []string{"AlignmentForInput", "AlignmentForOutput", "PaddingForInput", "PaddingForOutput"} {
				t.OK("Compilation_getPreferredMemory"+f, c, 0, n)
				t.Check(bits.OnesCount32(*n) == 1, "%s is %d", f, *n)
			}
		}).
		No("index", func(t *T) {
			c := compiled(t)
			t.Bad("Compilation_getPreferredMemoryAlignmentForInput", c, 2, new(uint32))
			t.Bad("Compilation_getPreferredMemoryAlignmentForOutput", c, 1, new(uint32))
			t.Bad("Compilation_getPreferredMemoryPaddingForInput", c, 2, new(uint32))
			t.Bad("Compilation_getPreferredMemoryPaddingForOutput", c, 1, new(uint32))
		}),
	rule("4.i_several", "a model has several compilations, and stays what it was").
		OK("two", func(t *T) {
			h := finished(t)
			for range 2 {
				r := t.Bound(t.Compiled(h), 2)
				t.OK("Execution_compute", r.Handle)
				t.Right(r)
			}
		}).
		No("changed", func(t *T) {
			h := finished(t)
			t.Compiled(h)
			t.WrongState("Model_addOperand", h, t.Type(nnapi.TensorFloat32, 2))
		}),
	rule("4.j_failed_setters", "a setting that is refused changes nothing").
		OK("good_afterwards", func(t *T) {
			c := open(t)
			t.Bad("Compilation_setPriority", c, 5)
			t.Bad("Compilation_setPreference", c, 5)
			t.OK("Compilation_finish", c)
		}).
		No("refused_again", func(t *T) {
			c := open(t)
			t.Bad("Compilation_setPriority", c, 5)
			t.Bad("Compilation_setPriority", c, 5)
		}),
	rule("4.k_threads", "executions of a compilation compute at the same time").
		OK("four", func(t *T) {
			c := compiled(t)
			runs := make([]*nnapi.Run, 4)
			for i := range runs {
				runs[i] = t.Bound(c, 2)
			}
			t.Parallel(len(runs), func(own *suiteT, i int) { own.OK("Execution_compute", runs[i].Handle) })
			for _, r := range runs {
				t.Right(r)
			}
			t.OK("Execution_getOutputOperandRank", runs[0].Handle, 0, new(uint32))
		}).
		No("once_each", func(t *T) {
			r := t.Ready()
			t.OK("Execution_compute", r.Handle)
			t.WrongState("Execution_compute", r.Handle)
		}),
	rule("11.b_freed_before", "what was made of an object lives on when that is freed").
		OK("all", func(t *T) {
			m := finished(t)
			c := t.Compiled(m)
			t.Free(model.free, m)
			r := t.Bound(c, 2)
			t.Free(compilation.free, c)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("new", func(t *T) {
			c := compiled(t)
			t.Free(compilation.free, c)
			t.None(nnapi.BadData, "Execution_create", c)
		}),
	rule("11.c_negative_preference", "a negative preference is BAD_DATA").
		OK("zero", func(t *T) { t.OK("Compilation_setPreference", open(t), 0) }).
		No("negative", func(t *T) { t.Bad("Compilation_setPreference", open(t), int32(-1)) }),
}
