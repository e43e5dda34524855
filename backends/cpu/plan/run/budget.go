package run

import "github.com/anynpu/anynpu/core/mem"

// Budget is the rest of a Build's allowance.
type Budget struct {
	Elements, Work int64
	Tables         int64 // bytes
}

// Allows reports whether Build may make a table of n bytes of shapes, which are negative when there are too many to
// count; if not, the run had better do without, or make it.
func (b *Budget) Allows(n int64) bool { return n >= 0 && n <= b.Tables && mem.Admit(n) == nil }
