package abi

import "slices"

// RKNN is Rockchip's runtime API.
var RKNN = &Facade{
	Name:    "rknn",
	Version: "2.3.2",
	Since:   "`since` is the vendor's version without its dots: 60 is 0.6.0, 130 is 1.3.0, 200 is 2.0.0.",
	Prefix:  "rknn_",
	Headers: []string{"rknn_api.h", "rknn_matmul_api.h", "rknn_custom_op.h"},
	Check:   "misuse_rknn.h",
	Status:  "int",
	Failed:  -1, // RKNN_ERR_FAIL
	Forked:  -3, // RKNN_ERR_DEVICE_UNAVAILABLE
	Starved: -4, // RKNN_ERR_MALLOC_FAIL
	Handles: map[string]Handle{
		"rknn_context":    {Go: "Context", ByValue: true},
		"rknn_matmul_ctx": {Go: "Matmul", ByValue: true},
	},
	Types: map[string]Type{
		"rknn_query_cmd":     {Go: "QueryCmd", Scalar: "uint32_t"},
		"rknn_core_mask":     {Go: "CoreMask", Scalar: "uint32_t"},
		"rknn_mem_sync_mode": {Go: "MemSyncMode", Scalar: "uint32_t"},
		"rknn_init_extend":   {Go: "InitExtend"},
		"rknn_run_extend":    {Go: "RunExtend"},
		"rknn_output_extend": {Go: "OutputExtend"},
		"rknn_input":         {Go: "Input"},
		"rknn_output":        {Go: "Output"},
		"rknn_tensor_mem":    {Go: "TensorMem"},
		"rknn_tensor_attr":   {Go: "TensorAttr"},

		"rknn_matmul_type":        {Go: "MatmulType", Scalar: "uint32_t"},
		"rknn_matmul_info":        {Go: "MatmulInfo"},
		"rknn_matmul_shape":       {Go: "MatmulShape"},
		"rknn_matmul_tensor_attr": {Go: "MatmulTensorAttr"},
		"rknn_matmul_io_attr":     {Go: "MatmulIOAttr"},
		"rknn_quant_params":       {Go: "QuantParams"},

		"rknn_custom_op":         {Go: "CustomOp"},
		"rknn_custom_op_context": {Go: "CustomOpContext"},
		"rknn_custom_op_attr":    {Go: "CustomOpAttr"},
	},
	Named: map[string]Named{
		"result":        {Enums: []string{"int"}, Prefix: "RKNN_SUCC,RKNN_ERR_"},
		"flag":          {Enums: []string{"int"}, Prefix: "RKNN_FLAG_,RKNN_MEM_FLAG_", Bits: true},
		"alloc_flags":   {Enums: []string{"rknn_mem_alloc_flags"}, Bits: true},
		"flags":         {Enums: []string{"rknn_tensor_mem_flags"}},
		"B_layout":      {Enums: []string{"rknn_matmul_layout"}},
		"AC_layout":     {Enums: []string{"rknn_matmul_layout"}},
		"B_quant_type":  {Enums: []string{"rknn_matmul_quant_type"}},
		"AC_quant_type": {Enums: []string{"rknn_matmul_quant_type"}},
	},
	Lengths: map[string]string{
		"rknn_tensor_attr.dims":        "n_dims",
		"rknn_matmul_tensor_attr.dims": "n_dims",
		"rknn_quant_params.scale":      "scale_len",
		"rknn_quant_params.zp":         "zp_len",
	},
	Drivers: true,
	Stubs:   []Library{{Soname: "librknnrt.so"}, {Soname: "librknn_api.so"}, {Soname: "librknnmrt.so"}},
	Rows: slices.Concat([]Row{
		// Contexts
		{C: "int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag, rknn_init_extend *extend)",
			Roles: "new, raw, value, value, inout?", Since: 100, Creates: true},
		{C: "int rknn_dup_context(rknn_context *context_in, rknn_context *context_out)", Roles: "in, new", Since: 120,
			Creates: true, Owner: "*context_in"},
		{C: "int rknn_destroy(rknn_context context)", Roles: "raw", Since: 60, Owner: "context"},
		{C: "int rknn_query(rknn_context context, rknn_query_cmd cmd, void *info, uint32_t size)",
			Roles: "handle, value, out[size], len", Since: 60, Owner: "context",
			Chooses: Choice{Param: "info", By: "cmd", Structs: rknnAnswers}},
		{C: "int rknn_set_core_mask(rknn_context context, rknn_core_mask core_mask)", Roles: "handle, value", Since: 120,
			Owner: "context"},
		{C: "int rknn_set_batch_core_num(rknn_context context, int core_num)", Roles: "handle, value", Since: 130,
			Owner: "context"},

		// Runs
		{C: "int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[])",
			Roles: "handle, len, in[n_inputs]", Since: 60, Owner: "context"},
		{C: "int rknn_run(rknn_context context, rknn_run_extend *extend)", Roles: "handle, out?", Since: 60,
			Owner: "context"},
		{C: "int rknn_wait(rknn_context context, rknn_run_extend *extend)", Roles: "handle, out?", Since: 100,
			Owner: "context"},
		{C: "int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[], rknn_output_extend " +
			"*extend)", Roles: "handle, len, out[n_outputs], out?", Since: 60, Owner: "context"},
		{C: "int rknn_outputs_release(rknn_context context, uint32_t n_ouputs, rknn_output outputs[])",
			Roles: "handle, len, out[n_ouputs]", Since: 60, Owner: "context"},

		// Memory, of contexts of either kind
		{C: "rknn_tensor_mem *rknn_create_mem(rknn_context ctx, uint32_t size)", Roles: "raw, value", Since: 100,
			Undo: "rknn_destroy_mem(a0, r)", Owner: "ctx"},
		{C: "rknn_tensor_mem *rknn_create_mem2(rknn_context ctx, uint64_t size, uint64_t alloc_flags)",
			Roles: "raw, value, value", Since: 200, Undo: "rknn_destroy_mem(a0, r)", Owner: "ctx"},
		{C: "rknn_tensor_mem *rknn_create_mem_from_fd(rknn_context ctx, int32_t fd, void *virt_addr, uint32_t size, " +
			"int32_t offset)", Roles: "raw, value, raw, value, value", Since: 100, Undo: "rknn_destroy_mem(a0, r)",
			Owner: "ctx"},
		{C: "rknn_tensor_mem *rknn_create_mem_from_phys(rknn_context ctx, uint64_t phys_addr, void *virt_addr, uint32_t " +
			"size)", Roles: "handle, value, raw, value", Since: 100, Undo: "rknn_destroy_mem(a0, r)", Owner: "ctx"},
		{C: "rknn_tensor_mem *rknn_create_mem_from_mb_blk(rknn_context ctx, void *mb_blk, int32_t offset)",
			Roles: "handle, raw, value", Since: 100, Undo: "rknn_destroy_mem(a0, r)", Owner: "ctx"},
		{C: "int rknn_destory_mem(rknn_context ctx, rknn_tensor_mem *mem)", Roles: "raw, in", Since: 100,
			Owner: "mem->priv_data"},
		{C: "int rknn_destroy_mem(rknn_context ctx, rknn_tensor_mem *mem)", Roles: "raw, in", Since: 130,
			Owner: "mem->priv_data"},
		{C: "int rknn_set_weight_mem(rknn_context ctx, rknn_tensor_mem *mem)", Roles: "handle, in", Since: 100,
			Owner: "ctx, mem->priv_data"},
		{C: "int rknn_set_internal_mem(rknn_context ctx, rknn_tensor_mem *mem)", Roles: "handle, in", Since: 100,
			Owner: "ctx, mem->priv_data"},
		{C: "int rknn_set_io_mem(rknn_context ctx, rknn_tensor_mem *mem, rknn_tensor_attr *attr)", Roles: "handle, in, in",
			Since: 100, Owner: "ctx, mem->priv_data"},
		{C: "int rknn_mem_sync(rknn_context context, rknn_tensor_mem *mem, rknn_mem_sync_mode mode)", Roles: "raw, in, value",
			Since: 160, Owner: "context, mem->priv_data"},

		// Dynamic shapes
		{C: "int rknn_set_input_shape(rknn_context ctx, rknn_tensor_attr *attr)", Roles: "handle, in", Since: 150,
			Owner: "ctx"},
		{C: "int rknn_set_input_shapes(rknn_context ctx, uint32_t n_inputs, rknn_tensor_attr attr[])",
			Roles: "handle, len, in[n_inputs]", Since: 150, Owner: "ctx"},

		// Operators that a program computes
		{C: "int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)",
			Roles: "handle, in[custom_op_num], len", Since: 160, Owner: "ctx"},
		{C: "void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name, rknn_custom_op_attr " +
			"*op_attr)", Roles: "in, string, out", Since: 160, Owner: "op_ctx->internal_ctx"},
	}, rknnMatmulRows),
}

