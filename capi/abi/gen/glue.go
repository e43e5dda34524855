package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
)

// goABI is the Go type in which an argument or result crosses from C.
func (fn *function) goABI(p abi.CType, role string) string {
	if s := fn.Scalar(p); s != "" {
		g, _ := abi.GoScalar(s)
		return g
	}
	if fn.IsHandle(p, 0) || fn.Facade.Types[p.Base].Func || role == "opaque" {
		return "uintptr"
	}
	return "unsafe.Pointer"
}

func (fn *function) goResult() string {
	switch {
	case fn.Result.Base == "void" && fn.Result.Stars == 0:
		return ""
	case fn.Result.Stars > 0 || fn.IsHandle(fn.Result, 0):
		return "uintptr"
	}
	return fn.goABI(fn.Result, "")
}

// elem is the Go type that a pointer parameter points to.
func (fn *function) elem(t abi.CType) string {
	switch {
	case t.Stars > 1 || fn.IsHandle(abi.CType{Base: t.Base}, 0):
		return "uintptr"
	case t.Base == "void" || t.Base == "char":
		return "byte"
	}
	if g, ok := abi.GoScalar(t.Base); ok {
		return g
	}
	return fn.Facade.Types[t.Base].Go
}

func (fn *function) object(t abi.CType) string { return fn.Facade.Handles[t.Base].Go }

func (fn *function) isStatus() bool {
	return fn.Facade.Status != "" && fn.Result.Base == fn.Facade.Status && fn.Result.Stars == 0
}

// failed is the result of a call that failed, for functions that return one.
func (fn *function) failed() string {
	switch {
	case fn.isStatus():
		return fmt.Sprint(fn.Facade.Failed)
	case fn.goResult() == "bool":
		return fmt.Sprint(fn.Fail != 0)
	}
	return fmt.Sprint(fn.Fail)
}

// fetch is the expression that checks argument i and gives what the behaviour receives.
func (fn *function) fetch(i int) string {
	p := fn.Params[i]
	orNil := ""
	if p.Role.Nullable {
		orNil = "OrNil"
	}
	count, limited := "", ""
	if p.Role.Len != "" {
		n := slices.IndexFunc(fn.Params, func(q abi.Param) bool { return q.Name == p.Role.Len })
		count = fmt.Sprintf("uint64(a%d), %d", n, p.Role.Max)
		if p.Role.Max > 0 {
			limited = fmt.Sprintf(", %d", n)
		}
	}
	switch p.Role.Name {
	case "handle":
		return fmt.Sprintf("boundary.Handle%s[%s](&c, %d, a%d)", orNil, fn.object(p.Type), i, i)
	case "handles":
		fits := "nil"
		if p.Role.Fits != "" {
			fits = "p0." + p.Role.Fits
		}
		return fmt.Sprintf("boundary.Handles[%s](&c, %d, a%d, %s, %s%s)", fn.object(p.Type), i, i, count, fits, limited)
	case "take":
		if fn.IsHandle(p.Type, 0) {
			return fmt.Sprintf("boundary.TakeValue[%s](&c, %d, a%d, %v)", fn.object(p.Type), i, i, p.Role.Nullable)
		}
		return fmt.Sprintf("boundary.Take[%s](&c, %d, a%d, %v)", fn.object(p.Type), i, i, p.Role.Nullable)
	case "new":
		if p.Role.Keep {
			return fmt.Sprintf("boundary.Ptr[uintptr](&c, %d, a%d)", i, i)
		}
		return fmt.Sprintf("boundary.New(&c, %d, a%d)", i, i)
	case "out0":
		return fmt.Sprintf("boundary.NullPtr(&c, %d, a%d)", i, i)
	case "string":
		return fmt.Sprintf("boundary.String%s(&c, %d, a%d)", orNil, i, i)
	case "in", "out", "inout":
		if count != "" {
			return fmt.Sprintf("boundary.Slice%s[%s](&c, %d, a%d, %s%s)", orNil, fn.elem(p.Type), i, i, count, limited)
		}
		return fmt.Sprintf("boundary.Ptr%s[%s](&c, %d, a%d)", orNil, fn.elem(p.Type), i, i)
	case "callback", "opaque":
		if !p.Role.Nullable {
			return fmt.Sprintf("boundary.NotNull(&c, %d, a%d)", i, i)
		}
	}
	return ""
}

// pass returns the behaviour's argument for parameter i, "" for nothing.
func (fn *function) pass(i int) string {
	p := fn.Params[i]
	switch p.Role.Name {
	case "len", "new":
		return ""
	case "value", "raw":
		if t := fn.Facade.Types[p.Type.Base]; t.Scalar != "" && p.Type.Stars == 0 {
			return fmt.Sprintf("%s(a%d)", t.Go, i)
		}
		return fmt.Sprintf("a%d", i)
	}
	if fn.fetch(i) == "" {
		return fmt.Sprintf("a%d", i)
	}
	return fmt.Sprintf("p%d", i)
}

