package cpu

import (
	"testing"

	"github.com/anynpu/anynpu/core/devicetest"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestDevice_keepsTheContract(t *testing.T) {
	for _, c := range []Config{{}, {Threads: 1}, {Reference: true}} {
		devicetest.Run(t, devicetest.Subject{Device: newDevice(t, c), Endless: endlessSum, Live: mem.LiveCounters})
	}
}

// endlessSum returns z = x + y + y + ..., a loop without a number of trips whose condition holds for ever.
func endlessSum(s tensor.Shape) (*graph.Graph, func(), error) {
	t := tensor.Type{DType: tensor.Float32, Shape: s}
	b := graph.NewBuilder("body")
	b.Input("trip", tensor.T(tensor.Int64))
	goOn := b.Input("condition", tensor.T(tensor.Bool))
	sum := b.Add(&op.Add{}, b.Input("sum", t), b.Input("y", t))
	b.Output(goOn, sum)
	body, err := b.Graph()
	if err != nil {
		return nil, nil, err
	}
	b = graph.NewBuilder("endless")
	x, y := b.Input("x", t), b.Input("y", t)
	b.SetOrigin(0, "")
	z := b.Add(&op.Loop{Body: body, Carried: 1}, graph.None, graph.None, x, y)
	b.Name(z, "z")
	b.Output(z)
	g, err := b.Graph()
	return g, func() {}, err
}
