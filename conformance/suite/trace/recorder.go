package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// Recorder writes the events of one case. It keeps all memory of the program that it has seen alive, so that an address
// means one object.
//
// A record is bounded: when a case has more events, or more bytes, than a program can have, the record goes on without
// memory, and in the end without anything.
type Recorder struct {
	mu          sync.Mutex
	out         *json.Encoder
	events      int
	bytes       int            // of the data of events
	held        int            // bytes of memory of the program
	stored      map[sum]uint64 // data that the record has, by number
	cut         bool           // what comes is recorded without memory
	turn        int            // counts what gives the library the chance to change memory
	memory      *os.File       // of this process: reading what is not mapped is an error there
	dir         string         // of the case
	main        int            // thread
	objects     map[uintptr]*object
	seen        map[uintptr]*span
	files       map[string]file
	descriptors map[int]uint64 // inodes of files of the program, by descriptor
}

// object is memory of the program.
type object struct {
	keep any
	typ  *Type
	last []byte // as the record has it
}

// sum is a digest of data.
type sum [sha256.Size]byte

// What a record has at most: events with memory, events, bytes of data, and bytes of memory of the program, of which
// there are two copies as long as the case runs. mostFiles is how much of files of the case is looked at.
const (
	mostEvents = 100_000
	mostCalls  = 200_000
	mostData   = 8 << 20
	mostHeld   = 64 << 20
	mostFiles  = 32 << 20
)

// span is memory of the library that the program looks at.
type span struct {
	turn  int // when it was looked at
	typ   *Type
	last  []byte
	short bool // the program writes to it before its next call only
}

type file struct {
	folder bool
	data   []byte
}

// NewRecorder records the case that the calling thread runs.
func NewRecorder(w io.Writer, name, dir string) (*Recorder, error) {
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, err
	}
	r := &Recorder{out: json.NewEncoder(w), memory: memory, dir: dir, main: syscall.Gettid(),
		objects: map[uintptr]*object{}, seen: map[uintptr]*span{}, files: map[string]file{},
		descriptors: map[int]uint64{}, stored: map[sum]uint64{}}
	r.put(Event{Kind: Begin, Name: name, Text: dir})
	return r, nil
}

// Close ends the record.
func (r *Recorder) Close(status, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(Event{Kind: End, Name: status, Text: message})
	r.memory.Close()
}

// put writes an event. Data that the record has already is named by its number.
func (r *Recorder) put(e Event) {
	switch e.Kind {
	case Begin, End, Cut:
	case Call, Return:
		if r.events >= mostCalls {
			return
		}
	default:
		if r.cut {
			return
		}
	}
	if t := syscall.Gettid(); t != r.main {
		e.Thread = t
	}
	r.events++
	if len(e.Data) >= 64 {
		key := sha256.Sum256(e.Data)
		if n := r.stored[key]; n > 0 {
			e.Data, e.Same = nil, n
		} else {
			e.Number = uint64(len(r.stored) + 1)
			r.stored[key] = e.Number
		}
	}
	r.bytes += len(e.Data)
	for _, v := range e.Values {
		r.bytes += len(v.Data)
	}
	if !r.cut && (r.events > mostEvents || r.bytes > mostData) {
		r.stop()
		return
	}
	r.out.Encode(&e) //nolint:errcheck // a record that ends early is one of a case that died
}

// stop goes on without memory.
func (r *Recorder) stop() {
	if r.cut {
		return
	}
	r.cut = true
	clear(r.objects)
	clear(r.seen)
	clear(r.files)
	r.put(Event{Kind: Cut})
}

// read returns n bytes at an address, nil if they are not mapped.
func (r *Recorder) read(addr uintptr, n int) []byte {
	b := make([]byte, n)
	if _, err := r.memory.ReadAt(b, int64(addr)); err != nil {
		return nil
	}
	return b
}

// Held is told of by package cmem.
func (r *Recorder) Held(keep any, addr uintptr, elem reflect.Type, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.library(addr) {
		r.hold(keep, addr, elem, n)
	}
}

// hold knows an object of the program from now on; the larger one of two at an address.
func (r *Recorder) hold(keep any, addr uintptr, elem reflect.Type, n int) {
	o := r.objects[addr]
	if o != nil && o.typ.Size*o.typ.Count >= int(elem.Size())*n {
		return
	}
	if elem.Size() == 0 || r.cut {
		return
	}
	if o != nil {
		r.held -= o.typ.Size * o.typ.Count
	}
	if r.held += int(elem.Size()) * n; r.held > mostHeld {
		r.stop()
		return
	}
	r.objects[addr] = &object{keep: keep, typ: typeOf(elem, n)}
}

