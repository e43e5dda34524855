package devicetest

import (
	"bytes"
	"fmt"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// canary fills memory that a device must leave alone.
const canary = 0xa5

// filled returns a buffer of n bytes that hold the canary.
func filled(n int64) (mem.Buffer, error) {
	b, err := mem.Host(n, mem.Options{})
	if err != nil {
		return nil, err
	}
	if err := mem.Write(b, 0, bytes.Repeat([]byte{canary}, int(n))); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// contents returns the bytes of a buffer.
func contents(b mem.Buffer) ([]byte, error) {
	data := make([]byte, b.Size())
	return data, mem.Read(data, b, 0)
}

func boundOutputs(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		b, err := filled(24)
		if err != nil {
			return err
		}
		defer b.Release()
		if err := e.BindOutput(0, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 2, 3)}); err != nil {
			return fmt.Errorf("bind output: %w", err)
		}
		for seed := range 3 { // every run reads and writes what is bound then
			want, err := s.bindInputs(e, seed, 2, 3)
			if err != nil {
				return err
			}
			if err := compute(e); err != nil {
				return err
			}
			got, err := contents(b)
			if err != nil {
				return err
			}
			if err := wantData(fmt.Sprintf("run %d", seed), got, want); err != nil {
				return err
			}
		}
		_, err = e.OutputData(0)
		return wantKind("output data of a bound output", err, fault.State)
	})
}

func unboundOutputs(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		declared, err := e.OutputType(0)
		if err != nil || declared.DType != tensor.Float32 || !declared.Shape.Equal(tensor.Of(2, 3)) {
			return fmt.Errorf("output type before a run: %v, %v", declared, err)
		}
		want, err := s.bindInputs(e, 5, 2, 3)
		if err != nil {
			return err
		}
		if err := compute(e); err != nil {
			return err
		}
		if got, err := e.OutputType(0); err != nil || got.DType != tensor.Float32 || !got.Shape.Equal(tensor.Of(2, 3)) {
			return fmt.Errorf("output type after a run: %v, %v", got, err)
		}
		if err := wantOutput(e, want); err != nil {
			return err
		}
		b, err := filled(24) // bound for one run, then not
		if err != nil {
			return err
		}
		err = e.BindOutput(0, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 2, 3)})
		b.Release()
		if err != nil {
			return err
		}
		if err := compute(e); err != nil {
			return err
		}
		if err := e.BindOutput(0, mem.View{}); err != nil {
			return fmt.Errorf("unbind output: %w", err)
		}
		if err := compute(e); err != nil {
			return err
		}
		return wantOutput(e, want)
	})
}

func statistics(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		if _, err := s.bindInputs(e, 1, 2, 3); err != nil {
			return err
		}
		for n := range int64(3) {
			if got := e.Stats().Runs; got != n {
				return fmt.Errorf("%d runs counted after %d", got, n)
			}
			if err := compute(e); err != nil {
				return err
			}
		}
		if c := e.Stats(); c.CopiedIn < 0 || c.CopiedOut < 0 || c.LastRun < 0 {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
}

// strides binds every other column of a larger matrix, behind an offset, as inputs and as the output.
func strides(s *Subject) error {
	const rows, cols, ld, off = 2, 3, 8, 12
	at := func(r, c int) int { return off + 4*(r*ld+2*c) }
	return s.with(tensor.Of(rows, cols), func(e device.Execution) error {
		var values [2][]float32
		view := func(b mem.Buffer) mem.View {
			return mem.View{Buf: b, Off: off, Type: tensor.T(tensor.Float32, rows, cols), Strides: []int64{ld, 2}}
		}
		for i := range values {
			o, err := newOperand(3+i, rows, cols)
			if err != nil {
				return err
			}
			o.release()
			values[i] = o.values
			b, err := filled(off + 4*rows*ld)
			if err != nil {
				return err
			}
			for k, v := range o.values {
				if err := mem.Write(b, int64(at(k/cols, k%cols)), tensor.Float32s(v)); err != nil {
					return err
				}
			}
			err = e.BindInput(i, view(b))
			b.Release()
			if err != nil {
				return fmt.Errorf("bind a strided input: %w", err)
			}
		}
		b, err := filled(off + 4*rows*ld)
		if err != nil {
			return err
		}
		defer b.Release()
		if err := e.BindOutput(0, view(b)); err != nil {
			return fmt.Errorf("bind a strided output: %w", err)
		}
		if err := compute(e); err != nil {
			return err
		}
		want := bytes.Repeat([]byte{canary}, off+4*rows*ld)
		for k, v := range s.wantBytes(values[0], values[1]) {
			want[at(k/4/cols, k/4%cols)+k%4] = v
		}
		got, err := contents(b)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("strided output: got % x, want % x", got, want)
		}
		return nil
	})
}

// anySize binds an output without a type: whatever the run makes is written there if it fits.
func anySize(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 2, 2, 3)
		if err != nil {
			return err
		}
		for _, size := range []int64{4 + 24 + 8, 4 + 24, 4 + 23} {
			b, err := filled(size)
			if err != nil {
				return err
			}
			err = e.BindOutput(0, mem.View{Buf: b, Off: 4})
			if err == nil {
				err = compute(e)
			}
			got, readErr := contents(b)
			b.Release()
			switch {
			case readErr != nil:
				return readErr
			case size < 4+24:
				if err := wantKind("a result that does not fit", err, fault.Memory); err != nil {
					return err
				}
				if got[0] != canary {
					return fmt.Errorf("a result that does not fit: bytes before it were written")
				}
			case err != nil:
				return fmt.Errorf("an output of any size in %d bytes: %w", size, err)
			default:
				whole := append(append(bytes.Repeat([]byte{canary}, 4), want...), bytes.Repeat([]byte{canary}, int(size)-28)...)
				if !bytes.Equal(got, whole) {
					return fmt.Errorf("an output of any size: got % x, want % x", got, whole)
				}
			}
		}
		return nil
	})
}

func openDimensions(s *Subject) error {
	if !s.Device.Info().Dynamic {
		return skipped("the device takes no open dimensions")
	}
	return s.with(tensor.OfDims(tensor.Dim{Sym: 7}, tensor.D(3)), func(e device.Execution) error {
		for _, wrong := range [][]int64{{2, 4}, {2}, {-1, 3}, {1 << 62, 3}} {
			if err := wantKind(fmt.Sprintf("set shape %v for [?,3]", wrong), e.SetShape(0, wrong), fault.Shape); err != nil {
				return err
			}
		}
		if err := wantKind("start without sizes", e.Start(device.RunRequest{}), fault.State); err != nil {
			return err
		}
		for _, n := range []int64{2, 5, 1, 5} {
			want, err := s.bindInputs(e, int(n), n, 3)
			if err != nil {
				return err
			}
			if err := compute(e); err != nil {
				return fmt.Errorf("%d rows: %w", n, err)
			}
			got, err := e.OutputType(0)
			if err != nil || !got.Shape.Equal(tensor.Of(n, 3)) {
				return fmt.Errorf("output type after a run with %d rows: %v, %v", n, got, err)
			}
			if err := wantOutput(e, want); err != nil {
				return err
			}
		}
		if err := e.SetShape(0, []int64{4, 3}); err != nil {
			return err
		}
		done, err := start(e, device.RunRequest{})
		if err == nil {
			err = await(done)
		}
		if err == nil || err == errHangs {
			return fmt.Errorf("inputs of 4 and of 5 rows of one open size: %v, want an error", err)
		}
		return nil
	})
}
