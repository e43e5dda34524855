package semantics

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changed is a file of a library with one mutant after the patches.
func changed(t *testing.T, text string, edits ...edit) string {
	for i := range edits {
		edits[i] = edits[i].numbered(7)
	}
	out, err := edited("a.go", text, edits)
	require.NoError(t, err)
	return out
}

func TestLocate_anyIndentationOnce(t *testing.T) {
	text := "package a\n\nfunc f() int {\n\treturn 1\n}\n\nfunc g() int {\n\treturn 2\n}\n"
	e, err := locate(text, []string{"return 2"})
	require.NoError(t, err)
	assert.Equal(t, "\treturn 2", text[e.from:e.to])
	for _, missing := range []string{"return", "return 3", "return 1 "} {
		_, err = locate(text+"//return 1", strings.Split(missing+"\n}\n}", "\n"))
		assert.ErrorContains(t, err, "found 0 times", missing)
	}
	_, err = locate(text, []string{"}"})
	assert.ErrorContains(t, err, "found 2 times")
}

func TestNarrow_mutantsShareALine(t *testing.T) {
	const text = "package a\n\nvar ok = x == one && y == two\n"
	find := func(line string) edit {
		e, err := locate(text, []string{"var ok = x == one && y == two"})
		require.NoError(t, err)
		e.text = line
		e.narrow(text)
		return e
	}
	a, b := find("var ok = x == once && y == two"), find("var ok = x == one && y == two && !"+on)
	assert.Equal(t, "once", a.text, "words stay whole")
	assert.Equal(t, "one", text[a.from:a.to])
	assert.False(t, a.overlaps(b))
	assert.True(t, a.overlaps(a))
	assert.Equal(t, "package a\n\nimport \"github.com/anynpu/anynpu/core/mutant\"\n\n\nvar ok = x == once && y == two "+
		"&& !mutant.On(7)\n",
		changed(t, text, b, a))
}

func TestEdited_refusesWhatIsNoGo(t *testing.T) {
	_, err := edited("a.go", "package a\n\nvar x = 1\n", []edit{{19, 20, "{"}})
	assert.ErrorContains(t, err, "with the mutants")
	_, err = edited("a.go", "package a\n\nvar x = 1\n", []edit{{18, 20, "2"}, {19, 20, "3"}})
	assert.ErrorContains(t, err, "two mutants")
}
