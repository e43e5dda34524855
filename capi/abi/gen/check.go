package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
)

// prototypes writes a C file that compiles, as C and as C++, only if every symbol has its declared type.
func (f *facade) prototypes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\n/* Compiles only if the headers declare every exported function as the table does. "+
		"*/\n\n", banner)
	for _, h := range f.Headers {
		fmt.Fprintf(&b, "#include <%s>\n", h)
	}
	b.WriteString("\n")
	for _, fn := range f.inC() {
		pointer := func(types string) string {
			return fmt.Sprintf("static %s(*volatile p_%s)(%s) = %s;\n", space(fn.Result.Text), fn.Name, types, fn.Name)
		}
		if fn.CXX != "" {
			fmt.Fprintf(&b, "#ifdef __cplusplus\n%s#else\n%s#endif\n", pointer(fn.CXX), pointer(fn.paramTypes()))
		} else {
			b.WriteString(pointer(fn.paramTypes()))
		}
	}
	fmt.Fprintf(&b, "\nint main(void)\n{\n\tint missing = 0;\n")
	for _, fn := range f.inC() {
		fmt.Fprintf(&b, "\tmissing += p_%s == 0;\n", fn.Name)
	}
	b.WriteString("\treturn missing;\n}\n")
	return b.String()
}

// list writes a C header with the name of every function, and the status with which each refuses a start that lacks
// memory, 0 for those that return none.
func (f *facade) list() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\n/* FUNCTION(NAME, STATUS): the status of a call that cannot start the library for want "+
		"of "+
		"memory, 0: none. */\n", banner)
	for _, fn := range f.funcs {
		if fn.Refused != "" {
			continue // whatever memory there is
		}
		status := 0
		if fn.isStatus() {
			status = fn.starved()
		}
		fmt.Fprintf(&b, "FUNCTION(%s, %d)\n", fn.Name, status)
	}
	return b.String()
}

// inC are the functions that a C program can name.
func (f *facade) inC() []*function {
	return slices.DeleteFunc(slices.Clone(f.funcs), func(fn *function) bool { return fn.Mangled })
}

func space(t string) string {
	if strings.HasSuffix(t, "*") {
		return t
	}
	return t + " "
}

func (fn *function) paramTypes() string {
	if len(fn.Params) == 0 {
		return "void"
	}
	var types []string
	for _, p := range fn.Params {
		types = append(types, p.Type.Text)
	}
	return strings.Join(types, ", ")
}

// misuse writes a C test that calls every function with one bad argument after the other. The makers of good handles
// are in the façade's Check header; ctest/misuse.h has the rest.
func (f *facade) misuse() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\n/* Every function with every kind of bad argument: an error or NULL, never a crash, "+
		"nothing left behind. */\n\n", banner)
	for _, h := range f.Headers {
		fmt.Fprintf(&b, "#include <%s>\n", h)
	}
	b.WriteString("#include \"misuse.h\"\n")
	kinds := f.kinds()
	if f.Facade.Check != "" {
		fmt.Fprintf(&b, "#include \"%s\"\n", f.Facade.Check)
	}
	for i, k := range kinds {
		other := kinds[(i+1)%len(kinds)]
		if other == k {
			other = ""
		}
		b.WriteString(f.badHandle(k, other))
	}
	for _, fn := range f.inC() {
		fn.misuseFunction(&b)
	}
	b.WriteString("\nint main(void)\n{\n\tmisuse_begin();\n")
	for _, fn := range f.inC() {
		fmt.Fprintf(&b, "\tmisuse_each(\"%s\", test_%s, %d);\n", fn.Name, fn.Name, len(fn.Params))
	}
	b.WriteString("\treturn misuse_end();\n}\n")
	return b.String()
}

// kinds are the handle types that implemented functions take.
func (f *facade) kinds() []string {
	var out []string
	for _, fn := range f.funcs {
		for _, p := range fn.Params {
			if _, ok := f.Handles[p.Type.Base]; ok && !slices.Contains(out, p.Type.Base) {
				out = append(out, p.Type.Base)
			}
		}
		if _, ok := f.Handles[fn.Result.Base]; ok && !slices.Contains(out, fn.Result.Base) {
			out = append(out, fn.Result.Base)
		}
	}
	sort.Strings(out)
	return out
}

// handleType is the C type in which a program holds a handle of a kind.
func (f *facade) handleType(kind string) string {
	if f.Handles[kind].ByValue {
		return kind + " "
	}
	return kind + " *"
}

