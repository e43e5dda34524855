package rules

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

func TestRules_numbersAndKinds(t *testing.T) {
	numbers, cases, seen := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		n, _, _ := strings.Cut(r.ID, "_")
		assert.False(t, numbers[n], "two rules %s", n)
		numbers[n] = true
		section, letter, ok := strings.Cut(n, ".")
		assert.True(t, ok && section != "" && letter != "", "%s has no number", r.ID)
		seen[section] = true
		assert.NotEmpty(t, r.Text, r.ID)
		assert.True(t, r.BothKinds(nil), "%s: want cases that succeed and cases that are refused", r.ID)
		for _, c := range r.Cases {
			assert.False(t, cases[c.ID()], "two cases %s", c.ID())
			cases[c.ID()] = true
		}
	}
	for s, about := range sections {
		assert.True(t, seen[s], "section %s, %s", s, about)
	}
	assert.Len(t, seen, len(sections))
	assert.GreaterOrEqual(t, len(numbers), 200)
}

func TestFunctions_areThoseWithAnObject(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range functions() {
		name := "ANeuralNetworks" + f.name
		assert.Contains(t, nnapi.API.Functions, name)
		assert.False(t, seen[name], "%s twice", name)
		seen[name] = true
	}
	for _, name := range nnapi.API.Functions {
		without := strings.HasPrefix(name, "ANeuralNetworks_") || strings.HasSuffix(name, "_free") ||
			strings.Contains(name, "_createFrom") && !strings.HasSuffix(name, "FromDesc") ||
			name == "ANeuralNetworksModel_create" || name == "ANeuralNetworksMemoryDesc_create"
		assert.Equal(t, !without, seen[name], name)
	}
}

func TestStructs_sizes(t *testing.T) {
	assert.EqualValues(t, 24, unsafe.Sizeof(nnapi.OperandType{}))
	assert.EqualValues(t, 16, unsafe.Offsetof(nnapi.OperandType{}.Scale))
	assert.EqualValues(t, 16, unsafe.Sizeof(nnapi.ChannelScales{}))
	assert.EqualValues(t, 8, unsafe.Offsetof(nnapi.ChannelScales{}.Scales))
}
