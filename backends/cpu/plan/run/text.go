package run

import (
	"fmt"
	"slices"
	"strings"
)

// Write says what a step is.
func (s *Step) Write(t *strings.Builder) {
	if s.Node != None {
		fmt.Fprintf(t, "n%d ", s.Node)
	}
	fmt.Fprintf(t, "%s(%s) -> %s", s.Kind, buffersText(s.Reads), buffersText(s.Writes))
	if !s.Fast {
		t.WriteString(", by reference")
	}
}

// String lists the steps and the places of their buffers.
func (p *Plan) String() string {
	var t strings.Builder
	for _, s := range p.Steps {
		s.Write(&t)
		t.WriteString("\n")
	}
	for i := range p.Buffers {
		switch f := &p.Buffers[i]; f.Place {
		case InArena:
			if p.inUse(i) {
				fmt.Fprintf(&t, "b%d %d bytes at %d of the arena\n", i, f.Size, f.Offset)
			}
		case IsInput:
			fmt.Fprintf(&t, "b%d input %d\n", i, f.Index)
		case IsConst:
			fmt.Fprintf(&t, "b%d constant of %d bytes\n", i, f.Size)
		case IsResult:
			fmt.Fprintf(&t, "b%d result of a reference step\n", i)
		case IsView:
			fmt.Fprintf(&t, "b%d value %d of b%d on, rows of %d\n", i, f.At, f.Base, f.Ld)
		}
	}
	fmt.Fprintf(&t, "arena of %d bytes\n", p.Arena)
	return t.String()
}

// inUse reports whether a step uses arena buffer i, or a part of it.
func (p *Plan) inUse(i int) bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool {
		return slices.ContainsFunc(slices.Concat(s.Reads, s.Writes, []int{s.Scratch}), func(x int) bool {
			return x != None && p.Root(x) == i
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

// String says what a buffer holds.
func (f BufferForm) String() string {
	if f.Codes {
		return fmt.Sprintf("v%d codes %v", f.Value, f.Order)
	}
	return fmt.Sprintf("v%d %v", f.Value, f.Order)
}