// badHandle writes bad_KIND, which gives the kinds of value that misuse.h numbers.
func (f *facade) badHandle(kind, other string) string {
	foreign := "(uintptr_t)misuse_random_address()"
	drop := ""
	if other != "" {
		foreign = fmt.Sprintf("misuse_keep_%s = (uintptr_t)make_%s()", kind, other)
		drop = fmt.Sprintf("\tif (misuse_keep_%[1]s)\n\t\tdrop_%[2]s((%[3]s)misuse_keep_%[1]s);\n\tmisuse_keep_%[1]s = 0;\n",
			kind, other, f.handleType(other))
	}
	return fmt.Sprintf(`
static uintptr_t misuse_keep_%[1]s;
static %[4]smisuse_again_%[1]s;

static %[4]sbad_%[1]s(int v)
{
	%[4]sh = make_%[1]s();
	drop_%[1]s(h);
	switch (v) {
	case MISUSE_FREED:
		return h;
	case MISUSE_STALE:
		misuse_again_%[1]s = make_%[1]s();
		return h;
	case MISUSE_FOREIGN:
		return (%[4]s)(%[2]s);
	default:
		return (%[4]s)misuse_handle(v, (uintptr_t)h);
	}
}

static void undo_%[1]s(void)
{
%[3]s	(void)misuse_keep_%[1]s;
	if (misuse_again_%[1]s)
		drop_%[1]s(misuse_again_%[1]s);
	misuse_again_%[1]s = 0;
}
`, kind, foreign, drop, f.handleType(kind))
}

// misuseFunction writes test_NAME(bad, v): one call with argument number bad wrong in way v; it returns 0 when there is
// no such way.
func (fn *function) misuseFunction(b *strings.Builder) {
	fmt.Fprintf(b, "\nstatic int test_%s(int bad, int v)\n{\n", fn.Name)
	var names, sets, after []string
	for i, p := range fn.Params {
		names = append(names, fmt.Sprintf("a%d", i))
		set, undo, ways := fn.misuseParam(i, p)
		sets = append(sets, set)
		after = append(after, undo...)
		fmt.Fprintf(b, "\tif (bad == %d && v >= %s)\n\t\treturn 0;\n", i, ways)
	}
	b.WriteString(strings.Join(sets, ""))
	call := fmt.Sprintf("%s(%s)", fn.Name, strings.Join(names, ", "))
	failed := ""
	switch {
	case fn.goResult() == "":
		fmt.Fprintf(b, "\t%s;\n", call)
	case fn.isStatus():
		fmt.Fprintf(b, "\t%s r = %s;\n", fn.Result.Text, call)
		failed = "r != 0"
		if fn.mustFail() == "" {
			b.WriteString("\t(void)r;\n")
		}
	case fn.IsHandle(fn.Result, 0):
		fmt.Fprintf(b, "\t%sr = %s;\n", space(fn.Result.Text), call)
		failed = "r == 0"
	default:
		fmt.Fprintf(b, "\t%sr = %s;\n", space(fn.Result.Text), call)
		if fn.Undo == "" {
			b.WriteString("\t(void)r;\n")
		}
	}
	if cond := fn.mustFail(); failed != "" && cond != "" {
		fmt.Fprintf(b, "\tif ((%s) && !(%s))\n\t\tmisuse_accepted(\"%s\", bad, v);\n", cond, failed, fn.Name)
	}
	if fn.Creates && fn.IsHandle(fn.Result, 0) {
		fmt.Fprintf(b, "\tif (r)\n\t\tdrop_%s(r);\n", fn.Result.Base)
	}
	if fn.Undo != "" {
		made := "r"
		if fn.isStatus() {
			made = "r == 0"
		}
		fmt.Fprintf(b, "\tif (%s)\n\t\t%s;\n", made, fn.Undo)
	}
	for _, a := range after {
		b.WriteString(a)
	}
	if len(fn.Params) == 0 {
		b.WriteString("\t(void)bad;\n\t(void)v;\n")
	}
	b.WriteString("\treturn 1;\n}\n")
}

