package nnapi

import (
	"math"
	"strings"
	"testing"

	"github.com/anynpu/anynpu/core/fault"
)

func TestOperandSize(t *testing.T) {
	for _, c := range []struct {
		o    Operand
		want uint64
		bad  bool
	}{
		{o: Operand{Type: Float32}, want: 4},
		{o: Operand{Type: Bool}, want: 1},
		{o: Operand{Type: Float16}, want: 2},
		{o: Operand{Type: ModelOperand}},
		{o: Operand{Type: TensorFloat32}},
		{o: Operand{Type: TensorFloat32, Dims: []uint32{2, 3}}, want: 24},
		{o: Operand{Type: TensorFloat32, Dims: []uint32{2, 0}}},
		{o: Operand{Type: TensorQuant16Asymm, Dims: []uint32{5}}, want: 10},
		{o: Operand{Type: TensorQuant8SymmPerChannel, Dims: []uint32{5, 2}}, want: 10},
		{o: Operand{Type: TensorOEMByte, Dims: []uint32{7}}, want: 7},
		{o: Operand{Type: 1<<16 | 3, Dims: []uint32{7}}},
		{o: Operand{Type: TensorQuant8Asymm, Dims: []uint32{math.MaxUint32}}, want: math.MaxUint32},
		{o: Operand{Type: TensorQuant8Asymm, Dims: []uint32{1 << 16, 1 << 16}}, bad: true},
		{o: Operand{Type: TensorFloat32, Dims: []uint32{1 << 31, 0, 1 << 31, 1 << 31}}, bad: true},
		{o: Operand{Type: TensorFloat32, Dims: []uint32{1 << 30}}, bad: true},
	} {
		got, err := c.o.Size()
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%v%v: %d, %v; want %d", c.o.Type, c.o.Dims, got, err, c.want)
		}
	}
}

func TestCheckOperand(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		o     Operand
		level FeatureLevel
		want  string // in the sentence; "": accepted
	}{
		{Operand{Type: TensorFloat32, Dims: []uint32{1}}, Level1, ""},
		{Operand{Type: TensorFloat32, Dims: []uint32{1}, Scale: 1}, Level8, "want scale 0"},
		{Operand{Type: TensorFloat32}, Level3, ""},
		{Operand{Type: TensorFloat32}, Level2, "feature level 3 (29)"},
		{Operand{Type: TensorFloat32, Dims: []uint32{2, 0}}, Level2, "feature level 3 (29)"},
		{Operand{Type: Float32, Dims: []uint32{1}}, Level8, "is a scalar"},
		{Operand{Type: Float32}, Level1, ""},
		{Operand{Type: TensorInt32, Dims: []uint32{1}, Scale: 0.5, ZeroPoint: 3}, Level1, ""},
		{Operand{Type: TensorQuant8Asymm, Dims: []uint32{1}, Scale: 0.5, ZeroPoint: 255}, Level1, ""},
		{Operand{Type: TensorQuant8Asymm, Dims: []uint32{1}, Scale: 0.5, ZeroPoint: 256}, Level1, "from 0 to 255"},
		{Operand{Type: TensorQuant8Asymm, Dims: []uint32{1}, ZeroPoint: 1}, Level1, "scale above 0"},
		{Operand{Type: TensorQuant8Asymm, Dims: []uint32{1}, Scale: nan}, Level1, "scale above 0"},
		{Operand{Type: TensorQuant8AsymmSigned, Dims: []uint32{1}, Scale: 1, ZeroPoint: -128}, Level4, ""},
		{Operand{Type: TensorQuant8AsymmSigned, Dims: []uint32{1}, Scale: 1, ZeroPoint: -129}, Level4, "from -128 to 127"},
		{Operand{Type: TensorQuant8AsymmSigned, Dims: []uint32{1}, Scale: 1}, Level3, "feature level 4 (30)"},
		{Operand{Type: TensorQuant16Symm, Dims: []uint32{1}, Scale: 1, ZeroPoint: 1}, Level3, "zero point 0"},
		{Operand{Type: TensorQuant16Asymm, Dims: []uint32{1}, Scale: 1, ZeroPoint: 65535}, Level3, ""},
		{Operand{Type: TensorQuant8SymmPerChannel, Dims: []uint32{1}, Scale: 1}, Level3, "want scale 0"},
		{Operand{Type: TensorQuant8SymmPerChannel, Dims: []uint32{1}}, Level3, ""},
		{Operand{Type: OEMScalar, Scale: 3}, Level1, ""},
		{Operand{Type: 16}, Level8, "operand code 16"},
		{Operand{Type: -5}, Level2, "an extension's type needs"},
		{Operand{Type: 1<<16 | 7}, Level3, ""},
		{Operand{Type: 1<<16 | 7, Scale: 1}, Level3, "want scale 0"},
		{Operand{Type: TensorFloat32, Dims: []uint32{1 << 31, 2}}, Level1, "more than 4294967295 bytes"},
	} {
		err := CheckOperand(&c.o, c.level)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v%v at %v: %v; want %q", c.o.Type, c.o.Dims, c.level, err, c.want)
		}
		if k := fault.KindOf(err); err != nil && k != fault.Argument && k != fault.Unsupported {
			t.Errorf("%v: kind %v", err, k)
		}
	}
}

// Samples of the numbers of NeuralNetworksTypes.h, one at each place where the order of names breaks.
func TestOperationNumbers(t *testing.T) {
	for name, code := range map[string]OperationCode{"ADD": 0, "CONV_2D": 3, "LSTM": 16, "TANH": 28, "ARGMAX": 39,
		"ARGMIN": 40, "GROUPED_CONV_2D": 55, "QUANTIZED_16BIT_LSTM": 73, "REDUCE_SUM": 80, "TOPK_V2": 90,
		"UNIDIRECTIONAL_SEQUENCE_RNN": 93, "RESIZE_NEAREST_NEIGHBOR": 94, "WHILE": 97, "RANK": 101, "REVERSE": 105,
		"OEM_OPERATION": 10000, "operation code 106": 106, "operation code 20000": 20000,
		"extension operation 2:5": 2<<16 | 5} {
		if code.String() != name {
			t.Errorf("%d is %v, want %s", int(code), code, name)
		}
	}
	for code, number := range map[FeatureLevel]int{26: 0, 27: 1, 31: 5, 1000005: 5, 1000006: 6, 1000008: 8, 1 << 40: 8} {
		if code.Number() != number {
			t.Errorf("level %d is number %d, want %d", int64(code), code.Number(), number)
		}
	}
}
