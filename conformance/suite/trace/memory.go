package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// known makes the C program's object hold data from an offset on, by lines.
func (p *printer) known(thread int, e Event) {
	r := p.region(e.Addr)
	off := int(e.Addr - r.addr)
	old := r.now[off : off+len(e.Data)]
	if bytes.Equal(old, e.Data) {
		r.written = true
		return
	}
	first := !r.written && off == 0 && len(e.Data) == int(r.size)
	r.written = true
	defer copy(old, slices.Clone(e.Data))
	if at := bytes.Index(e.Data, []byte(p.dir)); p.dir != "" && at == 0 && r.typ.scalar() == "uint8" {
		rest, _, _ := bytes.Cut(e.Data[len(p.dir):], []byte{0})
		r.path, p.files = true, true
		p.line(thread, `snprintf(%s, sizeof %s, "%%s%%s", folder, %s);`, r.name, r.name, quoted(string(rest)))
		return
	}
	if r.layout != nil {
		p.members(thread, r, off, e.Data)
		return
	}
	kind := r.typ.scalar()
	words := map[int]bool{}
	for _, w := range r.typ.words(int(r.size)) {
		words[w] = true
	}
	if kind == "uint8" {
		words = p.addresses(off, e.Data)
	}
	switch {
	case kind == "" || kind == "word" || len(words) > 0:
		p.bytes(thread, r, off, e.Data, words)
	case first && len(p.stack[thread]) == 0:
		if text, ok := text(kind, e.Data); ok {
			r.initial = text
			return
		}
		if s, ok := list(kind, e.Data); ok {
			r.initial = "{" + s + "}"
			if r.single() {
				r.initial = s
			}
			return
		}
		fallthrough
	default:
		if r.single() {
			if s, ok := literal(kind, e.Data); ok {
				p.line(thread, "%s = %s;", r.name, s)
				return
			}
		}
		p.bytes(thread, r, off, e.Data, nil)
	}
}

// addresses are the offsets of words in plain bytes that are addresses of what the program knows: a struct of a version
// that the headers do not have is bytes.
func (p *printer) addresses(off int, b []byte) map[int]bool {
	at := map[int]bool{}
	for i := (8 - off%8) % 8; i+8 <= len(b); i += 8 {
		if bits := bitsOf(b[i : i+8]); bits >= 1<<16 && p.address(bits) != "" {
			at[off+i] = true
		}
	}
	return at
}

// text is bytes as a string of C, if they are one.
func text(kind string, b []byte) (string, bool) {
	if kind != "uint8" && kind != "int8" || len(b) < 2 || b[len(b)-1] != 0 || len(b) > 200 {
		return "", false
	}
	for _, c := range b[:len(b)-1] {
		if c < ' ' || c > '~' {
			return "", false
		}
	}
	return quoted(string(b[:len(b)-1])), true
}

// bytes writes those bytes of an object that differ; words are the offsets of words.
func (p *printer) bytes(thread int, r *region, off int, b []byte, words map[int]bool) {
	for i := 0; i < len(b); {
		if words[off+i] && i+8 <= len(b) {
			if !bytes.Equal(b[i:i+8], r.now[off+i:off+i+8]) {
				w := p.word(bitsOf(b[i : i+8]))
				switch {
				case r.typ.scalar() == "word" && r.single():
					p.line(thread, "%s = %s;", r.name, w)
				case r.typ.scalar() == "word":
					p.line(thread, "%s[%d] = %s;", r.name, (off+i)/8, w)
				default:
					p.line(thread, "set_word(%s + %d, %s);", r.name, off+i, w)
				}
			}
			i += 8
			continue
		}
		j := i
		for j < len(b) && !words[off+j] {
			j++
		}
		if j == i {
			j++
		}
		p.differing(thread, r.at(0), off+i, b[i:j], r.now[off+i:off+j])
		i = j
	}
}

// differing writes the runs of bytes that differ from old ones.
func (p *printer) differing(thread int, to string, off int, b, old []byte) {
	for i := 0; i < len(b); {
		if b[i] == old[i] {
			i++
			continue
		}
		j, same := i+1, 0
		for k := j; k < len(b) && same < 16; k++ {
			if b[k] == old[k] {
				same++
			} else {
				j, same = k+1, 0
			}
		}
		at := to
		if off+i > 0 {
			at = fmt.Sprintf("(char *)%s + %d", parenthesized(to), off+i)
		}
		p.copyTo(thread, at, b[i:j])
		i = j
	}
}