// Seen is told of by package cmem.
func (r *Recorder) Seen(addr uintptr, elem reflect.Type, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut || r.inside(addr) {
		return
	}
	size := int(elem.Size()) * n
	old := r.seen[addr]
	if old != nil && old.turn == r.turn && len(old.last) >= size {
		return // what the program does to it is seen at its next call
	}
	if size > mostHeld {
		r.stop()
		return
	}
	if old != nil {
		r.written(addr, old)
	}
	if old != nil && old.typ.Size*old.typ.Count > size {
		elem, size = nil, len(old.last)
	}
	b := r.read(addr, size)
	if b == nil {
		return
	}
	s := &span{last: b, short: n > 1, turn: r.turn}
	if elem == nil {
		s.typ, s.short = old.typ, old.short
	} else {
		s.typ = typeOf(elem, n)
	}
	r.seen[addr] = s
	r.put(Event{Kind: Seen, Addr: uint64(addr), Data: b, Type: s.typ})
}

// Read is told of by package cmem.
func (r *Recorder) Read(addr uintptr, elem reflect.Type, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inside(addr) {
		r.put(Event{Kind: Seen, Addr: uint64(addr), Data: slices.Clone(b), Type: typeOf(elem, len(b)/int(elem.Size()))})
	}
}

// inside tells whether an address is one of the program's objects.
func (r *Recorder) inside(addr uintptr) bool {
	for base, o := range r.objects {
		if addr >= base && addr < base+uintptr(o.typ.Size*o.typ.Count) {
			return true
		}
	}
	return false
}

// Arg knows the memory that an argument refers to and returns the argument for Call.
func (r *Recorder) Arg(bits uintptr, keep any) Arg {
	r.mu.Lock()
	defer r.mu.Unlock()
	if keep == nil || r.cut {
		return Arg{Bits: uint64(bits)}
	}
	v := reflect.ValueOf(keep)
	switch v.Kind() {
	case reflect.Slice, reflect.Pointer:
		r.walk(v)
		return Arg{Bits: uint64(bits), Address: bits != 0 && r.inside(bits)}
	}
	return Arg{Bits: uint64(bits)}
}

// walk knows the objects that a value refers to.
func (r *Recorder) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if !r.library(v.Pointer()) {
			_, known := r.objects[v.Pointer()]
			r.hold(v.Interface(), v.Pointer(), v.Type().Elem(), 1)
			if known && v.Elem().Kind() != reflect.Struct {
				return
			}
			r.walk(v.Elem())
		}
	case reflect.Slice:
		if v.Cap() == 0 || v.IsNil() || v.Len() == 0 {
			return
		}
		if r.library(v.Pointer()) {
			return
		}
		r.hold(v.Interface(), v.Pointer(), v.Type().Elem(), v.Len())
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Array:
			for i := range v.Len() {
				r.walk(v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Kind() == reflect.Pointer && !f.IsNil() {
				// an unexported field is read through its address
				r.walk(reflect.NewAt(f.Type().Elem(), f.UnsafePointer()))
			} else if f.Kind() == reflect.Struct || f.Kind() == reflect.Array {
				r.walk(f)
			}
		}
	}
}

// library tells whether an address is in memory of the library that was seen.
func (r *Recorder) library(addr uintptr) bool {
	for base, s := range r.seen {
		if addr >= base && addr < base+uintptr(len(s.last)) {
			return true
		}
	}
	return false
}

// Call records that the program calls a function now; argument fd, if not negative, is the descriptor of a file.
func (r *Recorder) Call(name string, args []Arg, fd int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.flush()
	if fd >= 0 && fd < len(args) {
		r.descriptor(int(int32(args[fd].Bits)))
	}
	r.put(Event{Kind: Call, Name: name, Args: args})
}

// descriptor records the file of a descriptor of the program.
func (r *Recorder) descriptor(fd int) {
	var s syscall.Stat_t
	if fd < 0 || syscall.Fstat(fd, &s) != nil || s.Mode&syscall.S_IFMT != syscall.S_IFREG || r.descriptors[fd] == s.Ino {
		return
	}
	r.descriptors[fd] = s.Ino
	data := make([]byte, min(s.Size, most))
	n, _ := syscall.Pread(fd, data, 0)
	r.put(Event{Kind: Descriptor, Bits: uint64(fd), Addr: uint64(s.Size), Data: bytes.TrimRight(data[:max(n, 0)], "\x00")})
}

// Return records that the call is back.
func (r *Recorder) Return(bits uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.put(Event{Kind: Return, Bits: uint64(bits)})
	r.learn()
}

// flush records what the program has done since its last call.
func (r *Recorder) flush() {
	r.scan(true)
	for _, addr := range sorted(r.objects) {
		o := r.objects[addr]
		if o == nil { // the record was cut
			return
		}
		b := r.read(addr, o.typ.Size*o.typ.Count)
		if b != nil && !bytes.Equal(b, o.last) {
			o.last = b
			r.put(Event{Kind: Object, Addr: uint64(addr), Data: b, Type: o.typ})
		}
	}
	for _, addr := range sorted(r.seen) {
		s := r.seen[addr]
		if s == nil {
			return
		}
		r.written(addr, s)
		if s.short {
			delete(r.seen, addr)
		}
	}
}

