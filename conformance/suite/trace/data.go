package trace

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// cTypes are the types of C for kinds of scalars.
var cTypes = map[string]string{"int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "uint16": "uint16_t",
	"int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t", "float32": "float",
	"float64": "double", "word": "void *"}

// literal is a scalar of C; ok is false for a NaN, whose bits C cannot write.
func literal(kind string, b []byte) (text string, ok bool) {
	switch kind {
	case "float32":
		v := math.Float32frombits(binary.NativeEndian.Uint32(b))
		return float(float64(v), 32, "f")
	case "float64":
		return float(math.Float64frombits(binary.NativeEndian.Uint64(b)), 64, "")
	}
	return number(cTypes[kind], bitsOf(b)), true
}

func float(v float64, size int, suffix string) (string, bool) {
	switch {
	case math.IsNaN(v):
		return "", false
	case math.IsInf(v, 1):
		return "INFINITY", true
	case math.IsInf(v, -1):
		return "-INFINITY", true
	}
	s := strconv.FormatFloat(v, 'g', -1, size)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + suffix, true
}

// bitsOf is an integer of up to 8 bytes.
func bitsOf(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// list is the elements of an array, at most to the last that is not 0; ok is false if C cannot write one.
func list(kind string, b []byte) (text string, ok bool) {
	size := sizes[kind]
	end := len(b)
	for end > 0 && b[end-1] == 0 {
		end--
	}
	var items []string
	for i := 0; i < end; i += size {
		s, ok := literal(kind, b[i:i+size])
		if !ok {
			return "", false
		}
		items = append(items, s)
	}
	if len(items) == 0 {
		items = []string{"0"}
	}
	return wrap(items), true
}

// hex is bytes as elements of an array.
func hex(b []byte) string {
	items := make([]string, len(b))
	for i, c := range b {
		items[i] = fmt.Sprint(c)
	}
	return wrap(items)
}

// wrap joins items with commas in lines of less than 120 columns.
func wrap(items []string) string {
	var b strings.Builder
	column := 0
	for i, s := range items {
		if i > 0 {
			b.WriteString(",")
			column++
			if column+len(s) > 100 {
				b.WriteString("\n    ")
				column = 0
			} else {
				b.WriteString(" ")
				column++
			}
		}
		b.WriteString(s)
		column += len(s)
	}
	return b.String()
}

// quoted is a string of C.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '?':
			b.WriteString(`\?`) // no trigraph
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
