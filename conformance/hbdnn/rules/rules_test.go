package rules

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/hbdnn"
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
		assert.True(t, r.BothKinds(hbdnn.Modes), "%s: want cases that succeed and cases that are refused", r.ID)
		for _, c := range r.Cases {
			assert.False(t, cases[c.ID()], "two cases %s", c.ID())
			cases[c.ID()] = true
		}
	}
	for s, about := range sections {
		assert.True(t, seen[s], "section %s, %s", s, about)
	}
	assert.Len(t, seen, len(sections))
	assert.GreaterOrEqual(t, len(numbers), 160)
}

func TestStructs_sizes(t *testing.T) {
	assert.EqualValues(t, 24, unsafe.Sizeof(hbdnn.SysMem{}))
	assert.EqualValues(t, 176, unsafe.Sizeof(hbdnn.Properties{}))
	assert.EqualValues(t, 272, unsafe.Sizeof(hbdnn.Tensor{}))
	assert.EqualValues(t, 32, unsafe.Sizeof(hbdnn.Control{}))
	assert.EqualValues(t, 28, unsafe.Sizeof(hbdnn.ResizeControl{}))
	assert.EqualValues(t, 140, unsafe.Offsetof(hbdnn.Properties{}.Stride))
}
