package abi

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The functions that the vendor's three headers declare, without the prefix, and the names that older headers had for
// two of them.
const (
	rknnFunctions = `init dup_context destroy query inputs_set set_batch_core_num set_core_mask run wait outputs_get outputs_release
		create_mem_from_phys create_mem_from_fd create_mem_from_mb_blk create_mem create_mem2 destroy_mem set_weight_mem set_internal_mem set_io_mem
		set_input_shape set_input_shapes mem_sync matmul_create matmul_create_dynamic_shape matmul_set_io_mem matmul_set_core_mask
		matmul_set_quant_params matmul_get_quant_params matmul_set_dynamic_shape matmul_run matmul_destroy B_normal_layout_to_native_layout
		register_custom_ops custom_op_get_op_attr`
	rknnOlderNames = `destory_mem matmul_create_dyn_shape`
)

func TestRKNN_hasEveryFunctionOfTheHeaders(t *testing.T) {
	require.Len(t, strings.Fields(rknnFunctions), 35)
	var want, have []string
	for _, name := range strings.Fields(rknnFunctions + " " + rknnOlderNames) {
		want = append(want, "rknn_"+name)
	}
	funcs, err := Parse(RKNN)
	require.NoError(t, err)
	for _, f := range funcs {
		have = append(have, f.Name)
	}
	slices.Sort(want)
	slices.Sort(have)
	require.Equal(t, want, have)
}
