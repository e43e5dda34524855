package trace

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed prelude.c.txt
var prelude string

// Read reads a record; one whose process died ends early.
func Read(r io.Reader) ([]Event, error) {
	var out []Event
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
}

// most is the number of bytes that a program has as numbers.
const most = 2 << 20

// Program is a record as a C program, and its calls one by one. The program demands of each call what the case does. A
// condition that is the case's own becomes a comparison where its message has the wanted value; else the program fails
// if it sees what the case saw when it failed.
func (c *Case) Program(events []Event) (source string, calls []string, err error) {
	size := 0
	for _, e := range events {
		size += len(e.Data)
	}
	used := map[string]bool{}
	for range 2 { // a name that is used may need another one
		p := newPrinter(c, events, used)
		p.events(events)
	}
	p := newPrinter(c, events, used)
	p.events(events)
	source = p.source()
	if len(source) > 8*most {
		return "", p.calls, fmt.Errorf("the data of %s is too large for a program", c.ID)
	}
	return source, p.calls, nil
}

// events prints all events.
func (p *printer) events(events []Event) {
	for _, e := range events {
		if e.Kind == Callback {
			cb := &callback{name: fmt.Sprintf("callback%d", len(p.order)+1), args: e.Codes[0]}
			p.callbacks[e.Bits] = cb
			p.order = append(p.order, cb)
		}
	}
	open := map[int][]*pending{}
	for i, e := range events {
		t := e.Thread
		switch e.Kind {
		case Begin:
			p.dir = e.Text
		case Object:
			p.known(t, e)
		case Out:
			p.changed(t, e)
		case Seen:
			p.looked(t, e)
		case Write:
			to := p.address(e.Addr)
			if to == "" {
				p.line(t, "/* %d bytes are written to %#x */", len(e.Data), e.Addr)
				break
			}
			p.copyTo(t, parenthesizedCast(to), e.Data)
		case Call:
			p.await(t)
			open[t] = append(open[t], p.call(e))
		case Return:
			if n := len(open[t]); n > 0 {
				call := open[t][n-1]
				open[t] = open[t][:n-1]
				p.back(t, call, e, judgement(events[i+1:], t))
			}
		case Check:
			p.await(t)
			p.condition(t, e)
		case Compare:
			p.await(t)
			if at := p.address(e.Addr); at != "" {
				p.compare(t, e.Text, at, e.Name, e.Data, e.Abs, e.Rel)
				p.fails = p.fails || !e.OK
			}
		case Enter:
			p.enter(t, e)
		case Leave:
			p.leave(t, e)
		case Fork:
			p.inFork, p.forked, p.threads = true, nil, map[int]*strings.Builder{}
		case Join:
			p.join()
		case Descriptor:
			name := fmt.Sprintf("fd%d", len(p.descriptors))
			p.descriptors = append(p.descriptors, name)
			p.fds[e.Bits] = name
			p.line(t, "%s = file_of(%d, (unsigned char[]){%s}, %d);", name, e.Addr, hex(append(e.Data, 0)), len(e.Data))
		case File:
			p.files = true
			switch {
			case !e.OK:
				p.line(t, "remove_file(%s);", quoted(e.Name))
			case len(e.Data) == 0:
				p.line(t, `write_file(%s, "", 0);`, quoted(e.Name))
			default:
				p.line(t, "write_file(%s, (unsigned char[]){%s}, %d);", quoted(e.Name), hex(e.Data), len(e.Data))
			}
		case Folder:
			p.files = true
			p.line(t, "make_folder(%s);", quoted(e.Name))
		case Setenv:
			p.line(t, "setenv(%s, %s, 1);", quoted(e.Name), quoted(e.Text))
		case End:
			if e.Name == "fail" && !p.fails {
				p.fallBack(0, e.Text, nil)
			}
		}
	}
	for t, calls := range open {
		for _, c := range calls {
			p.line(t, "/* the case did not come back from this call */")
			p.line(t, "%s;", c.text)
			p.calls = append(p.calls, c.text+" did not return")
		}
	}
	if p.inFork {
		p.join()
	}
}

func parenthesizedCast(s string) string { return parenthesized(s) }

// judgement is what is demanded of the call of a thread that has returned just before these events.
func judgement(events []Event, thread int) *Event {
	for i, e := range events {
		if e.Thread != thread {
			continue
		}
		switch e.Kind {
		case Code, Pointer, Null:
			return &events[i]
		case Out, Seen, Write, Object, File, Folder:
		default:
			return nil
		}
	}
	return nil
}

