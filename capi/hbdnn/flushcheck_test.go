package hbdnn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// checkFlushes has allocations of a test checked.
func checkFlushes(t *testing.T) {
	checksFlush = true
	t.Cleanup(func() { checksFlush = false })
}

func cacheAt(addr uintptr) *cache {
	memories.mu.RLock()
	defer memories.mu.RUnlock()
	return blockOf(addr).cache
}

func TestFlushCheck_ranges(t *testing.T) {
	checkFlushes(t)
	var m, plain SysMem
	require.NoError(t, sysAllocCachedMem(&m, 100))
	require.NoError(t, sysAllocMem(&plain, 100))
	require.Nil(t, cacheAt(plain.virt))
	c := cacheAt(m.virt)
	written("y", m.virt+10, 20)
	written("z", m.virt+50, 1000)
	require.Equal(t, []result{{10, 30, "y"}, {50, 100, "z"}}, c.results, "cut to the memory")
	for _, outside := range []SysMem{{virt: m.virt, size: 10}, {virt: m.virt + 30, size: 20}, {virt: m.virt + 20}, plain} {
		require.NoError(t, sysFlushMem(&outside, flushInvalidate))
	}
	require.NoError(t, sysFlushMem(&m, flushClean))
	require.Len(t, c.results, 2)
	require.NoError(t, sysFlushMem(&SysMem{virt: m.virt + 99, size: 1 << 31}, flushInvalidate))
	require.Equal(t, []result{{10, 30, "y"}}, c.results)
	sent("x", m.virt+29, 1)
	require.Empty(t, c.results, "a task takes what another one left")
	require.Empty(t, c.told)
	require.NoError(t, sysFreeMem(&plain))
	require.NoError(t, sysFreeMem(&m))
}

func TestFlushCheck_writes(t *testing.T) {
	checkFlushes(t)
	var m SysMem
	require.NoError(t, sysAllocCachedMem(&m, 8))
	c, data := cacheAt(m.virt), bytesAt(m.virt, 8)
	data[5] = 1
	sent("x", m.virt, 5)
	require.Empty(t, c.told, "byte 5 is not sent")
	require.NoError(t, sysFlushMem(&SysMem{virt: m.virt, size: 5}, flushClean))
	sent("x", m.virt, 8)
	require.Len(t, c.told, 1, "byte 5 is not cleaned")
	written("y", m.virt, 8)
	require.NoError(t, sysReadMem(make([]byte, 1), &m))
	require.Len(t, c.told, 2, "a byte is read that was not invalidated")
	sent("x", m.virt, 8)
	require.Len(t, c.told, 2, "each kind is told once")
	require.NoError(t, sysFreeMem(&m))
}
