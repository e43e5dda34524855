package trace

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Headers are what a program needs to know of an API's public headers.
type Headers struct {
	Files      []string // to include
	Prototypes []string // of the functions
	Structs    []Struct
	Enums      []Enum
}

// Struct is a struct of the headers.
type Struct struct {
	Name   string
	Size   int
	Fields []Member
}

// Member is a field of a struct.
type Member struct {
	Name, Type    string
	Offset, Array int // Array is the number of elements, 0 for none
}

// Enum is an enumeration of the headers.
type Enum struct {
	Name   string
	Values map[string]int
}

// prototype is a function.
type prototype struct {
	name, result string
	params       []string // types
	names        []string // of the parameters
}

var (
	wholePrototype = regexp.MustCompile(`^(.*?)(\w+)\((.*)\)$`)
	parameter      = regexp.MustCompile(`^(.*?)(\w+)\s*((?:\[\w*\])?)$`)
)

// Descriptor is the number of the parameter of a function that takes a file descriptor, -1 if there is none.
func (h *Headers) Descriptor(function string) int {
	if h == nil {
		return -1
	}
	if p := h.prototype(function); p != nil {
		return slices.Index(p.names, "fd")
	}
	return -1
}

// prototype is that of a function, nil where the headers have none.
func (h *Headers) prototype(name string) *prototype {
	for _, c := range h.Prototypes {
		m := wholePrototype.FindStringSubmatch(c)
		if m == nil || m[2] != name {
			continue
		}
		p := &prototype{name: name, result: strings.TrimSpace(m[1])}
		if m[3] == "" || m[3] == "void" {
			return p
		}
		for _, x := range strings.Split(m[3], ",") {
			t := parameter.FindStringSubmatch(strings.TrimSpace(x))
			if t == nil {
				return nil
			}
			typ := strings.TrimSpace(t[1])
			if t[3] != "" {
				typ += " *"
			}
			p.params, p.names = append(p.params, typ), append(p.names, t[2])
		}
		return p
	}
	return nil
}

// layout is the struct that lies in memory as an element of t does; preferred, if it is one of several.
func (h *Headers) layout(t *Type, preferred string) *Struct {
	var found *Struct
	for i := range h.Structs {
		s := &h.Structs[i]
		if strings.Contains(s.Name, " ") || s.Size != t.Size || !s.fits(t) {
			continue
		}
		if found == nil || s.Name == preferred {
			found = s
		}
	}
	return found
}

// fits tells whether every field of t begins within a member of its size.
func (s *Struct) fits(t *Type) bool {
	at := map[int]*Member{}
	for i := range s.Fields {
		at[s.Fields[i].Offset] = &s.Fields[i]
	}
	for i, f := range t.Fields {
		if at[f.Offset] == nil && i == 0 {
			return false
		}
		if m := at[f.Offset]; m != nil && f.Kind == "word" && !isPointer(m.Type) && m.Array == 0 && scalarSize(m.Type) < 8 {
			return false
		}
	}
	return true
}

// enumerator is the name of a number of an enumeration, "" if there is none.
func (h *Headers) enumerator(enum string, value int) (name string, isEnum bool) {
	for _, e := range h.Enums {
		if e.Name != enum {
			continue
		}
		for n, v := range e.Values {
			if v == value && (name == "" || n < name) {
				name = n
			}
		}
		return name, true
	}
	return "", false
}

// pointers are types that are pointers and do not look it.
var pointers = []string{"NN_OnRunDone", "NN_OnServiceDied", "hbPackedDNNHandle_t", "hbDNNHandle_t", "hbDNNTaskHandle_t",
	"hbDNNTaskDoneCb"}

func isPointer(c string) bool { return strings.Contains(c, "*") || slices.Contains(pointers, c) }

// scalarSize is the size of a C type that is no pointer and no struct.
func scalarSize(c string) int {
	switch strings.TrimPrefix(c, "const ") {
	case "char", "int8_t", "uint8_t", "bool":
		return 1
	case "int16_t", "uint16_t":
		return 2
	case "size_t", "int64_t", "uint64_t", "double", "rknn_context", "rknn_matmul_ctx", "rknn_custom_op_interal_context":
		return 8
	}
	return 4
}

// base is the type that a pointer type points to.
func base(c string) string {
	c = strings.TrimPrefix(strings.TrimSpace(c), "const ")
	i := strings.LastIndex(c, "*")
	if i < 0 {
		return c
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(c[:i]), " const"))
}

// number is an integer of a C type.
func number(c string, bits uint64) string {
	switch strings.TrimPrefix(c, "const ") {
	case "int8_t":
		return strconv.Itoa(int(int8(bits)))
	case "uint8_t", "bool", "char":
		return strconv.Itoa(int(uint8(bits)))
	case "int16_t":
		return strconv.Itoa(int(int16(bits)))
	case "uint16_t":
		return strconv.Itoa(int(uint16(bits)))
	case "int", "int32_t":
		if int32(bits) == -1<<31 {
			return "INT32_MIN"
		}
		return strconv.Itoa(int(int32(bits)))
	case "uint32_t", "unsigned int":
		return small(uint64(uint32(bits)), "u")
	case "int64_t":
		if int64(bits) == -1<<63 {
			return "INT64_MIN"
		}
		return strconv.FormatInt(int64(bits), 10)
	}
	return small(bits, "u")
}

func small(v uint64, suffix string) string {
	if v < 1<<31 {
		return strconv.FormatUint(v, 10)
	}
	return fmt.Sprintf("%#x%s", v, suffix)
}
