package export

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// exporter is the common part of all graphs of a model.
type exporter struct {
	opt       Options
	used      map[string]bool // names of values
	labels    map[string]bool // names of nodes
	next      map[string]int  // by name, the number to try next
	opset     int64
	domains   map[string]bool // of custom operators
	constants []constant
	known     map[constantKey]string // names of small constants
	count     int
	refused   []string // reasons, each once, with the first node that has it
	nodes     int      // that are refused
}

type constantKey struct {
	typ        tensor.DType
	dims, data string
}

func newExporter(o Options) *exporter {
	return &exporter{opt: o, used: map[string]bool{}, labels: map[string]bool{}, next: map[string]int{}, opset: BaseOpset,
		domains: map[string]bool{}, known: map[constantKey]string{}}
}

// shownRefusals bounds the reasons of an error.
const shownRefusals = 8

// refuse notes why a node cannot be exported. The others are looked at too, so that the error names all reasons.
func (e *exporter) refuse(n *graph.Node, err error) {
	e.nodes++
	text := graph.NameOf(n.Op) + ": " + err.Error()
	for i, r := range e.refused {
		if strings.HasPrefix(r, text+" (") {
			e.refused[i] = strings.TrimSuffix(r, ", ...)")
			e.refused[i] = strings.TrimSuffix(e.refused[i], ")") + ", ...)"
			return
		}
	}
	e.refused = append(e.refused, text+" ("+n.Label()+")")
}

// refusal is the error that has all reasons, nil if there are none.
func (e *exporter) refusal() error {
	if e.nodes == 0 {
		return nil
	}
	shown, more := e.refused, ""
	if len(shown) > shownRefusals {
		shown, more = shown[:shownRefusals], fmt.Sprintf("; and %d more reasons", len(shown)-shownRefusals)
	}
	return fault.New(fault.Unsupported, "ONNX cannot express %d of the graph's nodes: %s%s", e.nodes,
		strings.Join(shown, "; "), more)
}

// unique returns name, or name with a number if it is taken, and takes it.
func (e *exporter) unique(name string) string { return e.free(e.used, name) }

// nodeName is unique for names of nodes.
func (e *exporter) nodeName(name string) string { return e.free(e.labels, name) }

func (e *exporter) free(used map[string]bool, name string) string {
	if !used[name] {
		used[name] = true
		return name
	}
	for i := e.next[name] + 1; ; i++ {
		if n := name + "_" + strconv.Itoa(i); !used[n] {
			used[n], e.next[name] = true, i
			return n
		}
	}
}

// needs raises the opset version to one that has an operator.
func (e *exporter) needs(opset int64) { e.opset = max(e.opset, opset) }

// typesSince are the opset versions that brought element types, of those later than BaseOpset.
var typesSince = map[tensor.DType]int64{tensor.Float4E2M1: 23, tensor.Float8E8M0: 24, tensor.Int2: 25,
	tensor.Uint2: 25, tensor.Float6E2M3: 28, tensor.Float6E3M2: 28}

// constant adds an initializer; small equal ones without a wanted name are one.
func (e *exporter) constant(name string, d tensor.DType, dims []int64, data []byte) string {
	e.needs(typesSince[d])
	key := constantKey{d, fmt.Sprint(dims), ""}
	small := name == "" && len(data) <= 256
	if small {
		key.data = string(data)
		if known := e.known[key]; known != "" {
			return known
		}
	}
	if name == "" {
		name = "constant"
	}
	name = e.unique(name)
	if small {
		e.known[key] = name
	}
	e.constants = append(e.constants, constant{name, proto.ElementType(d), slices.Clone(dims), data})
	return name
}

// symbol is the name of an open dimension, "" for one of which nothing is known.
func (e *exporter) symbol(d tensor.Dim) string {
	switch {
	case d.Sym == tensor.Unknown || d.Sym == 0:
		return ""
	case int(d.Sym) <= len(e.opt.Symbols) && e.opt.Symbols[d.Sym-1] != "":
		return e.opt.Symbols[d.Sym-1]
	}
	name := "d" + strconv.Itoa(int(d.Sym))
	for slices.Contains(e.opt.Symbols, name) {
		name = "_" + name
	}
	return name
}

// valueInfo is ValueInfoProto of a value of that name.
func (e *exporter) valueInfo(name string, t tensor.Type) *message {
	e.needs(typesSince[t.DType])
	var typ, tensorType, v message
	tensorType.varint(1, proto.ElementType(t.DType))
	if t.Shape.Ranked {
		var shape message
		for _, d := range t.Shape.Dims {
			var dim message
			if d.Known() {
				dim.varint(1, d.N)
			} else {
				dim.text(2, e.symbol(d))
			}
			shape.message(1, &dim)
		}
		tensorType.message(2, &shape)
	}
	typ.message(1, &tensorType)
	v.text(1, name)
	v.message(2, &typ)
	return &v
}

// irVersions are the versions of the file format that came with opset versions.
func irVersion(opset int64) int64 {
	switch {
	case opset <= 22:
		return 10
	case opset <= 23:
		return 11
	case opset <= 24:
		return 12
	case opset <= 27:
		return 13
	}
	return 14
}

// finish makes the fields of ModelProto beside the graph.
func (e *exporter) finish(m *Model, meta map[string]string) {
	m.Opset, m.constants = e.opset, e.constants
	m.head.varint(1, irVersion(e.opset))
	m.head.text(2, "AnyNPU")
	var main message
	main.bytes(1, nil)
	main.varint(2, e.opset)
	m.tail.message(8, &main)
	for _, d := range slices.Sorted(maps.Keys(e.domains)) {
		var set message
		set.text(1, d)
		set.varint(2, 1)
		m.tail.message(8, &set)
	}
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		var entry message
		entry.text(1, k)
		entry.text(2, strings.ToValidUTF8(meta[k], "?"))
		m.tail.message(14, &entry)
	}
}