// call is the text of a call.
func (p *printer) call(e Event) *pending {
	proto := p.c.Headers.prototype(e.Name)
	if proto == nil {
		p.missing[e.Name] = len(e.Args)
	}
	p.names[e.Name] = true
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = p.argument(a, proto, i)
		if proto == nil && strings.ContainsAny(args[i], "pm&N(") {
			args[i] = "(uint64_t)(uintptr_t)" + parenthesized(args[i])
		}
	}
	c := &pending{text: e.Name + "(" + strings.Join(args, ", ") + ")", proto: proto, result: "integer"}
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

// await has the program wait for the callbacks that other threads have called.
func (p *printer) await(t int) {
	if t != 0 || len(p.stack[0]) > 0 {
		return
	}
	for _, cb := range p.order {
		if n := p.waits[cb]; n > 0 {
			p.line(t, "wait_for(&%s_done, %d);", cb.name, n)
			p.waits[cb] = 0
		}
	}
}

func (p *printer) enter(t int, e Event) {
	cb := p.callbacks[e.Bits]
	if cb == nil {
		return
	}
	p.stack[t] = append(p.stack[t], cb)
	fmt.Fprintf(&cb.cases, "  case %d:\n", cb.n)
	cb.n++
	for i, a := range e.Args {
		if p.region(a.Bits) == nil {
			p.name(t, a.Bits, 0, fmt.Sprintf("(void *)(uintptr_t)a%d", i))
		}
	}
}

func (p *printer) leave(t int, e Event) {
	s := p.stack[t]
	if len(s) == 0 {
		return
	}
	cb := s[len(s)-1]
	fmt.Fprintf(&cb.cases, "    result = %s;\n    break;\n", number("int", e.Bits))
	p.stack[t] = s[:len(s)-1]
	if t != 0 {
		p.waits[cb] = cb.n
	}
}

func (p *printer) join() {
	p.inFork = false
	for i := range p.forked {
		p.line(0, "pthread_create(&threads[%d], NULL, thread%d_%d, NULL);", i, len(p.bodies), i)
	}
	for i := range p.forked {
		p.line(0, "pthread_join(threads[%d], NULL);", i)
	}
	var all []string
	for _, t := range p.forked {
		all = append(all, p.threads[t].String())
	}
	p.bodies = append(p.bodies, all)
}

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

var identifier = regexp.MustCompile(`\b[pmn]\d+\b`)

