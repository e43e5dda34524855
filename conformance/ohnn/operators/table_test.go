package operators

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The committed table marks exactly what the committed cases judge; that the library computes it and nothing else is
// for the command.
func TestTable_marksWhatCasesJudge(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	table, err := os.ReadFile("../../../docs/ohnn-operators.md")
	require.NoError(t, err)
	assert.Equal(t, render(Judged(cases)), string(table), "make docs/ohnn-operators.md")
}
