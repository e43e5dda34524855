// Package onnx reads ONNX models (ai.onnx opsets 7 to 23) into graphs. Package proto reads the bytes; this one lowers
// the operators to the vocabulary of core/op.
package onnx

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The opset versions of ai.onnx that are read. Of older ones those operators are read whose definition opset 7 still
// has.
const (
	MinOpset = 7
	MaxOpset = 23
)

// Model is an imported model.
type Model struct {
	Graph    *graph.Graph
	Opset    int64
	Producer string
	Symbols  []string           // names of open dimensions: Sym k of a dimension is Symbols[k-1]
	Nodes    []Node             // with Options.Nodes, in executable order
	Ops      []string           // operator of each node of the main graph, "domain.Type" outside ai.onnx; by graph.Node.Origin
	Meta     *metadata.Metadata // what the model says of itself, with the file beside it
	Warnings []string           // what was understood otherwise than a strict reader would, one sentence each
	// With Options.Below: what the model's own metadata say otherwise, one sentence each.
	Overruled []string
	// Coded is the number of values that are computed as codes because the metadata say so.
	Coded int
	// Fixed, with Options.Fix, are the inputs with sizes that the file leaves open, by name.
	Fixed map[string]Fixed
}

// Options govern an import.
type Options struct {
	// Weights receives the constants; they live as long as it does.
	Weights *mem.Weights
	// Folder is where external data files are looked up; files outside it are refused. Empty: external data is refused.
	Folder string
	// Nodes asks for Model.Nodes.
	Nodes bool
	// Below gives metadata that hold where the model and the file beside it are silent, for its inputs and outputs.
	Below func(n *Names) map[string]string
	// Quantize has a float model compute with codes where anynpu.value.NAME.stored says so.
	Quantize bool
	// Fix gives inputs the sizes that anynpu.input.NAME.shape says, and those of the same names elsewhere, before anything
	// is made of them; an open first dimension without one becomes 1. Without effect on images, and where
	// anynpu.input.NAME.shapes lists several.
	Fix bool

	path string // of the model, empty for one in memory
}

// Recognize reports whether data looks like an ONNX model: a protobuf message whose first fields are those of
// ModelProto.
func Recognize(data []byte) bool {
	seen := 0
	known := map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 14: true, 20: true,
		25: true, 26: true}
	for off := 0; off < len(data) && seen < 3; seen++ {
		num, n := tagAt(data[off:])
		if n < 0 || !known[num] {
			return false
		}
		if num == 7 { // the graph may be cut off by a truncated file; what stands before it decides
			return true
		}
		off += n
	}
	return seen > 0
}

// tagAt returns the number of the field at the start of b and the length of the whole field, n < 0 when there is none.
func tagAt(b []byte) (num, n int) {
	k, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, n
	}
	if k == 7 && typ == protowire.BytesType {
		return 7, n
	}
	m := protowire.ConsumeFieldValue(k, typ, b[n:])
	if m < 0 {
		return 0, m
	}
	return int(k), n + m
}

// ImportFile reads the model in the file at path. The file is mapped only while it is read: replacing or truncating it
// later has no effect on the model. Truncation while it is read gives an error.
func ImportFile(path string, o Options) (*Model, error) {
	if o.Folder == "" {
		o.Folder = filepath.Dir(path)
	}
	o.path = path
	src, err := proto.OpenFile(path)
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	defer src.Close()
	m, err := importModel(src, o)
	return m, fault.Wrap(err, "model %s", path)
}

// Import reads the model in data, which is not kept.
func Import(data []byte, o Options) (*Model, error) {
	return importModel(&proto.Source{Data: data}, o)
}

