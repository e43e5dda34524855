package nnapi

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/cache"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// What stands in the place of a file of the cache.
const (
	placeEdited = iota // its content with changes
	placeForeign
	placeMissing
	placeLink // to its content, in a file of another name
	placePipe
	placeFolder
	placeLocked // only root may read it
	places
)

// FuzzCacheFiles puts something else in the place of a file of a good cache, and compiles the model of the cache again:
// what is not the cache as it was is a miss with a reason, the compilation computes what it must, and a cache is left
// that is used. When the checksum of a changed program is made to fit, all that is left to ask for is no crash.
func FuzzCacheFiles(f *testing.F) {
	for place := range uint8(places) {
		f.Add(false, place, false, []byte("\x00\x00\x00\x00\x01"))
		f.Add(true, place, false, []byte("\x00\x00\x00\x00\x01"))
	}
	for _, edits := range [][]byte{
		nil,
		{1, 0, 0, 0, 0},                  // empty
		{1, 0, 50, 0, 0},                 // cut
		{3, 0, 0, 1, 2},                  // longer
		{0, 0, 12, 0, 1},                 // the upper half of the version
		{2, 0, 48, 0xff, 8},              // long numbers
		{2, 0, 8, 0xff, 8},               // near the beginning
		{0, 0, 60, 0, 7, 1, 0, 90, 0, 0}, // two changes
	} {
		f.Add(false, uint8(placeEdited), false, edits)
		f.Add(true, uint8(placeEdited), false, edits)
		f.Add(true, uint8(placeEdited), true, edits)
	}
	f.Fuzz(func(t *testing.T, program bool, place uint8, seal bool, edits []byte) {
		dir := t.TempDir()
		m, list := sumOfProducts(t, 3), withGuises(t, "")
		good := compiledFor(t, m, list, false, caching(t, dir, 1))
		k := good.cache()
		path := filepath.Join(dir, k.index)
		if program {
			path = filepath.Join(dir, k.data)
		}
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		content := edit(whole, edits)
		if place %= places; place == placeForeign {
			content = edits
		}
		same := string(content) == string(whole)
		put(t, path, int(place), content)
		forged := seal && program && place == placeEdited && !same
		if forged {
			index := filepath.Join(dir, k.index)
			b, err := os.ReadFile(index)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(index, sealed(b, content), 0o600))
		}

		g, err := m.coreGraph()
		require.NoError(t, err)
		p, err := k.read(t.Context(), g.Graph, core(list, &m.spec))
		if p != nil {
			p.Release()
		}
		hit := same && (place <= placeForeign || place == placeLocked && os.Geteuid() == 0)
		if !forged {
			assert.Equal(t, hit, err == nil, "place %d: %v", place, err)
			none := place == placeMissing && !program
			assert.Equal(t, none, errors.Is(err, cache.ErrNone), "what is there and not used is told: %v", err)
		} else if err == nil {
			return // a cache with good checksums is used for whatever it holds
		}
		computes(t, compiledFor(t, m, list, false, caching(t, dir, 1)))
		if place == placeLink {
			beside, err := os.ReadFile(path + ".beside")
			require.NoError(t, err)
			assert.Equal(t, content, beside, "the file behind a link stays as it was")
		}
		if place == placeFolder {
			require.NoError(t, os.Remove(path))
			computes(t, compiledFor(t, m, list, false, caching(t, dir, 1)))
		}
		p, err = k.read(t.Context(), g.Graph, core(list, &m.spec))
		require.NoError(t, err, "the cache that is left")
		p.Release()
	})
}

// put has something stand at path.
func put(t *testing.T, path string, place int, content []byte) {
	require.NoError(t, os.Remove(path))
	switch place {
	case placeMissing:
	case placeLink:
		require.NoError(t, os.WriteFile(path+".beside", content, 0o600))
		require.NoError(t, os.Symlink(filepath.Base(path)+".beside", path))
	case placePipe:
		require.NoError(t, unix.Mkfifo(path, 0o600))
	case placeFolder:
		require.NoError(t, os.Mkdir(path, 0o700))
	case placeLocked:
		require.NoError(t, os.WriteFile(path, content, 0o000))
	default:
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
}

// edit applies changes of five bytes each: what, a place of 16 bits, and two bytes for it.
func edit(b, edits []byte) []byte {
	b = append([]byte{}, b...)
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

// sealed is an index that vouches for another program.
func sealed(index, program []byte) []byte {
	const size = cacheIndex - sha256.Size - 8
	index = binary.LittleEndian.AppendUint64(index[:size:size], uint64(len(program)))
	sum := sha256.Sum256(program)
	return append(index, sum[:]...)
}

// productOfSums is (x + y) * x, of n elements.
func productOfSums(t *testing.T, n uint32) *Model {
	b := newBuilder(t, n)
	x, y := b.tensor(), b.tensor()
	return b.finish([]uint32{x, y}, b.binary(nnapi.Mul, b.binary(nnapi.Add, x, y), x))
}
