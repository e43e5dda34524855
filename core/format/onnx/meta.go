package onnx

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// namesOf are the names of the parsed model, without sizes of values, and with the sizes that the metadata give open
// dimensions.
func namesOf(m *proto.Model, meta map[string]string) *Names {
	inits := map[string]bool{}
	for _, t := range m.Graph.Inits {
		inits[t.Name] = true
	}
	n := &Names{In: portsOf(m.Graph.In, inits), Out: portsOf(m.Graph.Out, nil)}
	for _, p := range slices.Concat(n.In, n.Out) {
		for i, d := range p.Dims {
			if size, ok := meta["anynpu.dim."+d]; ok {
				p.Dims[i] = size
			}
		}
	}
	s := sums{readers: map[string]int{}}
	for _, v := range m.Graph.Out {
		s.readers[v.Name]++
	}
	for _, node := range m.Graph.Nodes {
		n.Inner = append(n.Inner, node.Out...)
		n.Nodes = append(n.Nodes, node.Name)
		s.node(node.OpType, node.In, node.Out)
	}
	n.Biased = s.biased(inits)
	return n
}

// overrules says which entries of a model stand against others that hold only where it is silent.
func overrules(own, below map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(below)) {
		if v, said := own[key]; said && !metadata.Same(v, below[key]) {
			list = append(list, fmt.Sprintf("%s is %.80s, not %.80s", key, v, below[key]))
		}
	}
	return list
}
