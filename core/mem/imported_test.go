package mem

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// TestImportFD_manyParts: thousands of parts of one file, at odd offsets, take one descriptor and few mappings, and are
// the bytes they should be; what has grown behind a window is mapped too.
func TestImportFD_manyParts(t *testing.T) {
	const parts, step = 20_000, 300
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, parts*step/2))
	fds, before := descriptors(t), 0
	before, _ = mappings(t, "")
	all := make([]Buffer, 0, parts)
	add := func(n int) {
		for len(all) < n {
			b, err := ImportFD(fd, int64(len(all)*step+7), 8, false)
			require.NoError(t, err)
			binary.LittleEndian.PutUint64(bytesOf(t, b), uint64(len(all)))
			all = append(all, b)
		}
	}
	add(parts / 2)
	_, err = ImportFD(fd, parts*step/2, 1, false)
	assert.Error(t, err, "behind the file")
	require.NoError(t, unix.Ftruncate(fd, parts*step))
	add(parts)
	large, err := ImportFD(fd, 5, parts*step-10, true)
	require.NoError(t, err)
	now, named := mappings(t, "/memfd:test")
	assert.Less(t, named, 20)
	assert.Less(t, now-before, 40)
	assert.Equal(t, fds+1, descriptors(t))
	var v [8]byte
	for i := range all {
		_, err := unix.Pread(fd, v[:], int64(i*step+7))
		require.NoError(t, err)
		require.Equal(t, uint64(i), binary.LittleEndian.Uint64(v[:]))
		require.Equal(t, uint64(i), binary.LittleEndian.Uint64(bytesOf(t, large)[i*step+2:]))
	}
	_, off, ok := all[3].FD()
	assert.Equal(t, [2]any{int64(3*step + 7), true}, [2]any{off, ok})
	large.Release()
	for _, b := range all {
		b.Release()
	}
	_, named = mappings(t, "/memfd:test")
	assert.Zero(t, named)
	assert.Equal(t, fds, descriptors(t))
}

// TestImportFD_rights: a descriptor for reading is not used in place of one for writing.
func TestImportFD_rights(t *testing.T) {
	name := t.TempDir() + "/file"
	require.NoError(t, os.WriteFile(name, make([]byte, 100), 0o600))
	reader, err := os.Open(name)
	require.NoError(t, err)
	defer reader.Close()
	r, err := ImportFD(int(reader.Fd()), 0, 100, true)
	require.NoError(t, err)
	defer r.Release()
	_, err = ImportFD(int(reader.Fd()), 0, 100, false)
	assert.Error(t, err)
	writer, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer writer.Close()
	w, err := ImportFD(int(writer.Fd()), 10, 50, false)
	require.NoError(t, err)
	defer w.Release()
	bytesOf(t, w)[0] = 7
	assert.Equal(t, byte(7), bytesOf(t, r)[10])
	assert.True(t, Aliases(r, 0, 100, w, 0, 50))
}
