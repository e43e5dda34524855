package logging

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRead_levels(t *testing.T) {
	l, unknown := Read(" info , cpu=TRACE,loud,rknn=quiet,")
	assert.Equal(t, Levels{Info, map[string]Level{"cpu": Trace}}, l)
	assert.Equal(t, [][]any{{"ANYNPU_LOG", "loud", "levels", "off error warn info debug trace"},
		{"ANYNPU_LOG", "rknn=quiet", "levels", "off error warn info debug trace"}}, unknown)
	assert.True(t, l.Enabled(Trace, "cpu"))
	assert.True(t, l.Enabled(Info, "ohnn"))
	assert.False(t, l.Enabled(Debug, "ohnn"))
	l, _ = Read("")
	assert.True(t, l.Enabled(Error, "x"))
	assert.False(t, l.Enabled(Warn, "x"))
}

func TestLine_oneLine(t *testing.T) {
	assert.Equal(t, "cpu: two\\nlines A=\"b c\" n=7 e=\"\"\n", Line("cpu", "two\nlines", []any{"A", "b c", "n", 7, "e",
		""}))
}