func importModel(src *proto.Source, o Options) (*Model, error) {
	if o.Weights == nil {
		return nil, fault.New(fault.Argument, "no weight store for the model's constants")
	}
	p, err := proto.Parse(src.Data)
	if err != nil {
		return nil, err
	}
	version, ok := p.Opsets[""]
	if !ok {
		version = 1
	}
	if version < 1 || version > MaxOpset {
		return nil, fault.New(fault.Unsupported, "opset %d of ai.onnx; versions %d to %d are read, to which "+
			"onnx.version_converter converts a model", version, MinOpset, MaxOpset)
	}
	var below map[string]string
	var overruled []string
	if o.Below != nil {
		own, err := metadata.Merged(p.Meta, o.path)
		if err != nil {
			return nil, err
		}
		below = o.Below(namesOf(p, own))
		overruled = overrules(own, below)
	}
	meta, err := metadata.ReadOver(below, p.Meta, o.path)
	if err != nil {
		return nil, err
	}
	if err := cut(p, meta); err != nil {
		return nil, err
	}
	functions := map[string]*proto.Function{}
	for _, f := range p.Functions {
		functions[f.Domain+"\x00"+f.Name+"\x00"+f.Overload] = f
	}
	im := &importer{src: src, opt: o, model: p, meta: meta, functions: functions, missing: map[string][]string{},
		symbols: map[string]uint32{}, used: map[string]bool{}}
	im.opt.Quantize = im.stores()
	sc, err := im.graph(p.Graph, nil, version, nil)
	if err != nil {
		return nil, err
	}
	if err := im.reportMissing(); err != nil {
		return nil, err
	}
	g, err := sc.b.Graph()
	if err != nil {
		return nil, err
	}
	if im.coded > 0 {
		if err := im.encodeFilters(g); err != nil {
			return nil, err
		}
	}
	g.Meta = p.Meta
	meta.Warnings = append(meta.Warnings, im.strangers(g)...)
	return &Model{Graph: g, Opset: version, Producer: p.Producer, Symbols: im.symbolNames(), Nodes: im.noted,
		Ops: p.Graph.Operators(), Meta: meta, Warnings: im.warnings, Overruled: overruled, Coded: im.coded, Fixed: im.fixed}, nil
}

// importer holds what is common to all graphs of a model.
type importer struct {
	src       *proto.Source
	opt       Options
	model     *proto.Model
	meta      *metadata.Metadata
	used      map[string]bool // entries of meta.Dims and meta.Values, the latter with a final dot
	functions map[string]*proto.Function
	old       int64               // the opset below MinOpset of a missing operator that later ones have
	missing   map[string][]string // operator -> labels of the nodes that use it
	symbols   map[string]uint32   // names of open dimensions
	sizes     map[string]int64    // those that inputs give them, with Options.Fix
	fixed     map[string]Fixed
	warnings  []string
	calls     int // functions being expanded, to stop recursion
	noted     []Node
	stored    map[*proto.Tensor]*stored // tensors of the file that nothing has read so far, or that are read again
	nodes     int                       // nodes lowered, counting those of expanded functions and unrolled bodies
	repeats   int                       // bodies being lowered that may be lowered again
	main      *scope                    // of the main graph, when values are to be stored as the metadata say
	coded     int                       // values that are stored as codes
	items     int                       // values of sequences, counted against maxItems
}

func (im *importer) symbolNames() []string {
	names := make([]string, len(im.symbols))
	for name, k := range im.symbols {
		names[k-1] = name
	}
	return names
}

func (im *importer) reportMissing() error {
	if len(im.missing) == 0 {
		return nil
	}
	ops := make([]string, 0, len(im.missing))
	for op := range im.missing {
		ops = append(ops, op)
	}
	sort.Strings(ops)
	for i, op := range ops {
		nodes := im.missing[op]
		shown := nodes[:min(len(nodes), 5)]
		ops[i] = fmt.Sprintf("%s x %d (%s)", op, len(nodes), strings.Join(shown, ", "))
	}
	heading := "operators that are not supported"
	if len(ops) == 1 {
		heading = "operator that is not supported"
	}
	if im.old != 0 {
		return fault.New(fault.Unsupported, "%s: %s; the model is of opset %d: those of them "+
			"whose definition changed since are read from opset %d on, to which onnx.version_converter converts it",
			heading, strings.Join(ops, "; "), im.old, MinOpset)
	}
	return fault.New(fault.Unsupported, "%s: %s", heading, strings.Join(ops, "; "))
}

