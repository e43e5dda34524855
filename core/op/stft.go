package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// STFT cuts a signal into overlapping frames and transforms each: y[b, f, k] = sum over t of x[b,
// f·step+t]·window[t]·exp(-2πi·k·t/n).
//
// Inputs: x, float [batch, length, 1 (real) or 2 (complex)]; step, one positive integer; window?, float [n] (absent:
// ones); frame?, one positive integer: n (absent: the window's, else the signal's length). Output: y of x's type
// [batch, (length-n)/step+1, n, 2]; with OneSided, for real signals, only the first n/2+1 values. Source: ONNX STFT-17.
type STFT struct {
	OneSided bool
}

func init() { graph.Register[*STFT]("stft", graph.Traits{ShapeInputs: []int{1, 3}}) }

// Infer returns the number and the size of the frames.
func (o *STFT) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, realWords, isReal); err != nil {
		return nil, err
	}
	if err := wantRank(in, 0, 3); err != nil {
		return nil, err
	}
	step, _, err := optionalSize(in, 1)
	if err != nil {
		return nil, err
	}
	batch, size := tensor.AnyDim(), tensor.AnyDim()
	if x := in[0].Shape; x.Ranked {
		batch, size = x.Dims[0], x.Dims[1]
		if err := complexParts(x.Dims[2], o.OneSided, false); err != nil {
			return nil, fault.Wrap(err, "input 0: %v", x)
		}
	}
	n, given, err := optionalSize(in, 3)
	if err != nil {
		return nil, err
	}
	if !given {
		n = size
	}
	if present(in, 2) {
		if err := wantTensor(in, 2, realWords, isReal); err != nil {
			return nil, err
		}
		if err := wantRank(in, 2, 1); err != nil {
			return nil, err
		}
		window := tensor.AnyDim()
		if in[2].Shape.Ranked {
			window = in[2].Shape.Dims[0]
		}
		if !given {
			n = window
		}
		var ok bool
		if n, ok = meet(n, window); !ok {
			return nil, fault.New(fault.Shape, "input 2: a window of %v for frames of %v", window, n)
		}
	}
	frames, bins := tensor.AnyDim(), n
	if n.Known() && (n.N < 1 || size.Known() && n.N > size.N) {
		return nil, fault.New(fault.Shape, "frames of length %d in a signal of length %v", n.N, size)
	}
	if n.Known() && size.Known() && step.Known() {
		frames = tensor.D((size.N-n.N)/step.N + 1)
	}
	if o.OneSided {
		bins = halfSpectrum(n)
	}
	return movedOne(declared, in[0], tensor.OfDims(batch, frames, bins, tensor.D(2)), nil)
}
