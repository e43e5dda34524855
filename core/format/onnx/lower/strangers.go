package lower

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
)

// Strangers reports metadata about names that the model lacks.
func (m *Lowering) Strangers(g *graph.Graph) []string {
	names := make([]string, len(g.In))
	for i, v := range g.In {
		names[i] = g.Values[v].Name
	}
	list := m.meta.Strangers(m.opt.Path, names)
	model := strings.TrimSpace("model " + m.opt.Path)
	for _, name := range slices.Sorted(maps.Keys(m.meta.Dims)) {
		if !m.used[name] {
			list = append(list, fmt.Sprintf("%s: metadata for an open dimension %q, which it does not have", model, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.meta.Values)) {
		if v := m.meta.Values[name]; v.Made() && !m.used[name+"."] {
			list = append(list, fmt.Sprintf("%s: metadata for a value %q, which no operator of a foreign domain makes", model,
				name))
		}
	}
	return list
}
