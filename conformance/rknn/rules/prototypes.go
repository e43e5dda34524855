package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// sibling is the library under another of its names.
func (t *T) sibling(name string) *suite.Library {
	other, err := t.Beside(name)
	if err != nil {
		t.Lacks("%v", err)
	}
	return other
}

var prototypes = []*Rule{
	rule("1.a_exports", "every function of the three headers can be called, and no other name of that form is there").
		OK("there", func(t *T) {
			for _, f := range slices.Concat(rknn.API.Functions, rknn.API.Historical) {
				t.Check(t.Has(f), "%s is missing", f)
			}
			t.Judged(true)
		}).
		No("not_there", func(t *T) {
			for _, f := range []string{"rknn_init2", "rknn_matmul_set_dynamic_shapes", "rknn_find_devices",
				"rknn_custom_op_get_op_attrs"} {
				t.Check(!t.Exports(f), "%s is there", f)
			}
			t.Judged(false)
		}),
	rule("1.b_names_of_the_library", "librknnrt.so, librknn_api.so and librknnmrt.so are one library").
		OK("one", func(t *T) {
			for _, name := range []string{"librknnrt.so", "librknn_api.so", "librknnmrt.so"} {
				n := inOutNum{}
				other := t.sibling(name)
				t.Check(int32(other.Call("query", t.Open(relu(1, 4), 0), queryInOutNum, &n, 8)) == success &&
					n == inOutNum{In: 1, Out: 1},
					"%s does not know a context of another", name)
			}
			t.Judged(true)
		}).
		No("ended_in_another", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.Check(t.sibling("librknn_api.so").Code("destroy", ctx) == success, "rknn_destroy of another name")
			t.Is(badContext, "run", ctx, nil)
		}),
	rule("1.c_results", "functions that return int return 0 or a negative code").
		OK("zero", func(t *T) { t.works(t.Open(relu(1, 4), 0)) }).
		No("negative", func(t *T) {
			for _, f := range []string{"destroy", "query", "inputs_set", "set_batch_core_num", "set_core_mask", "run", "wait",
				"outputs_get", "outputs_release",
				"destroy_mem", "set_weight_mem", "set_internal_mem", "set_io_mem", "set_input_shape", "set_input_shapes",
				"mem_sync", "register_custom_ops"} {
				got := int32(t.Call(f, 0, nil, nil, nil))
				t.Check(got < 0, "rknn_%s without a context: %d", f, got)
			}
			t.Judged(false)
		}),
	rule("1.d_create_mem_from_mb_blk", "is declared, and no block of a media driver can be taken: NULL").
		OK("other_memory", func(t *T) { t.Mem(t.Open(relu(1, 4), 0), 64) }).
		No("block", func(t *T) {
			t.Null("create_mem_from_mb_blk", t.Open(relu(1, 4), 0), new(uint64), 0)
			t.Says("mb_blk", "rknn_create_mem_from_fd")
		}),
	rule("1.e_create_mem_from_phys", "describes memory by the address at which the program has mapped it; without that "+
		"NULL, and what to use instead").
		OK("mapped", func(t *T) {
			ctx, b := t.Open(relu(1, 4), 0), make([]float32, 4)
			m := t.OwnedMem(t.Ptr("create_mem_from_phys", ctx, uint64(0x1000000), cmem.First(b), 16))
			t.Check(m.Virt == cmem.First(b) && m.Phys == 0x1000000 && m.Offset == 0 && m.Size == 16 && m.FD == -1 &&
				m.Flags == 3, "%+v", *m)
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			copy(b, []float32{5, -6, 7, -8})
			t.Computes(ctx, 5, 0, 7, 0)
			t.Keep(b)
		}).
		OK("part_of_other_memory", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			base := t.Mem(ctx, 8192)
			m := t.OwnedMem(t.Ptr("create_mem_from_phys", ctx, uint64(0), base.Virt+64, 16))
			t.Bind(ctx, m, t.Attr(ctx, queryInput, 0), float32T, -1)
			copy(m.Bytes(), cmem.Bytes([]float32{-1, 2, -3, 4}))
			t.OK("destroy_mem", ctx, cmem.Address(base))
			t.Computes(ctx, 0, 2, 0, 4)
		}).
		No("address", func(t *T) {
			t.Null("create_mem_from_phys", t.Open(relu(1, 4), 0), uint64(0x1000000), nil, 64)
			t.Says("phys_addr is 0x1000000", "virt_addr NULL", "rknn_create_mem")
		}).
		No("size", func(t *T) {
			t.Null("create_mem_from_phys", t.Open(relu(1, 4), 0), uint64(0x1000000), make([]byte, 64), 0)
			t.Says("size is 0")
		}),
	rule("1.f_destory_mem", "the older spelling ends memory too").
		OK("ends", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("destory_mem", ctx, t.Ptr("create_mem", ctx, 64))
		}).
		No("twice", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			m := t.Ptr("create_mem", ctx, 64)
			t.OK("destory_mem", ctx, m)
			t.Bad("destory_mem", ctx, m)
			t.Bad("destroy_mem", ctx, m)
		}),
	rule("1.g_set_input_shape", "serves models of one input as rknn_set_input_shapes does").
		OK("one_input", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("set_input_shape", ctx, shapeAttr(0, nhwc, 1, 2, 3, 2))
			got := t.Attr(ctx, queryCurrentInput, 0)
			t.Check(got.Dims[1] == 2, "the shape is %v", got.Shape())
		}).
		No("two_inputs", func(t *T) { t.Bad("set_input_shape", t.Open(add(1, 4), 0), shapeAttr(0, undefined, 1, 4)) }).
		No("NULL", func(t *T) { t.Bad("set_input_shape", t.Open(dynamic(), 0), nil) }),
	rule("1.h_symbols_of_old_boards", "functions that small boards lack work all the same").
		OK("work", func(t *T) {
			ctx := t.Dup(t.Open(relu(1, 4), 0))
			t.OK("set_batch_core_num", ctx, 1)
			t.works(ctx)
		}).
		No("misused", func(t *T) { t.Is(badContext, "dup_context", new(uintptr), new(uintptr)) }),
}
