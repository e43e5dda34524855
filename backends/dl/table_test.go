package dl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable_isOfTheVendorsSize: as many functions as the structs of the feature levels have.
func TestTable_isOfTheVendorsSize(t *testing.T) {
	a, ok := Find("nnapi")
	require.True(t, ok)
	for level, size := range map[int64]int{30: 0, 31: 840, 32: 0, 1_000_005: 0, 1_000_006: 840, 1_000_007: 840,
		1_000_008: 856, 1_000_009: 856} {
		want := max(0, (size-8)/8)
		assert.Equal(t, want, a.Table.Count(level), level)
	}
	require.Len(t, a.Table.Symbols, 106)
	sorted := slices.Sorted(slices.Values(a.Table.Symbols))
	assert.Len(t, slices.Compact(sorted), 106, "each once")
	for _, s := range a.Table.Required {
		assert.Contains(t, a.Table.Symbols, s)
	}
}

// TestProbe_tables: a driver whose functions are in a table is usable if that is sound, and the verdict says so.
func TestProbe_tables(t *testing.T) {
	m := newMachine(t)
	a, _ := Find("nnapi")
	m.write("etc/1.json", fmt.Appendf(nil, `{"schema": %q, "name": "NN", "api": "nnapi", "library": %q}`, Schema,
		m.library("a.so", "int a;")), 0o644)
	var argv []string
	probe := func(again bool, output string) *Candidate {
		o := m.options()
		o.Again = again
		run := o.Run
		o.Run = func(words, environment []string, limit time.Duration) (Outcome, error) {
			argv = words
			return run(words, environment, limit)
		}
		m.end = Outcome{Output: output}
		list := List(o)
		require.Len(t, list, 1)
		list[0].Probe(o)
		return list[0]
	}
	entries := strings.Repeat("1", 71) + strings.Repeat("0", 33)
	c := probe(true, "table 31 "+entries+"\nok\n")
	assert.Equal(t, Usable, c.Status, c.Reason)
	assert.True(t, c.Table)
	assert.Equal(t, append(append([]string{"/helper", c.File}, a.Required...), "--table",
		"ANeuralNetworks_getSLDriverImpl", "31", "104", "32", "0", "1000006", "104", "1000008", "106"), argv)
	assert.True(t, probe(false, "").Table, "as is kept")
	c = probe(true, "ok\n")
	assert.Equal(t, Usable, c.Status, c.Reason)
	assert.False(t, c.Table, "it exports its functions")
	without := []byte(entries)
	without[slices.Index(a.Table.Symbols, "ANeuralNetworksModel_create")] = '0'
	const level, lacks = "the table of ANeuralNetworks_getSLDriverImpl has the level ", "getSLDriverImpl lacks "
	for output, want := range map[string]string{
		"table 0 \nok\n":                         level + "0, which is none of the API",
		"table 99999 \nok\n":                     level + "99999",
		"table -1\nok\n":                         level + "-1",
		"table 31 111\nok\n":                     lacks + "ANeuralNetworks_getDeviceCount",
		"table 31 " + string(without) + "\nok\n": lacks + "ANeuralNetworksModel_create",
	} {
		c := probe(true, output)
		assert.Equal(t, Refused, c.Status, output)
		assert.Contains(t, c.Reason, want)
	}
}
