package export_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// refused are the operators that may be refused, or some forms of theirs.
var refused = []string{"assert", "box_with_nms_limit", "conv", "conv_transpose",
	"detection_post_process", "fail", "generate_proposals", "heatmap_max_keypoint", "lsh_projection", "lstm", "max_pool",
	"max_unpool", "quantize", "quantized_16bit_lstm", "quantized_lstm", "resize_image", "rnn", "roi_align", "rotary_embedding"}

// drawn lists operators that draw random numbers.
var drawn = []string{"bernoulli", "multinomial", "random_normal", "random_normal_like", "random_uniform",
	"random_uniform_like"}

// again computes what the export of g gives when it is imported.
func again(g *graph.Graph, in []tensor.Tensor, o export.Options) ([]tensor.Tensor, error) {
	m, err := export.Of(g, o)
	if err != nil {
		return nil, err
	}
	file, err := m.Bytes()
	if err != nil {
		return nil, err
	}
	w := mem.NewWeights()
	defer w.Release()
	model, err := onnx.Import(file, onnx.Options{Weights: w})
	if err != nil {
		return nil, errors.New("import: " + err.Error())
	}
	in = slices.Clone(in)
	for i := range in {
		in[i].Quant = nil // the model's inputs are the integers
	}
	out, err := ref.Run(context.Background(), model.Graph, in)
	if err != nil {
		return nil, errors.New("run: " + err.Error())
	}
	for i, v := range model.Graph.Out {
		if name := model.Graph.Values[v].Name; name != m.Out[i] {
			return nil, fmt.Errorf("output %d is named %q, want %q", i, name, m.Out[i])
		}
	}
	for i := range out { // they may lie in constants of the model
		out[i].Data = slices.Clone(out[i].Data)
	}
	return out, nil
}

// near says how far results are from those of the graph itself: elements may differ by what another order of float
// operations makes, integers of quantized results by a step where the real result lies between two.
func near(g *graph.Graph, got, want []tensor.Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for i := range want {
		m, ok := tensordiff.Measure(got[i], want[i])
		if !ok {
			return fmt.Errorf("output %d: %v, want %v", i, got[i].Type(), want[i].Type())
		}
		most := 0.0
		switch d := want[i].DType; {
		case d.IsFloat():
			most = max(1e-5, math.Abs(m.Want)*math.Exp2(-19))
			if d.Bits() == 16 {
				most = max(1e-5, math.Abs(m.Want)/128)
			}
		case g.Fact(g.Out[i]).Quant != nil:
			most = 1
		}
		if m.NonFinite > 0 || m.Max > most {
			return fmt.Errorf("output %d: element %d is %v, want %v", i, m.Worst, m.Got, m.Want)
		}
	}
	return nil
}

func TestOf_everyOperatorComesBack(t *testing.T) {
	count, exported, steps := 0, 0, 0
	reasons := map[string]string{}
	for _, all := range opcase.All() {
		for _, c := range all.Typed() {
			name := graph.NameOf(c.Op)
			g, in, err := c.Graph()
			if err != nil {
				continue
			}
			want, err := ref.Run(context.Background(), g, in)
			if err != nil {
				continue
			}
			count++
			got, err := again(g, in, export.Options{})
			if fault.KindOf(err) == fault.Unsupported {
				reasons[name] = err.Error()
				continue
			}
			exported++
			if !assert.NoError(t, err, "%s %s", name, c.Types()) {
				continue
			}
			if slices.Contains(drawn, name) {
				assert.Equal(t, want[0].Type().String(), got[0].Type().String(), "%s %s", name, c.Types())
				continue
			}
			assert.NoError(t, near(g, got, want), "%s %s", name, c.Types())
			for i := range want {
				if g.Fact(g.Out[i]).Quant != nil && string(got[i].Data) != string(want[i].Data) {
					steps++
				}
			}
		}
	}
	t.Logf("exported %d of %d cases, the others refused with a reason; %d quantized results with a step more or less",
		exported, count, steps)
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		assert.Contains(t, refused, name, reasons[name])
	}
	assert.Less(t, steps, 10)
	assert.Greater(t, exported, count*9/10)
}

func TestOf_randomGraphsComeBack(t *testing.T) {
	cases, err := graphs.Cases()
	require.NoError(t, err)
	exported := 0
	for _, c := range cases {
		name, g, in := c.Parts()
		got, err := again(g, in, export.Options{})
		if fault.KindOf(err) == fault.Unsupported {
			assert.Regexp(t, "mirrored|not known", err.Error(), name)
			continue
		}
		exported++
		if assert.NoError(t, err, name) {
			assert.NoError(t, c.Compare(got), name)
		}
	}
	t.Logf("exported %d of %d graphs", exported, len(cases))
	assert.Greater(t, exported, len(cases)*9/10)
}
