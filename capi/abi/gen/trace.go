package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
	"github.com/anynpu/anynpu/capi/abi/abicheck/spec"
)

// tracer collects the structs and enumerations that a façade's trace shows, each once.
type tracer struct {
	f       *facade
	enums   map[string]string // the variable's value, by its name
	layouts map[string]string
}

func newTracer(f *facade) *tracer {
	return &tracer{f: f, enums: map[string]string{}, layouts: map[string]string{}}
}

// file is the Go file with the collected parts.
func (t *tracer) file() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage %s\n\nimport \"github.com/anynpu/anynpu/capi/boundary\"\n", banner, t.f.Name)
	for _, part := range []struct {
		comment string
		values  map[string]string
	}{
		{"The enumerations that the trace names.", t.enums},
		{"The structs that the trace shows by field.", t.layouts},
	} {
		if len(part.values) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n// %s\nvar (\n", part.comment)
		for _, name := range slices.Sorted(maps.Keys(part.values)) {
			fmt.Fprintf(&b, "\t%s = %s\n", name, part.values[name])
		}
		b.WriteString(")\n")
	}
	return b.String()
}

// identifier makes an exported-looking name of a C name: rknn_query_cmd is RknnQueryCmd.
func identifier(c string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(c, func(r rune) bool { return r == '_' || r == ' ' || r == '.' || r == ',' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// named is the address of the enumeration that names numbers of the C type base: that of the façade's Named for
// OWNER.NAME, the type itself, that of Named for NAME. It is "" if the numbers have no names.
func (t *tracer) named(base, owner, name string) string {
	if n, ok := t.f.Named[owner+"."+name]; ok {
		return t.enum(n)
	}
	if e := t.f.types.Enum(base); e != nil && len(e.Values) > 0 && !plainType(base) {
		return t.enum(abi.Named{Enums: []string{base}, Bits: base == "rknn_core_mask"})
	}
	if n, ok := t.f.Named[name]; ok {
		return t.enum(n)
	}
	return ""
}

// plainType says whether constants of a type are in the lists under the name of one of C's own types.
func plainType(base string) bool { _, ok := abi.GoScalar(base); return ok || base == "unsigned" }

// enum is the address of the variable of an enumeration. Of enumerators with one number the first counts.
func (t *tracer) enum(n abi.Named) string {
	name := "enum" + identifier(strings.Join(n.Enums, " ")+" "+n.Prefix)
	if t.enums[name] != "" {
		return "&" + name
	}
	var values []spec.Value
	for _, list := range n.Enums {
		e := t.f.types.Enum(list)
		if e == nil {
			panic(fmt.Sprintf("gen: %s: no list in abicheck has %s", t.f.Name, list))
		}
		for _, v := range e.Values {
			known := slices.ContainsFunc(values, func(o spec.Value) bool { return o.Value == v.Value })
			if !known && hasPrefix(v.Name, n.Prefix) {
				values = append(values, v)
			}
		}
	}
	slices.SortFunc(values, func(a, b spec.Value) int { return cmp.Compare(a.Value, b.Value) })
	var b strings.Builder
	b.WriteString("boundary.Enum{Names: []boundary.Enumerator{\n")
	for _, v := range values {
		fmt.Fprintf(&b, "\t\t{Number: %d, Name: %q},\n", v.Value, v.Name)
	}
	b.WriteString("\t}")
	if n.Bits {
		b.WriteString(", Bits: true")
	}
	t.enums[name] = b.String() + "}"
	return "&" + name
}

// hasPrefix says whether a name has one of the prefixes, which commas separate.
func hasPrefix(name, prefixes string) bool {
	for p := range strings.SplitSeq(prefixes, ",") {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// layout is the address of the variable of a struct, "" if no list has its fields.
func (t *tracer) layout(c string) string {
	s := t.f.types.Struct(c)
	if s == nil || len(s.Fields) == 0 {
		return ""
	}
	name := "layout" + identifier(c)
	if t.layouts[name] != "" {
		return "&" + name
	}
	t.layouts[name] = "boundary.Layout{}" // of a struct that leads to itself
	var b strings.Builder
	fmt.Fprintf(&b, "boundary.Layout{Name: %q, Size: %d, Fields: []boundary.Field{\n", c, s.Size)
	for _, f := range s.Fields {
		if strings.HasPrefix(f.Name, "reserved") || f.Inner > 0 {
			continue
		}
		fmt.Fprintf(&b, "\t\t{%s},\n", t.field(s, f))
	}
	t.layouts[name] = b.String() + "\t}}"
	return "&" + name
}

// field is a field in Go.
func (t *tracer) field(s *spec.Struct, f spec.Field) string {
	text := fmt.Sprintf("Name: %q, Offset: %d, %s", f.Name, f.Offset, t.kind(f))
	if f.Array > 0 {
		text += fmt.Sprintf(", Array: %d", f.Array)
	}
	base := bare(f.Type)
	if length := t.f.Lengths[s.Name+"."+f.Name]; length != "" {
		offset, counter := t.counter(s, length)
		text += fmt.Sprintf(", Length: &boundary.Field{Offset: %d, Kind: %s, Size: %d}", offset,
			t.numberKind(bare(counter.Type)), t.f.types.Size(counter))
		if f.IsPointer() {
			of := spec.Field{Type: base}
			text += fmt.Sprintf(", Of: %s, Width: %d", t.numberKind(base), t.f.types.Size(of))
		}
	}
	if enum := t.named(base, s.Name, f.Name); enum != "" && !f.IsPointer() && base != "char" {
		text += ", Enum: " + enum
	}
	return text
}

// kind is how a field is read.
func (t *tracer) kind(f spec.Field) string {
	base, size := bare(f.Type), t.f.types.Size(f)
	layout := ""
	if strings.Count(f.Type, "*") <= 1 && !strings.Contains(f.Type, "(") {
		layout = t.layout(base)
	}
	switch {
	case layout != "" && f.IsPointer():
		return fmt.Sprintf("Kind: boundary.Nested, Follow: true, Size: %d, Struct: %s", size, layout)
	case layout != "":
		return fmt.Sprintf("Kind: boundary.Nested, Size: %d, Struct: %s", size, layout)
	case f.IsPointer(), t.f.types.Size(f) == 0, t.isHandle(base):
		return "Kind: boundary.Pointer, Size: 8"
	}
	return fmt.Sprintf("Kind: %s, Size: %d", t.numberKind(base), size)
}

// numberKind is the kind of numbers of a C type.
func (t *tracer) numberKind(base string) string {
	e := t.f.types.Enum(base)
	switch {
	case base == "char":
		return "boundary.Char"
	case base == "float", base == "double":
		return "boundary.Float"
	case base == "bool":
		return "boundary.Bool"
	case strings.HasPrefix(base, "uint"), base == "size_t", e != nil && !e.Signed && !plainType(base):
		return "boundary.Unsigned"
	}
	return "boundary.Signed"
}

// counter finds the field of a path in a struct, with its offset in that.
func (t *tracer) counter(s *spec.Struct, path string) (int, spec.Field) {
	name, rest, deeper := strings.Cut(path, ".")
	for _, f := range s.Fields {
		if f.Name != name {
			continue
		}
		if !deeper {
			return f.Offset, f
		}
		inner, found := t.counter(t.f.types.Struct(bare(f.Type)), rest)
		return f.Offset + inner, found
	}
	panic(fmt.Sprintf("gen: %s: %s has no field %s", t.f.Name, s.Name, path))
}

// bare is a C type without const and stars.
func bare(c string) string {
	var words []string
	for _, w := range strings.Fields(strings.ReplaceAll(c, "*", " ")) {
		if w != "const" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// arg is how the trace shows argument i of a function.
func (t *tracer) arg(fn *function, i int) string {
	p := fn.Params[i]
	base, role := p.Type.Base, p.Role.Name
	enum := t.named(base, fn.Name, p.Name)
	reads := role == "in" || role == "inout"
	n := slices.IndexFunc(fn.Params, func(q abi.Param) bool { return p.Role.Len != "" && q.Name == p.Role.Len })
	if fn.Chooses.Param == p.Name {
		return t.chosen(fn, i, n)
	}
	switch {
	case fn.Scalar(p.Type) != "" && enum != "" && base != "bool" && base != "float":
		return fmt.Sprintf("boundary.Named(a%d, %s)", i, enum)
	case fn.Scalar(p.Type) != "":
		return fmt.Sprintf("boundary.Value(a%d)", i)
	case role == "string":
		return fmt.Sprintf("boundary.Text(a%d)", i)
	case role == "out" && p.Role.Len == "" && base == "char" && p.Type.Stars == 2:
		return fmt.Sprintf("boundary.OutText(a%d)", i)
	case (role == "out" || role == "inout") && p.Role.Len == "" && p.Type.Stars == 1 && enum != "":
		return fmt.Sprintf("boundary.OutNamed(a%d, %d, %s)", i, t.f.types.Size(spec.Field{Type: base}), enum)
	case (role == "out" || role == "inout") && p.Role.Len == "" && (p.Type.Stars > 1 || isNumber(base)):
		return fmt.Sprintf("boundary.Out[%s](a%d)", fn.elem(p.Type), i)
	case role != "in" && role != "out" && role != "inout", p.Type.Stars > 1, base == "void", base == "char":
		return fmt.Sprintf("boundary.Address(a%d)", i)
	}
	if layout := t.layout(base); layout != "" && n >= 0 {
		return fmt.Sprintf("boundary.StructArray(a%d, uint64(a%d), %s, %v)", i, n, layout, reads)
	} else if layout != "" {
		return fmt.Sprintf("boundary.Struct(a%d, %s, %v)", i, layout, reads)
	}
	if size := t.f.types.Size(spec.Field{Type: base}); size > 0 && n >= 0 {
		return fmt.Sprintf("boundary.NumberArray(a%d, uint64(a%d), %s, %d, %s, %v)", i, n, t.numberKind(base), size,
			cmp.Or(enum, "nil"), reads)
	}
	return fmt.Sprintf("boundary.Address(a%d)", i)
}

// chosen is how the trace shows the parameter i, of as many bytes as parameter n says, whose struct a number chooses.
func (t *tracer) chosen(fn *function, i, n int) string {
	by := slices.IndexFunc(fn.Params, func(q abi.Param) bool { return q.Name == fn.Chooses.By })
	name := "choices" + identifier(fn.Name)
	if t.layouts[name] == "" {
		var b strings.Builder
		b.WriteString("[]boundary.Choice{\n")
		seen := map[int64]bool{}
		for _, v := range t.f.types.Enum(fn.Params[by].Type.Base).Values {
			if c := fn.Chooses.Structs[v.Name]; c != "" && !seen[v.Value] {
				seen[v.Value] = true
				fmt.Fprintf(&b, "\t\t{Number: %d, Layout: %s},\n", v.Value, t.layout(c))
			}
		}
		t.layouts[name] = b.String() + "\t}"
	}
	return fmt.Sprintf("boundary.ChosenStruct(a%d, uint64(a%d), int64(a%d), %s)", i, n, by, name)
}

// result describes a function's result for the trace: further fields of boundary.Func.
func (t *tracer) result(fn *function) string {
	switch {
	case fn.isStatus():
		if enum := t.named(fn.Result.Base, fn.Codes, "result"); enum != "" {
			return ", Result: " + enum
		}
	case fn.Result.Base == "char" && fn.Result.Stars == 1:
		return ", Text: true"
	}
	return ""
}

// isHandle says whether a C type is itself a handle.
func (t *tracer) isHandle(base string) bool { return t.f.Handles[base].ByValue }
