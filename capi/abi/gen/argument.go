package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/abi"
	"github.com/anynpu/anynpu/capi/abi/abicheck/spec"
)

// An argument is a parameter as code between C and Go passes it: those of the row, then its older ones.
type argument struct {
	name   string // a0, a1 ...
	c      string // C type of the same size and register class; of a struct that is passed by value, its own
	goType string // in which it crosses to Go; a struct crosses as its address
	boxed  bool   // is a struct that is passed by value
}

func (fn *function) arguments() []argument {
	var out []argument
	for _, p := range fn.Params {
		a := argument{name: fmt.Sprintf("a%d", len(out)), goType: fn.goABI(p.Type, p.Role.Name), boxed: fn.IsStruct(p.Type)}
		a.c = cABI(a.goType)
		if a.boxed {
			a.c = p.Type.Base
		}
		out = append(out, a)
	}
	for _, p := range fn.Behind {
		g := fn.goABI(p.Type, "value")
		out = append(out, argument{name: fmt.Sprintf("a%d", len(out)), c: cABI(g), goType: g})
	}
	return out
}

// types lists the C types of arguments, for a prototype.
func types(args []argument) string { return list(args, func(a argument) string { return a.c }) }

// decls lists them with names, for a definition.
func decls(args []argument) string {
	return list(args, func(a argument) string { return a.c + " " + a.name })
}

// names lists the names, for a call.
func names(args []argument) string {
	return strings.TrimSuffix(list(args, func(a argument) string { return a.name }), "void")
}

func list(args []argument, text func(argument) string) string {
	var out []string
	for _, a := range args {
		out = append(out, text(a))
	}
	if len(out) == 0 {
		return "void"
	}
	return strings.Join(out, ", ")
}

// forms are the implemented functions, and behind each the one with its former parameters.
func (f *facade) forms() []*function {
	var out []*function
	for _, fn := range f.funcs {
		out = append(out, fn)
		if fn.former != nil {
			out = append(out, fn.former)
		}
	}
	return out
}

// structs defines the structs that functions of the façade take by value, with fields of the same register classes.
func (f *facade) structs() string {
	var b strings.Builder
	var done []string
	for _, fn := range f.forms() {
		for _, p := range fn.Params {
			if fn.IsStruct(p.Type) {
				f.define(&b, p.Type.Base, &done)
			}
		}
	}
	return b.String()
}

func (f *facade) define(b *strings.Builder, name string, done *[]string) {
	if slices.Contains(*done, name) {
		return
	}
	*done = append(*done, name)
	var fields strings.Builder
	for _, field := range f.types.Struct(name).Fields {
		c := f.fieldType(field)
		if f.types.Struct(field.Type) != nil {
			f.define(b, field.Type, done)
		}
		fmt.Fprintf(&fields, "\t%s %s", c, field.Name)
		for _, n := range []int{field.Array, field.Inner} {
			if n != 0 {
				fmt.Fprintf(&fields, "[%d]", n)
			}
		}
		fields.WriteString(";\n")
	}
	fmt.Fprintf(b, "typedef struct {\n%s} %s;\n", fields.String(), name)
}

// fieldType is a C type of a field's register class that needs no header of the API.
func (f *facade) fieldType(field spec.Field) string {
	base := strings.TrimSpace(strings.TrimPrefix(field.Type, "const "))
	_, scalar := abi.GoScalar(base)
	switch e := f.types.Enum(base); {
	case field.IsPointer():
		return "void *"
	case scalar || f.types.Struct(base) != nil:
		return base
	case e != nil:
		return fmt.Sprintf("int%d_t", 8*e.Size)
	}
	return base
}

// checkStructs refuses a struct that is passed by value and in no list of abicheck, or has a field of unknown type.
func (fn *function) checkStructs() error {
	for _, p := range fn.Params {
		if !fn.IsStruct(p.Type) {
			continue
		}
		s := fn.facade.types.Struct(p.Type.Base)
		if s == nil || len(s.Fields) == 0 {
			return fmt.Errorf("%s: %s is passed by value: no list in abicheck has its fields", fn.Name, p.Type.Base)
		}
		for _, field := range s.Fields {
			if fn.facade.types.Size(field) == 0 {
				return fmt.Errorf("%s: %s.%s: no list in abicheck has %s", fn.Name, s.Name, field.Name, field.Type)
			}
		}
	}
	return nil
}
