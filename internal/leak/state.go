package leak

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// State is what a process has open.
type State struct {
	Descriptors []string // "NUMBER=TARGET"
	Files       []string // mappings of files, shared memory included: "RIGHTS OFFSET DEVICE INODE PATH"
}

// Now returns the state of this process. Anonymous mappings are no part of it: Go's heap and stacks come and go.
func Now() State {
	var s State
	entries, _ := os.ReadDir("/proc/self/fd") // without /proc there is nothing to compare
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			s.Descriptors = append(s.Descriptors, e.Name()+"="+to)
		}
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if _, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Contains(rest, "/") {
			s.Files = append(s.Files, rest)
		}
	}
	return s
}

// Since tells in words what s has more than before, and what less.
func (s State) Since(before State) []string {
	var out []string
	for _, c := range []struct {
		what      string
		was, nows []string
	}{{"descriptor", before.Descriptors, s.Descriptors}, {"mapping", before.Files, s.Files}} {
		for _, more := range without(c.nows, c.was) {
			out = append(out, fmt.Sprintf("%s left behind: %s", c.what, more))
		}
		for _, less := range without(c.was, c.nows) {
			out = append(out, fmt.Sprintf("%s gone: %s", c.what, less))
		}
	}
	return out
}

// without returns the elements of a that b does not have, each as often as it has more of them.
func without(a, b []string) []string {
	b = slices.Clone(b)
	var out []string
	for _, v := range a {
		if i := slices.Index(b, v); i >= 0 {
			b = slices.Delete(b, i, i+1)
		} else {
			out = append(out, v)
		}
	}
	return out
}
