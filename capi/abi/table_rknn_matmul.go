package abi

// rknnLarge are the libraries of the boards that multiply matrices.
var rknnLarge = []string{"librknnrt.so", "librknn_api.so"}

// rknnMatmulRows are the functions of rknn_matmul_api.h, and names that were withdrawn.
var rknnMatmulRows = []Row{
	{C: "int rknn_matmul_create(rknn_matmul_ctx *ctx, rknn_matmul_info *info, rknn_matmul_io_attr *io_attr)",
		Roles: "newkeep, raw, out", Since: 130, Creates: true, Stubs: rknnLarge},
	{C: "int rknn_matmul_create_dynamic_shape(rknn_matmul_ctx *ctx, rknn_matmul_info *info, int shape_num, " +
		"rknn_matmul_shape dynamic_shapes[], rknn_matmul_io_attr io_attrs[])",
		Roles: "newkeep, raw, len, in[shape_num<=65536], out[shape_num]", Since: 210, Creates: true, Stubs: rknnLarge},
	{C: "int rknn_matmul_create_dyn_shape(rknn_matmul_ctx *ctx, rknn_matmul_info *info, int shape_num, " +
		"rknn_matmul_shape dynamic_shapes[], rknn_matmul_io_attr io_attrs[])",
		Roles: "newkeep, raw, len, in[shape_num<=65536], out[shape_num]", Since: 200, Creates: true, Stubs: rknnLarge},
	{C: "int rknn_matmul_set_io_mem(rknn_matmul_ctx ctx, rknn_tensor_mem *mem, rknn_matmul_tensor_attr *attr)",
		Roles: "handle, in, in", Since: 130, Stubs: rknnLarge, Owner: "ctx, mem->priv_data"},
	{C: "int rknn_matmul_set_core_mask(rknn_matmul_ctx context, rknn_core_mask core_mask)", Roles: "handle, value",
		Since: 130, Stubs: rknnLarge, Owner: "context"},
	{C: "int rknn_matmul_set_quant_params(rknn_matmul_ctx context, rknn_quant_params *params)", Roles: "handle, in",
		Since: 200, Stubs: rknnLarge, Owner: "context"},
	{C: "int rknn_matmul_get_quant_params(rknn_matmul_ctx ctx, rknn_quant_params *params, float *scale)",
		Roles: "handle, inout, out", Since: 200, Stubs: rknnLarge, Owner: "ctx"},
	{C: "int rknn_matmul_set_dynamic_shape(rknn_matmul_ctx ctx, rknn_matmul_shape *shape)", Roles: "handle, in",
		Since: 200, Stubs: rknnLarge, Owner: "ctx"},
	{C: "int rknn_matmul_run(rknn_matmul_ctx ctx)", Roles: "handle", Since: 130, Stubs: rknnLarge, Owner: "ctx"},
	{C: "int rknn_matmul_destroy(rknn_matmul_ctx ctx)", Roles: "raw", Since: 130, Stubs: rknnLarge, Owner: "ctx"},
	{C: "int rknn_B_normal_layout_to_native_layout(void *B_input, void *B_output, int K, int N, rknn_matmul_info *info)",
		Roles: "raw, raw, value, value, opaque?", Older: "int subK, rknn_matmul_type type", Since: 200, Stubs: rknnLarge,
		Owner: OwnerDriver},
}
