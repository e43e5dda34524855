package devicetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// alien is an operator that no device knows.
type alien struct{}

func init() { graph.Register[*alien]("devicetest.alien", graph.Traits{}) }

// Infer says that the output is like the input.
func (*alien) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) { return in[:1], nil }

// alienGraph is one node that no device knows.
func alienGraph() (*graph.Graph, error) {
	b := graph.NewBuilder("alien")
	b.SetOrigin(0, "stranger")
	b.Output(b.Add(&alien{}, b.Input("x", tensor.T(tensor.Float32, 2))))
	return b.Graph()
}

func info(s *Subject) error {
	a, b := s.Device.Info(), s.Device.Info()
	switch {
	case a.ID == "" || a.Name == "":
		return fmt.Errorf("id %q, name %q: both are needed", a.ID, a.Name)
	case a.ID != b.ID || a.BuildHash != b.BuildHash:
		return fmt.Errorf("id and build hash changed from %q %q to %q %q", a.ID, a.BuildHash, b.ID, b.BuildHash)
	case a.Float16 > device.Honours || a.Performance > device.Honours:
		return fmt.Errorf("float16: %v, performance: %v", a.Float16, a.Performance)
	case a.Cache && a.BuildHash == "":
		return fmt.Errorf("it saves programs but has no build hash to tell those of another build")
	case a.Dynamic && (a.DimMin < 0 || a.DimMin > a.DimMax):
		return fmt.Errorf("open dimensions of %d to %d", a.DimMin, a.DimMax)
	}
	return nil
}

func support(s *Subject) error {
	g, err := s.graph(tensor.Of(2, 3))
	if err != nil {
		return err
	}
	answers, err := s.Device.Support(g, device.Options{})
	if err != nil {
		return err
	}
	if len(answers) != len(g.Nodes) {
		return fmt.Errorf("%d answers for %d nodes", len(answers), len(g.Nodes))
	}
	for i, a := range answers {
		if !a.OK || a.Reason != "" {
			return fmt.Errorf("%s: ok %v, reason %q: the device computes this node", g.Nodes[i].Label(), a.OK, a.Reason)
		}
	}
	return nil
}

func supportRefuses(s *Subject) error {
	g, err := alienGraph()
	if err != nil {
		return err
	}
	answers, err := s.Device.Support(g, device.Options{})
	if err != nil {
		return fmt.Errorf("an unknown node must not fail the call: %w", err)
	}
	if len(answers) != 1 || answers[0].OK || answers[0].Reason == "" {
		return fmt.Errorf("an unknown node: %+v, want one refusal with a reason", answers)
	}
	return nil
}

func compileRefuses(s *Subject) error {
	g, err := alienGraph()
	if err != nil {
		return err
	}
	p, err := s.Device.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	if err == nil {
		p.Release()
	}
	if err := wantKind("compile an unknown node", err, fault.Unsupported); err != nil {
		return err
	}
	if label := g.Nodes[0].Label(); !strings.Contains(err.Error(), label) {
		return fmt.Errorf("the error does not name the node %s: %w", label, err)
	}
	if g, err = s.graph(tensor.Of(2, 3)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err = s.Device.Compile(ctx, device.Unit{Graph: g}, device.Options{}); err == nil {
		p.Release()
	}
	return wantKind("compile with a context that is done", err, fault.Canceled)
}

func ports(s *Subject) error {
	shapes := []tensor.Shape{tensor.Of(2, 3)}
	if s.Device.Info().Dynamic {
		shapes = append(shapes, tensor.OfDims(tensor.Dim{Sym: 7}, tensor.D(3)))
	}
	for _, shape := range shapes {
		g, err := s.graph(shape)
		if err != nil {
			return err
		}
		p, err := s.compile(g, device.Options{})
		if err != nil {
			return err
		}
		in, out := p.Ports()
		err = samePorts(s, g, in, g.In)
		if err == nil {
			err = samePorts(s, g, out, g.Out)
		}
		p.Release()
		if err != nil {
			return fmt.Errorf("inputs of %v: %w", shape, err)
		}
	}
	return nil
}

// samePorts compares ports with the values that they stand for.
func samePorts(s *Subject, g *graph.Graph, ports []device.Port, values []graph.Value) error {
	if len(ports) != len(values) {
		return fmt.Errorf("%d ports for %d values", len(ports), len(values))
	}
	for i, v := range values {
		p, f := &ports[i], g.Fact(v)
		if p.Name != g.Values[v].Name || p.Type.DType != f.DType || !p.Type.Shape.Equal(f.Shape) {
			return fmt.Errorf("port %d is %q %v, want %q %v", i, p.Name, p.Type, g.Values[v].Name, f.Type)
		}
		if len(p.Min) != len(f.Shape.Dims) || len(p.Max) != len(f.Shape.Dims) {
			return fmt.Errorf("port %d: ranges %v to %v for %v", i, p.Min, p.Max, f.Shape)
		}
		for k, d := range f.Shape.Dims {
			lo, hi := d.N, d.N
			if !d.Known() {
				lo, hi = s.Device.Info().DimMin, s.Device.Info().DimMax
			}
			if p.Min[k] != lo || p.Max[k] != hi {
				return fmt.Errorf("port %d, dimension %d: %d to %d, want %d to %d", i, k, p.Min[k], p.Max[k], lo, hi)
			}
		}
	}
	return nil
}