// written records what the program has written to memory of the library: only the bytes that differ, as others may be
// the library's own business.
func (r *Recorder) written(addr uintptr, s *span) {
	b := r.read(addr, len(s.last))
	for i := 0; i < len(b); {
		if b[i] == s.last[i] {
			i++
			continue
		}
		j := i
		for j < len(b) && (b[j] != s.last[j] || j+8 < len(b) && !bytes.Equal(b[j:j+8], s.last[j:j+8])) {
			j++
		}
		r.put(Event{Kind: Write, Addr: uint64(addr) + uint64(i), Data: b[i:j]})
		i = j
	}
	if b != nil {
		s.last = b
	}
}

// learn records what the library has done since the program called it.
func (r *Recorder) learn() {
	r.scan(false)
	for _, addr := range sorted(r.objects) {
		o := r.objects[addr]
		if o == nil {
			return
		}
		if b := r.read(addr, o.typ.Size*o.typ.Count); b != nil && o.last != nil && !bytes.Equal(b, o.last) {
			o.last = b
			r.put(Event{Kind: Out, Addr: uint64(addr), Data: b, Type: o.typ})
		}
	}
	for addr, s := range r.seen {
		if b := r.read(addr, len(s.last)); b != nil {
			s.last = b
		} else {
			delete(r.seen, addr)
		}
	}
}

// scan compares the case's folder with what is known of it, and records what the program has changed.
func (r *Recorder) scan(program bool) {
	if r.dir == "" || r.cut {
		return
	}
	now, size := map[string]file{}, int64(0)
	// what cannot be read is left out
	filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // as above
		if err != nil || path == r.dir {
			return nil
		}
		name := strings.TrimPrefix(path, r.dir+"/")
		switch {
		case d.IsDir():
			now[name] = file{folder: true}
		case d.Type().IsRegular():
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
			if size > mostFiles {
				return filepath.SkipAll
			}
			if b, err := os.ReadFile(path); err == nil {
				now[name] = file{data: b}
			}
		}
		return nil
	})
	if size > mostFiles {
		r.stop()
		return
	}
	if program {
		for _, name := range sorted(now) {
			f, old := now[name], r.files[name]
			_, known := r.files[name]
			switch {
			case f.folder && !known:
				r.put(Event{Kind: Folder, Name: name})
			case !f.folder && (!known || !bytes.Equal(f.data, old.data)):
				r.put(Event{Kind: File, Name: name, Data: f.data, OK: true})
			}
		}
		for _, name := range sorted(r.files) {
			if _, still := now[name]; !still {
				r.put(Event{Kind: File, Name: name})
			}
		}
	}
	r.files = now
}

// Judge records what is demanded of the thread's last call, or a condition.
func (r *Recorder) Judge(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(e)
}

// Check records a condition with its message: format and args are its parts.
func (r *Recorder) Check(ok bool, text, format string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.learn()
	}
	r.put(Event{Kind: Check, OK: ok, Text: text, Values: values(format, args)})
}

// values are those of the arguments of a message that are scalars or slices of them.
func values(format string, args []any) []Value {
	before := strings.Split(format, "%") // text before verb i+1 ends before[i]
	var out []Value
	for i, a := range args {
		v := reflect.ValueOf(a)
		if !v.IsValid() {
			continue
		}
		x := Value{}
		switch v.Kind() {
		case reflect.Slice:
			if v.Len() == 0 || v.IsNil() {
				continue
			}
			x.Type = typeOf(v.Type().Elem(), v.Len())
			if x.Type.scalar() == "" {
				continue
			}
			x.Data = unsafe.Slice((*byte)(v.UnsafePointer()), x.Type.Size*x.Type.Count)
		case reflect.String:
			x.Type, x.Data = typeOf(reflect.TypeFor[byte](), v.Len()), []byte(v.String())
		default:
			x.Type = typeOf(v.Type(), 1)
			if len(x.Type.Fields) == 0 {
				continue
			}
			p := reflect.New(v.Type())
			p.Elem().Set(v)
			x.Data = unsafe.Slice((*byte)(p.UnsafePointer()), x.Type.Size)
		}
		x.Data = slices.Clone(x.Data)
		if i < len(before) {
			x.Want = strings.HasSuffix(strings.TrimRight(before[i], " ["), "want")
		}
		out = append(out, x)
	}
	return out
}

// Enter records that a callback begins.
func (r *Recorder) Enter(callback uintptr, args []uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.learn()
	e := Event{Kind: Enter, Bits: uint64(callback)}
	for _, a := range args {
		e.Args = append(e.Args, Arg{Bits: uint64(a)})
	}
	r.put(e)
}

// Leave records that a callback ends with a result.
func (r *Recorder) Leave(callback, result uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.flush()
	r.put(Event{Kind: Leave, Addr: uint64(callback), Bits: uint64(result)})
}

func sorted[K ~string | ~uintptr, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
