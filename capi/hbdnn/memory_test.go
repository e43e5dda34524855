package hbdnn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func requireSys(t *testing.T, want Code, err error, words ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, sysStatus(err), "%v", err)
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}

func TestMemory_life(t *testing.T) {
	var a, b SysMem
	require.NoError(t, sysAllocMem(&a, 100))
	require.NoError(t, sysAllocCachedMem(&b, 1))
	require.Equal(t, []any{uint32(100), uint64(a.virt), uintptr(0)}, []any{a.size, a.phys, a.virt % 64})
	require.Equal(t, make([]byte, 100), bytesAt(a.virt, 100))
	require.NoError(t, sysFlushMem(&a, flushClean))
	require.NoError(t, sysFlushMem(&SysMem{virt: a.virt + 3, size: 1}, flushInvalidate))
	requireSys(t, errSysArgument, sysFlushMem(&a, 0), "flag is 0")
	requireSys(t, errSysArgument, sysFlushMem(&a, 3), "flag is 3")
	inside := SysMem{virt: a.virt + 64, size: 36}
	requireSys(t, errSysArgument, sysFreeMem(&inside), "64 bytes behind")
	copied := a
	require.NoError(t, sysFreeMem(&copied))
	require.Equal(t, SysMem{}, copied)
	requireSys(t, errSysArgument, sysFreeMem(&a), "no memory")
	requireSys(t, errSysArgument, sysFreeMem(&copied))
	require.NoError(t, sysFreeMem(&b))
	requireSys(t, errSysArgument, sysAllocMem(&b, 0), "size is 0")
}

func TestMemory_copies(t *testing.T) {
	var m SysMem
	require.NoError(t, sysAllocMem(&m, 4))
	defer func() { require.NoError(t, sysFreeMem(&m)) }()
	require.NoError(t, sysWriteMem(&m, []byte{1, 2, 3, 4}))
	require.NoError(t, sysWriteMem(&m, []byte{9}))
	got := make([]byte, 4)
	require.NoError(t, sysReadMem(got, &m))
	require.Equal(t, []byte{9, 2, 3, 4}, got)
	requireSys(t, errSysArgument, sysWriteMem(&m, make([]byte, 5)), "size is 5", "memSize is 4")
	requireSys(t, errSysArgument, sysReadMem(make([]byte, 4), &SysMem{virt: m.virt + 1, size: 99}), "3 bytes")
	requireSys(t, errSysArgument, sysReadMem(got, &SysMem{size: 4}), "virAddr is NULL")
	require.NoError(t, sysReadMem(nil, &m))
}

func TestMemory_registered(t *testing.T) {
	requireSys(t, errSysRegister, sysRegisterMem(&SysMem{phys: 4096, size: 8}), "virAddr is NULL")
	own := []byte{7}
	m := SysMem{virt: addressOf(own), size: 1}
	require.NoError(t, sysRegisterMem(&m))
	require.NoError(t, sysUnregisterMem(&m))
}
