package operations

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What may be left out of each operation is left out by its cases, in as many ways as the header has.
func TestAbsences_areComplete(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	ways := map[string]map[string]bool{}
	all := 0
	for _, of := range byOperation(cases) {
		for _, a := range absences(of) {
			for _, c := range a.cases {
				if ways[c.Op] == nil {
					ways[c.Op] = map[string]bool{}
				}
				if !ways[c.Op][c.absent()] {
					ways[c.Op][c.absent()] = true
					all++
				}
			}
		}
	}
	want := map[string]int{"LSTM": 24, "UNIDIRECTIONAL_SEQUENCE_LSTM": 24, "BIDIRECTIONAL_SEQUENCE_LSTM": 1728,
		"QUANTIZED_LSTM": 24, "BIDIRECTIONAL_SEQUENCE_RNN": 3, "SVDF": 2, "LSH_PROJECTION": 2, "SQUEEZE": 2, "TRANSPOSE": 2}
	for op, n := range want {
		assert.Len(t, ways[op], n, op)
	}
	assert.Len(t, ways, len(want))
	assert.Equal(t, combinations(), all)
}
