package devicetest

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// options compiles with every option that a device may lack. All but float16 leave results as they are, and float16
// does, too, unless the device honours it.
func options(s *Subject) error {
	info := s.Device.Info()
	for _, c := range []struct {
		what    string
		o       device.Options
		ability device.Ability
		near    float64 // how far results may be off, relative to the result
	}{
		{"Options.Float16", device.Options{Float16: true}, info.Float16, 0x1p-9},
		{"Options.Performance", device.Options{Performance: device.PerformanceExtreme}, info.Performance, 0},
		{"Options.Priority", device.Options{Priority: device.PriorityHigh}, device.Accepts, 0},
		{"Options.Extra", device.Options{Extra: map[string][]byte{"devicetest": {1}}}, device.Accepts, 0},
	} {
		if c.ability > device.Honours {
			return fmt.Errorf("%s: %v", c.what, c.ability)
		}
		if c.ability != device.Honours {
			c.near = 0
		}
		if err := s.thirds(c.o, c.near); err != nil {
			return fmt.Errorf("%s, which the device %v: %w", c.what, c.ability, err)
		}
	}
	return nil
}

// thirds computes with numbers that float16 has not, and compares the results.
func (s *Subject) thirds(o device.Options, near float64) error {
	p, err := s.program(tensor.Of(2, 3), o)
	if err != nil {
		return err
	}
	e, err := s.execution(p)
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	var x [2][]float32
	for i := range x {
		for k := range 6 {
			x[i] = append(x[i], float32(k+1+7*i)/3)
		}
		b, err := mem.Host(24, mem.Options{})
		if err != nil {
			return err
		}
		err = mem.Write(b, 0, tensor.Float32s(x[i]...))
		if err == nil {
			err = e.BindInput(i, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 2, 3)})
		}
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := compute(e); err != nil {
		return err
	}
	data, err := e.OutputData(0)
	if err != nil {
		return fmt.Errorf("output data: %w", err)
	}
	want := s.wantBytes(x[0], x[1])
	if near == 0 || len(data) != len(want) {
		return wantData("output data", data, want)
	}
	for i, w := range floats(want) {
		if got := floats(data)[i]; math.Abs(float64(got-w)) > near*math.Abs(float64(w)) {
			return fmt.Errorf("element %d: got %v, want %v", i, got, w)
		}
	}
	return nil
}

// made calls f with an execution of the given options.
func (s *Subject) made(o device.ExecOptions, f func(e device.Execution) error) error {
	p, err := s.program(tensor.Of(2, 3), device.Options{})
	if err != nil {
		return err
	}
	defer p.Release()
	e, err := p.New(o)
	if err != nil {
		return err
	}
	defer e.Release()
	return f(e)
}

// computes makes one run and compares its result.
func (s *Subject) computes(e device.Execution) error {
	want, err := s.bindInputs(e, 1, 2, 3)
	if err != nil {
		return err
	}
	if err := compute(e); err != nil {
		return err
	}
	return wantOutput(e, want)
}

// cores asks for every core, for cores that there are besides others, and for others alone.
func cores(s *Subject) error {
	n := s.Device.Info().Cores
	if n < 0 || n > 31 {
		return fmt.Errorf("%d cores: want 0 to 31, for a mask of 32 bits", n)
	}
	masks := []uint32{0, 1, 1 << 31, math.MaxUint32}
	if n > 0 {
		masks = []uint32{0, 1, 1<<n - 1, 1<<31 | 1<<(n-1), math.MaxUint32}
	}
	for _, mask := range masks {
		if err := s.made(device.ExecOptions{Owner: s.Owner, CoreMask: mask}, s.computes); err != nil {
			return fmt.Errorf("core mask %#x of %d cores: %w", mask, n, err)
		}
	}
	if n == 0 {
		return nil
	}
	for _, mask := range []uint32{1 << n, 1 << 31} {
		err := s.made(device.ExecOptions{Owner: s.Owner, CoreMask: mask}, func(device.Execution) error { return nil })
		if err := wantKind(fmt.Sprintf("core mask %#x of %d cores", mask, n), err, fault.Argument); err != nil {
			return err
		}
	}
	return nil
}

// owner makes an execution for an object that no device knows.
func owner(s *Subject) error {
	type stranger struct{}
	err := s.made(device.ExecOptions{Owner: &stranger{}}, s.computes)
	if s.Owner == nil || fault.KindOf(err) != fault.Argument {
		return err
	}
	return nil
}

// profile compares the times of runs with and without profiling.
func profile(s *Subject) error {
	g, err := s.graph(tensor.Of(2, 3))
	if err != nil {
		return err
	}
	for _, profiling := range []bool{false, true} {
		err := s.made(device.ExecOptions{Owner: s.Owner, Profiling: profiling}, func(e device.Execution) error {
			for range 2 {
				if err := s.computes(e); err != nil {
					return err
				}
			}
			nodes := e.Stats().Nodes
			if !profiling && len(nodes) > 0 || len(nodes) > len(g.Nodes) {
				return fmt.Errorf("times of %d nodes of %d", len(nodes), len(g.Nodes))
			}
			for _, n := range nodes {
				if n.Node < 0 || n.Node >= len(g.Nodes) || n.Op == "" || n.Start < 0 || n.Length < 0 {
					return fmt.Errorf("%+v is no time of a node of %d", n, len(g.Nodes))
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("profiling %v: %w", profiling, err)
		}
	}
	return nil
}

// cost compares the estimates for small and large inputs, for unknown sizes and for refused nodes.
func cost(s *Subject) error {
	estimate := func(shape tensor.Shape) (total int64, err error) {
		g, err := s.graph(shape)
		if err != nil {
			return 0, err
		}
		answers, err := s.Device.Support(g, device.Options{})
		for i, a := range answers {
			if a.Cost < 0 {
				return 0, fmt.Errorf("node %d: cost %v", i, a.Cost)
			}
			total += int64(a.Cost)
		}
		return total, err
	}
	small, err := estimate(tensor.Of(2, 3))
	if err != nil {
		return err
	}
	large, err := estimate(tensor.Of(512, 1024))
	if err != nil {
		return err
	}
	if large < small {
		return fmt.Errorf("6 elements cost %d ns and %d elements %d ns", small, 512*1024, large)
	}
	if s.Device.Info().Dynamic {
		open, err := estimate(tensor.OfDims(tensor.Dim{Sym: 7}, tensor.D(3)))
		if err != nil {
			return err
		}
		if open != 0 {
			return fmt.Errorf("sizes that are unknown cost %d ns, want 0", open)
		}
	}
	g, err := alienGraph()
	if err != nil {
		return err
	}
	answers, err := s.Device.Support(g, device.Options{})
	if err == nil && len(answers) == 1 && answers[0].Cost != 0 {
		err = fmt.Errorf("a node that is refused costs %v", answers[0].Cost)
	}
	return err
}