// graph lowers g into a new scope. parent is the graph around a body; given are types of the inputs that hold where the
// model declares none.
func (im *importer) graph(g *proto.Graph, parent *scope, version int64, given []tensor.Type) (*scope, error) {
	if g.Sparse > 0 {
		return nil, fault.New(fault.Unsupported, "graph %q: sparse initializers are not supported", g.Name)
	}
	if parent != nil && (im.calls > 0 || im.repeats > 0) { // this may be done again and again
		if err := im.count(len(g.Inits) + len(g.Values) + len(g.In) + len(g.Out)); err != nil {
			return nil, err
		}
	}
	sc := &scope{im: im, b: graph.NewBuilder(g.Name), version: version, values: map[string]graph.Value{},
		inits: map[string]*proto.Tensor{}, shapes: map[string]*proto.ValueInfo{}, uses: map[string]int{}, parent: parent}
	if parent == nil && im.opt.Quantize {
		im.main = sc
	}
	inits := map[string]bool{}
	for _, t := range g.Inits {
		inits[t.Name] = true
	}
	if parent == nil && im.opt.Fix {
		im.fix(g, inits)
	}
	for i, v := range g.In {
		// an input with a default value: the default is taken, as every runtime does for constants
		if parent == nil && inits[v.Name] {
			continue
		}
		t, err := im.valueType(v)
		if err != nil {
			return nil, fault.Wrap(err, "input %q", v.Name)
		}
		if t.DType == tensor.Invalid && i < len(given) {
			t = given[i]
		}
		if parent == nil {
			t = im.fixedInput(v, t)
		}
		if err := sc.define(v.Name, sc.b.Input(v.Name, t)); err != nil {
			return nil, err
		}
	}
	for _, t := range g.Inits {
		if _, taken := sc.inits[t.Name]; taken || t.Name == "" {
			return nil, fault.New(fault.File, "two initializers are named %q", t.Name)
		}
		sc.inits[t.Name] = t
	}
	for _, v := range append(slices.Clone(g.Values), g.Out...) {
		sc.shapes[v.Name] = v
	}
	order, err := proto.Sort(g.Nodes)
	if again := sc.madeAgain(g.Nodes); again != nil { // a cycle may only come of it
		err = again
	}
	if err != nil {
		return nil, fault.Wrap(err, "graph %q", g.Name)
	}
	for _, n := range order {
		for _, name := range n.Needs() {
			sc.uses[name]++
		}
	}
	for _, o := range g.Out {
		sc.uses[o.Name]++
	}
	if parent == nil {
		im.preload(g, order, sc.uses)
	}
	for _, n := range order {
		if parent == nil {
			sc.b.SetOrigin(n.Index, n.Name)
		}
		if err := sc.node(n); err != nil {
			return nil, err
		}
	}
	if len(im.missing) > 0 {
		return sc, nil // names of missing operators' outputs are unknown; the caller reports them all at once
	}
	sc.b.SetOrigin(-1, "")
	for _, o := range g.Out {
		v, err := sc.lookup(o.Name)
		if err != nil {
			return nil, fault.Wrap(err, "output")
		}
		if parent == nil {
			v = sc.declaredOutput(g, o, v)
		}
		// an output is a value of its own
		if slices.Contains(sc.b.Outputs(), v) || sc.b.Fact(v).Const != nil || slices.Contains(sc.b.Inputs(), v) {
			v = sc.b.Add(&op.Identity{}, v)
		}
		sc.b.Name(v, o.Name)
		sc.b.Output(v)
	}
	return sc, sc.b.Err()
}

// valueType returns the declared type of a value.
func (im *importer) valueType(v *proto.ValueInfo) (tensor.Type, error) {
	if v.Kind != "tensor" && v.Kind != "" {
		return tensor.Type{}, fault.New(fault.Unsupported, "a value of kind %s is not supported; only tensors can be inputs",
			v.Kind)
	}
	t := tensor.Type{Shape: tensor.AnyShape()}
	if v.DType != 0 {
		d, err := proto.DTypeOf(v.DType)
		if err != nil {
			return t, err
		}
		t.DType = d
	}
	if !v.Ranked {
		return t, nil
	}
	dims := make([]tensor.Dim, len(v.Dims))
	for i, d := range v.Dims {
		switch {
		case d.Known && d.Value >= 0:
			dims[i] = tensor.D(d.Value)
		case im.named(d.Param):
			dims[i] = im.dim(d.Param)
		default:
			dims[i] = tensor.AnyDim()
		}
	}
	t.Shape = tensor.OfDims(dims...)
	return t, nil
}

// named reports whether a name of a dimension is one: what tools write for a size that they do not know is not, unless
// the metadata give it a size. Such dimensions have sizes of their own.
func (im *importer) named(param string) bool {
	switch param {
	case "", "?", "None", "-1":
		_, given := im.meta.Dims[param]
		return given
	}
	return true
}
