package driver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// step is an operation whose operands are letters.
type step struct{ reads, makes string }

func (s *step) Reads() []rune { return []rune(s.reads) }
func (s *step) Makes() []rune { return []rune(s.makes) }

// A diamond of a and b with an unread tail: x is read by two, y by one, d is an output that is read as well.
func diamond() (list []*step, outputs []rune) {
	return []*step{{"a", "x"}, {"x", "y"}, {"xb", "z"}, {"z", "u"}, {"u", "v"}, {"yz", "d"}, {"d", "e"}}, []rune("de")
}

func TestUsed_leavesOutWhatNobodyReads(t *testing.T) {
	list, outputs := diamond()
	assert.Equal(t, []*step{list[0], list[1], list[2], list[5], list[6]}, Used(list, outputs))
	assert.Empty(t, Used(list, nil))
}

func TestOutside_isReadBeforeItIsMade(t *testing.T) {
	list, _ := diamond()
	assert.Equal(t, []rune("ab"), Outside[rune](list))
	assert.Equal(t, []rune("xz"), Outside[rune]([]*step{{"x", "y"}, {"yz", "d"}, {"zx", "f"}}))
}

// TestFuse_offersTheOnlyReader offers an operation to the maker of its first operand, if nothing else reads that, and
// to the one that the maker was fused into.
func TestFuse_offersTheOnlyReader(t *testing.T) {
	list, outputs := diamond()
	var offered []string
	fuse := func(maker, o *step) bool {
		offered = append(offered, maker.reads+">"+maker.makes+" "+o.reads+">"+o.makes)
		if o == list[4] || o == list[5] {
			return false
		}
		maker.makes, o.makes = o.makes, ""
		return true
	}
	chain := []*step{{"a", "b"}, {"b", "c"}, {"c", "d"}}
	Fuse(chain, []rune("d"), fuse)
	assert.Equal(t, []string{"a>b b>c", "a>c c>d"}, offered)
	offered = nil
	Fuse(list, outputs, fuse)
	assert.Equal(t, []string{"z>u u>v", "x>y yz>d"}, offered)
}
