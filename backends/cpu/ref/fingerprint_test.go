package ref

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table is made by farmhash: conformance/vectors/hashes.py.
func TestFingerprint64_everyLength(t *testing.T) {
	text, err := os.ReadFile("testdata/tables/fingerprint64.json")
	require.NoError(t, err)
	var want []string
	require.NoError(t, json.Unmarshal(text, &want))
	require.Len(t, want, 301)
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte((i*i*7 + i*31 + 5) % 251)
	}
	for n, w := range want {
		assert.Equal(t, w, strconv.FormatUint(fingerprint64(data[:n]), 10), "%d bytes", n)
	}
}