// misuseParam gives the declaration of argument i, what undoes it, and the number of ways to get it wrong.
func (fn *function) misuseParam(i int, p abi.Param) (set string, undo []string, ways string) {
	t := p.Type
	h := fn.facade.handleType(t.Base)
	switch {
	case fn.IsHandle(t, 0):
		set = fmt.Sprintf("\t%[1]sg%[3]d = make_%[2]s();\n\t%[1]sa%[3]d = bad == %[3]d ? bad_%[2]s(v) : g%[3]d;\n", h, t.Base,
			i)
		undo = []string{fmt.Sprintf("\tdrop_%s(g%d);\n\tundo_%s();\n", t.Base, i, t.Base)}
		return set, undo, "MISUSE_HANDLES"
	case fn.IsHandle(t, 1) && p.Role.Name == "new":
		set = fmt.Sprintf("\t%[1]sg%[3]d = 0;\n\t%[1]s*a%[3]d = bad == %[3]d ? NULL : &g%[3]d;\n", h, t.Base, i)
		undo = []string{fmt.Sprintf("\tif (g%[2]d)\n\t\tdrop_%[1]s(g%[2]d);\n", t.Base, i)}
		return set, undo, "1"
	case fn.IsHandle(t, 1) && p.Role.Name == "take":
		set = fmt.Sprintf("\t%[1]sg%[3]d = make_%[2]s(), %[4]sh%[3]d = bad == %[3]d ? bad_%[2]s(v) : "+
			"g%[3]d;\n\t%[1]s*a%[3]d = bad == %[3]d && v == MISUSE_HANDLES ? NULL : &h%[3]d;\n", h, t.Base, i,
			strings.TrimPrefix(h, t.Base+" "))
		undo = []string{fmt.Sprintf("\tif (h%[2]d != 0 || bad == %[2]d)\n\t\tdrop_%[1]s(g%[2]d);\n\tundo_%[1]s();\n", t.Base,
			i)}
		return set, undo, "MISUSE_HANDLES + 1"
	case fn.IsHandle(t, 1) && p.Role.Name == "handles":
		set = fmt.Sprintf("\t%[1]sg%[3]d = make_%[2]s(), %[4]sh%[3]d[MISUSE_ELEMENTS] = {bad == %[3]d ? bad_%[2]s(v) : "+
			"g%[3]d, g%[3]d};\n\t%[1]s*a%[3]d = bad == %[3]d && v == MISUSE_HANDLES ? NULL : h%[3]d;\n", h, t.Base, i,
			strings.TrimPrefix(h, t.Base+" "))
		undo = []string{fmt.Sprintf("\tdrop_%s(g%d);\n\tundo_%s();\n", t.Base, i, t.Base)}
		return set, undo, "MISUSE_HANDLES + 1"
	case fn.IsStruct(t):
		return fmt.Sprintf("\t%s a%d;\n\tmemset(&a%d, bad == %d ? 0xff : 0, sizeof a%d);\n", t.Base, i, i, i, i), nil, "1"
	case fn.Facade.Types[t.Base].Func && t.Stars == 0:
		return fmt.Sprintf("\t%s a%d = bad == %d ? NULL : (%s)misuse_callback;\n", t.Base, i, i, t.Base), nil, "1"
	case fn.Scalar(t) == "bool" || fn.Scalar(t) == "float" || fn.Scalar(t) == "double":
		return fmt.Sprintf("\t%s a%d = bad == %d;\n", t.Base, i, i), nil, "1"
	case p.Role.Name == "len" && !fn.bounded(p):
		return fmt.Sprintf("\t%s a%d = (%s)(bad == %d ? misuse_length(v) : 1);\n", t.Base, i, t.Base, i), nil,
			"MISUSE_LENGTHS"
	case fn.Scalar(t) != "":
		return fmt.Sprintf("\t%s a%d = (%s)(bad == %d ? misuse_number(v) : 1);\n", t.Base, i, t.Base, i), nil,
			"MISUSE_NUMBERS"
	case p.Role.Name == "string":
		return fmt.Sprintf("\tconst char *a%d = bad == %d ? (const char *)misuse_pointer(v) : \"x\";\n", i, i), nil,
			"misuse_pointers()"
	case p.Role.Name == "opaque":
		return fmt.Sprintf("\t%sa%d = (%s)(bad == %d ? NULL : misuse_scratch(%d));\n", space(t.Text), i, t.Text, i, i), nil,
			"1"
	}
	return fmt.Sprintf("\t%sa%d = (%s)(bad == %d ? misuse_pointer(v) : misuse_scratch(%d));\n", space(t.Text), i, t.Text,
		i, i), nil, "misuse_pointers()"
}

// bounded says whether the length p has a bound in the table. Without one the caller's word has to be believed.
func (fn *function) bounded(p abi.Param) bool {
	return slices.ContainsFunc(fn.Params, func(q abi.Param) bool { return q.Role.Len == p.Name && q.Role.Max > 0 })
}

// mustFail is the C condition under which a call is certain to be refused.
func (fn *function) mustFail() string {
	var conds []string
	for i, p := range fn.Params {
		if fn.IsStruct(p.Type) {
			continue
		}
		switch p.Role.Name {
		case "handle":
			cond := fmt.Sprintf("bad == %d", i)
			if p.Role.Nullable {
				cond += " && v != MISUSE_NULL"
			}
			conds = append(conds, "("+cond+")")
		case "handles":
			conds = append(conds, fmt.Sprintf("(bad == %d && v != MISUSE_NULL)", i))
		case "take":
			if !p.Role.Nullable {
				conds = append(conds, fmt.Sprintf("bad == %d", i))
			}
		case "in", "out", "out0", "inout", "new", "string", "callback", "opaque":
			if !p.Role.Nullable {
				conds = append(conds, fmt.Sprintf("bad == %d", i))
			}
		}
	}
	return strings.Join(conds, " || ")
}
