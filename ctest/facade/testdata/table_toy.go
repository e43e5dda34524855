package abi

// Toy is the façade of the test in ctest/facade: what a new API takes.
var Toy = &Facade{
	Name:    "toy",
	Prefix:  "toy_",
	Headers: []string{"toy.h"},
	Check:   "misuse_toy.h",
	Status:  "toy_status",
	Failed:  -1,
	Forked:  -2,
	Handles: map[string]Handle{"toy_context": {Go: "Context", ByValue: true}},
	Types:   map[string]Type{"toy_status": {Go: "Status", Scalar: "int"}},
	Stubs:   []Library{{Soname: "libtoy.so", Version: "TOY_1.0"}, {Soname: "libtoy_alias.so"}},
	Drivers: true,
	Rows: []Row{
		{C: "toy_status toy_open(toy_context *context, const char *name)", Roles: "new, string", Since: 1, Creates: true},
		{C: "toy_status toy_add(toy_context context, int a, double b, int c, int *sum)",
			Roles: "handle, value, value, value, out", Since: 1},
		{C: "toy_status toy_close(toy_context context)", Roles: "take", Since: 1},
		{C: "const char *toy_who(void)", Since: 2},
		{C: "int toy_later(int n)", Roles: "value", Since: 3},
	},
}

func init() { Facades = append(Facades, Toy) }
