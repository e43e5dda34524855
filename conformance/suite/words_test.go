package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWords_tellWhatEndedAProcess(t *testing.T) {
	dump := "SIGBUS: bus error\nPC=0x7f m=3 sigcode=2\n\ngoroutine 1 gp=0xc0\nrax 0x0\nrip 0x1\n"
	for _, c := range []struct {
		text string
		want said
	}{
		{"", said{}},
		{"one\ntwo\n\nthree\nfour", said{last: "two | three | four"}},
		{"f.c:7: assertion failed\n" + dump, said{last: "f.c:7: assertion failed", signal: "SIGBUS"}},
		{"SIGBUS: a line of the library's own\nmore\n", said{last: "SIGBUS: a line of the library's own | more"}},
		{"panic: index 3\n[signal SIGSEGV: code=1]\nregisters\n", said{signal: "SIGSEGV", panicked: "panic: index 3"}},
		{"fatal error: all goroutines are asleep\n\nrax 0\n", said{panicked: "fatal error: all goroutines are asleep"}},
		{strings.Repeat("x", 5000) + "\n", said{last: strings.Repeat("x", wordBytes)}},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			var w words
			for rest := c.text; rest != ""; {
				n := min(piece, len(rest))
				fmt.Fprint(&w, rest[:n])
				rest = rest[n:]
			}
			assert.Equal(t, c.want, w.take(), "%q by %d", c.text[:min(len(c.text), 40)], piece)
		}
	}
}

func TestBoard_tellsTheCallsThatAreNotBack(t *testing.T) {
	f, parent, err := newBoard()
	assert.NoError(t, err)
	defer f.Close()
	defer parent.close()
	child, err := mapBoard(int(f.Fd()))
	assert.NoError(t, err)
	where := func() string {
		function, text := parent.text().at()
		return function + "; " + text
	}
	assert.Equal(t, "; while the library is loaded", where())
	child.phase(computing)
	assert.Equal(t, "; before a function is called", where())
	row := child.enter("first")
	assert.Equal(t, "first; in first", where())
	inner := child.enter("second")
	assert.Equal(t, "first; in first or second", where())
	child.leave(row, "first")
	assert.Equal(t, "second; in second", where())
	child.leave(inner, "second")
	assert.Equal(t, "; after second has returned", where())
	child.phase(ending)
	assert.Equal(t, "; when the process ends", strings.Replace(where(), "after second has returned", "", 1))
	for i := range child.mem { // a library that writes where it should not
		child.mem[i] = 0xff
	}
	assert.NotPanics(t, func() { where() })
	child.close()
}
