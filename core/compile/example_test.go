package compile_test

import (
	"context"
	"fmt"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// What a façade does: a graph, a program of it, an execution with memory bound, a run.
func ExampleCompile() {
	b := graph.NewBuilder("sum")
	x := b.Input("x", tensor.T(tensor.Float32, 3))
	b.Output(b.Add(&op.Add{}, x, b.Float32(1)))
	g, err := b.Graph()
	if err != nil {
		panic(err)
	}
	p, err := compile.Compile(context.Background(), g, []device.Device{toy.NewHost("cpu")}, compile.Options{})
	if err != nil {
		panic(err)
	}
	defer p.Release()
	fmt.Println(p.Placement().Summary())
	e, err := p.New(device.ExecOptions{})
	if err != nil {
		panic(err)
	}
	defer e.Release()
	in := mem.Borrow(tensor.Float32s(1, 2, 3), nil)
	defer in.Release()
	if err := e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float32, 3)}); err != nil {
		panic(err)
	}
	if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
		panic(err)
	}
	data, err := e.OutputData(0)
	if err != nil {
		panic(err)
	}
	fmt.Println(tensor.ReadFloat32s(data, 3))
	// Output:
	// 1 node in 1 part (cpu: 1), 0 fallbacks
	// [2 3 4] <nil>
}
