package sizes

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// tolerance is what results may differ by, of the largest one.
const tolerance = 1e-3

// Expected returns what the reference kernels make of each run.
func (m *Model) Expected(ctx context.Context) (want [Runs][]tensor.Tensor, err error) {
	w := mem.NewWeights()
	defer w.Release()
	im, err := onnx.Import(m.File, onnx.Options{Weights: w})
	if err != nil {
		return want, err
	}
	for r := range Runs {
		if want[r], err = ref.Run(ctx, im.Graph, m.Inputs(r)); err != nil {
			return want, fmt.Errorf("run %d by the reference: %w", r, err)
		}
		for k := range want[r] { // results may be parts of constants
			want[r][k].Data = slices.Clone(want[r][k].Data)
		}
	}
	return want, nil
}

// compare tells how the results of a run differ from what they should be.
func (m *Model) compare(got, want []tensor.Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for k := range want {
		if !slices.Equal(got[k].Dims, want[k].Dims) {
			return fmt.Errorf("output %d: sizes %v, want %v", k, got[k].Dims, want[k].Dims)
		}
		n := want[k].Count()
		if len(got[k].Data) != 4*n {
			return fmt.Errorf("output %d: %d bytes, want %d", k, len(got[k].Data), 4*n)
		}
		w, err := tensor.ReadFloat32s(want[k].Data, n)
		if err != nil {
			return err
		}
		g, err := tensor.ReadFloat32s(got[k].Data, n)
		if err != nil {
			return err
		}
		largest := 1.0
		for _, x := range w {
			if y := math.Abs(float64(x)); y <= math.MaxFloat32 {
				largest = max(largest, y)
			}
		}
		off := max(tolerance*largest, 1.001*m.Out[k].Step)
		for i := range w {
			a, b := float64(w[i]), float64(g[i])
			if a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= off {
				continue
			}
			return fmt.Errorf("output %d: element %d of %d is %v, want %v", k, i, n, b, a)
		}
	}
	return nil
}