// rknnAnswers are the structs of rknn_query.
var rknnAnswers = map[string]string{
	"RKNN_QUERY_IN_OUT_NUM":                 "rknn_input_output_num",
	"RKNN_QUERY_INPUT_ATTR":                 "rknn_tensor_attr",
	"RKNN_QUERY_OUTPUT_ATTR":                "rknn_tensor_attr",
	"RKNN_QUERY_PERF_DETAIL":                "rknn_perf_detail",
	"RKNN_QUERY_PERF_RUN":                   "rknn_perf_run",
	"RKNN_QUERY_SDK_VERSION":                "rknn_sdk_version",
	"RKNN_QUERY_MEM_SIZE":                   "rknn_mem_size",
	"RKNN_QUERY_CUSTOM_STRING":              "rknn_custom_string",
	"RKNN_QUERY_NATIVE_INPUT_ATTR":          "rknn_tensor_attr",
	"RKNN_QUERY_NATIVE_OUTPUT_ATTR":         "rknn_tensor_attr",
	"RKNN_QUERY_NATIVE_NHWC_INPUT_ATTR":     "rknn_tensor_attr",
	"RKNN_QUERY_NATIVE_NHWC_OUTPUT_ATTR":    "rknn_tensor_attr",
	"RKNN_QUERY_DEVICE_MEM_INFO":            "rknn_tensor_mem",
	"RKNN_QUERY_INPUT_DYNAMIC_RANGE":        "rknn_input_range",
	"RKNN_QUERY_CURRENT_INPUT_ATTR":         "rknn_tensor_attr",
	"RKNN_QUERY_CURRENT_OUTPUT_ATTR":        "rknn_tensor_attr",
	"RKNN_QUERY_CURRENT_NATIVE_INPUT_ATTR":  "rknn_tensor_attr",
	"RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR": "rknn_tensor_attr",
}
