package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// twins are packages that serve two generations of an API: what both need is in the package between them.
var twins = []struct{ a, b, shared string }{{"capi/hbdnn", "capi/hbucp", "capi/hb"}}

// mostTwice is how many lines of code in a row may stand in both.
const mostTwice = 19

// A place is a line of code.
type place struct {
	file string
	line int
	text string
}

// codeLines are the lines of a package's hand-written files that are neither empty nor comments.
func codeLines(t *testing.T, folder string) (lines []place) {
	files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "z") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines = append(lines, place{file, i + 1, line})
			}
		}
	}
	return lines
}

// longestTwice finds the longest run of lines that two lists have, and where it ends in each.
func longestTwice(a, b []place) (most int, atA, atB place) {
	at := map[string][]int{}
	for j, l := range b {
		at[l.text] = append(at[l.text], j)
	}
	before := map[int]int{}
	for _, l := range a {
		now := map[int]int{}
		for _, j := range at[l.text] {
			now[j] = before[j-1] + 1
			if now[j] > most {
				most, atA, atB = now[j], l, b[j]
			}
		}
		before = now
	}
	return most, atA, atB
}

func TestTwins_haveNoCodeTwice(t *testing.T) {
	for _, w := range twins {
		n, a, b := longestTwice(codeLines(t, w.a), codeLines(t, w.b))
		require.LessOrEqual(t, n, mostTwice, "%d lines up to %s:%d stand in %s:%d again: %s is the place for them", n, a.file,
			a.line, b.file, b.line, w.shared)
	}
}

func TestLongestTwice(t *testing.T) {
	list := func(text string) (out []place) {
		for i, l := range strings.Fields(text) {
			out = append(out, place{fmt.Sprint("file", i), i, l})
		}
		return out
	}
	n, a, b := longestTwice(list("x a b c d y"), list("a b a b c z b c d"))
	require.Equal(t, []int{3, 3, 4}, []int{n, a.line, b.line})
	n, _, _ = longestTwice(list("x"), list("y"))
	require.Zero(t, n)
}
