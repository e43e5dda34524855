package spec

import (
	"fmt"
	"path/filepath"
	"strings"
)

// An API has the types of all lists of one API.
type API struct {
	structs map[string]*Struct
	enums   map[string]*Enum
}

// sizes are the bytes of C's own types on 64-bit hosts.
var sizes = map[string]int{
	"bool": 1, "char": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int": 4, "int32_t": 4, "uint32_t": 4,
	"float": 4, "double": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "uintptr_t": 8,
}

// ReadAPI reads name.json and every name_*.json of a folder. An API without a list has no structs.
func ReadAPI(dir, name string) (*API, error) {
	api := &API{structs: map[string]*Struct{}, enums: map[string]*Enum{}}
	for _, pattern := range []string{name + ".json", name + "_*.json"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			s, err := Read(path)
			if err != nil {
				return nil, err
			}
			for i := range s.Structs {
				api.structs[s.Structs[i].Name] = &s.Structs[i]
			}
			for i := range s.Enums {
				if known := api.enums[s.Enums[i].Name]; known != nil { // constants of one of C's own types
					known.Values = append(known.Values, s.Enums[i].Values...)
					continue
				}
				api.enums[s.Enums[i].Name] = &s.Enums[i]
			}
		}
	}
	return api, nil
}

// Struct returns the struct called name, nil if no list has it.
func (a *API) Struct(name string) *Struct { return a.structs[name] }

// Enum returns the enumeration or integer type called name, nil if no list has it.
func (a *API) Enum(name string) *Enum { return a.enums[name] }

// IsPointer says whether the field's type is a pointer, to a function for instance.
func (f Field) IsPointer() bool { return strings.Contains(f.Type, "*") }

// Size is how many bytes one element of the field takes, 0 if no list knows its type.
func (a *API) Size(f Field) int {
	base := strings.TrimSpace(strings.ReplaceAll(" "+f.Type+" ", " const ", " "))
	switch {
	case f.IsPointer():
		return 8
	case sizes[base] != 0:
		return sizes[base]
	case a.enums[base] != nil:
		return a.enums[base].Size
	case a.structs[base] != nil:
		return a.structs[base].Size
	}
	return 0
}

// Word returns the offset of a field that holds one word of 64 bits, as handles are.
func (a *API) Word(structName, field string) (int, error) {
	s := a.structs[structName]
	if s == nil {
		return 0, fmt.Errorf("no list in abicheck has struct %s", structName)
	}
	for _, f := range s.Fields {
		if f.Name != field {
			continue
		}
		if f.Array != 0 || a.Size(f) != 8 {
			return 0, fmt.Errorf("%s.%s is no word of 64 bits", structName, field)
		}
		return f.Offset, nil
	}
	return 0, fmt.Errorf("struct %s has no field %s", structName, field)
}
