package abi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse_acceptsEveryFacade(t *testing.T) {
	names := map[string]string{}
	for _, f := range Facades {
		fns, err := Parse(f)
		require.NoError(t, err)
		for _, fn := range fns {
			older := names[fn.Name]
			assert.True(t, older == "" || older == f.Replaces,
				"%s is exported twice", fn.Name)
			names[fn.Name] = f.Name
		}
	}
}

func TestParse_ohnnHasAllPublicAndInnerFunctions(t *testing.T) {
	fns, err := Parse(OHNN)
	require.NoError(t, err)
	assert.Len(t, fns, 75+7)
}

func TestParse_refuses(t *testing.T) {
	base := Facade{Name: "toy", Prefix: "toy_", Handles: map[string]Handle{"toy": {Go: "Toy"}},
		Types: map[string]Type{"box": {Go: "Box"}}, Also: []string{"box_"}}
	for _, c := range []struct{ proto, roles, want string }{
		{"int toy_f(box b)", "value", "does not fit"},
		{"int toy_f(box b)", "in?", "does not fit"},
		{"int toy_f(box b, int n)", "in[n], len", "does not fit"},
		{"box toy_f(void)", "", "structs are not returned"},
		{"int toy_f(nobody *b)", "in", "unknown type nobody"},
		{"int toy_f(int n)", "", "0 roles for 1 parameters"},
		{"int toy_f(int n)", "number", "no such role"},
		{"int toy_f(int n)", "in", "does not fit"},
		{"int toy_f(int *v, int n)", "in[m], value", "no parameter m"},
		{"int toy_f(int *v, int n)", "in, len", "named by an array"},
		{"int toy_f(toy *t, int n)", "handle[n], len", "takes no length"},
		{"int toy_f()", "", "write (void)"},
		{"int other_f(void)", "", "does not start with toy_ or box_"},
	} {
		f := base
		f.Rows = []Row{{C: c.proto, Roles: c.roles}}
		_, err := Parse(&f)
		assert.ErrorContains(t, err, c.want, c.proto)
	}
}

func TestParse_formerParameters(t *testing.T) {
	f := Facade{Name: "toy", Prefix: "toy_", Drivers: true, Types: map[string]Type{"box": {Go: "Box"}},
		Rows: []Row{{C: "int toy_f(int n, box b)", Roles: "value, in", Former: "box b, int *m", FormerRoles: "in, out",
			Owner: OwnerDriver}}}
	funcs, err := Parse(&f)
	require.NoError(t, err)
	former := funcs[0].Former
	assert.Equal(t, "toy_f", former.Name)
	assert.Equal(t, "fFormer", former.Go)
	assert.Equal(t, "m", former.Params[1].Name)
	assert.Nil(t, former.Former)

	f.Rows[0].FormerRoles = "in"
	_, err = Parse(&f)
	assert.ErrorContains(t, err, "former: 1 roles for 2 parameters")
	f.Rows[0].FormerRoles, f.Rows[0].Creates, f.Rows[0].Owner = "in, out", true, ""
	_, err = Parse(&f)
	assert.ErrorContains(t, err, "want the owner")
}

func TestParse_takesWhatOtherAPIsHave(t *testing.T) {
	f := Facade{Name: "toy", Prefix: "toy_", Also: []string{"boxSys"}, Handles: map[string]Handle{"toy": {Go: "Toy"}},
		Types: map[string]Type{"box": {Go: "Box"}}}
	f.Rows = []Row{{C: "int boxSysMove(box b, int n)", Roles: "in, value"}, {C: "void toy_free(toy *t)", Roles: "take?"}}
	funcs, err := Parse(&f)
	require.NoError(t, err)
	assert.Equal(t, "boxSysMove", funcs[0].Go)
	assert.True(t, funcs[0].IsStruct(funcs[0].Params[0].Type))
	assert.Equal(t, "free", funcs[1].Go)
}

func TestParse_wantsAnOwnerWhereThereAreDrivers(t *testing.T) {
	base := Facade{Name: "toy", Prefix: "toy_", Drivers: true, Handles: map[string]Handle{"toy": {Go: "Toy"}},
		Types: map[string]Type{"box": {Go: "Box"}, "color": {Go: "Color", Scalar: "int"}}}
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{C: "int toy_f(int n)", Roles: "value"}, "no owner"},
		{Row{C: "int toy_f(toy *t)", Roles: "handle"}, "no owner"},
		{Row{C: "int toy_f(toy *t)", Roles: "handle", Owner: "u"}, "no parameter u"},
		{Row{C: "int toy_f(toy *t)", Roles: "handle", Owner: "*t"}, "no pointer to a handle"},
		{Row{C: "int toy_f(toy **t)", Roles: "take", Owner: "t"}, "t is no handle"},
		{Row{C: "int toy_f(int n)", Roles: "value", Owner: "n"}, "n is no handle"},
		{Row{C: "int toy_f(box *b)", Roles: "in", Owner: "b->"}, "no pointer to a struct"},
		{Row{C: "int toy_f(box *b)", Roles: "in", Owner: "*b->p"}, "no pointer to a struct"},
		{Row{C: "int toy_f(toy *t)", Roles: "handle", Owner: "t->p"}, "no pointer to a struct"},
		{Row{C: "int toy_f(color *c)", Roles: "in", Owner: "c->p"}, "no pointer to a struct"},
		{Row{C: "toy *toy_f(void)", Creates: true, Owner: OwnerDriver}, "the behaviour of a function that creates"},
	} {
		f := base
		f.Rows = []Row{c.row}
		_, err := Parse(&f)
		assert.ErrorContains(t, err, c.want, c.row.C)
	}
	base.Rows = []Row{{C: "int toy_f(toy *t, toy **u, box *b)", Roles: "handle, take, in", Owner: "t, *u, b->p"},
		{C: "toy *toy_g(void)", Creates: true}, {C: "int toy_h(void)", Owner: OwnerNever}}
	funcs, err := Parse(&base)
	require.NoError(t, err)
	assert.Equal(t, []Place{{Param: 0}, {Param: 1, Deref: true}, {Param: 2, Field: "p"}}, funcs[0].Owners)
}

func TestGoName_followsTheSymbol(t *testing.T) {
	for symbol, want := range map[string]string{
		"TensorDesc_SetName": "tensorDescSetName",
		"_GetDeviceID":       "getDeviceID",
		"init":               "init_",
		"set_core_mask":      "setCoreMask",
		"DNNInitialize":      "dnnInitialize",
		"version":            "version",
	} {
		assert.Equal(t, want, goName(symbol), symbol)
	}
}

func TestParseType_constAnywhere(t *testing.T) {
	for text, want := range map[string]CType{
		"const toy *":         {Base: "toy", Stars: 1},
		"toy const *":         {Base: "toy", Stars: 1},
		"const toy *const *":  {Base: "toy", Stars: 2},
		"const unsigned int":  {Base: "unsigned int"},
		"const char * const*": {Base: "char", Stars: 2},
	} {
		got := parseType(text)
		assert.Equal(t, want.Base, got.Base, text)
		assert.Equal(t, want.Stars, got.Stars, text)
	}
}
