package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Case is the case of a record.
type Case struct {
	API      string // title
	Soname   string // of the library
	ID, Mode string
	Message  string // with which it failed
	Environ  []string
	Codes    map[int]string // names of return codes
	Headers  *Headers
}

// region is memory of the program as an object of C.
type region struct {
	addr, size uint64
	typ        *Type // nil: bytes
	layout     *Struct
	name       string
	now        []byte // as the C program has it
	written    bool
	initial    string // of the declaration
	path       bool   // the path of a file in the case's folder
}

// capture is a value that the library has given, under a name.
type capture struct {
	name string
	bits uint64
	size uint64 // of the memory at it that the program has looked at
}

// observation is what the program has seen of the library's results.
type observation struct {
	expr string // the address
	addr uint64
	typ  *Type
	data []byte
}

// printer turns events into lines of C. It runs twice: the first pass finds out which values are used again.
type printer struct {
	c           *Case
	regions     []*region
	captures    []*capture // the latest last
	used        map[string]bool
	callbacks   map[uint64]*callback
	order       []*callback
	main        *strings.Builder
	threads     map[int]*strings.Builder
	forked      []int
	inFork      bool
	stack       map[int][]*callback // of callbacks that run, by thread
	calls       []string
	seen        map[uint64]*observation
	recent      []*observation // since the last condition that held
	codes       int
	names       map[string]bool   // functions that are called
	missing     map[string]int    // those without a prototype, with the number of their arguments
	fails       bool              // the program fails with what the record has
	bodies      [][]string        // of the functions of threads
	fds         map[uint64]string // names of the program's file descriptors
	descriptors []string
	dir         string
	files       bool
	waits       map[*callback]int
}

// callback is a function of the program that the library calls.
type callback struct {
	name  string
	args  int
	cases strings.Builder
	n     int
}

// pending is a call that is not back.
type pending struct {
	text   string
	proto  *prototype
	result string // kind: void, pointer, integer
}

func newPrinter(c *Case, events []Event, used map[string]bool) *printer {
	p := &printer{c: c, used: used, callbacks: map[uint64]*callback{}, main: &strings.Builder{},
		threads: map[int]*strings.Builder{}, stack: map[int][]*callback{}, seen: map[uint64]*observation{},
		names: map[string]bool{}, missing: map[string]int{}, waits: map[*callback]int{},
		fds: map[uint64]string{}}
	p.layOut(events)
	return p
}

// layOut finds the program's objects: the largest ones of those that lie in each other.
func (p *printer) layOut(events []Event) {
	var all []*region
	for _, e := range events {
		if e.Kind == Object || e.Kind == Out {
			all = append(all, &region{addr: e.Addr, size: uint64(len(e.Data)), typ: e.Type})
		}
	}
	slices.SortStableFunc(all, func(a, b *region) int {
		switch {
		case a.addr != b.addr:
			return cmpUint(a.addr, b.addr)
		default:
			return cmpUint(b.size, a.size)
		}
	})
	for _, r := range all {
		if n := len(p.regions); n > 0 {
			last := p.regions[n-1]
			if end := last.addr + last.size; r.addr < end {
				if r.addr+r.size > end {
					last.size = r.addr + r.size - last.addr
					if k := last.typ.scalar(); k != "" && k == r.typ.scalar() {
						last.typ = &Type{Size: sizes[k], Count: int(last.size) / sizes[k], Fields: []Field{{0, k, 1}}}
					} else {
						last.typ = nil
					}
				}
				continue
			}
		}
		p.regions = append(p.regions, r)
	}
	for i, r := range p.regions {
		r.name, r.now = fmt.Sprintf("m%d", i), make([]byte, r.size)
	}
	for _, e := range events {
		if e.Kind != Call {
			continue
		}
		proto := p.c.Headers.prototype(e.Name)
		for i, a := range e.Args {
			r := p.region(a.Bits)
			if !a.Address || r == nil || proto == nil || i >= len(proto.params) || r.typ == nil || r.typ.scalar() != "" {
				continue
			}
			r.layout = p.c.Headers.layout(r.typ, base(proto.params[i]))
		}
	}
	for _, r := range p.regions {
		if r.typ != nil && r.layout == nil && r.typ.scalar() == "" {
			r.layout = p.c.Headers.layout(r.typ, "")
		}
	}
}

