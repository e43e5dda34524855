package onnx

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/core/fault"
)

//go:embed zattributes.txt
var attributeLines string

// The types of AttributeProto that operators have.
const (
	attrFloat = 1 + iota
	attrInt
	attrString
	attrTensor
	attrGraph
	attrFloats
	attrInts
	attrStrings
	attrGraphs = 10
	attrSparse = 11
)

// attrWords are the types of AttributeProto, and those that operators have as zattributes.txt calls them.
var (
	attrWords = []string{"nothing", "a float", "an integer", "a string", "a tensor", "a graph", "a list of floats",
		"a list of integers", "a list of strings", "a list of tensors", "a list of graphs", "a sparse tensor",
		"a list of sparse tensors", "a type", "a list of types"}
	attrTypes = map[string]int64{"float": attrFloat, "int": attrInt, "string": attrString, "tensor": attrTensor,
		"graph": attrGraph, "floats": attrFloats, "ints": attrInts, "strings": attrStrings, "sparse": attrSparse}
)

// attrSpan is an attribute in the versions from since to before until, 0: in all that follow.
type attrSpan struct{ typ, since, until int64 }

// attributesOf are the attributes of the operators of ai.onnx.
var attributesOf = sync.OnceValue(func() map[string]map[string][]attrSpan {
	all := map[string]map[string][]attrSpan{}
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	for line := range strings.Lines(attributeLines) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		list := map[string][]attrSpan{}
		for _, w := range words[1:] {
			w, until, _ := strings.Cut(w, "<")
			w, since, _ := strings.Cut(w, "@")
			name, typ, _ := strings.Cut(w, ":")
			list[name] = append(list[name], attrSpan{attrTypes[typ], number(since), number(until)})
		}
		all[words[0]] = list
	}
	return all
})

// checkAttribute refuses an attribute that the operator does not have in this version, and one of another type. Names
// that begin with two underscores are internal to what wrote the model. In a function's node an attribute of the call
// has another name than its own.
func (p *nodeProto) checkAttribute(name string, a *attribute, version int64) error {
	list, known := attributesOf()[p.opType]
	if !known || strings.HasPrefix(name, "__") {
		return nil
	}
	spans := list[name]
	i := slices.IndexFunc(spans, func(s attrSpan) bool {
		return version >= s.since && (s.until == 0 || version < s.until)
	})
	switch {
	case spans == nil:
		return fault.New(fault.File, "attribute %q: %s has no such attribute; want %s", name, p.opType,
			attributesAt(list, version))
	case i < 0:
		return fault.New(fault.File, "attribute %q: %s of opset %d has none of that name; it has %s", name, p.opType,
			version, spanWords(spans))
	case a.typ != 0 && a.typ != spans[i].typ:
		return fault.New(fault.File, "attribute %q is %s, want %s", name, attrWord(a.typ), attrWord(spans[i].typ))
	}
	return nil
}

// attributesAt lists the attributes that there are in a version.
func attributesAt(list map[string][]attrSpan, version int64) string {
	var names []string
	for _, name := range sortedKeys(list) {
		if slices.ContainsFunc(list[name], func(s attrSpan) bool {
			return version >= s.since && (s.until == 0 || version < s.until)
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
func spanWords(spans []attrSpan) string {
	var parts []string
	for _, s := range spans {
		switch {
		case s.since == 0:
			parts = append(parts, fmt.Sprintf("before opset %d", s.until))
		case s.until == 0:
			parts = append(parts, fmt.Sprintf("from opset %d on", s.since))
		default:
			parts = append(parts, fmt.Sprintf("from opset %d to %d", s.since, s.until-1))
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

// checkCall refuses attributes that a function of the model does not have.
func (f *functionProto) checkCall(p *nodeProto) error {
	for _, name := range sortedKeys(p.attrs) {
		if strings.HasPrefix(name, "__") || slices.Contains(f.attrs, name) || f.defaults[name] != nil ||
			refers(f.nodes, name) {
			continue
		}
		known := append(slices.Clone(f.attrs), sortedKeys(f.defaults)...)
		if len(known) == 0 {
			known = []string{"none"}
		}
		return fault.New(fault.File, "attribute %q: the function %s of the model has no such attribute; want %s", name,
			f.name, strings.Join(known, ", "))
	}
	return nil
}

// refers reports whether an attribute of nodes, bodies included, is the function's attribute of a name.
func refers(nodes []*nodeProto, name string) bool {
	return slices.ContainsFunc(nodes, func(n *nodeProto) bool {
		for _, a := range n.attrs {
			if a.ref == name || a.g != nil && refers(a.g.nodes, name) {
				return true
			}
		}
		return false
	})
}
