// Package spec reads the lists in capi/abi/abicheck of the declarations that an API's headers must have.
package spec

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
)

// A Spec lists what the headers of one API must declare.
type Spec struct {
	Source    string     `json:"source"`  // document the numbers were read from
	Headers   []string   `json:"headers"` // as a program includes them
	Enums     []Enum     `json:"enums"`
	Structs   []Struct   `json:"structs"`
	Opaque    []string   `json:"opaque"` // incomplete struct types, used through pointers
	Callbacks []Callback `json:"callbacks"`
	Functions []Function `json:"functions"`
}

// An Enum is an enumeration, or an integer type with named constants.
type Enum struct {
	Name   string  `json:"name"`
	Size   int     `json:"size"` // bytes
	Signed bool    `json:"signed"`
	Values []Value `json:"values"`
}

// A Value is a named constant.
type Value struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// A Struct is one with all its fields.
type Struct struct {
	Name   string  `json:"name"`
	Size   int     `json:"size"`
	Align  int     `json:"align"`
	Fields []Field `json:"fields"`
}

// A Field has the type Type, which may be a pointer to a function, "R (*)(P)", or Type[Array] if Array is not 0, or
// Type[Array][Inner] if Inner is not 0 either. Offset is in bytes.
type Field struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Array  int    `json:"array"`
	Inner  int    `json:"inner"`
	Offset int    `json:"offset"`
}

// A Callback is a pointer-to-function type.
type Callback struct {
	Name       string `json:"name"`
	Result     string `json:"result"`
	Parameters string `json:"parameters"`
}

// A Function is a prototype without its semicolon. CXX is set where C++ programs see another one.
type Function struct {
	C   string `json:"c"`
	CXX string `json:"cxx"`
}

// Name is the function's name, "" if C is no prototype.
func (f Function) Name() string {
	if m := prototype.FindStringSubmatch(f.C); m != nil {
		return m[1]
	}
	return ""
}

var prototype = regexp.MustCompile(`^[A-Za-z_][\w \*]*[ \*](\w+)\(.+\)$`)

// Read reads a spec and refuses what would make an empty check.
func Read(path string) (*Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &s, s.Validate()
}

// Validate refuses lists that check nothing and entries that cannot be.
func (s *Spec) Validate() error {
	if len(s.Headers) == 0 || len(s.Enums) == 0 || len(s.Functions) == 0 {
		return fmt.Errorf("spec: want headers, enums and functions, got %d, %d, %d",
			len(s.Headers), len(s.Enums), len(s.Functions))
	}
	seen := map[string]bool{}
	once := func(name string) error {
		if name == "" || seen[name] {
			return fmt.Errorf("spec: name %q is empty or given twice", name)
		}
		seen[name] = true
		return nil
	}
	for _, e := range s.Enums {
		if err := once(e.Name); err != nil {
			return err
		}
		for _, v := range e.Values {
			if err := once(v.Name); err != nil {
				return err
			}
		}
	}
	for _, r := range s.Structs {
		if err := once(r.Name); err != nil {
			return err
		}
		end := 0
		for _, f := range r.Fields {
			if f.Offset < end || f.Offset >= r.Size {
				return fmt.Errorf("spec: %s.%s: offset %d is not in [%d, %d)", r.Name, f.Name, f.Offset, end, r.Size)
			}
			end = f.Offset + 1
		}
	}
	for _, f := range s.Functions {
		if f.Name() == "" {
			return fmt.Errorf("spec: %q is no prototype", f.C)
		}
		if err := once(f.Name()); err != nil {
			return err
		}
	}
	return nil
}
