package compile_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// FuzzLoad loads saved programs that have a right checksum around anything, and runs those that load.
func FuzzLoad(f *testing.F) {
	devices := []device.Device{toy.New("npu"), toy.NewHost("cpu")}
	for _, s := range []tensor.Shape{tensor.Of(2), tensor.OfDims(tensor.Dim{Sym: 1})} {
		p := mustCompile(f, mixed(f, s), devices...)
		var saved bytes.Buffer
		require.NoError(f, p.Save(&saved))
		f.Add(saved.Bytes()[:saved.Len()-4])
		p.Release()
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
		p, err := compile.Load(background, binary.LittleEndian.AppendUint32(bytes.Clone(body), sum), devices)
		if err != nil {
			if k := fault.KindOf(err); k != fault.File && k != fault.Unsupported && k != fault.Argument {
				t.Fatalf("kind %v: %v", k, err)
			}
			return
		}
		defer p.Release()
		e, err := p.New(device.ExecOptions{})
		if err != nil {
			return
		}
		defer e.Release()
		b := mem.Borrow(make([]byte, 256), nil)
		defer b.Release()
		in, _ := p.Ports()
		for i := range in {
			if _, known := in[i].Type.Shape.Ints(); !known {
				_ = e.SetShape(i, []int64{2})
			}
			_ = e.BindInput(i, mem.View{Buf: b})
		}
		_ = exec.Run(background, e, device.RunRequest{})
	})
}
