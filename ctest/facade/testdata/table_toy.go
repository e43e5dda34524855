package abi

// Toy is the façade of the test in ctest/facade: what a new API takes.
var Toy = &Facade{
	Name:    "toy",
	Prefix:  "toy_",
	Also:    []string{"tally"},
	Headers: []string{"toy.h"},
	Check:   "misuse_toy.h",
	Status:  "toy_status",
	Failed:  -1,
	Forked:  -2,
	Handles: map[string]Handle{"toy_context": {Go: "Context", ByValue: true}, "toy_list": {Go: "List"}},
	Types: map[string]Type{"toy_status": {Go: "Status", Scalar: "int"}, "toy_block": {Go: "Block"},
		"toy_place": {Go: "Place"}, "toy_pair": {Go: "Pair"}, "toy_spot": {Go: "Spot"}},
	Stubs:   []Library{{Soname: "libtoy.so", Version: "TOY_1.0"}, {Soname: "libtoy_alias.so"}},
	Drivers: true,
	Rows: []Row{
		{C: "toy_status toy_open(toy_context *context, const char *name)", Roles: "new, string", Since: 1, Creates: true},
		{C: "toy_status toy_add(toy_context context, int a, double b, int c, int *sum)",
			Roles: "handle, value, value, value, out", Since: 1, Owner: "context"},
		{C: "toy_status toy_close(toy_context context)", Roles: "take", Since: 1, Owner: "context"},
		{C: "toy_status toy_share(toy_context *from, toy_context *to)", Roles: "in, new", Since: 1, Creates: true,
			Owner: "*from"},
		{C: "toy_block *toy_alloc(toy_context context, int count)", Roles: "handle, value", Since: 1, Owner: "context",
			Undo: "toy_free(r)"},
		{C: "toy_status toy_fill(toy_context context, toy_block *block, int value)", Roles: "handle, inout, value", Since: 1,
			Owner: "context, block->owner"},
		{C: "toy_status toy_free(toy_block *block)", Roles: "in", Since: 1, Owner: "block->owner"},
		{C: "toy_status toy_move(toy_context context, toy_place place, toy_pair pair, int first, toy_spot spot, int *sum)",
			Roles: "handle?, in, in, value, in, out", Since: 1, Owner: "context"},
		{C: "toy_list *toy_list_make(void)", Since: 1, Creates: true},
		{C: "int toy_list_length(toy_list *list)", Roles: "handle", Since: 1, Owner: "list", Fail: -1},
		{C: "toy_status toy_list_end(toy_list *list)", Roles: "take", Since: 1, Owner: "list"},
		{C: "void toy_list_free(toy_list *list)", Roles: "take?", Since: 1, Owner: "list"},
		{C: "int tallyCalls(int n)", Roles: "value", Since: 1, Owner: OwnerNever},
		{C: "const char *toy_who(void)", Since: 2, Owner: OwnerNever},
		{C: "const char *toy_board(void)", Since: 2, Owner: OwnerDriver},
		{C: "int toy_later(int n)", Roles: "value", Since: 3, Owner: OwnerDriver},
	},
}

func init() { Facades = append(Facades, Toy) }
