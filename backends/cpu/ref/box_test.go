package ref

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestBoxes_badData(t *testing.T) {
	one := f32([]float32{1, 1, 4, 3}, 1, 4)
	swappedX, swappedY := f32([]float32{4, 1, 1, 3}, 1, 4), f32([]float32{1, 3, 4, 1}, 1, 4)
	image, batch := f32([]float32{10, 10}, 1, 2), ints(tensor.Int32, []int64{0}, 1)
	zero := f32(make([]float32, 4), 1, 4)
	map1, delta1 := f32([]float32{1}, 1, 1, 1, 1), f32(make([]float32, 4), 1, 1, 1, 4)
	heat := f32(make([]float32, 4), 1, 2, 2, 1)
	nms, keypoint := &op.BoxWithNMSLimit{Max: -1}, &op.HeatmapMaxKeypoint{ChannelsLast: true}
	proposals := &op.GenerateProposals{ChannelsLast: true}
	for i, c := range []struct {
		op   graph.Op
		in   []tensor.Tensor
		outs int
		want string
	}{
		{&op.AxisAlignedBoxTransform{}, []tensor.Tensor{swappedX, zero, batch, image}, 1,
			"input 0: box 0: x 4 to 1, y 1 to 3 are out of order"},
		{&op.AxisAlignedBoxTransform{}, []tensor.Tensor{swappedY, zero, batch, image}, 1, "y 3 to 1 are out of order"},
		{&op.AxisAlignedBoxTransform{}, []tensor.Tensor{one, zero, ints(tensor.Int32, []int64{1}, 1), image}, 1,
			"input 2: box 0: batch index 1 is outside 1 images"},
		{&op.AxisAlignedBoxTransform{}, []tensor.Tensor{one, zero, ints(tensor.Int32, []int64{-1}, 1), image}, 1,
			"batch index -1 is outside 1 images"},
		{nms, []tensor.Tensor{f32([]float32{0}, 1, 1), swappedX, batch}, 4, "input 1: box 0 of class 0: x 4 to 1"},
		{proposals, []tensor.Tensor{map1, delta1, swappedY, image}, 3, "input 2: anchor 0: x 1 to 4, y 3 to 1"},
		{keypoint, []tensor.Tensor{heat, swappedX}, 2, "input 1: box 0: x 4 to 1"},
	} {
		_, err := Compute(c.op, c.in, make([]tensor.Type, c.outs))
		assert.Equal(t, fault.Data, fault.KindOf(err), "%d: %v", i, err)
		assert.ErrorContains(t, err, c.want, "%d", i)
	}
}

// Two boxes share a third: a kernel keeps or drops the second, and a threshold is not reached by a score equal to it.
func TestBoxWithNMSLimit_limitsThemselves(t *testing.T) {
	boxes := f32([]float32{0, 0, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 2, 0, 6, 2}, 2, 8) // of 8 each, 4 shared: 1/3
	scores, batch := f32([]float32{1, 0.75, 1, 0.5}, 2, 2), ints(tensor.Int32, []int64{7, 7}, 2)
	third := float32(4) / 12
	for i, c := range []struct {
		op   op.BoxWithNMSLimit
		want []float64
	}{
		{op.BoxWithNMSLimit{IoU: third, Keep: 0.1, Max: -1}, []float64{0.75}},
		{op.BoxWithNMSLimit{IoU: third, Max: -1}, []float64{0.75, 0}},
		{op.BoxWithNMSLimit{IoU: 0.34, Keep: 0.1, Max: -1}, []float64{0.75, 0.5}},
		{op.BoxWithNMSLimit{IoU: 0.34, Keep: 0.5, Max: -1}, []float64{0.75, 0.5}},
		{op.BoxWithNMSLimit{IoU: 0.34, Score: 0.5, Max: -1}, []float64{0.75}},
		{op.BoxWithNMSLimit{Kernel: op.NMSLinear, IoU: third, Max: -1}, []float64{0.75, 0.5 * 2 / 3}},
		{op.BoxWithNMSLimit{Kernel: op.NMSLinear, IoU: 0.34, Max: -1}, []float64{0.75, 0.5}},
		{op.BoxWithNMSLimit{Kernel: op.NMSLinear, IoU: third, Keep: 0.34, Max: -1}, []float64{0.75}},
		{op.BoxWithNMSLimit{IoU: 0.34, Max: 1}, []float64{0.75}},
	} {
		y, err := Compute(&c.op, []tensor.Tensor{scores, boxes, batch}, make([]tensor.Type, 4))
		assert.NoError(t, err)
		assert.InDeltaSlice(t, c.want, values(t, y[0]), 1e-6, "%d", i)
		for k := range c.want {
			assert.Equal(t, []int64{1, 7}, []int64{intValues(t, y[2])[k], intValues(t, y[3])[k]})
		}
	}
}

// A ridge along the diagonal: the peak lies far beyond the cells, so both parts are cut alike. With A = [[-0.02,
// 0.019], [0.019, -0.02]] and the gradient (0.01, 0.006) it is at (0.000314, 0.00031)/0.000039.
func TestPeak_cutToOneAndAHalf(t *testing.T) {
	grid := [3][3]float64{{0.9, 0.984, 0.912}, {0.98, 1, 1}, {0.912, 0.996, 1}}
	for _, turned := range []float64{1, -1} {
		dx, dy, height := peak(func(y, x int) float64 { return grid[1+y*int(turned)][1+x*int(turned)] }, 1e-5)
		y := 1.5 * 31 / 31.4
		assert.InDelta(t, 1.5*turned, dx, 1e-9)
		assert.InDelta(t, y*turned, dy, 1e-9)
		assert.InDelta(t, 1+0.01*1.5+0.006*y+(-0.02*1.5*1.5-0.02*y*y+2*0.019*1.5*y)/2, height, 1e-12)
	}
	dx, dy, height := peak(func(y, x int) float64 { return grid[1+y][1+x] }, 1e-4) // |det| is 3.9e-5
	assert.Equal(t, []float64{0, 0, 1}, []float64{dx, dy, height})
}
