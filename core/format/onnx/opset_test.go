package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
)

// newestModels have the operators of opsets 24 to 28.
func newestModels() (all [][]byte) {
	model := func(node msg, parts ...msg) {
		g := graphMsg([]msg{node}, append(parts, output("y"))...)
		all = append(all, msg(nil).num(1, 8).sub(7, g).sub(8, msg(nil).num(2, 28)).sub(8, msg(nil).str(1,
			"ai.onnx.preview").num(2, 1)))
	}
	three := []msg{input("x", 1, 2, 4)}
	model(nodeMsg("TensorScatter", []string{"x", "x"}, []string{"y"}, textAttr("mode", "circular")), three...)
	model(nodeMsg("SwiGLU", []string{"x", "x"}, []string{"y"}), three...)
	model(nodeMsg("BitCast", []string{"x"}, []string{"y"}, numAttr("to", 6)), three...)
	model(nodeMsg("CausalConvWithState", []string{"x", "w"}, []string{"y", "z"}), input("x", 1, 2, 4),
		input("w", 2, 1, 3))
	model(nodeMsg("LinearAttention", []string{"x", "x", "x"}, []string{"y", "z"}, numAttr("q_num_heads", 2),
		numAttr("kv_num_heads", 2), textAttr("update_rule", "linear")), three...)
	model(nodeMsg("FlexAttention", []string{"q", "k", "k"}, []string{"y"}).str(7, "ai.onnx.preview"),
		input("q", 1, 1<<40, 2, 4), input("k", 1, 1, 2, 4))
	return all
}

// A number of heads that no memory holds is refused.
func TestImport_flexAttentionOfManyHeads(t *testing.T) {
	models := newestModels()
	for i, m := range models[:len(models)-1] {
		assert.NoError(t, imported(t, m, ""), "%d", i)
	}
	assert.ErrorContains(t, imported(t, models[len(models)-1], ""), "1099511627776 query heads; at most 65536 are read")
}

// An operator whose definition stayed is read in every opset to the newest; the ones after that are refused.
func TestImport_everyOpset(t *testing.T) {
	for version := uint64(7); version <= 28; version++ {
		assert.NoError(t, imported(t, ofVersion(version, "Relu"), ""), "opset %d", version)
	}
	err := imported(t, ofVersion(29, "Relu"), "")
	assert.EqualError(t, err, "opset 29 of ai.onnx; versions 1 to 28 are read, to which "+
		"onnx.version_converter converts a model")
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
}

// What an opset gave an operator is refused in the ones before.
func TestImport_newInOpset(t *testing.T) {
	attention := func(inputs int, version uint64, attrs ...msg) error {
		in := []string{"x", "x", "x", "", "", "", "n"}[:inputs]
		x := input("x", 1, 2, 3, 4)
		n := msg(nil).sub(11, msg(nil).str(1, "n").sub(2, msg(nil).sub(1, msg(nil).num(1, 7).sub(2, msg(nil).sub(1,
			msg(nil).num(1, 1))))))
		g := graphMsg([]msg{nodeMsg("Attention", in, []string{"y"}, attrs...)}, x, n, output("y"))
		return imported(t, msg(nil).num(1, 8).sub(7, g).sub(8, msg(nil).num(2, version)), "")
	}
	assert.NoError(t, attention(3, 23))
	assert.NoError(t, attention(7, 24))
	assert.ErrorContains(t, attention(7, 23), "want 3 to 6 inputs, got 7")
	for _, c := range []struct {
		before uint64
		op     string
		attr   msg
	}{{25, "Attention", numAttr("left_window_size", 1)}, {28, "SpaceToDepth", textAttr("mode", "CRD")},
		{27, "Range", numAttr("stash_type", 1)}, {24, "Cast", textAttr("round_mode", "up")}} {
		err := imported(t, ofVersion(c.before-1, c.op, c.attr), "")
		assert.ErrorContains(t, err, "has none of that name; it has from opset", c.op)
	}
	err := imported(t, ofVersion(28, "SpaceToDepth", numAttr("blocksize", 1), textAttr("mode", "CDR")), "")
	assert.ErrorContains(t, err, `attribute mode: "CDR"`)
	err = imported(t, ofVersion(27, "Range", numAttr("stash_type", 10)), "")
	assert.ErrorContains(t, err, "attribute stash_type: 10; only 1 is supported")
	err = attention(3, 25, numAttr("left_window_size", -2))
	assert.ErrorContains(t, err, "attribute left_window_size: -2; want -1 or more")
}
