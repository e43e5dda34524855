package io

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestPlace_sharedMemory: what shares a byte with another operand, at whatever address, is written after the run.
func TestPlace_sharedMemory(t *testing.T) {
	file := func() (a, b mem.Buffer) {
		fd, err := unix.MemfdCreate("alias", 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		require.NoError(t, unix.Ftruncate(fd, 4096))
		a, err = mem.ImportFD(fd, 0, 4, false)
		require.NoError(t, err)
		b, err = mem.ImportFD(fd, 2, 4, false)
		require.NoError(t, err)
		t.Cleanup(a.Release)
		t.Cleanup(b.Release)
		return a, b
	}
	for name, c := range map[string]struct {
		memory func() (in, first, second mem.Buffer)
		placed []bool
		want   [][]byte // of the outputs, in the end
	}{
		"apart": {func() (in, first, second mem.Buffer) {
			return buffer(t, 1, 2, 3, 4), buffer(t, make([]byte, 4)...), buffer(t, make([]byte, 4)...)
		}, []bool{true, true}, [][]byte{{1, 2, 3, 4}, {2, 3, 4, 5}}},
		"neighbours": {func() (in, first, second mem.Buffer) {
			all := buffer(t, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0)
			return part(t, all, 0, 4), part(t, all, 4, 4), part(t, all, 8, 4)
		}, []bool{true, true}, [][]byte{{1, 2, 3, 4}, {2, 3, 4, 5}}},
		"over the input": {func() (in, first, second mem.Buffer) {
			b := buffer(t, 1, 2, 3, 4)
			return b, b, buffer(t, make([]byte, 4)...)
		}, []bool{false, true}, [][]byte{{1, 2, 3, 4}, {2, 3, 4, 5}}},
		"a byte of the input": {func() (in, first, second mem.Buffer) {
			all := buffer(t, 1, 2, 3, 4, 0, 0, 0)
			return part(t, all, 0, 4), buffer(t, make([]byte, 4)...), part(t, all, 3, 4)
		}, []bool{true, false}, [][]byte{{1, 2, 3, 4}, {2, 3, 4, 5}}},
		"both outputs": {func() (in, first, second mem.Buffer) {
			b := buffer(t, make([]byte, 4)...)
			return buffer(t, 1, 2, 3, 4), b, b
		}, []bool{false, false}, [][]byte{{2, 3, 4, 5}, {2, 3, 4, 5}}},
		"one file at two addresses": {func() (in, first, second mem.Buffer) {
			a, b := file()
			data, err := a.Map()
			require.NoError(t, err)
			copy(data, []byte{1, 2, 3, 4})
			return a, b, buffer(t, make([]byte, 4)...)
		}, []bool{false, true}, [][]byte{{1, 2, 3, 4}, {2, 3, 4, 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			x, a := of(t, 1, 2, 4)
			for range 2 { // what one run has noted does not count in the next
				in, first, second := c.memory()
				placed := compute(t, x, []Operand{Own(view(in, 4))}, []Operand{Own(view(first, 4)), Own(view(second, 4))}, 4)
				require.Equal(t, c.placed, placed)
				for i, b := range []mem.Buffer{first, second} {
					got, err := b.Map()
					require.NoError(t, err)
					require.Equal(t, c.want[i], got, "output %d", i)
				}
				require.Equal(t, map[bool]int{true: 0, false: 1}[placed[0]]+map[bool]int{true: 0, false: 1}[placed[1]], a.copies)
			}
		})
	}
}

// TestDeliver_converts: a result is stored as the type and in the layout of the program's memory.
func TestDeliver_converts(t *testing.T) {
	dims := []int64{1, 2, 1, 2}
	x, _ := of(t, 1, 1, dims...)
	coded := convert.Tensor{Type: tensor.Uint8, Quant: &convert.Code{Scale: 0.5, Zero: 10}}
	out := buffer(t, make([]byte, 16)...)
	o := Operand{View: mem.View{Buf: out}, As: convert.Source{Type: tensor.Float32,
		Arrangement: convert.Arrange(dims, convert.Layout{Order: convert.NHWC})}}
	in := Own(view(buffer(t, 10, 11, 12, 14), dims...))
	require.NoError(t, x.Feed(port(0, dims...), &in))
	x.Take(&Port{Tensor: &coded, At: 0, Dims: dims}, &o)
	placed, err := x.Place(0)
	require.NoError(t, err)
	require.False(t, placed)
	require.NoError(t, x.Run(device.RunRequest{}))
	require.NoError(t, x.Deliver(0))
	data, err := out.Map()
	require.NoError(t, err)
	got, err := tensor.ReadFloat32s(data, 4)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 1, 0.5, 2}, got) // (q - 10) x 0.5, channels last
	x.Unbind()
}

