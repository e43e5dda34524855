package cache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// FuzzRead reads directories with any journal, index and temporary file. Whatever they hold, a set is read as its index
// vouches or not at all, and the next Write replaces it.
func FuzzRead(f *testing.F) {
	good := encodeJournal([]string{"0.nncache", info})
	f.Add(good, []byte("0.nncache"), []byte("data"))
	f.Add(good[:10], []byte("0.nncache\n1.nncache"), []byte{})
	f.Add(encodeJournal([]string{info, "0.nncache"}), []byte("../x"), []byte("data"))
	f.Fuzz(func(t *testing.T, journal, index, temp []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{journalName(info): journal, info: index, tempName(info, 0): temp,
			"0.nncache": []byte("data")} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
		got, err := Read(dir, info, func(index []byte) (Voucher, error) {
			return Voucher{
				Names: []string{string(index)},
				Fits:  func(_ int, _ []byte, size int64) bool { return size < 100 },
				Good:  func(_ int, data []byte) bool { return string(data) == "data" },
			}, nil
		})
		switch {
		case err == nil:
			assert.Equal(t, [][]byte{[]byte("data")}, got)
		case !errors.Is(err, ErrNone) && fault.KindOf(err) != fault.File && fault.KindOf(err) != fault.Argument:
			t.Fatalf("kind %v: %v", fault.KindOf(err), err)
		}
		require.NoError(t, write(dir, files(1, 2)))
		assert.Equal(t, 1, generation(t, dir))
	})
}
