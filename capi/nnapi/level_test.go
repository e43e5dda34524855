package nnapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

func TestReadLevel(t *testing.T) {
	for _, l := range nnapi.Levels {
		assert.Equal(t, l, readLevel(map[nnapi.FeatureLevel]string{27: "27", 28: "28", 29: "29", 30: "30", 31: "31",
			1000006: "1000006", 1000007: "1000007", 1000008: "1000008"}[l]))
	}
	for _, text := range []string{"", "26", "32", "1000009", "3", "x", "29 "} {
		assert.Equal(t, nnapi.Level8, readLevel(text), "%q", text)
	}
}

// atLevel makes the library one of another feature level for a test.
func atLevel(t *testing.T, l nnapi.FeatureLevel) {
	old := settings
	c := old()
	c.level = l
	settings = func() config { return c }
	t.Cleanup(func() { settings = old })
}

// TestLevels_refuseWhatIsNewer: ABS came with level 3, TENSOR_QUANT8_ASYMM_SIGNED with level 4, SUB with level 2.
func TestLevels_refuseWhatIsNewer(t *testing.T) {
	for _, l := range nnapi.Levels {
		atLevel(t, l)
		level, err := getRuntimeFeatureLevel()
		require.NoError(t, err)
		assert.Equal(t, int64(l), level)
		var of int64
		require.NoError(t, deviceGetFeatureLevel(deviceList()[0].pointer(), &of))
		assert.Equal(t, int64(l), of)

		b := newBuilder(t, 2)
		x, y := b.tensor(), b.tensor()
		refused := func(err error, from nnapi.FeatureLevel, what string) {
			if l >= from {
				assert.NoError(t, err, "%s at %v", what, l)
				return
			}
			assert.Equal(t, BadData, status(err), "%s at %v", what, l)
			assert.ErrorContains(t, err, from.String(), "%s at %v", what, l)
		}
		refused(modelAddOperation(b.m, OperationType(nnapi.Abs), []uint32{x}, []uint32{y}), nnapi.Level3, "ABS")
		refused(modelAddOperation(b.m, OperationType(nnapi.Sub), []uint32{x, x, b.int(0)}, []uint32{b.tensor()}),
			nnapi.Level2, "SUB")
		two := uint32(2)
		signed := OperandType{code: int32(nnapi.TensorQuant8AsymmSigned), dimensionCount: 1, dimensions: &two, scale: 1}
		refused(modelAddOperand(b.m, &signed), nnapi.Level4, "signed")
		zero := uint32(0)
		open := OperandType{code: int32(nnapi.TensorFloat32), dimensionCount: 1, dimensions: &zero}
		refused(modelAddOperand(b.m, &open), nnapi.Level3, "an open dimension")
	}
}

// pointer is a device as programs have it.
func (d *Device) pointer() unsafe.Pointer {
	addr := d.cName.Addr()
	return *(*unsafe.Pointer)(unsafe.Pointer(&addr))
}
