package boundary

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An Enum has the names of an enumeration's numbers, sorted by number. With Bits a number may be a sum of several.
type Enum struct {
	Names []Enumerator
	Bits  bool
}

// An Enumerator is a named number.
type Enumerator struct {
	Number int64
	Name   string
}

// text is a number by name, or as a number if it has none.
func (e *Enum) text(n int64) string {
	at, found := slices.BinarySearchFunc(e.Names, n, func(v Enumerator, n int64) int { return cmp.Compare(v.Number, n) })
	if found {
		return e.Names[at].Name
	}
	if !e.Bits {
		return strconv.FormatInt(n, 10)
	}
	var parts []string
	for _, v := range slices.Backward(e.Names) {
		if v.Number != 0 && n&v.Number == v.Number {
			parts = append(parts, v.Name)
			n &^= v.Number
		}
	}
	slices.Reverse(parts)
	if n != 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%#x", uint64(n)))
	}
	return strings.Join(parts, "|")
}

// A Layout describes a struct of C.
type Layout struct {
	Name   string
	Size   uintptr
	Fields []Field
}

// A Kind is how the bytes of a field are read.
type Kind byte

// The kinds of fields.
const (
	Signed Kind = iota
	Unsigned
	Float
	Bool
	Char
	Pointer // to elements of the kind Of; only its address is shown unless Length says how many there are
	Nested  // a struct, or with Follow a pointer to one
)

// A Field is one of a struct.
type Field struct {
	Name   string
	Offset uintptr
	Kind   Kind
	Size   uintptr // of one element in bytes
	Array  int     // elements, 0 for a field that is no array
	Of     Kind    // of Pointer: the kind of the elements, with Length
	Width  uintptr // of Pointer: bytes of an element that it points to
	Enum   *Enum
	Struct *Layout
	Follow bool
	Length *Field // counts the elements of an array or of memory that a pointer leads to
}

const (
	mostElements = 16  // elements of an array that are shown
	mostStructs  = 8   // structs of an array that are shown
	deepest      = 3   // structs in structs that are shown
	mostText     = 256 // bytes of a text in a field that are shown
)

// memoryAt copies memory of the program. ok is false if it cannot be read or a sandbox forbids to look. It never
// faults.
func memoryAt(p uintptr, n uintptr) (data []byte, ok bool) {
	if p == 0 || n == 0 || n > 1<<20 {
		return nil, false
	}
	data = make([]byte, n)
	local := []unix.Iovec{{Base: &data[0]}}
	local[0].SetLen(int(n))
	got, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: p, Len: int(n)}}, 0)
	return data, err == nil && got == int(n)
}

// text is the struct at p by its fields, or its address.
func (l *Layout) text(p uintptr, depth int) string {
	data, ok := memoryAt(p, l.Size)
	if !ok || depth == 0 {
		return addressText(p)
	}
	return l.show(data, depth)
}

// texts are n structs in a row.
func (l *Layout) texts(p uintptr, n uint64) string {
	data, ok := memoryAt(p, l.Size*uintptr(min(n, mostStructs)))
	if !ok {
		return addressText(p)
	}
	return l.row(data, n, deepest)
}

// row shows the structs that data holds of n.
func (l *Layout) row(data []byte, n uint64, depth int) string {
	var parts []string
	for ; uintptr(len(data)) >= l.Size; data = data[l.Size:] {
		parts = append(parts, l.show(data, depth))
	}
	if n > uint64(len(parts)) {
		parts = append(parts, "...")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// show is a struct that lies in data.
func (l *Layout) show(data []byte, depth int) string {
	var parts []string
	for i := range l.Fields {
		parts = append(parts, l.Fields[i].Name+"="+l.Fields[i].show(data, depth))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// show is the field of a struct that lies in data.
func (f *Field) show(data []byte, depth int) string {
	at := data[f.Offset:]
	switch {
	case f.Kind == Char && f.Array > 0:
		return quoted(at[:f.Array])
	case f.Kind == Nested && f.Follow:
		return f.Struct.text(uintptr(binary.NativeEndian.Uint64(at)), depth-1)
	case f.Kind == Nested && f.Array > 0:
		n := min(f.Array, mostStructs)
		return f.Struct.row(at[:uintptr(n)*f.Size], uint64(f.Array), depth)
	case f.Kind == Nested:
		return f.Struct.show(at, depth)
	case f.Kind == Pointer:
		p := uintptr(binary.NativeEndian.Uint64(at))
		if f.Length == nil {
			return addressText(p)
		}
		return numbersText(p, f.Length.count(data), f.Of, f.Width, f.Enum)
	case f.Array > 0:
		n := uint64(f.Array)
		if f.Length != nil {
			n = min(n, f.Length.count(data))
		}
		return numbersIn(at[:uintptr(n)*f.Size], n, f.Kind, f.Size, f.Enum)
	}
	return numberText(at[:f.Size], f.Kind, f.Enum)
}

// count is the field of a struct as a number of elements, 0 if it is negative.
func (f *Field) count(data []byte) uint64 {
	n := signed(data[f.Offset : f.Offset+f.Size])
	if f.Kind == Unsigned && f.Size < 8 {
		n &= 1<<(8*f.Size) - 1
	}
	return uint64(max(n, 0))
}

// numbersText are n numbers in memory, or the address.
func numbersText(p uintptr, n uint64, kind Kind, size uintptr, e *Enum) string {
	data, ok := memoryAt(p, size*uintptr(min(n, mostElements)))
	if !ok {
		return addressText(p)
	}
	return numbersIn(data, n, kind, size, e)
}

// numbersIn are the numbers that data holds of n, at most mostElements.
func numbersIn(data []byte, n uint64, kind Kind, size uintptr, e *Enum) string {
	var parts []string
	for ; uintptr(len(data)) >= size && len(parts) < mostElements; data = data[size:] {
		parts = append(parts, numberText(data[:size], kind, e))
	}
	if n > uint64(len(parts)) {
		parts = append(parts, "...")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// numberText is one number of a kind.
func numberText(data []byte, kind Kind, e *Enum) string {
	n := signed(data)
	switch {
	case kind == Float && len(data) == 4:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(n))), 'g', -1, 32)
	case kind == Float:
		return strconv.FormatFloat(math.Float64frombits(uint64(n)), 'g', -1, 64)
	case kind == Bool:
		return strconv.FormatBool(n != 0)
	case kind == Pointer:
		return addressText(uintptr(n))
	}
	if kind != Signed && len(data) < 8 {
		n &= 1<<(8*len(data)) - 1
	}
	if e != nil {
		return e.text(n)
	}
	if kind == Unsigned {
		return strconv.FormatUint(uint64(n), 10)
	}
	return strconv.FormatInt(n, 10)
}

// signed is the number in 1, 2, 4 or 8 bytes, with its sign.
func signed(data []byte) int64 {
	switch len(data) {
	case 1:
		return int64(int8(data[0]))
	case 2:
		return int64(int16(binary.NativeEndian.Uint16(data)))
	case 4:
		return int64(int32(binary.NativeEndian.Uint32(data)))
	}
	return int64(binary.NativeEndian.Uint64(data))
}

// quoted is the text in a field, up to its NUL.
func quoted(data []byte) string {
	text, _, ended := strings.Cut(string(data[:min(len(data), mostText)]), "\x00")
	if !ended && len(data) > mostText {
		return strconv.Quote(text) + "..."
	}
	return strconv.Quote(text)
}

func addressText(p uintptr) string {
	if p == 0 {
		return "NULL"
	}
	return fmt.Sprintf("%#x", p)
}
