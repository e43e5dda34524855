package opcase

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
)

// Every operator has a row of make bench-operators, or stands there with the reason why it has none.
func TestBench_hasARowForEveryOperator(t *testing.T) {
	text, err := os.ReadFile("../../../bench/operators.txt")
	require.NoError(t, err)
	measured, without := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if strings.HasPrefix(line, "#") || len(cells) < 3 {
			continue
		}
		name := strings.TrimSpace(cells[1])
		if strings.TrimSpace(cells[0]) == "without" {
			without[name] = true
		} else {
			measured[name] = true
		}
	}
	for _, name := range graph.OpNames() {
		assert.NotEqual(t, measured[name], without[name], "%s: measured %v, without %v", name, measured[name], without[name])
		delete(measured, name)
		delete(without, name)
	}
	assert.Empty(t, measured, "no such operators")
	assert.Empty(t, without, "no such operators")
}
