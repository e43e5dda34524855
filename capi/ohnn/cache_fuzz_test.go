package ohnn

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// cacheNames are the files of a cache of one blob.
var cacheNames = [...]string{infoName, "0.nncache", "1.nncache", "2.nncache"}

// FuzzCacheFiles changes the files of a good cache of x + 10 and reads them: the cache is used and computes what it was
// made for, or it is refused; afterwards a build works and leaves a good one. When checksums are made to fit again, all
// that is left to ask for is no crash.
func FuzzCacheFiles(f *testing.F) {
	for file := range cacheNames {
		for _, edit := range [][]byte{
			nil,                             // nothing changed
			{0, 0, 0, 0, 1},                 // the first byte
			{1, 0, 0, 0xff, 0xff},           // cut
			{2, 0, 40, 0xff, 8},             // long numbers
			{0, 0, 16, 0, 0xff},             // the size of all
			{3, 0, 0, 0, 0},                 // longer
			{0, 0, 60, 0, 7, 1, 0x01, 0, 0}, // two edits
		} {
			f.Add(uint8(file), true, edit)
			f.Add(uint8(file), false, edit)
		}
	}
	dir, err := os.MkdirTemp("", "anynpu-cache-fuzz-")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	var good [len(cacheNames)][]byte
	f.Fuzz(func(t *testing.T, file uint8, seal bool, edits []byte) {
		if good[0] == nil {
			code, _ := cached(t, 10, dir, 5)
			require.Equal(t, Success, code)
			for i, name := range cacheNames {
				good[i], err = os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
			}
		}
		files := good
		which := int(file) % len(files)
		files[which] = edit(files[which], edits)
		if seal {
			files = sealed(files, which)
		}
		for i, name := range cacheNames {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), files[i], 0o600))
		}
		code, got := cached(t, 0, dir, 5)
		switch code {
		case Success:
			require.True(t, seal || got == 11, "the cache was used and computes %v", got)
		case InvalidParameter, OperationForbidden: // forbidden: the info file claims a newer version
		default:
			t.Fatalf("code %d", code)
		}
		if seal || code == OperationForbidden { // a cache with good checksums is used for whatever it holds
			require.NoError(t, os.Remove(filepath.Join(dir, infoName)))
		}
		code, got = cached(t, 10, dir, 5)
		require.Equal(t, []any{Success, float32(11)}, []any{code, got}, "the build that follows")
		code, got = cached(t, 0, dir, 5)
		require.Equal(t, []any{Success, float32(11)}, []any{code, got}, "the cache that it leaves")
	})
}

// edit applies changes of five bytes each: what, a place of 16 bits, and two bytes for it.
func edit(b, edits []byte) []byte {
	b = append([]byte(nil), b...)
	for ; len(edits) >= 5 && len(b) > 0; edits = edits[5:] {
		at := int(binary.BigEndian.Uint16(edits[1:])) % len(b)
		switch edits[0] % 4 {
		case 0:
			b[at] ^= edits[4] | edits[3]
		case 1:
			b = b[:at]
		case 2:
			for i := range min(int(edits[4]%9), len(b)-at) {
				b[at+i] = edits[3]
			}
		case 3:
			b = append(b, edits[3:5]...)
		}
	}
	return b
}

// sealed makes the checksums fit: those that a changed data file contains itself, and those of the info file unless it
// was changed.
func sealed(files [len(cacheNames)][]byte, changed int) [len(cacheNames)][]byte {
	if changed == 1 && len(files[1]) > 64 {
		files[1] = reseal(files[1])
	}
	info, err := decodeCacheInfo(files[0])
	if err != nil {
		return files
	}
	info.fileNumber, info.sums = len(files)-1, nil
	for _, b := range files[1:] {
		info.sums = append(info.sums, fileChecksum(b))
	}
	files[0] = info.encode()
	return files
}
