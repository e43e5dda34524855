package semantics

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// patchFiles are the bugs that people wrote. A patch is
//
//	= ID
//	what is wrong, in a line
//	path/of/file.go
//	-lines of the file, which occur there once
//	+lines in their place, where ON stands for the condition that the mutant is on, and NUMBER for its number
//
// with any number of groups of - and + lines, in the order of the file, and ends with an empty line. Lines that begin
// with # are comments. A - line is found whatever its indentation.
//
//go:embed patches/*.txt
var patchFiles embed.FS

var (
	onWord     = regexp.MustCompile(`\bON\b`)
	numberWord = regexp.MustCompile(`\bNUMBER\b`)
)

// patches reads the patches and finds their places in the sources.
func patches(root string) ([]*Mutant, error) {
	entries, err := patchFiles.ReadDir("patches")
	if err != nil {
		return nil, err
	}
	var all []*Mutant
	var misfits []error
	for _, e := range entries {
		text, err := patchFiles.ReadFile("patches/" + e.Name())
		if err != nil {
			return nil, err
		}
		for _, block := range strings.Split(string(text), "\n= ")[1:] {
			m, err := parsePatch(root, block)
			if err != nil {
				misfits = append(misfits, fmt.Errorf("%s: %w", e.Name(), err))
			}
			all = append(all, m)
		}
	}
	return all, errors.Join(misfits...)
}

func parsePatch(root, block string) (*Mutant, error) {
	var lines []string
	for l := range strings.Lines(block) {
		if l = strings.TrimSuffix(l, "\n"); l != "" && !strings.HasPrefix(l, "#") {
			lines = append(lines, l)
		}
	}
	if len(lines) < 4 {
		return nil, fmt.Errorf("%q: want an ID, what is wrong, a file and a change", block)
	}
	m := &Mutant{ID: lines[0], About: lines[1], File: lines[2]}
	var err error
	if m.Area, err = areaOf(path.Dir(m.File)); err != nil {
		return nil, fmt.Errorf("%s: %w", m.ID, err)
	}
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.ID, err)
	}
	for i := 3; i < len(lines); {
		var old, changed []string
		for ; i < len(lines) && lines[i][0] == '-'; i++ {
			old = append(old, lines[i][1:])
		}
		for ; i < len(lines) && lines[i][0] == '+'; i++ {
			changed = append(changed, lines[i][1:])
		}
		if len(old) == 0 {
			return nil, fmt.Errorf("%s: want a line that begins with -", m.ID)
		}
		e, err := locate(string(text), old)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", m.ID, m.File, err)
		}
		e.text = strings.Join(changed, "\n")
		e.narrow(string(text))
		e.text = numberWord.ReplaceAllString(onWord.ReplaceAllString(e.text, on), number)
		m.edits = append(m.edits, e)
	}
	return m, nil
}

// locate finds lines in a text, whatever their indentation.
func locate(text string, old []string) (edit, error) {
	var expr strings.Builder
	expr.WriteString(`(?m)^`)
	for i, l := range old {
		if i > 0 {
			expr.WriteString(`\n`)
		}
		expr.WriteString(`[\t ]*` + regexp.QuoteMeta(strings.TrimSpace(l)) + `[\t ]*`)
	}
	expr.WriteString(`$`)
	found := regexp.MustCompile(expr.String()).FindAllStringIndex(text, -1)
	if len(found) != 1 {
		return edit{}, fmt.Errorf("found %d times, want once: %s", len(found), strings.Join(old, "\n"))
	}
	return edit{from: found[0][0], to: found[0][1]}, nil
}

// narrow leaves out of an edit what it does not change at both ends, so that two mutants can share a line.
func (e *edit) narrow(text string) {
	word := func(s string, i int) bool { // whether a word goes on at i
		return i > 0 && i < len(s) && wordByte(s[i-1]) && wordByte(s[i])
	}
	old, front := text[e.from:e.to], 0
	for front < min(len(old), len(e.text)) && old[front] == e.text[front] {
		front++
	}
	for word(old, front) || word(e.text, front) {
		front--
	}
	back := 0
	for back < min(len(old), len(e.text))-front && old[len(old)-1-back] == e.text[len(e.text)-1-back] {
		back++
	}
	for back > 0 && (word(old, len(old)-back) || word(e.text, len(e.text)-back)) {
		back--
	}
	e.from, e.to, e.text = e.from+front, e.to-back, e.text[front:len(e.text)-back]
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
