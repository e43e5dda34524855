package main

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"

	"github.com/anynpu/anynpu/core/fault"
)

// printf is how the tool writes text. Names and messages come from files: what a terminal would obey in them is
// escaped.
func printf(w io.Writer, format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case string:
			args[i] = fault.Printable(v)
		case error:
			args[i] = fault.Printable(v.Error())
		case fmt.Stringer:
			args[i] = fault.Printable(v.String())
		}
	}
	fmt.Fprintf(w, format, args...)
}

// writeJSON writes v as one indented JSON object, with the same characters escaped: outside of strings JSON has none of
// them.
func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	var plain []byte
	for _, r := range string(text) + "\n" {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			plain = append(plain, string(r)...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				plain = fmt.Appendf(plain, `\u%04x`, unit)
			}
		}
	}
	_, err = w.Write(plain)
	return err
}
