package driver

import (
	"context"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// leastCost is the time that a node of a device that takes graphs takes at least: these APIs have no word for its
// speed.
const leastCost = time.Nanosecond

// Ask answers Support of a device that takes graphs, from what computes says of each node: what stands against it, nil
// if nothing does, and what is wrong with the driver.
func (d *Device) Ask(g *graph.Graph, computes func(i int) (refused, err error)) ([]device.NodeSupport, error) {
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
		refused, err := computes(i)
		switch {
		case err != nil:
			return nil, fault.Wrap(d.Note(err), "%s", g.Nodes[i].Label())
		case refused != nil:
			out[i].Reason = refused.Error()
		default:
			out[i] = device.NodeSupport{OK: true, Cost: leastCost, Least: true}
		}
	}
	return out, nil
}

// Refusal separates a driver's reason against a node from a fault of the driver.
func Refusal(err error) (refused, wrong error) {
	switch fault.KindOf(err) {
	case fault.Unsupported:
		return err, nil
	case fault.Memory:
		return refuse("the driver has no memory to be asked: %v", err), nil
	}
	return nil, err
}

// refuse returns the reason against a node.
func refuse(format string, args ...any) error { return fault.New(fault.Unsupported, format, args...) }

// Takes says why an API has no such value as an operand, nil if it has.
type Takes func(tensor.Fact) error

// Boundary checks that values can be the inputs or outputs of a model, each of them once. takes names read values,
// makes those that are made.
func Boundary(g *graph.Graph, takes, makes Takes) error {
	for _, side := range []struct {
		name   string
		values []graph.Value
		takes  Takes
	}{{"input", g.In, takes}, {"output", g.Out, makes}} {
		seen, producers := map[graph.Value]bool{}, g.Producers()
		for i, v := range side.values {
			err := side.takes(g.Fact(v))
			switch {
			case err != nil:
			case g.Fact(v).Const != nil:
				err = refuse("it is a constant")
			case seen[v]:
				err = refuse("it is there twice")
			case (producers[v] >= 0) != (side.name == "output"):
				err = refuse("it is made elsewhere")
			}
			if err != nil {
				return fault.Wrap(err, "%s %d", side.name, i)
			}
			seen[v] = true
		}
	}
	return nil
}

// Values says what an API has against the values of a node, nil if nothing; takes and makes say it of one that is read
// or made.
func Values(g *graph.Graph, n *graph.Node, takes, makes Takes) error {
	for _, side := range []struct {
		name   string
		values []graph.Value
		takes  Takes
	}{{"input", n.In, takes}, {"output", n.Out, makes}} {
		for k, v := range side.values {
			if v == graph.None {
				continue
			}
			if err := side.takes(g.Fact(v)); err != nil {
				return fault.Wrap(err, "%s %d", side.name, k)
			}
		}
	}
	return nil
}

// Translate lowers the nodes of a graph in executable order. lower says what stands against a node, which is an error
// of kind fault.Unsupported.
func Translate(g *graph.Graph, lower func(i int) error) error {
	order, err := g.Order()
	if err != nil {
		return err
	}
	for _, i := range order {
		if err := lower(i); err != nil {
			return fault.Wrap(err, "%s", g.Nodes[i].Label())
		}
	}
	return nil
}
