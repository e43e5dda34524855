package boundary

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// twoPages maps one readable page followed by one that is not.
func twoPages(t *testing.T) uintptr {
	p, err := unix.MmapPtr(-1, 0, nil, 2*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, unix.MunmapPtr(p, 2*pageSize)) })
	require.NoError(t, unix.Mprotect(unsafe.Slice((*byte)(p), 2*pageSize)[pageSize:], unix.PROT_NONE))
	return uintptr(p)
}

func TestProbe_seesWhatCannotBeRead(t *testing.T) {
	p := twoPages(t)
	for _, c := range []struct {
		at uintptr
		n  uint64
		ok bool
	}{
		{p, 1, true}, {p, pageSize, true}, {p + pageSize - 1, 1, true},
		{p, pageSize + 1, false}, {p + pageSize, 1, false}, {p + pageSize - 1, 2, false},
		{0, 1, false}, {8, 8, false}, {^uintptr(0), 1, false}, {^uintptr(0), 2, false}, {1 << 62, 1, false},
		{p, 1 << 40, false},
	} {
		err := probe(c.at, c.n)
		assert.Equal(t, c.ok, err == nil, "probe(%#x, %d): %v", c.at, c.n, err)
	}
}

func TestProbeString_stopsAtTheNUL(t *testing.T) {
	p := twoPages(t)
	page := unsafe.Slice((*byte)(cPointer(p)), pageSize)
	for i := range page {
		page[i] = 'x'
	}
	assert.ErrorContains(t, probeString(p), "not readable")
	page[pageSize-1] = 0
	assert.NoError(t, probeString(p))
	assert.Error(t, probeString(8))
}
