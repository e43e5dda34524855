package abi

// AnyNPU is the library's own small API, declared in include/anynpu.h.
var AnyNPU = &Facade{
	Name:    "anynpu",
	Prefix:  "anynpu_",
	Headers: []string{"anynpu.h"},
	Rows: []Row{
		{C: "const char *anynpu_version(void)", Since: 1},
		{C: "size_t anynpu_live_handles(void)", Since: 1},
	},
}
