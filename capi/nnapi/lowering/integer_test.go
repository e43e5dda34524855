package lowering

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// vector is a case of the exact integer model in conformance/vectors/integer_lstm.py.
type vector struct {
	Name  string
	Attrs struct {
		ClipCell, ClipProjection, HiddenScale float64
		Intermediate                          []float64
		HiddenZero, Form                      float64
	}
	In, Out []*struct {
		DType string
		Dims  []uint32
		Data  []float64
		Scale []float32
		Zero  []int32
	}
}

func vectors(t *testing.T, file string) []vector {
	text, err := os.ReadFile("../../../backends/cpu/ref/testdata/" + file)
	require.NoError(t, err)
	var v []vector
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// args returns the operands with the types that input i of the operation has.
func (v *vector) args(c nnapi.OperationCode) (in, out []arg) {
	s := nnapi.SignatureOf(c)
	typeAt := func(a *nnapi.Argument) nnapi.OperandCode {
		if a.Type.Variable >= 0 {
			return s.Types[0].Of[a.Type.Variable]
		}
		return a.Type.Fixed
	}
	for i, x := range v.In {
		o := nnapi.Operand{Type: typeAt(&s.Forms[0].Inputs.List[i])}
		if x == nil {
			in = append(in, none(o.Type))
			continue
		}
		o.Dims = x.Dims
		if len(x.Scale) > 0 {
			o.Scale, o.ZeroPoint = x.Scale[0], x.Zero[0]
		}
		in = append(in, arg{Operand: o, values: x.Data})
	}
	for i, x := range v.Out {
		o := nnapi.Operand{Type: typeAt(&s.Forms[0].Outputs.List[i]), Dims: x.Dims, Scale: x.Scale[0], ZeroPoint: x.Zero[0]}
		out = append(out, arg{Operand: o, values: x.Data})
	}
	return in, out
}

func TestQuantizedLSTM(t *testing.T) {
	cases := vectors(t, "quantized_lstm.json")
	require.NotEmpty(t, cases)
	for i := range cases {
		v := &cases[i]
		in, out := v.args(nnapi.QuantizedLSTM)
		for len(in) < 24 {
			in = append(in, none(nnapi.TensorQuant16Symm))
		}
		a := v.Attrs
		in = append(in, real(a.ClipCell), real(a.ClipProjection))
		for _, s := range a.Intermediate {
			in = append(in, real(s))
		}
		in = append(in, num(a.HiddenZero), real(a.HiddenScale))
		check{v.Name, nnapi.QuantizedLSTM, in, append(out, out[0]), 0}.run(t)
	}
}

func TestQuantized16BitLSTM(t *testing.T) {
	cases := vectors(t, "quantized_16bit_lstm.json")
	require.NotEmpty(t, cases)
	for i := range cases {
		in, out := cases[i].args(nnapi.Quantized16BitLSTM)
		check{cases[i].Name, nnapi.Quantized16BitLSTM, in, out, 0}.run(t)
		in[9].Scale *= 2
		refused(t, check{"", nnapi.Quantized16BitLSTM, in, out, 0}, "want scale")
	}
}
