package io

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestFeed_strides: an input is read and an output written with the strides of the program, and gaps become zeros.
func TestFeed_strides(t *testing.T) {
	x, a := of(t, 1, 1, 2, 3)
	in := buffer(t, 1, 2, 3, 90, 4, 5, 6, 91)
	rows := []int64{4, 1}
	from := view(in, 2, 3)
	from.Strides = rows
	for _, gaps := range []Gaps{{}, {Valid: []int64{2, 3}, Sizes: []int64{3, 4}}} {
		out := bytes.Repeat([]byte{77}, 12)
		to := view(buffer(t, out...), 2, 3)
		to.Strides = rows
		o := Own(to)
		o.Gaps = gaps
		require.Equal(t, []bool{true}, compute(t, x, []Operand{Own(from)}, []Operand{o}, 2, 3))
		require.Zero(t, a.copies)
		got, err := to.Buf.Map()
		require.NoError(t, err)
		want := []byte{1, 2, 3, 77, 4, 5, 6, 77, 77, 77, 77, 77}
		if gaps.Valid != nil {
			want = []byte{1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0}
		}
		require.Equal(t, want, got)
	}
	require.False(t, x.Staged(0), "nothing was copied")
}

// TestFeed_nhwc: memory in the order that the execution reads is bound as it lies, other memory is turned in a room.
func TestFeed_nhwc(t *testing.T) {
	dims := []int64{1, 2, 1, 3} // two channels of three pixels
	planes, pixels := []byte{1, 2, 3, 4, 5, 6}, []byte{1, 4, 2, 5, 3, 6}
	nhwc := convert.Arrange(dims, convert.Layout{Order: convert.NHWC})
	nchw := convert.Arrange(dims, convert.Layout{})
	for _, c := range []struct {
		order  []int
		data   []byte
		as     convert.Arrangement
		staged bool
	}{
		{tensor.ChannelsLast(4), pixels, nhwc, false},
		{tensor.ChannelsLast(4), planes, nchw, true},
		{nil, pixels, nhwc, true},
		{nil, planes, nchw, false},
	} {
		x, _ := of(t, 1, 1, dims...)
		p := port(0, dims...)
		p.Order = c.order
		o := Operand{View: mem.View{Buf: buffer(t, c.data...)}, As: convert.Source{Type: tensor.Uint8, Arrangement: c.as}}
		require.NoError(t, x.Feed(p, &o))
		require.NoError(t, x.Run(device.RunRequest{}))
		got, err := x.OutputData(0)
		require.NoError(t, err)
		require.Equal(t, planes, got)
		require.Equal(t, c.staged, x.Staged(0))
		copied := int64(0)
		if c.staged {
			copied = 6
		}
		require.Equal(t, copied, x.Stats().CopiedIn)
		x.Unbind()
	}
}

// TestStage_roomIsKept: converted elements go to one room, run after run, and stay for further runs; another size gets
// another room.
func TestStage_roomIsKept(t *testing.T) {
	x, _ := of(t, 1, 1, 4)
	coded := convert.Tensor{Type: tensor.Uint8, Quant: &convert.Code{Scale: 0.5, Zero: 10}}
	p := &Port{Tensor: &coded, At: 0, Dims: []int64{4}}
	reals := func(v ...float32) (data []byte) {
		for _, f := range v {
			data = binary.NativeEndian.AppendUint32(data, math.Float32bits(f))
		}
		return data
	}
	as := convert.Source{Type: tensor.Float32, Arrangement: convert.Arrange(p.Dims, convert.Layout{})}
	run := func() []byte {
		require.NoError(t, x.FeedStaged(p))
		require.NoError(t, x.Run(device.RunRequest{}))
		defer x.Unbind()
		got, err := x.OutputData(0)
		require.NoError(t, err)
		return got
	}
	require.NoError(t, x.Stage(p, reals(0, 1, -1, 300), &as)) // q = round(v / 0.5) + 10, saturated
	require.Equal(t, []byte{10, 12, 8, 255}, run())
	require.Equal(t, []byte{10, 12, 8, 255}, run(), "without being set anew")
	before, err := x.Room(p)
	require.NoError(t, err)
	require.NoError(t, x.Stage(p, reals(2, 2, 2, 2), &as))
	require.Equal(t, []byte{14, 14, 14, 14}, run())
	after, err := x.Room(p)
	require.NoError(t, err)
	require.True(t, before.Buf == after.Buf, "the same room")

	larger := *p
	larger.Dims = []int64{8}
	v, err := x.Room(&larger)
	require.NoError(t, err)
	require.EqualValues(t, 8, v.Buf.Size())
}

// TestRenew_roomsStay: what was staged is fed to the next execution too.
func TestRenew_roomsStay(t *testing.T) {
	x, _ := of(t, 1, 1, 3)
	as := convert.Source{Type: tensor.Uint8, Arrangement: convert.Arrange([]int64{3}, convert.Layout{})}
	require.NoError(t, x.Stage(port(0, 3), []byte{7, 8, 9}, &as))
	before := x.Execution
	x.Renew(newAdder(1, 1, 3))
	_, err := before.OutputType(0)
	require.Equal(t, fault.State, fault.KindOf(err), "it was released")
	require.NoError(t, x.FeedStaged(port(0, 3)))
	require.NoError(t, x.Run(device.RunRequest{}))
	got, err := x.OutputData(0)
	require.NoError(t, err)
	require.Equal(t, []byte{7, 8, 9}, got)
}

// TestFeedStaged_orderOfTheRoom: elements are read in the order in which they were staged, whatever the port has
// become.
func TestFeedStaged_orderOfTheRoom(t *testing.T) {
	dims := []int64{1, 2, 1, 3}
	x, _ := of(t, 1, 1, dims...)
	as := convert.Source{Type: tensor.Uint8, Arrangement: convert.Arrange(dims, convert.Layout{})}
	p := port(0, dims...)
	p.Order = tensor.ChannelsLast(4)
	require.NoError(t, x.Stage(p, []byte{1, 2, 3, 4, 5, 6}, &as))
	require.NoError(t, x.FeedStaged(port(0, dims...)))
	require.NoError(t, x.Run(device.RunRequest{}))
	got, err := x.OutputData(0)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6}, got)
}

// TestGather_parts: a batch comes in tensors of one and of two, one with gaps.
func TestGather_parts(t *testing.T) {
	x, _ := of(t, 1, 1, 3, 2)
	gaps := view(buffer(t, 1, 2, 99, 3, 4), 2, 2)
	gaps.Strides = []int64{3, 1}
	require.NoError(t, x.Gather(port(0, 3, 2), []Operand{Own(gaps), Own(view(buffer(t, 5, 6), 1, 2))}))
	require.NoError(t, x.Run(device.RunRequest{}))
	got, err := x.OutputData(0)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6}, got)
	x.Unbind()
}
