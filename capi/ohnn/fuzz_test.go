package ohnn

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) {
	counters := map[string]func() int64{"handles": func() int64 { return int64(handle.Live()) }}
	for name, f := range mem.LiveCounters {
		counters[name] = f
	}
	os.Exit(leak.Run(m, counters))
}

// FuzzDecodeCacheInfo: whatever an info file holds, it is understood as it was written or refused as a bad file.
func FuzzDecodeCacheInfo(f *testing.F) {
	good := cacheInfo{device: 1 << 63, sums: []uint16{1, 2, 65535}, model: 1<<64 - 1, op: 7, version: 1<<32 - 2,
		fileNumber: 3}
	f.Add(good.encode())
	f.Add([]byte(`{"CheckSum":1,"data":{}}`))
	f.Add([]byte(`{"CheckSum":"1","data":[]}`))
	f.Add([]byte(`{"CheckSum":65535,"data":{"deviceId":1e400,"fileNumber":-1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := decodeCacheInfo(text)
		if err != nil {
			require.Equal(t, fault.File, fault.KindOf(err))
			return
		}
		require.Greater(t, c.fileNumber, cacheDescriptors)
		require.LessOrEqual(t, c.fileNumber, maxCacheFiles)
		require.Len(t, c.sums, c.fileNumber)
		again, err := decodeCacheInfo(c.encode())
		require.NoError(t, err)
		again.hasOp, again.hasModel = c.hasOp, c.hasModel
		require.Equal(t, c, again)
	})
}

// FuzzDecodePorts: descriptors are read as they were written or refused.
func FuzzDecodePorts(f *testing.F) {
	f.Add(encodePorts([]port{{"a", spec.Float32, FormatNHWC, 0, []int32{1, -1}}, {"", spec.Int8, FormatNone, 5, nil}}))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		ports, err := decodePorts(b)
		if err != nil {
			require.Equal(t, fault.File, fault.KindOf(err))
			return
		}
		require.Equal(t, b, encodePorts(ports))
	})
}

// FuzzLoadOffline: an offline model is loaded or refused, also when its checksum was made to fit.
func FuzzLoadOffline(f *testing.F) {
	c := addCompiled(f)
	good, err := c.save()
	if err != nil {
		f.Fatal(err)
	}
	c.release()
	f.Add(good, false)
	f.Add(good[:len(good)/2], true)
	f.Add([]byte("RKNN...."), false)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = reseal(b)
		}
		c, err := loadOffline(deviceByID(0), b, device.Options{})
		if err == nil {
			c.release()
		}
	})
}
