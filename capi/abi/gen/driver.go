package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
)

// callable says whether backends/driver can pass the arguments: floating-point numbers and structs it cannot.
func (fn *function) callable() bool {
	args := fn.arguments()
	real := func(g string) bool { return strings.HasPrefix(g, "float") }
	return len(args) <= 8 && !real(fn.goResult()) && !slices.ContainsFunc(args, func(a argument) bool {
		return a.boxed || real(a.goType)
	})
}

// driver writes the package backends/NAME: a method for every function of a driver of the API.
func (f *facade) driver() string {
	var methods, left strings.Builder
	for _, fn := range f.funcs {
		if fn.Mangled || !fn.callable() {
			fmt.Fprintf(&left, " %s", fn.Name)
			continue
		}
		fn.driverMethod(&methods, slices.IndexFunc(f.all, func(r *abi.Func) bool { return r.Name == fn.Name }))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n// Package %[2]s calls drivers of the API %[2]s.\npackage %[2]s\n\n", banner, f.Name)
	b.WriteString("import (\n")
	if strings.Contains(methods.String(), "unsafe.") {
		b.WriteString("\t\"unsafe\"\n\n")
	}
	b.WriteString("\t\"github.com/anynpu/anynpu/backends/driver\"\n\t\"github.com/anynpu/anynpu/core/spec\"\n)\n\n")
	if left.Len() > 0 {
		fmt.Fprintf(&b, "// Without a method, for arguments that cannot be passed or a name of C++:%s.\n\n", left.String())
	}
	fmt.Fprintf(&b, `// A Driver has a method for every function that can be called, with the arguments of the C function: pointers are
// addresses of C memory, or of Go memory without Go pointers in it; handles are uintptr. The error says that the driver
// lacks the function.
type Driver struct{ *driver.Library }

// Bind looks up the functions of the library called file. lookup returns the address of a symbol, 0 if it is missing.
func Bind(file string, lookup func(symbol string) uintptr) Driver {
	return Driver{driver.Bind(file, spec.Functions(%q), lookup)}
}
`, f.Name)
	return b.String() + methods.String()
}

func (fn *function) driverMethod(b *strings.Builder, n int) {
	var params, passed []string
	args := fn.arguments()
	for i, a := range args {
		name := goParam(append(fn.Params, fn.Behind...)[i].Name)
		params = append(params, name+" "+a.goType)
		switch {
		case a.goType == "bool":
			passed = append(passed, fmt.Sprintf("driver.Bool(%s)", name))
		default:
			passed = append(passed, fmt.Sprintf("uintptr(%s)", name))
		}
	}
	call := strings.Join(append([]string{fmt.Sprint(n)}, passed...), ", ")
	name := strings.ToUpper(fn.Go[:1]) + strings.TrimSuffix(fn.Go[1:], "_")
	fmt.Fprintf(b, "\n// %s calls %s.\nfunc (d Driver) %s(%s) ", name, fn.Name, name, strings.Join(params, ", "))
	switch result := fn.goResult(); result {
	case "":
		fmt.Fprintf(b, "error {\n\t_, err := d.Call(%s)\n\treturn err\n}\n", call)
	case "uintptr":
		fmt.Fprintf(b, "(uintptr, error) {\n\treturn d.Call(%s)\n}\n", call)
	case "bool":
		fmt.Fprintf(b, "(bool, error) {\n\tr, err := d.Call(%s)\n\treturn uint8(r) != 0, err\n}\n", call)
	default:
		fmt.Fprintf(b, "(%s, error) {\n\tr, err := d.Call(%s)\n\treturn %s(r), err\n}\n", result, call, result)
	}
}

// goParam is a C parameter's name as a Go one that hides nothing.
func goParam(c string) string {
	name := goCase(c)
	if slices.Contains([]string{"d", "type", "range", "len", "driver", "unsafe", "uintptr"}, name) {
		return name + "_"
	}
	return name
}

func goCase(c string) string {
	var b strings.Builder
	for i, part := range strings.FieldsFunc(c, func(r rune) bool { return r == '_' }) {
		switch {
		case i > 0:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		default:
			b.WriteString(strings.ToLower(part[:1]) + part[1:])
		}
	}
	return b.String()
}
