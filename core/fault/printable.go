package fault

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s as text that a terminal only shows. Names come from files, and a terminal obeys control
// characters: each that is not printable is escaped as in a Go literal, among them line ends, tabs, C1 controls, marks
// that turn the direction of text, and bytes that are not UTF-8.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}