// copyTo writes bytes to an address.
func (p *printer) copyTo(thread int, to string, b []byte) {
	if len(b) > 1 && bytes.Count(b, b[:1]) == len(b) {
		p.line(thread, "memset(%s, %d, %d);", to, b[0], len(b))
		return
	}
	p.line(thread, "memcpy(%s, (unsigned char[]){%s}, %d);", to, hex(b), len(b))
}

// members writes the members of structs that differ.
func (p *printer) members(thread int, r *region, off int, b []byte) {
	s := r.layout
	for i := range r.typ.Count {
		element := r.name
		if r.typ.Count > 1 {
			element = fmt.Sprintf("%s[%d]", r.name, i)
		}
		for _, m := range s.Fields {
			at, size := i*s.Size+m.Offset-off, p.c.Headers.size(m)
			if at >= 0 && at+size <= len(b) {
				p.member(thread, element, m, b[at:at+size], r.now[off+at:off+at+size])
			}
		}
	}
}

// size is the bytes of a member.
func (h *Headers) size(m Member) int {
	size := scalarSize(m.Type)
	if isPointer(m.Type) {
		size = 8
	}
	if inner := h.named(m.Type); inner != nil {
		size = inner.Size
	}
	return size * max(m.Array, 1)
}

// inner writes the members of a struct, or of each of an array of them, that is a member itself.
func (p *printer) inner(thread int, to string, m Member, s *Struct, now, old []byte) {
	for i := range max(m.Array, 1) {
		element := to
		if m.Array > 0 {
			element = fmt.Sprintf("%s[%d]", to, i)
		}
		for _, f := range s.Fields {
			at, size := i*s.Size+f.Offset, p.c.Headers.size(f)
			p.member(thread, element, f, now[at:at+size], old[at:at+size])
		}
	}
}

// member writes one member if it differs.
func (p *printer) member(thread int, element string, m Member, now, old []byte) {
	if bytes.Equal(now, old) {
		return
	}
	to := element + "." + m.Name
	inner := p.c.Headers.named(m.Type)
	switch {
	case inner != nil && len(inner.Fields) > 0:
		p.inner(thread, to, m, inner, now, old)
	case inner != nil:
		p.differing(thread, "&"+to, 0, now, old)
	case isPointer(m.Type) && m.Array == 0:
		p.line(thread, "%s = %s;", to, p.word(bitsOf(now)))
	case m.Array > 0 && m.Type == "char":
		if s, ok := text("int8", append(bytes.TrimRight(now, "\x00"), 0)); ok {
			p.line(thread, "memset(%s, 0, sizeof %[1]s);", to)
			p.line(thread, "strcpy(%s, %s);", to, s)
			return
		}
		p.differing(thread, to, 0, now, old)
	case m.Array > 0:
		size := len(now) / m.Array
		n := 0
		for i := range m.Array {
			if !bytes.Equal(now[i*size:(i+1)*size], old[i*size:(i+1)*size]) {
				n++
			}
		}
		if n > 16 || m.Type == "float" {
			p.differing(thread, to, 0, now, old)
			return
		}
		for i := range m.Array {
			if v := now[i*size : (i+1)*size]; !bytes.Equal(v, old[i*size:(i+1)*size]) {
				p.line(thread, "%s[%d] = %s;", to, i, p.scalar(m.Type, v))
			}
		}
	default:
		p.line(thread, "%s = %s;", to, p.scalar(m.Type, now))
	}
}

// scalar is a value of a member's type.
func (p *printer) scalar(typ string, b []byte) string {
	switch typ {
	case "float":
		if s, ok := literal("float32", b); ok {
			return s
		}
		return "NAN"
	case "double":
		if s, ok := literal("float64", b); ok {
			return s
		}
		return "NAN"
	}
	bits := bitsOf(b)
	if len(b) == 8 && bits >= 1<<16 {
		if s := p.address(bits); s != "" {
			return fmt.Sprintf("(%s)(uintptr_t)%s", typ, parenthesized(s))
		}
	}
	if name, is := p.c.Headers.enumerator(typ, int(int32(bits))); is {
		if name != "" {
			return name
		}
		return fmt.Sprintf("(%s)%d", typ, int32(bits))
	}
	if len(b) == 4 && !strings.HasPrefix(typ, "u") {
		typ = "int32_t"
	}
	return number(typ, bits)
}

// named is the struct of this name.
func (h *Headers) named(name string) *Struct {
	for i := range h.Structs {
		if h.Structs[i].Name == name {
			return &h.Structs[i]
		}
	}
	return nil
}
