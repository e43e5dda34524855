package trace

import (
	"fmt"
	"slices"
	"strings"
)

// call is the text of a call.
func (p *printer) call(e Event) *pending {
	proto, function := p.c.Headers.prototype(e.Name), e.Name
	switch {
	case proto == nil:
		p.missing[e.Name] = len(e.Args)
	case len(e.Args) > len(proto.params): // a form of the function that the headers do not have
		params := slices.Concat(proto.params, slices.Repeat([]string{"uint64_t"}, len(e.Args)-len(proto.params)))
		function = fmt.Sprintf("((%s (*)(%s))(void (*)(void))%s)", proto.result, strings.Join(params, ", "), e.Name)
	}
	p.names[e.Name] = true
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = p.argument(a, proto, i)
		if proto == nil && strings.ContainsAny(args[i], "pm&N(") {
			args[i] = "(uint64_t)(uintptr_t)" + parenthesized(args[i])
		}
	}
	c := &pending{text: function + "(" + strings.Join(args, ", ") + ")", proto: proto, result: "integer"}
	switch {
	case proto == nil:
	case proto.result == "void":
		c.result = "void"
	case isPointer(proto.result):
		c.result = "pointer"
	}
	return c
}

// back prints a call that has returned, with what is demanded of it.
func (p *printer) back(t int, c *pending, e Event, judged *Event) {
	shown := strings.ReplaceAll(c.text, "(void *)", "")
	switch c.result {
	case "void":
		p.line(t, "%s;", c.text)
	case "pointer":
		name := fmt.Sprintf("p%d", len(p.captures))
		if e.Bits >= 1<<16 {
			p.captures = append(p.captures, &capture{name, e.Bits, 0})
		} else {
			name = ""
		}
		value := c.text
		switch {
		case name != "" && p.used[name]:
			p.line(t, "%s = (void *)%s;", name, c.text)
			value = name
			if judged != nil {
				p.line(t, "check_pointer(%s, %s, %d);", quoted(c.text), value, truth(judged.Kind == Pointer))
			}
		case judged != nil:
			p.line(t, "check_pointer(%s, (void *)%s, %d);", quoted(c.text), value, truth(judged.Kind == Pointer))
		default:
			p.line(t, "%s;", c.text)
		}
		if judged != nil && (judged.Kind == Pointer) != (e.Bits != 0) {
			p.fails = true
		}
		switch {
		case e.Bits == 0:
			shown += " = NULL"
		case p.used[name]:
			shown += " = " + name
		default:
			shown += " = a pointer"
		}
	default:
		p.integer(t, c, e, judged)
		if c.proto != nil && scalarSize(c.proto.result) == 8 {
			shown += fmt.Sprintf(" = %d", e.Bits)
		} else {
			shown += " = " + p.c.codeName(int(int32(e.Bits)))
		}
	}
	p.calls = append(p.calls, shown)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *printer) integer(t int, c *pending, e Event, judged *Event) {
	got := int64(int32(e.Bits))
	if c.proto != nil && scalarSize(c.proto.result) == 8 {
		got = int64(e.Bits)
	}
	if judged != nil && judged.Kind == Code {
		ok := slices.Contains(judged.Codes, int(int32(e.Bits))) || slices.Contains(judged.Or, int(int32(e.Bits)))
		p.fails = p.fails || !ok
		switch {
		case len(judged.Or) > 0:
			p.line(t, "CODE_OR(%s, (int64_t[]){%s}, %d);", c.text, joinInts(judged.Or), len(judged.Or))
		default:
			p.line(t, "CODE(%d, %s);", judged.Codes[0], c.text)
		}
		return
	}
	name := fmt.Sprintf("n%d", p.codes)
	p.codes++
	o := &observation{expr: "&" + name, typ: &Type{Size: 8, Count: 1, Fields: []Field{{0, "int64", 1}}},
		data: fromInt(got)}
	p.observe(o, uint64(p.codes)<<56|1) // no address of memory
	if p.used[name] {
		p.line(t, "%s = (int64_t)%s;", name, c.text)
	} else {
		p.line(t, "%s;", c.text)
	}
}

func fromInt(v int64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(uint64(v) >> (8 * i))
	}
	return b
}

func joinInts(v []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ", "), "[]")
}

func (c *Case) codeName(code int) string {
	if n, ok := c.Codes[code]; ok {
		return fmt.Sprintf("%s (%d)", n, code)
	}
	return fmt.Sprint(code)
}

// changed takes in what the library has written to an object of the program.
func (p *printer) changed(t int, e Event) {
	r := p.region(e.Addr)
	off := e.Addr - r.addr
	for _, w := range e.Type.words(len(e.Data)) {
		if bits := bitsOf(e.Data[w : w+8]); bits != bitsOf(r.now[int(off)+w:int(off)+w+8]) && p.region(bits) == nil {
			p.name(t, bits, 0, fmt.Sprintf("word_at(%s)", r.at(off+uint64(w))))
		}
	}
	copy(r.now[off:], e.Data)
	p.observe(&observation{expr: r.at(off), addr: e.Addr, typ: e.Type, data: e.Data}, e.Addr)
}

// looked takes in memory of the library that the program has looked at.
func (p *printer) looked(t int, e Event) {
	at := p.address(e.Addr)
	if at == "" {
		return
	}
	for i := len(p.captures) - 1; i >= 0; i-- {
		if c := p.captures[i]; c.bits == e.Addr {
			c.size = max(c.size, uint64(len(e.Data)))
			break
		}
	}
	for _, w := range e.Type.words(len(e.Data)) {
		if bits := bitsOf(e.Data[w : w+8]); p.region(bits) == nil {
			p.name(t, bits, 0, fmt.Sprintf("word_at((char *)%s + %d)", parenthesized(at), w))
		}
	}
	if k := e.Type.scalar(); k == "uint64" && len(e.Data) <= 4096 {
		for w := 0; w+8 <= len(e.Data); w += 8 {
			p.name(t, bitsOf(e.Data[w:w+8]), 0, fmt.Sprintf("word_at((char *)%s + %d)", parenthesized(at), w))
		}
	}
	p.observe(&observation{expr: at, addr: e.Addr, typ: e.Type, data: e.Data}, e.Addr)
}

func (p *printer) observe(o *observation, key uint64) {
	p.seen[key] = o
	p.recent = append(p.recent, o)
}
