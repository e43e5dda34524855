package rknnrules

import (
	"path/filepath"

	"github.com/ebitengine/purego"
)

// sibling is the library under another of its names.
func (t *T) sibling(name string) *library {
	lib, err := purego.Dlopen(filepath.Join(filepath.Dir(t.path), name), purego.RTLD_NOW|purego.RTLD_LOCAL)
	t.check(err == nil, "%v", err)
	other := *t.library
	other.symbols = map[string]uintptr{}
	for _, f := range []string{"rknn_init", "rknn_query", "rknn_run", "rknn_destroy", "rknn_create_mem",
		"rknn_destroy_mem"} {
		symbol, err := purego.Dlsym(lib, f)
		t.check(err == nil, "%s: %v", name, err)
		other.symbols[f] = symbol
	}
	return &other
}

var _ = section(
	rule("1.a_exports", "every function of the three headers can be called, and no other name of that form is there").
		ok("there", func(t *T) {
			for _, f := range Required {
				t.check(t.symbols[f] != 0, "%s is missing", f)
			}
			t.judged(true)
		}).
		no("not_there", func(t *T) {
			lib, err := purego.Dlopen(t.path, purego.RTLD_NOW|purego.RTLD_LOCAL)
			t.check(err == nil, "%v", err)
			for _, f := range []string{"rknn_init2", "rknn_matmul_set_dynamic_shapes", "rknn_find_devices",
				"rknn_custom_op_get_op_attrs"} {
				_, err := purego.Dlsym(lib, f)
				t.check(err != nil, "%s is there", f)
			}
			t.judged(false)
		}),
	rule("1.b_names_of_the_library", "librknnrt.so, librknn_api.so and librknnmrt.so are one library").
		ok("one", func(t *T) {
			for _, name := range []string{"librknnrt.so", "librknn_api.so", "librknnmrt.so"} {
				n := inOutNum{}
				other := t.sibling(name)
				t.check(int32(other.call("query", t.open(relu(1, 4), 0), queryInOutNum, &n, 8)) == success && n == inOutNum{1, 1},
					"%s does not know a context of another", name)
			}
			t.judged(true)
		}).
		no("ended_in_another", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.check(int32(t.sibling("librknn_api.so").call("destroy", ctx)) == success, "rknn_destroy of another name")
			t.is(badContext, "run", ctx, nil)
		}),
	rule("1.c_results", "functions that return int return 0 or a negative code").
		ok("zero", func(t *T) { t.works(t.open(relu(1, 4), 0)) }).
		no("negative", func(t *T) {
			for _, f := range []string{"destroy", "query", "inputs_set", "set_batch_core_num", "set_core_mask", "run", "wait",
				"outputs_get", "outputs_release",
				"destroy_mem", "set_weight_mem", "set_internal_mem", "set_io_mem", "set_input_shape", "set_input_shapes",
				"mem_sync", "register_custom_ops"} {
				got := int32(t.call(f, 0, nil, nil, nil))
				t.check(got < 0, "rknn_%s without a context: %d", f, got)
			}
			t.judged(false)
		}),
	rule("1.d_create_mem_from_mb_blk", "is declared, and no block of a media driver can be taken: NULL").
		ok("other_memory", func(t *T) { t.mem(t.open(relu(1, 4), 0), 64) }).
		no("block", func(t *T) {
			t.null("create_mem_from_mb_blk", t.open(relu(1, 4), 0), new(uint64), 0)
			t.says("mb_blk", "rknn_create_mem_from_fd")
		}),
	rule("1.e_create_mem_from_phys", "describes memory by the address at which the program has mapped it; without that "+
		"NULL, and what to use instead").
		ok("mapped", func(t *T) {
			ctx, b := t.open(relu(1, 4), 0), make([]float32, 4)
			m := t.ownedMem(t.ptr("create_mem_from_phys", ctx, uint64(0x1000000), address(&b[0]), 16))
			t.check(m.virt == address(&b[0]) && m.phys == 0x1000000 && m.offset == 0 && m.size == 16 && m.fd == -1 &&
				m.flags == 3, "%+v", *m)
			t.bind(ctx, m, t.attr(ctx, queryInput, 0), float32T, -1)
			copy(b, []float32{5, -6, 7, -8})
			t.computes(ctx, 5, 0, 7, 0)
			t.keep = append(t.keep, b)
		}).
		ok("part_of_other_memory", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			base := t.mem(ctx, 8192)
			m := t.ownedMem(t.ptr("create_mem_from_phys", ctx, uint64(0), base.virt+64, 16))
			t.bind(ctx, m, t.attr(ctx, queryInput, 0), float32T, -1)
			copy(m.bytes(), bytesOf([]float32{-1, 2, -3, 4}))
			t.ok("destroy_mem", ctx, address(base))
			t.computes(ctx, 0, 2, 0, 4)
		}).
		no("address", func(t *T) {
			t.null("create_mem_from_phys", t.open(relu(1, 4), 0), uint64(0x1000000), nil, 64)
			t.says("phys_addr is 0x1000000", "virt_addr NULL", "rknn_create_mem")
		}).
		no("size", func(t *T) {
			t.null("create_mem_from_phys", t.open(relu(1, 4), 0), uint64(0x1000000), make([]byte, 64), 0)
			t.says("size is 0")
		}),
	rule("1.f_destory_mem", "the older spelling ends memory too").
		ok("ends", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("destory_mem", ctx, t.ptr("create_mem", ctx, 64))
		}).
		no("twice", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			m := t.ptr("create_mem", ctx, 64)
			t.ok("destory_mem", ctx, m)
			t.bad("destory_mem", ctx, m)
			t.bad("destroy_mem", ctx, m)
		}),
	rule("1.g_set_input_shape", "serves models of one input as rknn_set_input_shapes does").
		ok("one_input", func(t *T) {
			ctx := t.open(dynamic(), 0)
			t.ok("set_input_shape", ctx, shapeAttr(0, nhwc, 1, 2, 3, 2))
			got := t.attr(ctx, queryCurrentInput, 0)
			t.check(got.dims[1] == 2, "the shape is %v", got.shape())
		}).
		no("two_inputs", func(t *T) { t.bad("set_input_shape", t.open(add(1, 4), 0), shapeAttr(0, undefined, 1, 4)) }).
		no("NULL", func(t *T) { t.bad("set_input_shape", t.open(dynamic(), 0), nil) }),
	rule("1.h_symbols_of_old_boards", "functions that small boards lack work all the same").
		ok("work", func(t *T) {
			ctx := t.dup(t.open(relu(1, 4), 0))
			t.ok("set_batch_core_num", ctx, 1)
			t.works(ctx)
		}).
		no("misused", func(t *T) { t.is(badContext, "dup_context", new(uintptr), new(uintptr)) }),
)
