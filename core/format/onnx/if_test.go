package onnx

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// flag is an input of one bool.
func flag(name string) msg {
	return msg(nil).sub(11, msg(nil).str(1, name).sub(2, msg(nil).sub(1, msg(nil).num(1, 9).sub(2, msg(nil)))))
}

// runBoth runs a model by both engines and holds what they compute, or why they do not, against each other.
func runBoth(t *testing.T, model []byte, in ...tensor.Tensor) ([]tensor.Tensor, error) {
	t.Helper()
	var results [2][]tensor.Tensor
	var errs [2]error
	for i, reference := range []bool{false, true} {
		w := mem.NewWeights()
		defer w.Release()
		m, err := Import(model, Options{Weights: w})
		require.NoError(t, err)
		d, err := cpu.New(cpu.Config{Reference: reference})
		require.NoError(t, err)
		s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w},
			device.ExecOptions{})
		require.NoError(t, err)
		defer s.Close()
		results[i], errs[i] = s.Run(context.Background(), in, time.Time{})
	}
	if errs[1] == nil {
		require.NoError(t, errs[0])
		assert.Equal(t, results[1], results[0])
	} else {
		assert.Equal(t, fault.KindOf(errs[1]), fault.KindOf(errs[0]), "%v", errs[0])
	}
	return results[0], errs[0]
}

func reals(dims []int64, v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: tensor.Float32s(v...)}
}

func truth(v byte) tensor.Tensor { return tensor.Tensor{DType: tensor.Bool, Data: []byte{v}} }

// The branch that is not taken need not fit the sizes that the model has; the other one fails the run with its own
// error, also inside other branches and loops.
func TestIf_onlyTheBranchTakenMustFit(t *testing.T) {
	sum := nodeMsg("ReduceSum", []string{"x", "ax"}, []string{"b"})
	product := nodeMsg("MatMul", []string{"x", "w"}, []string{"b"})
	unsqueezed := nodeMsg("Squeeze", []string{"x", "far"}, []string{"b"}) // axis 5 of rank 2
	choose := func(cond string, then, otherwise msg) msg {
		return nodeMsg("If", []string{cond}, []string{"b"}, graphAttr("then_branch", graphMsg([]msg{then}, output("b"))),
			graphAttr("else_branch", graphMsg([]msg{otherwise}, output("b"))))
	}
	loop := func(inner msg) msg {
		return nodeMsg("Loop", []string{"trips", "", "start"}, []string{"b"}, graphAttr("body", graphMsg([]msg{inner,
			nodeMsg("Identity", []string{"go"}, []string{"on"}), nodeMsg("Add", []string{"v", "b"}, []string{"next"})},
			msg(nil).sub(11, msg(nil).str(1, "i")), msg(nil).sub(11, msg(nil).str(1, "go")),
			msg(nil).sub(11, msg(nil).str(1, "v")),
			output("on"), output("next"))))
	}
	model := func(n msg) []byte {
		return modelMsg(graphMsg([]msg{n, nodeMsg("Identity", []string{"b"}, []string{"y"})}, input("x", 1, 6), flag("c"),
			flag("d"), output("y"), initial(tensorMsg("w", []int64{4, 1}, tensor.Float32s(1, 1, 1, 1))),
			initial(tensorMsg("start", []int64{1, 1}, tensor.Float32s(0))),
			initial(msg(nil).num(1, 1).num(2, 7).str(8, "ax").str(9, string(tensor.Int64s(1)))),
			initial(msg(nil).num(1, 1).num(2, 7).str(8, "far").str(9, string(tensor.Int64s(5)))),
			initial(msg(nil).num(2, 7).str(8, "trips").str(9, string(tensor.Int64s(2))))))
	}
	for _, c := range []struct {
		name  string
		node  msg
		fails func(c, d byte) string // words of the error, "": none
		want  float32
	}{
		{"else", choose("c", sum, product), func(c, _ byte) string { return []string{"inner dimensions", ""}[c] }, 21},
		{"then", choose("c", product, sum), func(c, _ byte) string { return []string{"", "inner dimensions"}[c] }, 21},
		{"axis", choose("c", unsqueezed, sum), func(c, _ byte) string { return []string{"", "axis 5"}[c] }, 21},
		{"inside a branch", choose("c", choose("d", product, sum), unsqueezed), func(c, d byte) string {
			return [][]string{{"axis 5", "axis 5"}, {"", "inner dimensions"}}[c][d]
		}, 21},
		{"neither inside a branch", choose("c", sum, choose("d", product, unsqueezed)), func(c, d byte) string {
			return [][]string{{"", ""}, {"", ""}}[c][d] + []string{"inner dimensions", ""}[c]
		}, 21},
		{"inside a loop", loop(choose("c", sum, product)),
			func(c, _ byte) string { return []string{"inner dimensions", ""}[c] }, 42},
		{"a loop inside a branch", choose("c", loop(product), sum), func(c, _ byte) string {
			return []string{"", "inner dimensions"}[c]
		}, 21},
	} {
		for k := range byte(4) {
			in := []tensor.Tensor{reals([]int64{1, 6}, 1, 2, 3, 4, 5, 6), truth(k & 1), truth(k >> 1)}
			y, err := runBoth(t, model(c.node), in...)
			if words := c.fails(k&1, k>>1); words != "" {
				assert.ErrorContains(t, err, words, "%s %d", c.name, k)
				continue
			}
			require.NoError(t, err, "%s %d", c.name, k)
			assert.Equal(t, tensor.Float32s(c.want), y[0].Data, "%s %d", c.name, k)
		}
	}
	assert.ErrorContains(t, imported(t, model(choose("c", product, unsqueezed)), ""), "inner dimensions",
		"a model that never computes anything is refused")
	assert.ErrorContains(t, imported(t, model(choose("c", sum, nodeMsg("MatMul", []string{"w", "w"}, []string{"b"}))), ""),
		"inner dimensions", "a branch that fits no sizes is refused")
	assert.Error(t, imported(t, model(choose("c", sum, nodeMsg("Nonesuch", []string{"x"}, []string{"b"}))), ""))
}
