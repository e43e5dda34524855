package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
)

// spec lists what the headers of one API must declare.
type spec struct {
	Source    string     `json:"source"`  // document the numbers were read from
	Headers   []string   `json:"headers"` // as a program includes them
	Enums     []enum     `json:"enums"`
	Structs   []record   `json:"structs"`
	Opaque    []string   `json:"opaque"` // incomplete struct types, used through pointers
	Callbacks []callback `json:"callbacks"`
	Functions []function `json:"functions"`
}

// enum is an enumeration, or an integer type with named constants.
type enum struct {
	Name   string  `json:"name"`
	Size   int     `json:"size"` // bytes
	Signed bool    `json:"signed"`
	Values []value `json:"values"`
}

type value struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// record is a struct with all its fields.
type record struct {
	Name   string  `json:"name"`
	Size   int     `json:"size"`
	Align  int     `json:"align"`
	Fields []field `json:"fields"`
}

// field has the type Type, which may be a pointer to a function, "R (*)(P)", or Type[Array] if Array is not 0, or
// Type[Array][Inner] if Inner is not 0 either. Offset is in bytes.
type field struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Array  int    `json:"array"`
	Inner  int    `json:"inner"`
	Offset int    `json:"offset"`
}

// callback is a pointer-to-function type.
type callback struct {
	Name       string `json:"name"`
	Result     string `json:"result"`
	Parameters string `json:"parameters"`
}

// function is a prototype without its semicolon. CXX is set where C++ programs see another one.
type function struct {
	C   string `json:"c"`
	CXX string `json:"cxx"`
}

var prototype = regexp.MustCompile(`^[A-Za-z_][\w \*]*[ \*](\w+)\(.+\)$`)

// readSpec reads a spec and refuses what would make an empty check.
func readSpec(path string) (*spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s spec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &s, s.validate()
}

func (s *spec) validate() error {
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
		m := prototype.FindStringSubmatch(f.C)
		if m == nil {
			return fmt.Errorf("spec: %q is no prototype", f.C)
		}
		if err := once(m[1]); err != nil {
			return err
		}
	}
	return nil
}
