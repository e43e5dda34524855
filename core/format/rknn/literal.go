package rknn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Python literal is read as one of these Go values: nil, bool, float64, string, []any (list, tuple or set),
// map[string]any (dictionary; keys that are no strings are written as text).

const (
	maxDepth  = 32
	maxValues = 4 << 20
)

// literal reads one Python literal that is all of text.
func literal(text string) (any, error) {
	p := &literals{text: text, left: maxValues}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.wrong("more text behind the literal")
	}
	return v, nil
}

// literals reads literals from a text.
type literals struct {
	text string
	at   int
	left int // values that may still be made
}

func (p *literals) wrong(what string) error { return fmt.Errorf("%s at byte %d", what, p.at) }

func (p *literals) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next character behind spaces, 0 at the end.
func (p *literals) peek() byte {
	if p.space(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *literals) value(depth int) (any, error) {
	if p.left--; p.left < 0 || depth > maxDepth {
		return nil, p.wrong("too many values, or too deep a nesting")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.dictionary(depth)
	case c == '[':
		return p.list(depth, ']')
	case c == '(':
		return p.list(depth, ')')
	case c == '\'' || c == '"':
		return p.quoted()
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		return p.number()
	case c == 0:
		return nil, p.wrong("the text ends")
	}
	return p.word(depth)
}

// dictionary reads {key: value, ...}; of a key that is there twice the last counts, as in Python.
func (p *literals) dictionary(depth int) (any, error) {
	m := map[string]any{}
	p.at++
	for p.peek() != '}' {
		key, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.peek() != ':' {
			return nil, p.wrong("no colon behind a key")
		}
		p.at++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if s, ok := key.(string); ok {
			m[s] = v
		} else {
			m[fmt.Sprint(key)] = v
		}
		if err := p.comma('}'); err != nil {
			return nil, err
		}
	}
	p.at++
	return m, nil
}

func (p *literals) list(depth int, end byte) (any, error) {
	list := []any{}
	p.at++
	for p.peek() != end {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if err := p.comma(end); err != nil {
			return nil, err
		}
	}
	p.at++
	return list, nil
}

// comma takes a comma, which may be left out before the end.
func (p *literals) comma(end byte) error {
	switch p.peek() {
	case ',':
		p.at++
	case end:
	default:
		return p.wrong(fmt.Sprintf("neither a comma nor %q", end))
	}
	return nil
}

var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': "\"", '0': "\x00", '\n': ""}

func (p *literals) quoted() (any, error) {
	quote := p.text[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == quote:
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
			continue
		case p.at >= len(p.text):
			return nil, p.wrong("the text ends in a string")
		}
		e := p.text[p.at]
		p.at++
		if s, ok := escapes[e]; ok {
			b.WriteString(s)
			continue
		}
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[e]
		if digits == 0 || p.at+digits > len(p.text) {
			b.WriteByte('\\') // as Python does with an escape that it does not know
			b.WriteByte(e)
			continue
		}
		n, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 32)
		if err != nil {
			return nil, p.wrong("an escape that is no number")
		}
		p.at += digits
		b.WriteRune(rune(min(n, utf8.MaxRune)))
	}
	return nil, p.wrong("the text ends in a string")
}

func (p *literals) number() (any, error) {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789eE_", p.text[p.at]) >= 0 {
		p.at++
	}
	word := strings.ReplaceAll(p.text[from:p.at], "_", "")
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(v, 0) {
		if rest := p.text[p.at:]; (word == "-" || word == "+") &&
			(strings.HasPrefix(rest, "inf") || strings.HasPrefix(rest, "nan")) {
			n, err := p.word(0)
			if f, ok := n.(float64); ok && err == nil && word == "-" {
				return -f, nil
			}
			return n, err
		}
		p.at = from
		return nil, p.wrong("a number that is none")
	}
	return v, nil
}

var constants = map[string]any{"True": true, "False": false, "None": nil, "nan": math.NaN(), "inf": math.Inf(1)}

// word reads a constant, or a value inside a call such as array([1, 2], dtype=float32), of which the first argument
// counts.
func (p *literals) word(depth int) (any, error) {
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] == '_' || p.text[p.at] == '.' || isAlnum(p.text[p.at])) {
		p.at++
	}
	name := p.text[from:p.at]
	if v, ok := constants[name]; ok {
		return v, nil
	}
	if name == "" || p.peek() != '(' {
		p.at = from
		return nil, p.wrong("a word that is no constant")
	}
	p.at++
	v, err := p.value(depth + 1)
	if err != nil {
		return nil, err
	}
	for p.peek() != ')' { // keyword arguments say how the first is stored
		if p.at >= len(p.text) || strings.IndexByte("{[('\"", p.text[p.at]) >= 0 {
			return nil, p.wrong("arguments that are not simple")
		}
		p.at++
	}
	p.at++
	return v, nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
