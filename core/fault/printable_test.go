package fault

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"conv_1/Relu:0 \"é\" \\ 層 😀": "conv_1/Relu:0 \"é\" \\ 層 😀",
		"\x1b]0;title\x07\x1b[2J":    `\x1b]0;title\a\x1b[2J`,
		"a\nb\tc\rd\x00\x7f":         `a\nb\tc\rd\x00\x7f`,
		"\u009b31m":                  `\u009b31m`,
		"\x9b31m\xff":                `\x9b31m\xff`,
		"\u202egnp.exe\u2066\u200f":  `\u202egnp.exe\u2066\u200f`,
		"\u2028\u00a0\ufeff\ufffd":   "\\u2028\\u00a0\\ufeff\ufffd",
	} {
		assert.Equal(t, want, Printable(in), "%q", in)
	}
}
