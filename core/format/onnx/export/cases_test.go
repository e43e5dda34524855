package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// written is a case for another runtime: what goes into a model and what has to come out.
type written struct {
	In, Out   []string
	X, Y      []array
	Quantized []bool // outputs that are quantized
	Drawn     bool   // the runtime draws numbers of its own
}

type array struct {
	Type string
	Dims []int64
	Data []byte
}

func arrays(list []tensor.Tensor) []array {
	out := []array{}
	for _, t := range list {
		out = append(out, array{t.DType.String(), append([]int64{}, t.Dims...), t.Data})
	}
	return out
}

// The cases of all operators and the random graphs as files, for scripts/check_export.sh, which computes them with ONNX
// Runtime.
func TestOf_writesCases(t *testing.T) {
	folder := os.Getenv("ANYNPU_EXPORT_CASES")
	if folder == "" {
		t.Skip("SKIP: ANYNPU_EXPORT_CASES names no folder; scripts/check_export.sh does")
	}
	count, exported := 0, 0
	reasons := map[string]int{}
	write := func(name string, g *graph.Graph, in []tensor.Tensor, drawn bool) {
		want, err := ref.Run(context.Background(), g, in)
		if err != nil {
			return
		}
		count++
		m, err := export.Of(g, export.Options{})
		if fault.KindOf(err) == fault.Unsupported {
			reasons[err.Error()]++
			return
		}
		require.NoError(t, err, name)
		exported++
		path := filepath.Join(folder, name)
		require.NoError(t, m.WriteFile(path+".onnx"))
		c := written{In: m.In, Out: m.Out, X: arrays(in), Y: arrays(want), Drawn: drawn}
		for _, v := range g.Out {
			c.Quantized = append(c.Quantized, g.Fact(v).Quant != nil)
		}
		text, err := json.Marshal(c)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path+".json", text, 0o600))
	}
	for i, all := range opcase.All() {
		for k, c := range all.Typed() {
			g, in, err := c.Graph()
			if err == nil {
				name := graph.NameOf(c.Op)
				write(fmt.Sprintf("%s-%d-%d", name, i, k), g, in, slices.Contains(drawn, name))
			}
		}
	}
	cases, err := graphs.Cases()
	require.NoError(t, err)
	for _, c := range cases {
		name, g, in := c.Parts()
		write("graph-"+name, g, in, false)
	}
	fmt.Printf("exported %d of %d, the others refused for %d reasons\n", exported, count, len(reasons))
}
