package rknnrules

import "slices"

// Functions are the 35 functions that the three headers declare.
var Functions = []string{
	"rknn_init", "rknn_dup_context", "rknn_destroy", "rknn_query", "rknn_inputs_set", "rknn_set_batch_core_num",
	"rknn_set_core_mask",
	"rknn_run", "rknn_wait", "rknn_outputs_get", "rknn_outputs_release", "rknn_create_mem_from_phys",
	"rknn_create_mem_from_fd",
	"rknn_create_mem_from_mb_blk", "rknn_create_mem", "rknn_create_mem2", "rknn_destroy_mem", "rknn_set_weight_mem",
	"rknn_set_internal_mem", "rknn_set_io_mem", "rknn_set_input_shape", "rknn_set_input_shapes", "rknn_mem_sync",
	"rknn_matmul_create", "rknn_matmul_create_dynamic_shape", "rknn_matmul_set_io_mem", "rknn_matmul_set_core_mask",
	"rknn_matmul_set_quant_params", "rknn_matmul_get_quant_params", "rknn_matmul_set_dynamic_shape", "rknn_matmul_run",
	"rknn_matmul_destroy", "rknn_B_normal_layout_to_native_layout",
	"rknn_register_custom_ops", "rknn_custom_op_get_op_attr",
}

// Historical are names of older headers that programs are still linked to.
var Historical = []string{"rknn_destory_mem", "rknn_matmul_create_dyn_shape"}

// Required are the functions that the rules must call.
var Required = slices.Concat(Functions, Historical)

// BoardOnly are statements of the notes that no machine without a Rockchip NPU can show, with the reason.
var BoardOnly = [][2]string{
	{"2: priority, nice value, SRAM and cache flags change speed and memory of an NPU",
		"there is no NPU: only that the flags are accepted is checked (2.n)"},
	{"3: drv_version is the kernel driver's", "there is no driver: only its form is checked (3.l)"},
	{"5: physical addresses, DMA buffers and cached copies",
		"there is no IOMMU and no second view of memory: only refusals and no-ops are checked (5.d, 5.p)"},
	{"7: which layers are split over cores, and that an idle core is picked", "speed only; results are the same (7.a)"},
	{"10: codes -2, -10, -11, -12, -13", "a driver, its timeout or its version gives them; -3 is that of a forked child " +
		"(ctest rknn_fork)"},
}
