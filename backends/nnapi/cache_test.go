package nnapi

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// scaled is a graph that multiplies by a constant with one byte of its own.
func scaled(t *testing.T, own byte) *graph.Graph {
	t.Helper()
	const n = 100
	typ, data := tensor.T(tensor.Float32, n), make([]byte, 4*n)
	data[201] = own
	b := graph.NewBuilder("scaled")
	b.Output(b.Add(&op.Mul{}, b.Input("x", typ), b.Const("", typ, data)))
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// noted runs what, which gives the driver a cache once more, and returns the cache that it got.
func (f *fake) noted(t *testing.T, what func()) (dir, token string) {
	t.Helper()
	count := f.Count("cache")
	what()
	require.Equal(t, count+1, f.Count("cache"))
	dir, token, ok := strings.Cut(f.Noted("cache"), " ")
	require.True(t, ok)
	sum, err := hex.DecodeString(token)
	require.NoError(t, err)
	require.Len(t, sum, 32)
	return dir, token
}

// TestCompile_driversCache: the driver gets the program's directory, and a token that is the same for the same content,
// also when a saved program is loaded, and another one for everything that differs.
func TestCompile_driversCache(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	all, err := openFake()
	require.NoError(t, err)
	dir := t.TempDir()
	ctx := func(dir string, token byte) context.Context {
		return device.WithCache(context.Background(), device.Cache{Dir: dir, Token: [32]byte{31: token}})
	}
	var saved bytes.Buffer
	token := func(d *Device, ctx context.Context, own byte, o device.Options) string {
		at, token := f.noted(t, func() {
			p, err := d.Compile(ctx, device.Unit{Graph: scaled(t, own)}, o)
			require.NoError(t, err)
			saved.Reset()
			require.NoError(t, p.Save(&saved))
			p.Release()
		})
		given, _ := device.CacheOf(ctx)
		require.Equal(t, given.Dir, at)
		return token
	}
	first := token(f.Device, ctx(dir, 1), 1, device.Options{})
	at, loaded := f.noted(t, func() {
		p, err := f.Load(ctx("/another", 1), saved.Bytes())
		require.NoError(t, err)
		p.Release()
	})
	assert.Equal(t, "/another", at)
	assert.Equal(t, first, loaded, "loaded")
	assert.Equal(t, first, token(f.Device, ctx(dir, 1), 1, device.Options{}), "once more")
	tokens := map[string]string{first: "the first"}
	for what, other := range map[string]string{
		"the program's token":  token(f.Device, ctx(dir, 2), 1, device.Options{}),
		"a byte of a constant": token(f.Device, ctx(dir, 1), 2, device.Options{}),
		"precision":            token(f.Device, ctx(dir, 1), 1, device.Options{Float16: true}),
		"performance":          token(f.Device, ctx(dir, 1), 1, device.Options{Performance: device.PerformanceHigh}),
		"an option":            token(f.Device, ctx(dir, 1), 1, device.Options{Extra: map[string][]byte{"x": {1}}}),
		"the device":           token(all[1], ctx(dir, 1), 1, device.Options{}),
	} {
		assert.Empty(t, tokens[other], what)
		tokens[other] = what
	}
	assert.Equal(t, before, f.Live())
}

// TestCompile_withoutDriversCache: nothing is kept for who wants nothing kept, or by a driver that cannot; and what a
// driver refuses to keep it compiles.
func TestCompile_withoutDriversCache(t *testing.T) {
	f := newFake(t)
	before, count := f.Live(), f.Count("cache")
	require.NoError(t, once())
	all, err := Open(Bind(fakeDriver.File, lacking(setCaching)), driver.Config{ID: "npu"})
	require.NoError(t, err)
	mortal, err := openFake()
	require.NoError(t, err)
	ctx := device.WithCache(context.Background(), device.Cache{Dir: t.TempDir()})
	compile := func(d *Device) error {
		p, err := d.Compile(ctx, device.Unit{Graph: scaled(t, 1)}, device.Options{})
		if err == nil {
			p.Release()
		}
		return err
	}
	require.NoError(t, compile(all[0]))
	assert.Equal(t, count, f.Count("cache"))
	for _, code := range []uint32{1, 4, 5, 6, 99} {
		f.Lie("code Compilation_setCaching", 0, drivertest.Word(code))
		err := compile(f.Device)
		f.Honest()
		assert.NoError(t, err, code)
	}
	f.Lie("code Compilation_setCaching", 0, drivertest.Word(14))
	err = compile(mortal[0])
	f.Honest()
	assert.ErrorIs(t, err, device.ErrDied)
	assert.Equal(t, before, f.Live())
}
