package main

import (
	"fmt"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
)

// calls writes what ctest/drivers knows of an API: the parameters of every function with the fields of their structs,
// the functions of a fake driver, and a caller for each.
func (f *facade) calls() string {
	var fields, params, calls, fakes, senders strings.Builder
	seen := map[string]bool{}
	for k, fn := range f.inC() {
		fmt.Fprintf(&params, "static const struct param params_%d[] = {\n", k)
		for _, p := range fn.Params {
			f.fieldTable(&fields, p.Type.Base, seen)
			fmt.Fprintf(&params, "\t{%q, %s},\n", p.Name, fn.recorded(p))
		}
		params.WriteString("\t{NULL, 0, 0, -1, NULL, 0},\n};\n")
		result := "0"
		if fn.goResult() != "" {
			result = fmt.Sprintf("sizeof(%s)", fn.Result.Text)
		}
		fmt.Fprintf(&calls, "\t{%q, params_%d, %d, %s},\n", fn.Name, k, len(fn.Params), result)
		fn.fake(&fakes, k)
		fn.sender(&senders, k)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\n/* Every function of the API as ctest/drivers/record.h describes one; with FAKE those "+
		"of a "+
		"driver, else callers. */\n\n", banner)
	for _, h := range f.Headers {
		fmt.Fprintf(&b, "#include <%s>\n", h)
	}
	b.WriteString("#include <stddef.h>\n\n#include \"record.h\"\n\n#define FIELD(type, field) " +
		"{#field, offsetof(type, field), sizeof(((type *)0)->field)}\n\n")
	b.WriteString(fields.String() + params.String())
	fmt.Fprintf(&b, "\nstatic const struct call calls[] = {\n%s};\n\n#ifdef FAKE\n%s#else\n%s", calls.String(),
		fakes.String(), senders.String())
	b.WriteString("\nstatic uint64_t (*const senders[])(void (*)(void), void *const *) = {\n")
	for k := range f.inC() {
		fmt.Fprintf(&b, "\tsend_%d,\n", k)
	}
	b.WriteString("};\n#endif\n")
	return b.String()
}

// fieldTable writes the fields of a struct, those of structs in it by their path.
func (f *facade) fieldTable(b *strings.Builder, name string, seen map[string]bool) {
	s := f.types.Struct(name)
	if s == nil || seen[name] {
		return
	}
	seen[name] = true
	fmt.Fprintf(b, "static const struct field fields_%s[] = {\n", name)
	f.fieldRows(b, name, name, "")
	b.WriteString("};\n")
}

func (f *facade) fieldRows(b *strings.Builder, top, name, path string) {
	for _, field := range f.types.Struct(name).Fields {
		if f.types.Struct(field.Type) != nil && field.Array == 0 {
			f.fieldRows(b, top, field.Type, path+field.Name+".")
			continue
		}
		fmt.Fprintf(b, "\tFIELD(%s, %s),\n", top, path+field.Name)
	}
}

// recorded is how a parameter is recorded: kind, size of the record, parameter with the number of elements, fields.
func (fn *function) recorded(p abi.Param) string {
	t := p.Type
	fields := "NULL, 0"
	if fn.facade.types.Struct(t.Base) != nil && t.Stars <= 1 {
		fields = fmt.Sprintf("fields_%[1]s, sizeof fields_%[1]s / sizeof *fields_%[1]s", t.Base)
	}
	element := strings.TrimSpace(strings.TrimSuffix(t.Text, "*"))
	if t.Stars == 1 && t.Base == "void" {
		element = "char"
	}
	length := -1
	for i, q := range fn.Params {
		if p.Role.Len == q.Name && p.Role.Len != "" {
			length = i
		}
	}
	writes := ""
	switch p.Role.Name {
	case "out", "out0", "inout", "new", "take":
		writes = " | WRITTEN"
	}
	switch {
	case p.Role.Name == "string":
		return "TEXT, 1, -1, NULL, 0"
	case fn.IsHandle(t, 0) || t.Stars == 0 && !fn.Facade.Types[t.Base].Func:
		return fmt.Sprintf("VALUE, sizeof(%s), -1, %s", t.Text, fields)
	case t.Stars == 0 || t.Stars == 1 && (t.Base == "void" && length < 0 || fn.incomplete(t.Base)):
		return "ADDRESS, sizeof(void *), -1, NULL, 0"
	}
	return fmt.Sprintf("POINTED%s, sizeof(%s), %d, %s", writes, element, length, fields)
}

// incomplete says whether a type is declared in the headers and nothing else.
func (fn *function) incomplete(base string) bool {
	known, is := fn.Facade.Types[base]
	return is && known.Scalar == "" && !known.Func && fn.facade.types.Struct(base) == nil
}

// fake writes the driver's function.
func (fn *function) fake(b *strings.Builder, k int) {
	args := []string{}
	for _, p := range fn.Params {
		args = append(args, "&"+p.Name)
	}
	ret, end := "return "+fmt.Sprintf("(%s)", fn.Result.Text), ""
	if fn.goResult() == "" {
		ret = "(void)"
	}
	if len(args) == 0 {
		args = []string{"NULL"}
	}
	fmt.Fprintf(b, "\n%s\n{\n\tconst void *args[] = {%s};\n\t%sanswer(&calls[%d], args);%s\n}\n", fn.C,
		strings.Join(args, ", "), ret, k, end)
}

// sender writes a function that calls f with the arguments in the memory at a.
func (fn *function) sender(b *strings.Builder, k int) {
	var args []string
	for i, p := range fn.Params {
		t := p.Type.Text
		if p.Type.Stars == 0 {
			args = append(args, fmt.Sprintf("*(%s *)a[%d]", t, i))
			continue
		}
		args = append(args, fmt.Sprintf("*(%s *)a[%d]", space(t), i))
	}
	cast := fmt.Sprintf("((%s(*)(%s))f)(%s)", space(fn.Result.Text), fn.paramTypes(), strings.Join(args, ", "))
	body := "return (uint64_t)" + cast + ";"
	if fn.goResult() == "" {
		body = cast + ";\n\treturn 0;"
	}
	unused := ""
	if len(args) == 0 {
		unused = "\t(void)a;\n"
	}
	fmt.Fprintf(b, "\nstatic uint64_t send_%d(void (*f)(void), void *const *a)\n{\n%s\t%s\n}\n", k, unused, body)
}
