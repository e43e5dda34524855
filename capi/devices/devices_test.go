package devices

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
)

func TestList_hasTheCPU(t *testing.T) {
	for range 2 {
		list, err := List()
		require.NoError(t, err)
		require.NotEmpty(t, list)
		assert.Equal(t, "cpu", list[0].Info().ID)
	}
}

func TestThreadCount_values(t *testing.T) {
	for value, want := range map[string]int{"1": 1, "1024": 1024, "": pool.DefaultThreads(), "0": pool.DefaultThreads(),
		"1025": pool.DefaultThreads(), "two": pool.DefaultThreads()} {
		assert.Equal(t, want, threadCount(value), value)
	}
}

func TestByReference_values(t *testing.T) {
	for value, want := range map[string]bool{"": false, "auto": false, "ref": true, "REF": false} {
		assert.Equal(t, want, byReference(value), value)
	}
}

func TestSelectISA_values(t *testing.T) {
	restore, err := kernel.Select(kernel.Generic)
	require.NoError(t, err)
	defer restore()
	for _, isa := range kernel.Supported() {
		selectISA(isa.String())
		assert.Equal(t, isa, kernel.Active())
		selectISA("")
		selectISA("sse9")
		assert.Equal(t, isa, kernel.Active())
	}
}

func TestMemoryLimit_values(t *testing.T) {
	for value, want := range map[string]int64{
		"": 0, "1": 1, "500000000": 500_000_000, "3K": 3 << 10, "512M": 512 << 20, "4G": 4 << 30,
		"0": 0, "-1": 0, "M": 0, "4T": 0, "4g": 0, "9000000000G": 0, "1.5G": 0,
	} {
		assert.Equal(t, want, memoryLimit(value), "%q", value)
	}
}
