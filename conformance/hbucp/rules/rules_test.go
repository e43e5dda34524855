package rules

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/hbucp"
)

func TestRules_numbersAndKinds(t *testing.T) {
	numbers, seen := map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		section, letters := sectionOf(r.ID)
		assert.False(t, numbers[section+letters], "two rules %s.%s", section, letters)
		numbers[section+letters] = true
		assert.Contains(t, sections, section, r.ID)
		seen[section] = true
		assert.True(t, r.BothKinds(nil), "%s: want cases that succeed and cases that are refused", r.ID)
	}
	assert.Len(t, seen, len(sections))
	assert.GreaterOrEqual(t, len(numbers), 100)
}

func TestStructs_sizes(t *testing.T) {
	assert.EqualValues(t, 24, unsafe.Sizeof(hbucp.SysMem{}))
	assert.EqualValues(t, 32, unsafe.Sizeof(hbucp.Sched{}))
	assert.EqualValues(t, 176, unsafe.Sizeof(hbucp.Properties{}))
	assert.EqualValues(t, 200, unsafe.Sizeof(hbucp.Tensor{}))
	assert.EqualValues(t, 96, unsafe.Offsetof(hbucp.Properties{}.Stride))
}
