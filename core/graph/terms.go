package graph

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Err says that err happened in node n. Operators number their inputs; where the program's API has other words for
// them, Node.Terms, the message has those. nil stays nil.
func (n *Node) Err(err error) error {
	return fault.Wrap(Reword(err, n.Terms), "%s", n.Label())
}

var operand = regexp.MustCompile(`(: )?\b(?:input (\d+)|inputs (\d+) and (\d+))\b(: )?`)

// Reword returns err with its "input 0", "input 1", ... of an operator replaced by terms. An empty term stands for an
// operand that the program has no word for. Nil terms change nothing, and neither do others in what an operator of a
// body has been called already.
func Reword(err error, terms []string) error {
	if err == nil || terms == nil {
		return err
	}
	term := func(number string) string {
		i, bad := strconv.Atoi(number)
		if bad != nil || i >= len(terms) {
			return ""
		}
		return terms[i]
	}
	return &worded{fault.Reword(err, func(message string) string {
		message, inner := beforeWorded(message, err)
		var b strings.Builder
		end := 0
		for _, m := range operand.FindAllStringSubmatchIndex(message, -1) {
			part := func(k int) string {
				if m[2*k] < 0 {
					return ""
				}
				return message[m[2*k]:m[2*k+1]]
			}
			b.WriteString(message[end:m[0]])
			end = m[1]
			before, after := part(1), part(5)
			name := term(part(2))
			if part(2) == "" {
				first, second := term(part(3)), term(part(4))
				name = first + " and " + second
				if first == "" || second == "" {
					name = ""
				}
			}
			switch {
			case name != "":
				b.WriteString(before + name + after)
			case after != "" && (before != "" || m[0] == 0): // it only says where
				b.WriteString(before)
			default:
				b.WriteString(before + "another operand" + after)
			}
		}
		return b.String() + message[end:] + inner
	})}
}

// worded is an error that has the program's words.
type worded struct{ err error }

func (w *worded) Error() string { return w.err.Error() }
func (w *worded) Unwrap() error { return w.err }

// beforeWorded divides the message of err before what has the program's words already.
func beforeWorded(message string, err error) (before, after string) {
	var w *worded
	if errors.As(err, &w) {
		if i := strings.LastIndex(message, w.Error()); i >= 0 {
			return message[:i], message[i:]
		}
	}
	return message, ""
}
