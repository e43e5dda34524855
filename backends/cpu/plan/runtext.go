package plan

import (
	"fmt"
	"slices"
	"strings"
)

// write says what a step is.
func (s *step) write(t *strings.Builder) {
	if s.node != none {
		fmt.Fprintf(t, "n%d ", s.node)
	}
	fmt.Fprintf(t, "%s(%s) -> %s", s.kind, buffersText(s.reads), buffersText(s.writes))
	if !s.fast {
		t.WriteString(", by reference")
	}
}

// String lists the steps and the places of their buffers.
func (p *Plan) String() string {
	var t strings.Builder
	for _, s := range p.steps {
		s.write(&t)
		t.WriteString("\n")
	}
	for i := range p.buffers {
		switch f := &p.buffers[i]; f.place {
		case inArena:
			if p.inUse(i) {
				fmt.Fprintf(&t, "b%d %d bytes at %d of the arena\n", i, f.size, f.offset)
			}
		case isInput:
			fmt.Fprintf(&t, "b%d input %d\n", i, f.index)
		case isConst:
			fmt.Fprintf(&t, "b%d constant of %d bytes\n", i, f.size)
		case isResult:
			fmt.Fprintf(&t, "b%d result of a reference step\n", i)
		case isView:
			fmt.Fprintf(&t, "b%d value %d of b%d on, rows of %d\n", i, f.at, f.base, f.ld)
		}
	}
	fmt.Fprintf(&t, "arena of %d bytes\n", p.arena)
	return t.String()
}

// inUse reports whether a step uses arena buffer i, or a part of it.
func (p *Plan) inUse(i int) bool {
	return slices.ContainsFunc(p.steps, func(s *step) bool {
		return slices.ContainsFunc(slices.Concat(s.reads, s.writes, []int{s.scratch}), func(x int) bool {
			return x != none && p.root(x) == i
		})
	})
}

func buffersText(list []int) string {
	var t []string
	for _, x := range list {
		t = append(t, fmt.Sprint("b", x))
	}
	return strings.Join(t, ", ")
}

// form says what a buffer holds.
func (f bufferForm) String() string {
	if f.codes {
		return fmt.Sprintf("v%d codes %v", f.value, f.order)
	}
	return fmt.Sprintf("v%d %v", f.value, f.order)
}
