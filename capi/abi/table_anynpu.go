package abi

// AnyNPU is the library's own small API, declared in include/anynpu.h.
var AnyNPU = &Facade{
	Name:    "anynpu",
	Prefix:  "anynpu_",
	Headers: []string{"anynpu.h"},
	Types:   map[string]Type{"anynpu_log_callback": {Func: true}},
	Rows: []Row{
		{C: "const char *anynpu_version(void)", Since: 1},
		{C: "void anynpu_set_log_callback(anynpu_log_callback callback, void *user)", Roles: "callback?, opaque?", Since: 1},
		{C: "const char *anynpu_last_error(void)", Since: 1},
		{C: "int anynpu_placement_report(const void *compilation, char *buffer, size_t size, size_t *needed)",
			Roles: "opaque?, raw, value, out?", Since: 1, Fail: 1},
		{C: "int anynpu_output_shape(const void *handle, uint32_t output, int64_t *dims, size_t size)",
			Roles: "opaque?, value, raw, value", Since: 1, Fail: -1},
		{C: "int anynpu_export(const void *handle, const char *path)", Roles: "opaque?, string", Since: 1, Fail: 1},
		{C: "size_t anynpu_live_handles(void)", Since: 1},
		{C: "size_t anynpu_live_buffers(void)", Since: 1},
	},
}
