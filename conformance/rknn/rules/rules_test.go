package rules

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/rknn"
)

func TestRules_numbersAndKinds(t *testing.T) {
	numbers, cases, seen := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		n, _, _ := strings.Cut(r.ID, "_") // SECTION.LETTER
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
}

func TestOnBoards_leavesCasesOfABoard(t *testing.T) {
	r := rule("m1.a_a", "a").OK("every", nil).With("A=1").OK("one", nil).With(rknn.On("rk3576"))
	onBoards(r)
	settings := map[string][]string{}
	for _, c := range r.Cases {
		settings[c.Name] = c.Setting
	}
	assert.Len(t, settings, len(rknn.Boards)+1)
	assert.Equal(t, []string{"ANYNPU_RKNN_TARGET=rk3576"}, settings["one"])
	assert.Equal(t, []string{"ANYNPU_RKNN_TARGET=rk3562", "A=1"}, settings["every_rk3562"])
}

func TestStructs_sizes(t *testing.T) {
	assert.EqualValues(t, 376, unsafe.Sizeof(tensorAttr{}))
	assert.EqualValues(t, 33040, unsafe.Sizeof(inputRange{}))
	assert.EqualValues(t, 832, unsafe.Sizeof(customOp{}))
	assert.EqualValues(t, 416, unsafe.Sizeof(opTensor{}))
}

func TestHalf_knownNumbers(t *testing.T) {
	for v, want := range map[float32]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 65504: 0x7bff, 1e9: 0x7c00,
		1.0 / (1 << 24): 1, 1024: 0x6400} {
		assert.Equal(t, want, rknn.Half(v), "%g", v)
	}
}
