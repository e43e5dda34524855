package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// leastCost is what a node of a device that takes graphs takes at least: these APIs have no word for its speed.
const leastCost = time.Nanosecond

// Ask answers Support of a device that takes graphs, from what computes says of each node: what stands against it, ""
// if nothing does.
func (d *Device) Ask(g *graph.Graph, computes func(i int) (why string, err error)) ([]device.NodeSupport, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	leave, err := d.Building.Enter(context.Background(), d.Life)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		why, err := computes(i)
		if err != nil {
			return nil, fault.Wrap(d.Note(err), "%s", g.Nodes[i].Label())
		}
		if out[i].Reason = why; why == "" {
			out[i] = device.NodeSupport{OK: true, Cost: leastCost, Least: true}
		}
	}
	return out, nil
}

// Refusal tells what stands against a node of which a driver was asked from what is wrong with the driver.
func Refusal(err error) (why string, wrong error) {
	switch fault.KindOf(err) {
	case fault.Unsupported:
		return err.Error(), nil
	case fault.Memory:
		return fmt.Sprintf("the driver has no memory to be asked: %v", err), nil
	}
	return "", err
}

// Takes says why an API has no such value as an operand, "" if it has.
type Takes func(tensor.Fact) (why string)

// Boundary checks that values can be the inputs or outputs of a model, each of them once. takes speaks of what is read,
// makes of what is made.
func Boundary(g *graph.Graph, takes, makes Takes) error {
	for _, side := range []struct {
		name   string
		values []graph.Value
		takes  Takes
	}{{"input", g.In, takes}, {"output", g.Out, makes}} {
		seen, producers := map[graph.Value]bool{}, g.Producers()
		for i, v := range side.values {
			why := side.takes(g.Fact(v))
			switch {
			case why != "":
			case g.Fact(v).Const != nil:
				why = "it is a constant"
			case seen[v]:
				why = "it is there twice"
			case (producers[v] >= 0) != (side.name == "output"):
				why = "it is made elsewhere"
			}
			if why != "" {
				return fault.New(fault.Unsupported, "%s %d: %s", side.name, i, why)
			}
			seen[v] = true
		}
	}
	return nil
}

// Values says what an API has against the values of a node, "" if nothing; takes and makes say it of one that is read
// or made.
func Values(g *graph.Graph, n *graph.Node, takes, makes Takes) (why string) {
	for _, side := range []struct {
		name   string
		values []graph.Value
		takes  Takes
	}{{"input", n.In, takes}, {"output", n.Out, makes}} {
		for k, v := range side.values {
			if v == graph.None {
				continue
			}
			if why := side.takes(g.Fact(v)); why != "" {
				return fmt.Sprintf("%s %d: %s", side.name, k, why)
			}
		}
	}
	return ""
}

// Translate turns the nodes of a graph in executable order. turn says what stands against a node, which is an error of
// kind fault.Unsupported.
func Translate(g *graph.Graph, turn func(i int) (why string)) error {
	order, err := g.Order()
	if err != nil {
		return err
	}
	for _, i := range order {
		if why := turn(i); why != "" {
			return fault.New(fault.Unsupported, "%s: %s", g.Nodes[i].Label(), why)
		}
	}
	return nil
}
