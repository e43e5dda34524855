package graph_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestBuilder_nodesOfOneOperatorBearItsName(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	b.SetOrigin(7, "stem")
	v := b.Add(&op.Add{}, x, x)
	v = b.AddTyped(&op.Mul{}, "scale", make([]tensor.Type, 1), v, x)[0]
	b.SetOrigin(-1, "")
	b.Output(b.Add(&op.Sub{}, v, x))
	g, err := b.Graph()
	require.NoError(t, err)
	var labels []string
	for i := range g.Nodes {
		labels = append(labels, g.Nodes[i].Label())
	}
	assert.Equal(t, []string{`operator 7 (add "stem")`, `operator 7 (mul "scale")`, "sub"}, labels)
}