// source puts the program together.
func (p *printer) source() string {
	c := p.c
	var body strings.Builder
	for _, cb := range p.order {
		if !strings.Contains(p.main.String(), cb.name) && !p.mentioned(cb.name) {
			continue
		}
		fmt.Fprintf(&body, "\nstatic int %s_begun, %[1]s_done;\n\nstatic uint64_t %[1]s(%s) {\n"+
			"  uint64_t result = 0;\n", cb.name, cb.parameters())
		for i := range cb.args {
			fmt.Fprintf(&body, "  (void)a%d;\n", i)
		}
		fmt.Fprintf(&body, "  switch (__atomic_fetch_add(&%s_begun, 1, __ATOMIC_SEQ_CST)) {\n%s  }\n"+
			"  __atomic_fetch_add(&%[1]s_done, 1, __ATOMIC_SEQ_CST);\n  return result;\n}\n", cb.name, cb.cases.String())
	}
	most := 0
	for i, all := range p.bodies {
		most = max(most, len(all))
		for k, text := range all {
			fmt.Fprintf(&body, "\nstatic void *thread%d_%d(void *none) {\n%s  return none;\n}\n", i, k, text)
		}
	}
	body.WriteString("\nint main(int argc, char **argv) {\n")
	if most > 0 {
		fmt.Fprintf(&body, "  pthread_t threads[%d];\n", most)
	}
	for _, e := range c.Environ {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&body, "  setenv(%s, %s, 1);\n", quoted(name), quoted(value))
	}
	if p.files {
		body.WriteString("  if (!mkdtemp(folder))\n    fail(\"%s: %s\", folder, strerror(errno));\n")
	}
	fmt.Fprintf(&body, `  library = dlopen(argc > 1 ? argv[1] : %s, RTLD_NOW);
  if (!library)
    fail("%%s", dlerror());
`, quoted(c.Soname))
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		fmt.Fprintf(&body, "  need(&call_%s, %s);\n", name, quoted(name))
	}
	body.WriteString("  alarm(120);\n\n")
	body.WriteString(p.main.String())
	body.WriteString("  printf(\"passed\\n\");\n  return 0;\n}\n")

	mentioned := map[string]bool{}
	for _, m := range identifier.FindAllString(body.String(), -1) {
		mentioned[m] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s\n", strings.ReplaceAll(c.ID, "*/", "* /"))
	fmt.Fprintf(&b, " * A case of the conformance suite of the %s%s as a program of its own.\n", c.API, c.mode())
	if c.Message != "" {
		fmt.Fprintf(&b, " * It failed with:\n *   %s\n", comment(c.Message))
	}
	fmt.Fprintf(&b, ` *
 *   cc -Wall -Wextra -Iinclude FILE.c -o FILE -ldl -lpthread -lm
 *   ./FILE [LIBRARY]
 *
 * include is the folder of the API's headers; LIBRARY is %s if it is not named. Exit code: 0 passed, 1 failed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

`, c.Soname)
	for _, h := range c.Headers.Files {
		fmt.Fprintf(&b, "#include <%s>\n", h)
	}
	b.WriteString("\n/* The functions of the library, found by their names. */\n")
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		if n, none := p.missing[name]; none {
			fmt.Fprintf(&b, "static uint64_t (*call_%s)(%s);\n", name, strings.TrimSuffix(strings.Repeat("uint64_t, ", n), ", "))
		} else {
			fmt.Fprintf(&b, "static __typeof__(%s) *call_%[1]s;\n", name)
		}
		fmt.Fprintf(&b, "#define %s (*call_%[1]s)\n", name)
	}
	b.WriteString(`
#define HELPER static __attribute__((unused))
#define CODE(want, call) check_code(#call, (int64_t)(call), want)
#define CODE_OR(call, codes, n) check_refusal(#call, (int64_t)(call), codes, n)

HELPER char folder[] = "/tmp/case-XXXXXX";

HELPER const char *code_name(int64_t code) {
  switch (code) {
`)
	for _, code := range slices.Sorted(maps.Keys(c.Codes)) {
		fmt.Fprintf(&b, "  case %d:\n    return %s;\n", code, quoted(c.Codes[code]))
	}
	b.WriteString("  }\n  return \"no code of the API\";\n}\n")
	b.WriteString(prelude)
	b.WriteString("\n/* Memory of the program. */\n")
	for _, r := range p.regions {
		if mentioned[r.name] {
			b.WriteString(r.declaration())
		}
	}
	b.WriteString("\n/* Objects and memory that the library gives. */\n")
	for _, k := range p.captures {
		if mentioned[k.name] {
			fmt.Fprintf(&b, "static void *%s;\n", k.name)
		}
	}
	for _, name := range p.descriptors {
		fmt.Fprintf(&b, "static int %s;\n", name)
	}
	for i := range p.codes {
		if name := fmt.Sprintf("n%d", i); mentioned[name] {
			fmt.Fprintf(&b, "static int64_t %s;\n", name)
		}
	}
	b.WriteString(body.String())
	return b.String()
}

// mentioned tells whether a name is used outside of main.
func (p *printer) mentioned(name string) bool {
	for _, cb := range p.order {
		if strings.Contains(cb.cases.String(), name) {
			return true
		}
	}
	for _, all := range p.bodies {
		for _, text := range all {
			if strings.Contains(text, name) {
				return true
			}
		}
	}
	return false
}

func (c *callback) parameters() string {
	if c.args == 0 {
		return "void"
	}
	out := make([]string, c.args)
	for i := range out {
		out[i] = fmt.Sprintf("uint64_t a%d", i)
	}
	return strings.Join(out, ", ")
}

func (c *Case) mode() string {
	if c.Mode == "" {
		return ""
	}
	return ", in the mode " + c.Mode + ","
}

func comment(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "*/", "* /"), "\n", "\n *   ")
}

// declaration declares an object.
func (r *region) declaration() string {
	count := int(r.size)
	switch {
	case r.path:
		return fmt.Sprintf("static char %s[4096];\n", r.name)
	case r.layout != nil:
		count = r.typ.Count
	case r.typ.scalar() != "":
		count /= sizes[r.typ.scalar()]
	default:
		return fmt.Sprintf("static _Alignas(16) unsigned char %s[%d];\n", r.name, count)
	}
	out := fmt.Sprintf("static %s ", r.cType())
	if strings.HasSuffix(r.cType(), "*") {
		out = "static void *"
	}
	out += r.name
	if !r.single() {
		out += fmt.Sprintf("[%d]", count)
	}
	if r.initial != "" {
		out += " = " + r.initial
	}
	return out + ";\n"
}
