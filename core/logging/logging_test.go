package logging

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
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

// TestText_endsWithTheID: that of the message, else of an error among the values, else of the error's kind.
func TestText_endsWithTheID(t *testing.T) {
	own := fault.New(fault.Argument, "size: %d [x-size]", 3)
	for _, c := range []struct {
		message string
		pairs   []any
		want    string
	}{
		{"value ignored [a-b]", []any{"K", 1}, "value ignored K=1 [a-b]"},
		{"value ignored [a-b]", []any{"error", own}, `value ignored error="size: 3" [a-b]`},
		{"call failed", []any{"error", fault.Wrap(own, "f")}, `call failed error="f: size: 3" [x-size]`},
		{"call failed", []any{"error", fault.New(fault.Memory, "none")}, "call failed error=none [core-memory]"},
		{"loaded", []any{"shape", "[1 2]", "name", "n [x-forged]"}, `loaded shape="[1 2]" name="n [x-forged]"`},
	} {
		assert.Equal(t, c.want, Text(c.message, c.pairs))
	}
}