func isNumber(base string) bool { _, ok := abi.GoScalar(base); return ok }

// glue is the Go file of the exported functions; t collects what their trace shows.
func (f *facade) glue(t *tracer) string {
	var body, formers strings.Builder
	n := 0
	for k, fn := range f.funcs {
		fn.export(&body, t, fmt.Sprintf("funcs[%d]", k))
		if fn.former != nil {
			fn.former.export(&body, t, fmt.Sprintf("formers[%d]", n))
			formers.WriteString(fn.former.described(t))
			n++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage %s\n\n", banner, f.Name)
	if f.Drivers {
		b.WriteString("/*\n#include <stdbool.h>\n#include <stdint.h>\n#include <stddef.h>\n\n#include " +
			"\"../boundary/boundary.h\"\n\n")
		b.WriteString(f.structs())
		for _, fn := range f.forms() {
			if fn.Owner != abi.OwnerNever {
				fn.forwarder(&b)
			}
		}
		b.WriteString("*/\n")
	}
	b.WriteString("import \"C\"\n\nimport (\n")
	if strings.Contains(body.String(), "unsafe.") {
		b.WriteString("\t\"unsafe\"\n\n")
	}
	b.WriteString("\t\"github.com/anynpu/anynpu/capi/boundary\"\n)\n\n")
	b.WriteString("var funcs = []boundary.Func{\n")
	for _, fn := range f.funcs {
		b.WriteString(fn.described(t))
	}
	b.WriteString("}\n\n")
	if formers.Len() > 0 {
		fmt.Fprintf(&b, "// formers are the functions with their former parameters.\nvar formers = []boundary.Func{\n%s}\n\n",
			formers.String())
	}
	b.WriteString("func init() { boundary.Register(funcs) }\n")
	return b.String() + body.String()
}

// described returns a function's description for the boundary.
func (fn *function) described(t *tracer) string {
	var params []string
	for _, p := range fn.Params {
		params = append(params, fmt.Sprintf("%q", p.Name))
	}
	return fmt.Sprintf("\t{Component: %q, Name: %q, Params: []string{%s}, Index: %d, Facade: %d%s},\n", fn.facade.Name,
		fn.Name, strings.Join(params, ", "), fn.index, fn.facade.index, t.result(fn))
}

// export writes the glue of one function, of which the boundary knows what entry holds.
func (fn *function) export(b *strings.Builder, t *tracer, entry string) {
	var args, traced []string
	for _, a := range fn.arguments() {
		args = append(args, a.name+" "+a.goType)
	}
	for i := range fn.Params {
		traced = append(traced, t.arg(fn, i))
	}
	result := fn.goResult()
	name := "nnc_" + fn.symbol()
	signature := fmt.Sprintf("func %s(%s)", name, strings.Join(args, ", "))
	if result != "" {
		signature += fmt.Sprintf(" (r %s)", result)
	}
	fmt.Fprintf(b, "\n//export %s\n%s {\n", name, signature)
	fmt.Fprintf(b, "\tc := boundary.Call{Func: &%[1]s, Began: boundary.Began(&%[1]s)}\n", entry)
	if result == "" {
		b.WriteString("\tdefer boundary.EndVoid(&c)\n")
	} else {
		fmt.Fprintf(b, "\tdefer boundary.End(&c, &r, %s)\n", fn.failed())
	}
	fmt.Fprintf(b, "\tif boundary.Traced(c.Func) {\n\t\tc.Args = []boundary.Arg{%s}\n\t}\n", strings.Join(traced, ", "))
	if fn.facade.Drivers && (fn.Creates || fn.Owner == abi.OwnerDriver) {
		fn.toDriver(b, "boundary.Chosen(&c)")
	}
	for _, i := range fn.order() {
		if e := fn.fetch(i); e != "" {
			fmt.Fprintf(b, "\tp%d := %s\n", i, e)
		}
	}
	fn.call(b)
	b.WriteString("}\n")
}

// order is that in which arguments are checked.
func (fn *function) order() []int {
	var first, then []int
	for i, p := range fn.Params {
		if fn.Facade.HandlesFirst && (p.Role.Name == "handle" || p.Role.Name == "take") {
			first = append(first, i)
		} else {
			then = append(then, i)
		}
	}
	return append(first, then...)
}

// call writes the call of the behaviour and what becomes of its results.
func (fn *function) call(b *strings.Builder) {
	var pass, decls, results, after []string
	run := "c.Err == nil"
	for i, p := range fn.Params {
		if s := fn.pass(i); s != "" {
			pass = append(pass, s)
		}
		if p.Role.Name == "take" && p.Role.Nullable {
			run += fmt.Sprintf(" && p%d != nil", i)
		}
	}
	for i := range fn.Behind {
		pass = append(pass, fmt.Sprintf("a%d", len(fn.Params)+i))
	}
	returned := ""
	switch {
	case fn.IsHandle(fn.Result, 0):
		decls = append(decls, "var o *"+fn.object(fn.Result))
		results = append(results, "o")
		returned = "boundary.Give(&c, o)"
	case fn.goResult() != "" && !fn.isStatus():
		results = append(results, "v")
		decls = append(decls, "var v "+fn.goResult())
		returned = "v"
	}
	for i, p := range fn.Params {
		if p.Role.Name == "new" {
			decls = append(decls, fmt.Sprintf("var n%d *%s", i, fn.object(p.Type)))
			results = append(results, fmt.Sprintf("n%d", i))
			after = append(after, fmt.Sprintf("if h := boundary.Give(&c, n%d); h != 0 {\n*p%d = h\n}", i, i))
		}
	}
	results = append(results, "c.Err")
	fmt.Fprintf(b, "\tif %s {\n", run)
	for _, d := range decls {
		b.WriteString(d + "\n")
	}
	behaviour := fn.Go
	if fn.Refused != "" {
		behaviour, pass = "refused", []string{fmt.Sprintf("%q", fn.Refused)}
	}
	fmt.Fprintf(b, "%s = %s(%s)\n", strings.Join(results, ", "), behaviour, strings.Join(pass, ", "))
	if fn.facade.Drivers && fn.Owner != abi.OwnerNever {
		fn.toDriver(b, "c.PassOn()")
	}
	for _, a := range after {
		b.WriteString(a + "\n")
	}
	if returned == "v" {
		fmt.Fprintf(b, "if c.Err != nil {\nreturn %s\n}\n", fn.failed())
	}
	if returned != "" {
		fmt.Fprintf(b, "return %s\n", returned)
	}
	b.WriteString("}\n")
	switch {
	case fn.isStatus():
		fmt.Fprintf(b, "return %s(%s(c.Err))\n", fn.goResult(), cmp.Or(fn.Codes, "status"))
	case fn.goResult() != "":
		fmt.Fprintf(b, "return %s\n", fn.failed())
	}
}

// toDriver passes a call on if a condition holds.
func (fn *function) toDriver(b *strings.Builder, condition string) {
	args := []string{"f"}
	for _, a := range fn.arguments() {
		args = append(args, fmt.Sprintf("%s(%s)", cgoABI(a.goType), a.name))
	}
	call := fmt.Sprintf("C.forward_%s(%s)", fn.symbol(), strings.Join(args, ", "))
	if fn.goResult() == "" {
		fmt.Fprintf(b, "if %s {\nboundary.InDriver(c.Func, func(f unsafe.Pointer) { %s })\nreturn\n}\n", condition, call)
		return
	}
	lifts := ""
	if fn.Lifts != "" {
		var bare []string
		for _, a := range fn.arguments() {
			bare = append(bare, a.name)
		}
		lifts = fmt.Sprintf("if r == %s {\nc.Lifted = %s(%s)\n}\n", fn.failed(), fn.Lifts, strings.Join(bare, ", "))
	}
	fmt.Fprintf(b, "if %s {\nboundary.InDriver(c.Func, func(f unsafe.Pointer) { r = %s(%s) })\n%sreturn r\n}\n", condition,
		fn.goResult(), call, lifts)
}

// forwarder writes the C function that calls the driver's function f.
func (fn *function) forwarder(b *strings.Builder) {
	args := fn.arguments()
	decl, names := []string{"void *f"}, []string{}
	for _, a := range args {
		decl = append(decl, fmt.Sprintf("%s %s", cABI(a.goType), a.name))
		if a.boxed {
			names = append(names, fmt.Sprintf("*(%s *)%s", a.c, a.name))
		} else {
			names = append(names, a.name)
		}
	}
	result, store, ret := cABI(fn.goResult()), "", ""
	if result != "void" {
		store, ret = result+" r = ", "\treturn r;\n"
	}
	fmt.Fprintf(b, "static %[1]s forward_%[2]s(%[3]s)\n{\n\tint inside = anynpu_out();\n\t%[4]s((%[1]s "+
		"(*)(%[5]s))f)(%[6]s);\n\tanynpu_back(inside);\n%[7]s}\n",
		result, fn.symbol(), strings.Join(decl, ", "), store, types(args), strings.Join(names, ", "), ret)
}

// cABI is the C type of the same size and register class as a Go type of goABI.
func cABI(g string) string {
	switch g {
	case "":
		return "void"
	case "uintptr":
		return "uintptr_t"
	case "unsafe.Pointer":
		return "void *"
	case "bool":
		return "_Bool"
	case "float32":
		return "float"
	case "float64":
		return "double"
	}
	return g + "_t"
}

func cgoABI(g string) string {
	switch g {
	case "unsafe.Pointer":
		return g
	case "bool":
		return "C.bool"
	}
	return "C." + cABI(g)
}

func (img *image) imports() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage main\n\nimport (\n", banner)
	for _, f := range img.facades {
		if len(f.funcs) > 0 {
			fmt.Fprintf(&b, "\t_ \"github.com/anynpu/anynpu/capi/%s\"\n", f.Name)
		}
	}
	b.WriteString(")\n")
	return b.String()
}
