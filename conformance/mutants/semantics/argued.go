package semantics

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed argued.txt
var arguedList string

// Arguments say which mutants no program can observe, kind by kind.
type Arguments []*argument

// argument is a kind of mutants and the reason why no case finds them.
type argument struct {
	kind, why string
	members   []member
}

// member is a mutant of a kind, or a pattern in which ** stands for any text, with what there is to say of it alone.
type member struct{ id, note string }

// Argued reads argued.txt.
func Argued() (Arguments, error) { return parseArguments(arguedList) }

// parseArguments reads a list of kinds. A kind is
//
//	[its name]
//	The reason, on any number of lines.
//	  ID = what there is to say of this one alone
//	  ID or pattern
//
// Lines that begin with # are comments.
func parseArguments(text string) (Arguments, error) {
	var out Arguments
	seen := map[string]bool{}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \n")
		if l == "" || l[0] == '#' {
			continue
		}
		if strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]") {
			out = append(out, &argument{kind: l[1 : len(l)-1]})
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("argued.txt: %q stands before the first [kind]", l)
		}
		a := out[len(out)-1]
		if l[0] != ' ' {
			if len(a.members) > 0 {
				return nil, fmt.Errorf("argued.txt: %q stands behind the mutants of [%s], want it before them", l, a.kind)
			}
			a.why = strings.TrimSpace(a.why + " " + l)
			continue
		}
		id, note, _ := strings.Cut(strings.TrimSpace(l), " = ")
		if seen[id] {
			return nil, fmt.Errorf("argued.txt: %s is listed twice", id)
		}
		seen[id] = true
		a.members = append(a.members, member{id, strings.TrimSpace(note)})
	}
	for _, a := range out {
		if a.why == "" || len(a.members) == 0 {
			return nil, fmt.Errorf("argued.txt: [%s] wants a reason and the mutants that it holds for", a.kind)
		}
	}
	return out, nil
}

// of returns the reason why a mutant need not be found, "" for none. exact tells that the list names the mutant itself:
// a pattern may cover some that cases find.
func (a Arguments) of(id string) (why string, exact bool) {
	for _, kind := range a {
		for _, m := range kind.members {
			if m.id != id && !matches(m.id, id) {
				continue
			}
			text := "[" + kind.kind + "]"
			if m.note != "" {
				text += " " + m.note
			}
			if m.id == id {
				return text, true
			}
			if why == "" {
				why = text
			}
		}
	}
	return why, false
}

// matches tells whether an ID fits a pattern in which ** stands for any text.
func matches(pattern, id string) bool {
	parts := strings.Split(pattern, "**")
	if len(parts) == 1 || !strings.HasPrefix(id, parts[0]) {
		return pattern == id
	}
	id = id[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(id, p)
		if !ok {
			return false
		}
		id = after
	}
	return strings.HasSuffix(id, parts[len(parts)-1])
}
