// Package statements tells which case of the suites shows each statement of docs/abi about an API, and why no
// case can show the others. The statements are in the project's own words, by the sections of the notes.
//
// A list is lines of text. "# SHEET SECTION TITLE" begins a section; below it each line is a statement:
//
//	SHEET SECTION.NUMBER | TEXT | rules ID ID; operators ID
//	SHEET SECTION.NUMBER | TEXT | - why no case can show it
//
// Before the IDs stands the suite, or another source of names that the caller knows. An ID is that of a case, or one
// that IDs of cases begin with, such as a rule's; * stands for any text.
package statements

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// List is the statements about an API.
type List []Section

// Section is one of the notes.
type Section struct {
	ID         string // sheet and section: "ohnn 7"
	Title      string
	Statements []Statement
}

// Statement is one sentence about an API.
type Statement struct {
	ID, Text string
	Shown    []Source // the cases that show it
	Reason   string   // why none can, if Shown is empty
}

// Source is IDs of cases of one suite.
type Source struct {
	Suite string
	IDs   []string
}

// Read reads a list. Every statement has cases or a reason, and an ID of its own that fits its section.
func Read(r io.Reader) (List, error) {
	var out List
	lines, ids := bufio.NewScanner(r), map[string]bool{}
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch head, found := strings.CutPrefix(line, "# "); {
		case line == "":
		case found:
			words := strings.SplitN(head, " ", 3)
			if len(words) != 3 {
				return nil, fmt.Errorf("line %d: want # SHEET SECTION TITLE", n)
			}
			out = append(out, Section{ID: words[0] + " " + words[1], Title: words[2]})
		case len(out) == 0:
			return nil, fmt.Errorf("line %d: a statement before the first section", n)
		default:
			s, err := statement(line)
			in := &out[len(out)-1]
			switch {
			case err != nil:
				return nil, fmt.Errorf("line %d: %w", n, err)
			case !strings.HasPrefix(s.ID, in.ID+"."):
				return nil, fmt.Errorf("line %d: %s is not of section %s", n, s.ID, in.ID)
			case ids[s.ID]:
				return nil, fmt.Errorf("line %d: %s for the second time", n, s.ID)
			}
			ids[s.ID] = true
			in.Statements = append(in.Statements, s)
		}
	}
	return out, lines.Err()
}

func statement(line string) (Statement, error) {
	fields := strings.Split(line, " | ")
	if len(fields) != 3 {
		return Statement{}, fmt.Errorf("%d fields, want ID | TEXT | MARK", len(fields))
	}
	s := Statement{ID: strings.TrimSpace(fields[0]), Text: strings.TrimSpace(fields[1])}
	mark := strings.TrimSpace(fields[2])
	if reason, without := strings.CutPrefix(mark, "- "); without {
		s.Reason = reason
		return s, nil
	}
	for _, part := range strings.Split(mark, ";") {
		words := strings.Fields(part)
		if len(words) < 2 {
			return Statement{}, fmt.Errorf("%s is not marked: want a suite and IDs, or - and a reason", s.ID)
		}
		s.Shown = append(s.Shown, Source{words[0], words[1:]})
	}
	return s, nil
}

// Check demands that every ID is known: known has the IDs of the cases by suite.
func (l List) Check(known map[string][]string) error {
	var missing []string
	for _, in := range l {
		for _, s := range in.Statements {
			for _, from := range s.Shown {
				for _, id := range from.IDs {
					if !has(known[from.Suite], id) {
						missing = append(missing, fmt.Sprintf("%s: %s has no %s", s.ID, from.Suite, id))
					}
				}
			}
		}
	}
	if missing != nil {
		return fmt.Errorf("cases that do not exist:\n%s", strings.Join(missing, "\n"))
	}
	return nil
}

// About returns a function that gives the statements that a case of a suite shows, by its ID.
func (l List) About(suite string) func(id string) []Statement {
	type loose struct {
		pattern   *regexp.Regexp
		statement *Statement
	}
	exact, patterns := map[string][]*Statement{}, []loose{}
	for i := range l {
		for k := range l[i].Statements {
			s := &l[i].Statements[k]
			for _, from := range s.Shown {
				for _, mark := range from.IDs {
					switch {
					case from.Suite != suite:
					case strings.Contains(mark, "*"):
						patterns = append(patterns, loose{below(mark), s})
					default:
						exact[mark] = append(exact[mark], s)
					}
				}
			}
		}
	}
	return func(id string) []Statement {
		var out []Statement
		for end := 0; end <= len(id); end++ {
			if end == len(id) || id[end] == '/' {
				for _, s := range exact[id[:end]] {
					out = append(out, *s)
				}
			}
		}
		for _, p := range patterns {
			if p.pattern.MatchString(id) {
				out = append(out, *p.statement)
			}
		}
		return out
	}
}

// has tells whether one of the IDs is that of a mark, or lies below it.
func has(ids []string, mark string) bool {
	pattern := below(mark)
	for _, id := range ids {
		if pattern.MatchString(id) {
			return true
		}
	}
	return false
}

// below matches the ID of a mark and those that lie below it.
func below(mark string) *regexp.Regexp {
	parts := strings.Split(mark, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "(/.*)?$")
}

// Count counts the statements, and those that a case shows.
func (l List) Count() (all, shown int) {
	for _, in := range l {
		all += len(in.Statements)
		for _, s := range in.Statements {
			if s.Reason == "" {
				shown++
			}
		}
	}
	return all, shown
}

// Table is the list as a document.
func (l List) Table(title string) string {
	var b strings.Builder
	all, shown := l.Count()
	fmt.Fprintf(&b, "# What the conformance suites show of the %s\n\n", title)
	fmt.Fprintf(&b, "Written by `make generate` from `statements.txt` beside the suites and from their tables. Every\n"+
		"statement of the project's notes about the API stands here with the cases that show it, or with why no program can\n"+
		"see it: %d statements, %d shown by cases, %d not observable. Before the cases stands their suite; `ctest` are C\n"+
		"programs, `headers` are the checks that C and C++ compilers make of the headers.\n", all, shown, all-shown)
	for _, in := range l {
		fmt.Fprintf(&b, "\n## %s: %s\n\n| | statement | shown by |\n|---|---|---|\n", in.ID, in.Title)
		for _, s := range in.Statements {
			mark := "not observable: " + s.Reason
			if s.Reason == "" {
				var parts []string
				for _, from := range s.Shown {
					parts = append(parts, from.Suite+" `"+strings.Join(from.IDs, "` `")+"`")
				}
				mark = strings.Join(parts, "; ")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.TrimPrefix(s.ID, strings.Fields(in.ID)[0]+" "), s.Text, mark)
		}
	}
	return b.String()
}
