package mem

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAliases maps one file by three descriptors and at several places; every byte of it that two ranges share makes
// them aliases.
func TestAliases(t *testing.T) {
	file, err := Memfd(3*4096, Options{})
	require.NoError(t, err)
	defer file.Release()
	fd, _, _ := file.FD()
	other, err := unix.MemfdCreate("other", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(other)
	require.NoError(t, unix.Ftruncate(other, 3*4096))
	imported := func(fd int, off, n int64) Buffer {
		b, err := ImportFD(fd, off, n, false)
		require.NoError(t, err)
		t.Cleanup(b.Release)
		return b
	}
	late := shareable(t, 3*4096)
	defer late.Release()
	lateFD, err := Share(late)
	require.NoError(t, err)
	raw, err := unix.Mmap(fd, 4096, 8192, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(raw)) }()
	borrowed := BorrowMapped(raw[100:200], nil)
	defer borrowed.Release()
	heap := BorrowMapped(make([]byte, 8), nil)
	defer heap.Release()
	part, err := Sub(imported(fd, 4000, 1000), 100, 100) // bytes 4100 to 4200 of the file
	require.NoError(t, err)
	defer part.Release()
	for name, tc := range map[string]struct {
		a, b Buffer
		want bool
	}{
		"itself":              {file, file, true},
		"the whole file":      {file, imported(fd, 0, 3*4096), true},
		"one byte in common":  {imported(fd, 0, 101), imported(fd, 100, 100), true},
		"none in common":      {imported(fd, 0, 100), imported(fd, 100, 100), false},
		"another file":        {imported(fd, 0, 100), imported(other, 0, 100), false},
		"a part":              {part, imported(fd, 4199, 10), true},
		"before a part":       {part, imported(fd, 4090, 10), false},
		"behind a part":       {part, imported(fd, 4200, 10), false},
		"shared later":        {late, imported(lateFD, 8192, 10), true},
		"mapped by others":    {borrowed, imported(fd, 4096+199, 10), true},
		"mapped, but behind":  {borrowed, imported(fd, 4096+200, 10), false},
		"anonymous":           {heap, file, false},
		"nothing":             {imported(fd, 0, 0), file, false},
		"an untouched buffer": {shareableFor(t), file, false},
	} {
		assert.Equal(t, tc.want, Aliases(tc.a, 0, tc.a.Size(), tc.b, 0, tc.b.Size()), name)
		assert.Equal(t, tc.want, Aliases(tc.b, 0, tc.b.Size(), tc.a, 0, tc.a.Size()), name)
	}
	assert.True(t, Aliases(file, 4100, 10, part, 9, 1))
	assert.False(t, Aliases(file, 4100, 9, part, 9, 1))
	assert.True(t, OverlapMapped(raw[:10], bytesOf(t, file)[4105:4200]))
	assert.False(t, OverlapMapped(raw[:10], bytesOf(t, file)[4106:4200]))
	assert.True(t, InFile(part))
	assert.False(t, InFile(heap))
}

func shareableFor(t *testing.T) Buffer {
	b := shareable(t, 100)
	t.Cleanup(b.Release)
	return b
}
