package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// ofVersion is a model of an opset whose only node has attributes.
func ofVersion(version uint64, op string, attrs ...msg) []byte {
	node := nodeOf(op, []string{"x"}, []string{"y"}, attrs...).str(3, "here")
	return msg(nil).num(1, 8).sub(7, graphMsg([]msg{node}, input("x", 1, 2, 3, 4), output("y"))).
		sub(8, msg(nil).num(2, version))
}

// nodeOf is nodeMsg for an operator with its domain before its name, as known names it.
func nodeOf(op string, in, out []string, attrs ...msg) msg {
	if name, foreign := strings.CutPrefix(op, "com.microsoft."); foreign {
		return nodeMsg(name, in, out, attrs...).str(7, "com.microsoft")
	}
	return nodeMsg(op, in, out, attrs...)
}

// known are the operators that are read, with their domain before their names outside ai.onnx.
func known() []string {
	all := operators("")
	for _, op := range operators("com.microsoft") {
		all = append(all, "com.microsoft."+op)
	}
	return all
}

// An attribute that an operator does not have is refused with the names of node, operator and attribute, in every
// operator and version.
func TestImport_refusesUnknownAttributes(t *testing.T) {
	require.ElementsMatch(t, slices.Collect(maps.Keys(proto.AttributesOf())), known(),
		"conformance/onnx/schemas/gen.py and microsoft.py")
	for _, op := range known() {
		for _, version := range []uint64{7, 13, MaxOpset} {
			err := imported(t, ofVersion(version, op, numAttr("foo", 1)), "")
			assert.ErrorContains(t, err, fmt.Sprintf(`attribute "foo": %s has no such attribute`, op))
			assert.ErrorContains(t, err, "here", "the node's name")
		}
	}
}

// Attributes come and go with the versions of an operator.
func TestImport_attributesByVersion(t *testing.T) {
	for _, c := range []struct {
		version uint64
		op      string
		attr    msg
		says    string // empty: it is taken
	}{
		{version: 9, op: "Softmax", attr: numAttr("axis", 1)},
		{version: 6, op: "Relu", attr: intsAttr("consumed_inputs", 0),
			says: `attribute "consumed_inputs": Relu of opset 6 has none of that name; it has before opset 6`},
		{version: 12, op: "ReduceSum", attr: intsAttr("axes", 1)},
		{version: 13, op: "ReduceSum", attr: intsAttr("axes", 1), says: `it has before opset 13`},
		{version: 17, op: "ReduceMax", attr: intsAttr("axes", 1)},
		{version: 18, op: "ReduceMax", attr: intsAttr("axes", 1), says: `it has before opset 18`},
		{version: 17, op: "ReduceMax", attr: numAttr("noop_with_empty_axes", 1), says: `it has from opset 18 on`},
		{version: 8, op: "BatchNormalization", attr: numAttr("training_mode", 0), says: `it has from opset 14 on`},
		{version: 9, op: "BatchNormalization", attr: numAttr("spatial", 1), says: `it has before opset 9`},
		{version: 7, op: "Dropout", attr: numAttr("is_test", 1), says: `it has before opset 7`},
		{version: 7, op: "Add", attr: numAttr("broadcast", 1), says: `it has before opset 7`},
		{version: 9, op: "Upsample", attr: floatAttr("scales", 1), says: `it has from opset 7 to 8`},
		{version: 13, op: "Resize", attr: numAttr("antialias", 1), says: `it has from opset 18 on`},
		{version: 13, op: "Relu", attr: numAttr("__of_a_tool", 1)},
		{version: 13, op: "LeakyRelu", attr: numAttr("alpha", 1), says: `attribute "alpha" is an integer, want a float`},
		{version: 13, op: "Flatten", attr: intsAttr("axis", 1), says: `"axis" is a list of integers, want an integer`},
		{version: 13, op: "Transpose", attr: numAttr("perm", 1), says: `"perm" is an integer, want a list of integers`},
		{version: 13, op: "Cast", attr: textAttr("to", "FLOAT"), says: `attribute "to" is a string, want an integer`},
		{version: 13, op: "Loop", attr: numAttr("body", 1), says: `attribute "body" is an integer, want a graph`},
	} {
		err := imported(t, ofVersion(c.version, c.op, c.attr), "")
		if c.says == "" {
			assert.NoError(t, err, "%s of opset %d", c.op, c.version)
			continue
		}
		assert.ErrorContains(t, err, c.says, "%s of opset %d", c.op, c.version)
	}
}

// Nodes of bodies, of the branch that is not taken and of functions are looked at as those of the graph; a call has the
// attributes of its function.
func TestImport_unknownAttributesInside(t *testing.T) {
	wrong := nodeMsg("Relu", []string{"x"}, []string{"b"}, numAttr("foo", 1))
	right := nodeMsg("Relu", []string{"x"}, []string{"b"})
	branch := func(name string, node msg) msg {
		return msg(nil).str(1, name).sub(6, graphMsg([]msg{node}, output("b"))).num(20, proto.AttrGraph)
	}
	choice := func(cond msg, then, otherwise msg) []byte {
		node := nodeMsg("If", []string{"c"}, []string{"y"}, branch("then_branch", then), branch("else_branch", otherwise))
		return modelMsg(graphMsg([]msg{node}, input("x", 2), output("y"), cond))
	}
	known := initial(msg(nil).num(2, 9).str(8, "c").str(9, "\x01"))
	open := msg(nil).sub(11, msg(nil).str(1, "c").sub(2, msg(nil).sub(1, msg(nil).num(1, 9).sub(2, nil))))
	for _, cond := range []msg{known, open} {
		assert.NoError(t, imported(t, choice(cond, right, right), ""))
		assert.ErrorContains(t, imported(t, choice(cond, wrong, right), ""), `attribute "foo": Relu has no such attribute`)
		assert.ErrorContains(t, imported(t, choice(cond, right, wrong), ""), `attribute "foo": Relu has no such attribute`)
	}
	bound := nodeMsg("LeakyRelu", []string{"x"}, []string{"b"}, msg(nil).str(1, "alpha").str(21, "n").
		num(20, proto.AttrFloat))
	call := func(node msg, attrs ...msg) []byte {
		f := msg(nil).str(1, "F").str(4, "x").str(5, "b").str(6, "n").str(10, "of.here").sub(7, node).
			sub(9, msg(nil).num(2, 17))
		use := nodeMsg("F", []string{"x"}, []string{"y"}, attrs...).str(7, "of.here")
		return modelMsg(graphMsg([]msg{use}, input("x", 2), output("y")), msg(nil).sub(25, f))
	}
	assert.NoError(t, imported(t, call(right, numAttr("n", 1)), ""))
	assert.NoError(t, imported(t, call(bound, floatAttr("n", 1)), ""))
	assert.ErrorContains(t, imported(t, call(bound, numAttr("n", 1)), ""), `attribute "alpha" is an integer, want a float`)
	assert.ErrorContains(t, imported(t, call(wrong), ""), `attribute "foo": Relu has no such attribute`)
	assert.ErrorContains(t, imported(t, call(right, numAttr("foo", 1)), ""),
		`attribute "foo": the function F of the model has no such attribute; want n`)
}
