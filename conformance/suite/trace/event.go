// Package trace records the calls that a case makes of a C library, with the memory that goes between the two, and
// prints a record as a C program that makes the same calls and demands the same of their results.
package trace

import "reflect"

// Event is one line of a record.
type Event struct {
	Kind   Kind    `json:"kind"`
	Thread int     `json:"thread,omitempty"` // 0: the case's own
	Name   string  `json:"name,omitempty"`
	Args   []Arg   `json:"args,omitempty"`
	Bits   uint64  `json:"bits,omitempty"`
	Addr   uint64  `json:"addr,omitempty"`
	Data   []byte  `json:"data,omitempty"`
	Type   *Type   `json:"type,omitempty"`
	Codes  []int   `json:"codes,omitempty"`
	Or     []int   `json:"or,omitempty"`
	OK     bool    `json:"ok,omitempty"`
	Text   string  `json:"text,omitempty"`
	Abs    float64 `json:"abs,omitempty"`
	Rel    float64 `json:"rel,omitempty"`
	Values []Value `json:"values,omitempty"`

	// Large data is in a record once: with a number, which later events name instead.
	Number uint64 `json:"number,omitempty"`
	Same   uint64 `json:"same,omitempty"`
}

// Kind is what an event says.
type Kind string

// The kinds of events.
const (
	Object   Kind = "object"   // Addr, Data, Type: memory of the program that a call can reach, as it is now
	Call     Kind = "call"     // Name, Args: the program calls
	Return   Kind = "return"   // Bits: the call of the thread is back
	Out      Kind = "out"      // Addr, Data: what the library has made of memory of the program
	Seen     Kind = "seen"     // Addr, Data, Type: memory of the library that the program looks at
	Write    Kind = "write"    // Addr, Data: the program writes to memory of the library
	Code     Kind = "code"     // Codes: what the thread's last call must have returned; Or: codes that end the case well
	Pointer  Kind = "pointer"  // the last call must have returned a pointer
	Null     Kind = "null"     // the last call must have returned NULL
	Check    Kind = "check"    // OK, Text, Values: a condition of the case and its message
	Compare  Kind = "compare"  // Addr, Data, Type, Abs, Rel: what memory must hold, within abs + rel * |value|
	Callback Kind = "callback" // Bits, Codes: a function of the program with so many parameters
	Enter    Kind = "enter"    // Bits, Args: a callback is called
	Leave    Kind = "leave"    // Bits, the callback returns
	Fork     Kind = "fork"     // threads begin
	Join     Kind = "join"     // they have ended
	File     Kind = "file"     // Name, Data: the program writes a file of the case's folder; OK false: it removes it
	// Bits, Data, Addr: a descriptor of a file of Addr bytes, all 0 after Data
	Descriptor Kind = "descriptor"

	Folder Kind = "folder" // Name: the program makes a folder of the case's folder
	Setenv Kind = "setenv" // Name, Text: a variable of the environment
	Cut    Kind = "cut"    // the case has more than a record can have: memory is left out from now on
	Begin  Kind = "begin"  // Name, Text: the case, and its folder
	End    Kind = "end"    // Name, Text: status and message of the case
)

// Arg is an argument of a call.
type Arg struct {
	Bits    uint64 `json:"bits"`
	Address bool   `json:"address,omitempty"` // of memory of the program
}

// Value is an argument of a message.
type Value struct {
	Type *Type  `json:"type"`
	Data []byte `json:"data"`
	Want bool   `json:"want,omitempty"` // the message says that this is wanted
}

// Type is how memory is made up: Count elements of Size bytes.
type Type struct {
	Size   int     `json:"size"`
	Count  int     `json:"count"`
	Fields []Field `json:"fields"` // of an element, without padding
}

// Field is consecutive scalars of an element.
type Field struct {
	Offset int    `json:"offset"`
	Kind   string `json:"kind"` // int8 to uint64, float32, float64, word: an address or handle
	Count  int    `json:"count"`
}

// sizes are the bytes of scalars.
var sizes = map[string]int{"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float32": 4,
	"int64": 8, "uint64": 8, "float64": 8, "word": 8}

// typeOf is n elements of a type.
func typeOf(t reflect.Type, n int) *Type {
	out := &Type{Size: int(t.Size()), Count: n}
	out.add(t, 0)
	return out
}

func (x *Type) add(t reflect.Type, at int) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			x.add(f.Type, at+int(f.Offset))
		}
	case reflect.Array:
		for i := range t.Len() {
			x.add(t.Elem(), at+i*int(t.Elem().Size()))
		}
	default:
		kind := t.Kind().String()
		switch t.Kind() {
		case reflect.Bool:
			kind = "uint8"
		case reflect.Int:
			kind = "int64"
		case reflect.Uint:
			kind = "uint64"
		case reflect.Uintptr, reflect.Pointer, reflect.UnsafePointer:
			kind = "word"
		}
		if sizes[kind] == 0 {
			return // no memory of C
		}
		if n := len(x.Fields) - 1; n >= 0 {
			if f := &x.Fields[n]; f.Kind == kind && f.Offset+f.Count*sizes[kind] == at {
				f.Count++
				return
			}
		}
		x.Fields = append(x.Fields, Field{at, kind, 1})
	}
}

// words are the offsets of the words in n bytes.
func (x *Type) words(n int) []int {
	var out []int
	if x == nil || x.Size == 0 {
		return nil
	}
	for base := 0; base+x.Size <= n; base += x.Size {
		for _, f := range x.Fields {
			for i := 0; f.Kind == "word" && i < f.Count; i++ {
				out = append(out, base+f.Offset+8*i)
			}
		}
	}
	return out
}

// scalar is the kind that all of the type is made of, "" if there are several.
func (x *Type) scalar() string {
	if x == nil || len(x.Fields) != 1 || x.Fields[0].Offset != 0 || x.Fields[0].Count*sizes[x.Fields[0].Kind] != x.Size {
		return ""
	}
	return x.Fields[0].Kind
}
