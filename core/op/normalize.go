package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// wantReals checks that the given inputs are float or quantized.
func wantReals(in []tensor.Fact) error {
	for i := range in {
		if !present(in, i) {
			continue
		}
		if err := wantTensor(in, i, realWords, isReal); err != nil {
			return err
		}
	}
	return nil
}

// wantBroadcastTo checks that an optional input i broadcasts to shape s without enlarging it.
func wantBroadcastTo(in []tensor.Fact, i int, s tensor.Shape) error {
	if !present(in, i) || !in[i].Shape.Ranked || !s.Ranked {
		return nil
	}
	b, err := tensor.Broadcast(s, in[i].Shape)
	if err != nil {
		return fault.New(fault.Shape, "input %d: %v", i, err)
	}
	if _, ok := b.Merge(s); !ok {
		return fault.New(fault.Shape, "input %d: %v does not broadcast to %v", i, in[i].Shape, s)
	}
	return nil
}

// perChannel checks x = in[0] with its channel axis and inputs 1.. of one value per channel, and returns x's shape with
// the number of channels filled in.
func perChannel(in []tensor.Fact, channelAxis int64) (tensor.Shape, error) {
	x := in[0].Shape.Clone()
	channels, axis := tensor.AnyDim(), -1
	if x.Ranked {
		a, err := Axis(channelAxis, len(x.Dims))
		if err != nil {
			return x, fault.Wrap(err, "input 0")
		}
		axis, channels = a, x.Dims[a]
	}
	for i := 1; i < len(in); i++ {
		if err := wantSized(in, i, channels, "one value per channel"); err != nil {
			return x, err
		}
		if channels.Sym != 0 && present(in, i) && in[i].Shape.Rank() == 1 {
			channels = in[i].Shape.Dims[0]
		}
	}
	if axis >= 0 {
		x.Dims[axis] = channels
	}
	return x, nil
}

// wantEpsilon refuses an epsilon that is negative or not a number.
func wantEpsilon(e float32) error {
	if !(e >= 0) {
		return fault.New(fault.Argument, "epsilon %v: want 0 or more", e)
	}
	return nil
}

// axesInput checks an optional input i that lists axes of a tensor of the given rank (-1: unknown): integers, rank 0 or
// 1, each once.
func axesInput(in []tensor.Fact, i, rank int) error {
	if !present(in, i) {
		return nil
	}
	if err := wantType(in, i, "an integer type", tensor.DType.IsInt); err != nil {
		return err
	}
	if r := in[i].Shape.Rank(); r > 1 {
		return fault.New(fault.Shape, "input %d: want rank 0 or 1, got %v", i, in[i].Shape)
	}
	seen := map[int]bool{}
	for _, d := range in[i].IntValues() {
		if !d.Known() || rank < 0 {
			continue
		}
		a, err := Axis(d.N, rank)
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		if seen[a] {
			return fault.New(fault.Argument, "input %d: axis %d is given twice", i, a)
		}
		seen[a] = true
	}
	return nil
}
