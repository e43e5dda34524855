package trace

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// condition prints a condition of the case.
func (p *printer) condition(t int, e Event) {
	var want, got *Value
	for i := range e.Values {
		if e.Values[i].Want {
			want = &e.Values[i]
		}
	}
	if want != nil && want.Type.scalar() != "" && want.Type.scalar() != "word" {
		for i := range e.Values {
			v := &e.Values[i]
			if v == want || v.Type.scalar() != want.Type.scalar() || len(v.Data) != len(want.Data) {
				continue
			}
			if e.OK && !slices.Equal(v.Data, want.Data) {
				continue
			}
			if p.find(v) != nil {
				got = v
				break
			}
		}
	}
	switch {
	case got != nil:
		text := "as the case says"
		if !e.OK {
			text = e.Text
		}
		p.compare(t, text, p.find(got).expr, want.Type.scalar(), want.Data, 0, 0)
		p.fails = p.fails || !e.OK
	case !e.OK && !p.fails:
		p.fallBack(t, e.Text, e.Values)
	}
	if e.OK {
		p.recent = nil
	}
}

// find is the latest observation that is a value.
func (p *printer) find(v *Value) *observation {
	for _, key := range slices.Sorted(maps.Keys(p.seen)) {
		o := p.seen[key]
		if slices.Equal(o.data, v.Data) && (o.typ.scalar() == v.Type.scalar() || v.Type.scalar() == "") {
			if o.expr[0] == '&' && o.addr == 0 {
				p.used[o.expr[1:]] = true
			}
			return o
		}
	}
	return nil
}

// fallBack prints that the program fails if it sees what the case saw.
func (p *printer) fallBack(t int, message string, values []Value) {
	p.fails = true
	var all []*observation
	for i := range values {
		if o := p.find(&values[i]); o != nil {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		all = p.recent
	}
	if len(all) == 0 {
		for _, key := range slices.Sorted(maps.Keys(p.seen)) {
			all = append(all, p.seen[key])
		}
	}
	latest := map[string]*observation{}
	var order []string
	for _, o := range all {
		if latest[o.expr] == nil {
			order = append(order, o.expr)
		}
		latest[o.expr] = o
	}
	p.line(t, "/* The condition is the case's own: if the library gives the same again, it is the same failure. */")
	conditions := []string{"1"}
	for _, expr := range order {
		o := latest[expr]
		if o.addr == 0 {
			p.used[o.expr[1:]] = true
		}
		conditions = append(conditions, o.pieces()...)
	}
	p.line(t, "if (%s)\n    fail(\"%%s\", %s);", strings.Join(conditions, " &&\n      "), quoted(message))
}

// pieces are conditions that memory is as it was, but for addresses.
func (o *observation) pieces() []string {
	var out []string
	piece := func(off int, b []byte) {
		at := o.expr
		if off > 0 {
			at = fmt.Sprintf("(char *)%s + %d", parenthesized(at), off)
		}
		if len(b) > 1024 {
			h := fnv.New64a()
			h.Write(b)
			out = append(out, fmt.Sprintf("was_sum(%s, %d, %#xu)", at, len(b), h.Sum64()))
			return
		}
		out = append(out, fmt.Sprintf("was(%s, %d, (unsigned char[]){%s})", at, len(b), hex(b)))
	}
	if k := o.typ.scalar(); k != "" {
		if k != "word" && len(o.data) > 0 {
			piece(0, o.data)
		}
		return out
	}
	for i := 0; i < o.typ.Count && (i+1)*o.typ.Size <= len(o.data); i++ {
		for _, f := range o.typ.Fields {
			if f.Kind != "word" {
				at := i*o.typ.Size + f.Offset
				piece(at, o.data[at:at+f.Count*sizes[f.Kind]])
			}
		}
	}
	return out
}

// compare prints a comparison.
func (p *printer) compare(t int, what, at, kind string, want []byte, abs, rel float64) {
	size := sizes[kind]
	switch kind {
	case "float16":
		size = 2
	case "bool":
		size = 1
	}
	if size == 0 || len(want) == 0 {
		return
	}
	c, text := cTypes[kind], ""
	if c != "" {
		if s, ok := list(kind, want); ok {
			text = fmt.Sprintf("(%s[%d]){%s}", c, len(want)/size, s)
		}
	}
	if text == "" {
		text = fmt.Sprintf("(unsigned char[]){%s}", hex(want))
	}
	p.line(t, "compare(%s, %s, %q, %d, %s, %g, %g);", quoted(what), at, kind, len(want)/size, text, abs, rel)
}
