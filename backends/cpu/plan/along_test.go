package plan

import (
	"fmt"
	"testing"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Lines along any axis have kernels: neighbouring elements, few and many columns, short and long lines.
func TestBuild_linesAlongAnyAxis(t *testing.T) {
	for _, dims := range [][]int64{{5, 7}, {300, 3}, {2, 40, 3}, {3, 100, 5}, {2, 9, 60}, {1, 4, 7, 300}, {3, 2, 1, 5},
		{2, 70, 1, 3}, {1, 130, 50}} {
		t.Run(fmt.Sprint(dims), func(t *testing.T) {
			m := newMaker()
			x := m.input(dims...)
			var out []graph.Value
			for axis := range dims {
				a := int64(axis)
				out = append(out, m.Add(&op.Softmax{Axis: a}, x), m.Add(&op.LogSoftmax{Axis: a}, x),
					m.Add(&op.LpNorm{Axis: a, P: 2}, x), m.Add(&op.LpNorm{Axis: a, P: 1}, x))
			}
			nearReference(t, m, out...)
		})
	}
}

// Reductions have kernels for short rows, few columns, and axes that are no neighbours.
func TestBuild_reductionsOfAnyAxes(t *testing.T) {
	for _, c := range []struct{ dims, axes []int64 }{
		{[]int64{300, 5}, []int64{1}}, {[]int64{300, 1}, []int64{1}}, {[]int64{2, 200, 3}, []int64{1}},
		{[]int64{1, 5000, 2}, []int64{1}}, {[]int64{2, 3, 4, 5}, []int64{1, 3}}, {[]int64{2, 3, 4, 5}, []int64{0, 2}},
		{[]int64{2, 3, 4, 5}, []int64{0, 3}}, {[]int64{2, 3, 1, 5}, []int64{1, 3}}, {[]int64{3, 2, 1500}, []int64{1}},
		{[]int64{2, 3, 4, 5, 6}, []int64{0, 2, 4}}, {[]int64{2, 90, 40}, []int64{-1}}, {[]int64{4, 3}, nil},
	} {
		t.Run(fmt.Sprint(c.dims, c.axes), func(t *testing.T) {
			m := newMaker()
			x := m.input(c.dims...)
			small := m.Add(&op.Mul{}, x, m.Float32(0.1))
			var out []graph.Value
			for _, keep := range []bool{false, true} {
				for _, o := range []graph.Op{&op.ReduceSum{KeepDims: keep}, &op.ReduceMean{KeepDims: keep},
					&op.ReduceMax{KeepDims: keep}, &op.ReduceMin{KeepDims: keep}, &op.ReduceL1{KeepDims: keep},
					&op.ReduceSumSquare{KeepDims: keep}} {
					out = append(out, m.Add(o, small, m.Int64s(c.axes...)))
				}
			}
			nearReference(t, m, out...)
		})
	}
}

// Norms of numbers whose squares float32 does not hold.
func TestBuild_normsOfExtremes(t *testing.T) {
	m := newMaker()
	var out []graph.Value
	for _, by := range []float32{1e25, 1e-25} {
		for _, dims := range [][]int64{{4, 50}, {50, 3}, {7, 5}} {
			x := m.Add(&op.Mul{}, m.input(dims...), m.Float32(by))
			out = append(out, m.Add(&op.Mul{}, m.Add(&op.ReduceL2{}, x, m.Int64s(0)), m.Float32(1/by)),
				m.Add(&op.Mul{}, m.Add(&op.ReduceL2{}, x, m.Int64s(1)), m.Float32(1/by)),
				m.Add(&op.LpNorm{Axis: 0, P: 2}, x), m.Add(&op.LpNorm{Axis: 1, P: 2}, x))
		}
	}
	nearReference(t, m, out...)
}

// A window that is a whole image is a reduction, in each order.
func TestBuild_windowsOfWholeImages(t *testing.T) {
	m := newMaker()
	x := m.input(2, 20, 5, 7)
	y := m.Add(&op.Conv{Strides: []int64{1, 1}}, x, m.weights(24, 1, 1, 20))
	nearReference(t, m, m.Add(&op.MaxPool{Global: true}, x), m.Add(&op.MaxPool{Kernel: []int64{5, 7}}, x),
		m.Add(&op.AveragePool{Kernel: []int64{5, 7}}, x), m.Add(&op.MaxPool{Global: true}, y),
		m.Add(&op.AveragePool{Global: true}, y))
}

// Products of few rows read their right sides as they are.
func TestBuild_productsOfFewRows(t *testing.T) {
	for _, rows := range []int64{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			m := newMaker()
			var out []graph.Value
			for _, c := range [][2]int64{{1, 20}, {30, 17}, {64, 100}, {129, 16}, {40, 5}} {
				x, w, wt := m.input(3, rows, c[0]), m.input(3, c[0], c[1]), m.input(3, c[1], c[0])
				scores := m.Add(&op.MatMul{TransposeB: true}, x, wt)
				out = append(out, m.Add(&op.MatMul{}, x, w), m.Add(&op.Relu{}, m.Add(&op.Add{}, scores, m.input(1, 1, c[1]))),
					m.Add(&op.MatMul{}, x, m.Add(&op.Transpose{}, wt, m.Int64s(0, 2, 1))))
			}
			nearReference(t, m, out...)
		})
	}
}
