package lower

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
)

// The opset versions of ai.onnx that are read without oldDefinitions, which has what opsets 1 to MinOpset-1 defined in
// other words.
const (
	MinOpset = 7
	MaxOpset = 28
)

// Graph lowers the main graph of a model.
func (m *Lowering) Graph(g *proto.Graph) (*graph.Graph, error) {
	m.opt.Quantize = m.stores(g)
	sc, err := m.graph(g, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := m.reportMissing(); err != nil {
		return nil, err
	}
	return sc.b.Graph()
}

// Symbols returns the names of open dimensions: Sym k of a dimension is that at k-1.
func (m *Lowering) Symbols() []string {
	names := make([]string, len(m.symbols))
	for name, k := range m.symbols {
		names[k-1] = name
	}
	return names
}

func (m *Lowering) reportMissing() error {
	if len(m.missing) == 0 {
		return nil
	}
	ops := make([]string, 0, len(m.missing))
	for op := range m.missing {
		ops = append(ops, op)
	}
	sort.Strings(ops)
	for i, op := range ops {
		nodes := m.missing[op]
		shown := nodes[:min(len(nodes), 5)]
		ops[i] = fmt.Sprintf("%s x %d (%s)", op, len(nodes), strings.Join(shown, ", "))
	}
	heading := "operators that are not supported"
	if len(ops) == 1 {
		heading = "operator that is not supported"
	}
	if m.old != 0 {
		return fault.New(fault.Unsupported, "%s: %s; the model is of opset %d, which does not have all of them: "+
			"onnx.version_converter converts it to a later one", heading, strings.Join(ops, "; "), m.old)
	}
	if slices.ContainsFunc(ops, func(op string) bool { return strings.HasPrefix(op, microsoft+".") }) {
		return fault.New(fault.Unsupported, "%s: %s; ONNX Runtime writes operators of %s when it saves an optimized model, "+
			"or quantizes in QOperator form: the model as it was before, or quantized in QDQ form, has none", heading,
			strings.Join(ops, "; "), microsoft)
	}
	return fault.New(fault.Unsupported, "%s: %s", heading, strings.Join(ops, "; "))
}
