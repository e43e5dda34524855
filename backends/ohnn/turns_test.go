package ohnn

import (
	"os"
	"testing"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// libraryVariable names the library that stands in for a vendor's in a child of this test.
const libraryVariable = "ANYNPU_TEST_OHNN_LIBRARY"

// TestTurns_byThisLibrary has AnyNPU's own library of OH_NN, which knows every operator, stand in for a driver: what a
// node becomes and what the façade makes of that must be what the node was.
func TestTurns_byThisLibrary(t *testing.T) {
	if os.Getenv(libraryVariable) == "" {
		dt.InChild(t, libraryVariable, "libneural_network_core.so", "ANYNPU_OHNN=cpu", "ANYNPU_RKNN=cpu")
		return
	}
	left := map[string]bool{}
	for name := range turns {
		left[name] = true
	}
	dt.Turns(t, os.Getenv(libraryVariable), openOwn, append(dt.Operators(), operators()...), left)
}

// openOwn opens the library that stands in for a vendor's.
func openOwn(file string, lookup func(symbol string) uintptr) (device.Device, error) {
	all, err := Open(Bind(file, lookup), driver.Config{ID: "own", Name: "AnyNPU"})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// operators are the nodes of this API beside those of all.
func operators() []dt.Node {
	four := dt.Fixed(dt.Real(4))
	list := []dt.Node{
		dt.One(&op.Div{Rounding: op.DivTrunc}, dt.Integers(4), dt.Operand{Type: tensor.T(tensor.Int32, 4),
			Constant: tensor.Int32s(1, 2, -2, 3)}),
		dt.One(&op.Mod{Sign: op.ModDividend}, dt.X, dt.Positive(dt.Real(4))),
		dt.One(&op.Round{Ties: op.RoundEven}, dt.X),
		dt.One(&op.HardSigmoid{Alpha: 1.0 / 6, Beta: 0.5}, dt.X),
		dt.One(&op.Swish{}, dt.X),
		dt.One(&op.Gelu{Approximate: op.GeluErf}, dt.X),
		dt.One(&op.Gelu{Approximate: op.GeluTanh}, dt.X),
		dt.One(&op.Exp{Base: 2, Scale: 0.5, Shift: 1}, dt.X),
		dt.One(&op.Cast{To: tensor.Bool}, dt.X),
		dt.One(&op.Where{}, dt.Bools(2, 3, 4), dt.X, dt.Real(4)),
		dt.One(&op.Conv{Groups: 1, ChannelsLast: true}, dt.Codes(tensor.Int8, 0.5, 1, 5, 5, 2),
			dt.Fixed(dt.Codes(tensor.Int8, 0.25, 3, 2, 2, 2))),
		dt.One(&op.MatMul{TransposeA: true}, dt.Real(2, 4, 3), dt.Real(1, 4, 5)),
		dt.One(&op.BatchNorm{Epsilon: 0.01, Axis: 1}, dt.First, four, four, four, dt.Positive(dt.Real(4))),
		dt.One(&op.BatchNorm{Epsilon: 0.01, Axis: -1}, dt.X, four, four, four, dt.Positive(dt.Real(4))),
		dt.One(&op.Unsqueeze{}, dt.X, dt.Numbers(0, 4)),
		dt.One(&op.Transpose{}, dt.X),
		dt.One(&op.Expand{}, dt.Real(3, 1), dt.Numbers(2, 3, 4)),
		dt.One(&op.LayerNorm{Axis: -2, Epsilon: 0.001}, dt.X, dt.Fixed(dt.Real(3, 4)), dt.Fixed(dt.Real(3, 4))),
		dt.One(&op.ReduceL2{}, dt.X, dt.Numbers(1)),
	}
	list = append(list, dt.Singles(&op.Ceil{}, &op.Cos{}, &op.Erf{})...)
	return append(list, dt.Pairs(&op.SquaredDifference{})...)
}
