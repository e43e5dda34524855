package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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

// warn writes warnings, each with its id at its end; id stands for those without one.
func warn(stderr io.Writer, id string, warnings ...string) {
	for _, s := range warnings {
		text, own := fault.Cut(s)
		printf(stderr, "anynpu: warning: %s [%s]\n", text, cmp.Or(own, id))
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// counted is a number of things: "1 run", "2 runs".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
