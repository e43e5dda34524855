package rknn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/record"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// The report tells products by what distinguishes them.
func TestMatmul_recorded(t *testing.T) {
	m, _ := multiply(t, spec.MatmulInfo{M: 4, K: 64, N: 32, Kind: 3, BLayout: layoutNative, ACLayout: layoutNative})
	g := m.recorded(m.shapes[0])
	require.Equal(t, record.Product{M: 4, K: 64, N: 32, Types: [3]string{"int8", "int8", "int8"}, AC: "native",
		B: "native"}, g.Product)
	require.Equal(t, []record.Device{{Name: "cpu"}}, g.Devices)
	m, _ = multiply(t, spec.MatmulInfo{M: 1, K: 32, N: 32, Kind: spec.MatmulFloat16ToFloat32})
	require.Equal(t, record.Product{M: 1, K: 32, N: 32, Types: [3]string{"float16", "float16", "float32"}, AC: "normal",
		B: "normal"}, m.recorded(m.shapes[0]).Product)
}
