package export

import (
	"reflect"

	"github.com/anynpu/anynpu/core/graph"
)

// foreignDomain is the domain of nodes that ONNX cannot express.
const foreignDomain = "anynpu"

// foreign emits a node as core has it, in place of its part that has been emitted. Bodies and constants among its
// fields are left out.
func (s *scope) foreign(gn *graph.Node) {
	n := &node{scope: s, n: gn, begin: len(s.list), named: map[string]bool{}}
	var attrs []attr
	fields := reflect.ValueOf(gn.Op).Elem()
	for i := range fields.NumField() {
		if f := fields.Type().Field(i); f.IsExported() {
			attrs = append(attrs, fieldAttr(f.Name, fields.Field(i))...)
		}
	}
	s.domains[foreignDomain] = true
	out := make([]string, len(gn.Out))
	for k, v := range gn.Out {
		if v != graph.None {
			out[k] = s.value(v)
		}
	}
	s.list = append(s.list, emitted{name: s.nodeName(graph.NameOf(gn.Op)), domain: foreignDomain, op: graph.NameOf(gn.Op),
		in: n.codes(), out: out, attrs: attrs})
	s.count++
}

// fieldAttr is a field of an operator as an attribute, none for one whose type attributes do not have.
func fieldAttr(name string, v reflect.Value) []attr {
	switch {
	case v.Kind() == reflect.Bool:
		return []attr{flag(name, v.Bool())}
	case v.CanInt():
		return []attr{number(name, v.Int())}
	case v.CanUint():
		return []attr{number(name, int64(v.Uint()))}
	case v.CanFloat():
		return []attr{real(name, float32(v.Float()))}
	case v.Kind() == reflect.String:
		return []attr{text(name, v.String())}
	}
	switch list := v.Interface().(type) {
	case []int64:
		return []attr{numbers(name, list...)}
	case []float32:
		return []attr{reals(name, list)}
	case []string:
		return []attr{texts(name, list)}
	}
	return nil
}