// TestUnbind_letsGo: memory that ends after a run has no owner left, and neither has an operand of a run that failed.
func TestUnbind_letsGo(t *testing.T) {
	x, a := of(t, 1, 1, 4)
	for _, fails := range []bool{false, true} {
		freed := 0
		in, out := mem.Borrow(make([]byte, 4), func() { freed++ }), mem.Borrow(make([]byte, 4), func() { freed++ })
		if fails {
			a.work = func(context.Context) error { panic("a kernel") }
		}
		o, p := Own(view(in, 4)), Own(view(out, 4))
		require.NoError(t, x.Feed(port(0, 4), &o))
		x.Take(port(0, 4), &p)
		_, err := x.Place(0)
		require.NoError(t, err)
		in.Release()
		out.Release()
		assert.Zero(t, freed, "the run still has it")
		require.Equal(t, fails, x.Run(device.RunRequest{}) != nil)
		x.Unbind()
		assert.Equal(t, 2, freed)
	}
}

// TestPlace_outputWithoutMemory: an output that had memory in one run and has none in the next stays with the
// execution.
func TestPlace_outputWithoutMemory(t *testing.T) {
	x, _ := of(t, 1, 1, 2)
	in := []Operand{Own(view(buffer(t, 1, 2), 2))}
	require.Equal(t, []bool{true}, compute(t, x, in, []Operand{Own(view(buffer(t, 0, 0), 2))}, 2))
	require.NoError(t, x.Feed(port(0, 2), &in[0]))
	placed, err := x.Place(0)
	require.NoError(t, err)
	require.False(t, placed)
	require.NoError(t, x.Run(device.RunRequest{}))
	require.NoError(t, x.Deliver(0))
	got, err := x.OutputData(0)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2}, got)
	x.Unbind()
}

// TestDeliver_vanishedPage: an output whose file was cut is an error, and the execution can run again.
func TestDeliver_vanishedPage(t *testing.T) {
	x, _ := of(t, 1, 1, 4)
	data, cut := mapped(t, 4096)
	cut()
	b := mem.Borrow(data[:4:4], nil)
	defer b.Release()
	for _, in := range []bool{true, false} {
		good := buffer(t, 1, 2, 3, 4)
		from, to := good, b
		if in {
			from, to = b, good
		}
		err := Guarded(func() error {
			defer x.Unbind()
			as := convert.Source{Type: tensor.Uint8, Arrangement: convert.Arrange([]int64{4}, convert.Layout{})}
			src, err := from.Map()
			if err == nil {
				err = x.Stage(port(0, 4), src, &as)
			}
			if err == nil {
				err = x.FeedStaged(port(0, 4))
			}
			if err == nil {
				err = x.Run(device.RunRequest{})
			}
			o := Own(view(to, 4))
			x.Take(port(0, 4), &o)
			if err == nil {
				err = x.Deliver(0)
			}
			return err
		}, lost)
		require.ErrorContains(t, err, "lost 0x")
	}
	out := buffer(t, make([]byte, 4)...)
	compute(t, x, []Operand{Own(view(buffer(t, 1, 2, 3, 4), 4))}, []Operand{Own(view(out, 4))}, 4)
	got, err := out.Map()
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4}, got)
}

// TestRun_allocatesNothing: what is bound as it lies costs no allocation.
func TestRun_allocatesNothing(t *testing.T) {
	x, a := of(t, 1, 1, 4)
	a.work = func(context.Context) error { return nil }
	in, out := Own(view(buffer(t, 1, 2, 3, 4), 4)), Own(view(buffer(t, make([]byte, 4)...), 4))
	p, q := port(0, 4), port(0, 4)
	a.Bound = exec.NewBindings([]device.Port{{}}, []device.Port{{}}) // of any type, so that sizes are not cloned
	in.Type, out.Type = tensor.Type{}, tensor.Type{}
	a.Bound.In[0].Dims = []int64{4}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		err := x.Feed(p, &in)
		x.Take(q, &out)
		if err == nil {
			_, err = x.Place(0)
		}
		if err == nil {
			err = x.Run(device.RunRequest{})
		}
		if err == nil {
			err = x.Deliver(0)
		}
		x.Unbind()
		if err != nil {
			t.Error(err)
		}
	}))
}
