package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

func TestImport_refusesFormsThatOperatorsDoNotHave(t *testing.T) {
	attr := func(name string, field, typ int, value uint64) msg {
		m := msg(nil).str(1, name)
		if field == 4 {
			m = m.str(4, "text")
		} else {
			m = m.num(3, value)
		}
		return m.num(20, uint64(typ))
	}
	one := func(op string, in []string, attrs ...msg) []byte {
		return modelMsg(graphMsg([]msg{nodeMsg(op, in, []string{"y"}, attrs...)}, input("x", 2, 3), output("y")))
	}
	x, xx := []string{"x"}, []string{"x", "x"}
	for _, c := range []struct {
		data []byte
		says string
	}{
		{one("Softmax", x, attr("axis", 4, proto.AttrString, 0)), `attribute "axis" is a string, want an integer`},
		{one("Softmax", x, attr("axis", 3, proto.AttrInt, 0), attr("axis", 3, proto.AttrInt, 0)),
			"attribute axis is given twice"},
		{one("Softmax", xx, attr("axis", 3, proto.AttrInt, 0)), "want 1 input, got 2"},
		{one("LayerNormalization", x), "want 2 to 3 inputs, got 1"},
		{one("LayerNormalization", []string{"x", ""}), "input 1 is missing"},
		{one("Concat", xx), "attribute axis is missing"},
	} {
		assert.ErrorContains(t, imported(t, c.data, ""), c.says)
	}
	assert.NoError(t, imported(t, one("Softmax", x, attr("axis", 3, proto.AttrInt, 0)), ""))
	assert.NoError(t, imported(t, one("Softmax", x, msg(nil).str(1, "axis").num(3, 0)), ""), "older files tell no type")
}
