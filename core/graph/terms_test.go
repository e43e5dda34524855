package graph_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

func TestReword_callsInputsByTheirTerms(t *testing.T) {
	for _, tc := range []struct {
		terms   []string
		message string
		want    string
	}{
		{nil, "input 1: axis 2 is outside", "input 1: axis 2 is outside"},
		{[]string{"input 0", "AXIS"}, "input 1: axis 2 is outside", "AXIS: axis 2 is outside"},
		{[]string{"", "input 0", "input 1"}, "input 1: vector 0: index 3 is outside input 2",
			"input 0: vector 0: index 3 is outside input 1"},
		{[]string{"input 3", "input 1"}, "input 1: want float32 like input 0, got int32",
			"input 1: want float32 like input 3, got int32"},
		{[]string{"input 3", "input 1"}, "last dimensions of inputs 0 and 1: 5 and 4 differ",
			"last dimensions of input 3 and input 1: 5 and 4 differ"},
		{[]string{"input 0", ""}, "input 1: sizes [1,1] of a dimension of size 3", "sizes [1,1] of a dimension of size 3"},
		{[]string{"input 0", ""}, "group: input 1: empty", "group: empty"},
		{[]string{"", "input 0"}, "input 1: want int8 like input 0", "input 0: want int8 like another operand"},
		{[]string{"input 0"}, "input 7: missing", "missing"},
		{[]string{"input 0"}, "region 1 of the inputs", "region 1 of the inputs"},
	} {
		assert.EqualError(t, graph.Reword(fault.New(fault.Shape, "%s", tc.message), tc.terms), tc.want)
	}
	assert.NoError(t, graph.Reword(nil, []string{"input 0"}))
}

func TestReword_keepsKindAndCause(t *testing.T) {
	err := graph.Reword(fault.As(fault.Memory, io.ErrShortWrite, "input 0"), []string{"x"})
	assert.Equal(t, fault.Memory, fault.KindOf(err))
	assert.True(t, errors.Is(err, io.ErrShortWrite))
	assert.EqualError(t, err, "x: short write")
}

// An operator of a program that has its own words for the inputs is called by the program's word too.
func TestNode_Err(t *testing.T) {
	b := graph.NewBuilder("terms")
	b.SetOrigin(3, "OH_NN_OPS_SUM")
	b.SetTerms(func(v graph.Value) string { return map[graph.Value]string{0: "input 1"}[v] })
	b.Add(&op.Add{}, b.Float32(1), b.Float32(2))
	g, err := b.Graph()
	assert.NoError(t, err)
	n := &g.Nodes[0]
	assert.Equal(t, []string{"input 1", ""}, n.Terms)
	assert.EqualError(t, n.Err(fault.New(fault.Shape, "input 0: empty")), "operation 3 (OH_NN_OPS_SUM): input 1: empty")
	n.Terms = nil
	assert.EqualError(t, n.Err(fault.New(fault.Shape, "input 0: empty")),
		`operator 3 (add "OH_NN_OPS_SUM"): input 0: empty`)
	assert.NoError(t, n.Err(nil))
}

// What an operator of a body was called is not reworded by the operator that has the body.
func TestReword_leavesTheWordsOfBodies(t *testing.T) {
	inner := graph.Reword(fault.New(fault.Data, "input 1: element 1"), []string{"input 0", "input 2 (indices)"})
	outer := fault.Wrap(inner, "input 0: body")
	assert.EqualError(t, graph.Reword(outer, []string{"input 7", "input 8", "input 9"}),
		"input 7: body: input 2 (indices): element 1")
}
