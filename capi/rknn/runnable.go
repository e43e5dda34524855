package rknn

import (
	"context"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// runnable is a model compiled, with its own operators or with some that the program computes instead. It never
// changes; contexts share it.
type runnable struct {
	program *compile.Program
	orders  [][]int        // of inputs that are bound in NHWC, nil for the model's own order
	wraps   []int64        // instances of the library's operators that the program computes, in order
	nodes   [][]customNode // operators that the program computes, for each set of shapes
}

// customNode is an operator that the program computes.
type customNode struct {
	op      *op.Custom
	label   string
	in, out []customValue // absent ones left out
}

// customValue is an input or output of one.
type customValue struct {
	name string
	t    tensor.Type
}

// newRunnable compiles g, whose inputs the API shows as in and whose constants lie in w; g and w belong to the result
// from then on. forms are compiled ones of the model; what a program computes is in none of them.
func newRunnable(g *graph.Graph, in []*port, w *mem.Weights, shapes []model.ShapeSet, forms []compile.Form) (*runnable,
	error) {
	r := &runnable{orders: make([][]int, len(in)), nodes: make([][]customNode, len(shapes))}
	all, err := devices.List()
	if err != nil {
		return nil, err
	}
	own := 0
	if len(customs(g)) > 0 {
		own, forms = 1, nil
		all = append([]device.Device{&customDevice{}}, all...)
		for i := range g.Nodes {
			if o, ok := g.Nodes[i].Op.(*op.Custom); ok && o.Body != nil {
				r.wraps = append(r.wraps, o.Instance)
			}
		}
		slices.Sort(r.wraps)
		for s := range shapes {
			if r.nodes[s], err = customNodes(g, shapes[s].In); err != nil {
				return nil, err
			}
		}
	}
	nhwc := tensor.ChannelsLast(4)
	for i, p := range in {
		if p.format(true) == spec.NHWC {
			r.orders[i] = nhwc
		}
	}
	r.program, err = compile.Compile(context.Background(), g, all, compile.Options{Weights: w, Consume: true,
		Order: r.orders, Strict: devices.Strict(), Own: own, ByCost: true, Forms: forms,
		Warn: func(text string) { caution(text) }})
	if err != nil {
		return nil, err
	}
	taken, _ := r.program.Ports()
	for i := range taken {
		if taken[i].Native == nil { // the device would turn it, as the library does
			r.orders[i] = nil
		}
	}
	return r, nil
}

// customNodes lists the operators of g that the program computes, with inputs of these sizes.
func customNodes(g *graph.Graph, dims [][]int64) ([]customNode, error) {
	shaped, err := model.WithSizes(g, dims)
	if err != nil {
		return nil, err
	}
	var list []customNode
	for i := range shaped.Nodes {
		n := &shaped.Nodes[i]
		o, ok := n.Op.(*op.Custom)
		if !ok {
			continue
		}
		values := func(vs []graph.Value) (list []customValue) {
			for _, v := range vs {
				if v != graph.None {
					list = append(list, customValue{shaped.Values[v].Name, shaped.Fact(v).Type})
				}
			}
			return list
		}
		list = append(list, customNode{o, customLabel(o, n), values(n.In), values(n.Out)})
	}
	return list, nil
}

// customLabel names a node in messages.
func customLabel(o *op.Custom, n *graph.Node) string {
	return fmt.Sprintf("node %d (%s %q)", n.Origin, o.Type, n.Name)
}
