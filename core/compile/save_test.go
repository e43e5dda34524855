package compile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestSave_roundTrip(t *testing.T) {
	npu, cpu := toy.New("npu"), toy.NewHost("cpu")
	devices := []device.Device{npu, cpu}
	p := mustCompile(t, mixed(t, tensor.OfDims(tensor.Dim{Sym: 1})), devices...)
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	placement := p.Placement()
	in, out := p.Ports()
	p.Release()
	blob := saved.Bytes()
	data := bytes.Clone(blob)
	q, err := compile.Load(background, data, devices)
	require.NoError(t, err)
	clear(data)
	assert.Equal(t, placement, q.Placement())
	in2, out2 := q.Ports()
	assert.Equal(t, in, in2)
	assert.Equal(t, out, out2)
	assert.Equal(t, []float32{12, 21}, evaluate(t, q, 0, 1))
	saved.Reset()
	require.NoError(t, q.Save(&saved))
	assert.Equal(t, blob, saved.Bytes())
	q.Release()

	for i := 0; i < len(blob); i += 3 {
		bad := bytes.Clone(blob)
		bad[i] ^= 1 << (i % 8)
		_, err := compile.Load(background, bad, devices)
		require.Equal(t, fault.File, fault.KindOf(err), "byte %d: %v", i, err)
		_, err = compile.Load(background, blob[:i], devices)
		require.Equal(t, fault.File, fault.KindOf(err), "cut at %d: %v", i, err)
	}
	_, err = compile.Load(background, blob, devices[1:])
	assert.Equal(t, fault.File, fault.KindOf(err))
	assert.ErrorContains(t, err, `device "npu" is not here`)
	npu.SetBuild("toy build 2")
	_, err = compile.Load(background, blob, devices)
	assert.Equal(t, fault.File, fault.KindOf(err))
	assert.ErrorContains(t, err, "toy build 2")
	npu.Set(toy.Dead)
	assert.ErrorIs(t, p.Save(&saved), device.ErrDied)
}

// full is a writer with room for n bytes.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestSave_writerFails(t *testing.T) {
	p := mustCompile(t, mixed(t, tensor.Of(2)), toy.New("npu"), toy.NewHost("cpu"))
	defer p.Release()
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	for n := 0; n < saved.Len(); n += 50 {
		err := p.Save(&full{n})
		require.Equal(t, fault.File, fault.KindOf(err), "room for %d", n)
	}
	require.NoError(t, p.Save(&full{saved.Len()}))
}
