package plan

import "github.com/anynpu/anynpu/core/mem"

// budget is what is left to a Build.
type budget struct {
	elements, work int64
	tables         int64 // bytes
}

// allows reports whether Build may make a table of n bytes of shapes, which are negative when there are too many to
// count; if not, the run had better do without, or make it.
func (b *budget) allows(n int64) bool { return n >= 0 && n <= b.tables && mem.Admit(n) == nil }