func cmpUint(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

// region is the program's object that holds an address.
func (p *printer) region(addr uint64) *region {
	for _, r := range p.regions {
		if addr >= r.addr && addr < r.addr+r.size {
			return r
		}
	}
	return nil
}

// out is where lines of a thread go.
func (p *printer) out(thread int) *strings.Builder {
	if s := p.stack[thread]; len(s) > 0 {
		return &s[len(s)-1].cases
	}
	if thread == 0 || !p.inFork {
		return p.main
	}
	if p.threads[thread] == nil {
		p.threads[thread] = &strings.Builder{}
		p.forked = append(p.forked, thread)
	}
	return p.threads[thread]
}

func (p *printer) line(thread int, format string, args ...any) {
	fmt.Fprintf(p.out(thread), "  "+format+"\n", args...)
}

// address is a C expression of a pointer to an object or to memory of the library, "" if it is neither.
func (p *printer) address(bits uint64) string {
	if c := p.callbacks[bits]; c != nil {
		return "(void *)" + c.name
	}
	if r := p.region(bits); r != nil {
		return r.at(bits - r.addr)
	}
	for i := len(p.captures) - 1; i >= 0; i-- {
		if c := p.captures[i]; c.bits == bits {
			p.used[c.name] = true
			return c.name
		}
	}
	for i := len(p.captures) - 1; i >= 0; i-- {
		if c := p.captures[i]; bits > c.bits && bits < c.bits+c.size {
			p.used[c.name] = true
			return fmt.Sprintf("(char *)%s + %d", c.name, bits-c.bits)
		}
	}
	return ""
}

// at is a pointer into the object.
func (r *region) at(off uint64) string {
	name := r.name
	if r.single() {
		name = "&" + name
	}
	if off == 0 {
		return name
	}
	if k := r.typ.scalar(); k != "" && off%uint64(sizes[k]) == 0 {
		return fmt.Sprintf("%s + %d", name, off/uint64(sizes[k]))
	}
	return fmt.Sprintf("(char *)%s + %d", name, off)
}

// single tells whether the object is no array.
func (r *region) single() bool {
	if r.layout != nil {
		return r.typ.Count == 1
	}
	return r.typ != nil && r.typ.scalar() != "" && int(r.size) == sizes[r.typ.scalar()] && !r.path
}

// cType is the type of an element.
func (r *region) cType() string {
	switch {
	case r.path:
		return "char"
	case r.layout != nil:
		return r.layout.Name
	case r.typ.scalar() != "":
		return cTypes[r.typ.scalar()]
	}
	return "unsigned char"
}

// word is a C expression of type void * for a word of memory.
func (p *printer) word(bits uint64) string {
	if bits == 0 {
		return "NULL"
	}
	if a := p.address(bits); a != "" {
		return "(void *)" + parenthesized(a)
	}
	return fmt.Sprintf("(void *)%#x", bits)
}

func parenthesized(s string) string {
	if strings.Contains(s, " + ") {
		return "(" + s + ")"
	}
	return s
}

// name gives a value of the library a name, which the program then assigns expr to; nothing is printed if nobody uses
// it.
func (p *printer) name(thread int, bits, size uint64, expr string) {
	if bits < 1<<16 || int64(bits) < 0 {
		return
	}
	name := fmt.Sprintf("p%d", len(p.captures))
	p.captures = append(p.captures, &capture{name, bits, size})
	if p.used[name] {
		p.line(thread, "%s = %s;", name, expr)
	}
}

// argument is a C expression for an argument.
func (p *printer) argument(a Arg, proto *prototype, i int) string {
	typ := "uint64_t"
	if proto != nil && i < len(proto.params) {
		typ = proto.params[i]
	}
	switch {
	case typ == "float":
		return floatArgument(uint32(a.Bits))
	case isPointer(typ):
		if a.Bits == 0 {
			return "NULL"
		}
		deep := strings.HasPrefix(typ, "const ") && strings.Count(typ, "*") > 1 // no conversion to it is implicit
		if r := p.region(a.Bits); r != nil && r.addr == a.Bits && r.cType() == base(typ) && !deep {
			return r.at(0)
		}
		return p.word(a.Bits)
	case proto != nil && i < len(proto.names) && proto.names[i] == "fd" && p.fds[uint64(uint32(a.Bits))] != "":
		return p.fds[uint64(uint32(a.Bits))]
	case a.Bits >= 1<<16:
		if s := p.address(a.Bits); s != "" && scalarSize(typ) == 8 || a.Address {
			return fmt.Sprintf("(%s)(uintptr_t)%s", typ, parenthesized(s))
		}
	}
	if name, is := p.c.Headers.enumerator(typ, int(int32(a.Bits))); is {
		if name != "" {
			return name
		}
		return fmt.Sprintf("(%s)%d", typ, int32(a.Bits))
	}
	return number(typ, a.Bits)
}

// floatArgument is a float of C.
func floatArgument(bits uint32) string {
	if text, ok := float(float64(math.Float32frombits(bits)), 32, "f"); ok {
		return text
	}
	return "NAN"
}
