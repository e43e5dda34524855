package proto

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/core/fault"
)

//go:embed zattributes.txt
var attributeLines string

//go:embed zmicrosoft.txt
var microsoftLines string

// The types of AttributeProto that operators have.
const (
	AttrFloat = 1 + iota
	AttrInt
	AttrString
	AttrTensor
	AttrGraph
	AttrFloats
	AttrInts
	AttrStrings
	AttrGraphs = 10
	attrSparse = 11
	attrType   = 13
)

// attrWords are the types of AttributeProto, and those that operators have as zattributes.txt calls them.
var (
	attrWords = []string{"nothing", "a float", "an integer", "a string", "a tensor", "a graph", "a list of floats",
		"a list of integers", "a list of strings", "a list of tensors", "a list of graphs", "a sparse tensor",
		"a list of sparse tensors", "a type", "a list of types"}
	attrTypes = map[string]int64{"float": AttrFloat, "int": AttrInt, "string": AttrString, "tensor": AttrTensor,
		"graph": AttrGraph, "floats": AttrFloats, "ints": AttrInts, "strings": AttrStrings, "sparse": attrSparse,
		"type": attrType}
)

// AttributeSpan is an attribute of a type in the versions from Since to before Until, 0: in all that follow.
type AttributeSpan struct{ Type, Since, Until int64 }

// AttributesOf are the attributes of the operators, which have their domain before their names outside ai.onnx.
var AttributesOf = sync.OnceValue(func() map[string]map[string][]AttributeSpan {
	all := map[string]map[string][]AttributeSpan{}
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	for line := range strings.Lines(attributeLines + microsoftLines) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		list := map[string][]AttributeSpan{}
		for _, w := range words[1:] {
			w, until, _ := strings.Cut(w, "<")
			w, since, _ := strings.Cut(w, "@")
			name, typ, _ := strings.Cut(w, ":")
			list[name] = append(list[name], AttributeSpan{attrTypes[typ], number(since), number(until)})
		}
		all[words[0]] = list
	}
	return all
})

// checkAttribute refuses an attribute that the operator does not have in this version, and one of another type. Names
// that begin with two underscores are internal to the program that wrote the model. In a function's node an attribute
// of the call has another name than its own.
func (p *Node) checkAttribute(name string, a *Attribute, version int64) error {
	list, known := AttributesOf()[p.Operator()]
	if !known || strings.HasPrefix(name, "__") {
		return nil
	}
	spans := list[name]
	i := slices.IndexFunc(spans, func(s AttributeSpan) bool {
		return version >= s.Since && (s.Until == 0 || version < s.Until)
	})
	switch {
	case spans == nil:
		return fault.New(fault.File, "attribute %q: %s has no such attribute; want %s", name, p.Operator(),
			attributesAt(list, version))
	case i < 0:
		return fault.New(fault.File, "attribute %q: %s of opset %d has none of that name; it has %s", name, p.OpType,
			version, spanWords(spans))
	case a.Type != 0 && a.Type != spans[i].Type:
		return fault.New(fault.File, "attribute %q is %s, want %s", name, attrWord(a.Type), attrWord(spans[i].Type))
	}
	return nil
}

// attributesAt lists the attributes that there are in a version.
func attributesAt(list map[string][]AttributeSpan, version int64) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if slices.ContainsFunc(list[name], func(s AttributeSpan) bool {
			return version >= s.Since && (s.Until == 0 || version < s.Until)
		}) {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return "one of " + strings.Join(names, ", ")
}

// spanWords tells in which versions an attribute is.
func spanWords(spans []AttributeSpan) string {
	var parts []string
	for _, s := range spans {
		switch {
		case s.Since == 0:
			parts = append(parts, fmt.Sprintf("before opset %d", s.Until))
		case s.Until == 0:
			parts = append(parts, fmt.Sprintf("from opset %d on", s.Since))
		default:
			parts = append(parts, fmt.Sprintf("from opset %d to %d", s.Since, s.Until-1))
		}
	}
	return strings.Join(parts, " and ")
}

func attrWord(typ int64) string {
	if typ < 0 || typ >= int64(len(attrWords)) {
		return fmt.Sprintf("of the unknown type %d", typ)
	}
	return attrWords[typ]
}

// CheckCall refuses attributes that a function of the model does not have.
func (f *Function) CheckCall(p *Node) error {
	for _, name := range slices.Sorted(maps.Keys(p.Attrs)) {
		if strings.HasPrefix(name, "__") || slices.Contains(f.Attrs, name) || f.Defaults[name] != nil ||
			refers(f.Nodes, name) {
			continue
		}
		known := append(slices.Clone(f.Attrs), slices.Sorted(maps.Keys(f.Defaults))...)
		if len(known) == 0 {
			known = []string{"none"}
		}
		return fault.New(fault.File, "attribute %q: the function %s of the model has no such attribute; want %s", name,
			f.Name, strings.Join(known, ", "))
	}
	return nil
}

// refers reports whether an attribute of nodes, bodies included, is the function's attribute of a name.
func refers(nodes []*Node, name string) bool {
	return slices.ContainsFunc(nodes, func(n *Node) bool {
		for _, a := range n.Attrs {
			if a.Ref == name || a.G != nil && refers(a.G.Nodes, name) {
				return true
			}
		}
		return false
	})
}
