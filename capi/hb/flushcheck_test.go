package hb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// checkFlushes has allocations of a test checked.
func checkFlushes(t *testing.T) {
	ChecksFlush = true
	t.Cleanup(func() { ChecksFlush = false })
}

var words = &API{Component: "hbdnn", Alloc: "alloc", Flush: "flush(%s)", Release: "release"}

func made(t *testing.T, size int64, cached bool) uintptr {
	addr, err := words.Allocate(size, cached)
	require.NoError(t, err)
	return addr
}

func freed(t *testing.T, addr uintptr) {
	ok, _, _ := Free(addr)
	require.True(t, ok)
}

func cacheAt(addr uintptr) *cache {
	memories.mu.RLock()
	defer memories.mu.RUnlock()
	return blockOf(addr).cache
}

func TestFlushCheck_ranges(t *testing.T) {
	checkFlushes(t)
	m, plain := made(t, 100, true), made(t, 100, false)
	require.Nil(t, cacheAt(plain))
	c := cacheAt(m)
	Written("y", m+10, 20)
	Written("z", m+50, 1000)
	require.Equal(t, []result{{10, 30, "y"}, {50, 100, "z"}}, c.results, "cut to the memory")
	Flushed(m, 10, false)
	Flushed(m+30, 20, false)
	Flushed(m+20, 0, false)
	Flushed(plain, 100, false)
	Flushed(m, 100, true)
	require.Len(t, c.results, 2)
	Flushed(m+99, 1<<31, false)
	require.Equal(t, []result{{10, 30, "y"}}, c.results)
	Sent("x", m+29, 1)
	require.Empty(t, c.results, "a task takes what another one left")
	require.Empty(t, c.told)
	freed(t, plain)
	freed(t, m)
}

func TestFlushCheck_writes(t *testing.T) {
	checkFlushes(t)
	m := made(t, 8, true)
	c, data := cacheAt(m), BytesAt(m, 8)
	data[5] = 1
	Sent("x", m, 5)
	require.Empty(t, c.told, "byte 5 is not sent")
	Flushed(m, 5, true)
	Sent("x", m, 8)
	require.Len(t, c.told, 1, "byte 5 is not cleaned")
	Written("y", m, 8)
	Invalidated(m, 1, "a function that reads")
	require.Len(t, c.told, 2, "a byte is read that was not invalidated")
	Sent("x", m, 8)
	require.Len(t, c.told, 2, "each kind is told once")
	freed(t, m)
}
