package abi

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A CType is the type of a parameter or result.
type CType struct {
	Base  string // without const and stars
	Stars int    // an array parameter counts as one
	Text  string // as written, with const and stars, for declarations
}

// A Role is the parsed annotation of a parameter.
type Role struct {
	Name     string // without ? and brackets
	Nullable bool
	Len      string // name of the length parameter, "" if none
	Max      int    // upper bound of the length, 0 if none
	Fits     string // method of the first parameter's object that judges the length, "" if none
	Keep     bool   // of new: the variable stays as it was on an error
}

// A Param is one parameter of a function.
type Param struct {
	Name string
	Type CType
	Role Role
}

// A Func is a parsed and checked row.
type Func struct {
	Row
	Facade *Facade
	Name   string // the C symbol
	Go     string // name of the behaviour function
	Result CType
	Params []Param
	Behind []Param // Row.Older
	Former *Func   // Row.Former as a function of the same name, nil if there is none
	Owners []Place // that decide whose the call is; none if it creates, is always or is never the driver's
}

// A Place is where a call has a word that says whose it is.
type Place struct {
	Param int
	Deref bool   // the parameter points to it
	Field string // it is a field of the struct that the parameter points to
}

var (
	prototypeRE = regexp.MustCompile(`^(.*?)\s*(\w+)\s*\((.*)\)$`)
	roleRE      = regexp.MustCompile(`^([a-z]+0?)(\?)?(?:\[(\w+)(?:<=(\d+))?(?::(\w+))?\])?$`)
)

// scalars maps C scalars to Go types of the same size and register class on 64-bit hosts.
var scalars = map[string]string{
	"bool": "bool", "char": "int8", "int": "int32", "float": "float32", "double": "float64",
	"int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64",
	"uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64", "size_t": "uint64",
}

// GoScalar returns the Go type of a C scalar.
func GoScalar(c string) (string, bool) { g, ok := scalars[c]; return g, ok }

// Parse checks every row of f and returns its functions in table order.
func Parse(f *Facade) ([]*Func, error) {
	var out []*Func
	seen := map[string]bool{}
	for _, row := range f.Rows {
		fn, err := parseRow(f, row)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", f.Name, row.C, err)
		}
		if seen[fn.Name] {
			return nil, fmt.Errorf("%s: %s has two rows", f.Name, fn.Name)
		}
		seen[fn.Name] = true
		out = append(out, fn)
	}
	return out, nil
}

func parseRow(f *Facade, row Row) (*Func, error) {
	m := prototypeRE.FindStringSubmatch(row.C)
	if m == nil {
		return nil, fmt.Errorf("not a prototype")
	}
	fn := &Func{Row: row, Facade: f, Name: m[2], Result: parseType(m[1])}
	if !slices.ContainsFunc(append(f.Also, f.Prefix), func(p string) bool { return strings.HasPrefix(fn.Name, p) }) {
		return nil, fmt.Errorf("name does not start with %s", strings.Join(append([]string{f.Prefix}, f.Also...), " or "))
	}
	fn.Go = goName(strings.TrimPrefix(fn.Name, f.Prefix))
	if err := fn.checkResult(); err != nil {
		return nil, err
	}
	if m[3] == "" {
		return nil, fmt.Errorf("empty parameter list: write (void)")
	}
	var err error
	if m[3] != "void" {
		if fn.Params, err = parseParams(m[3]); err != nil {
			return nil, err
		}
	}
	if row.Older != "" {
		if fn.Behind, err = parseParams(row.Older); err != nil {
			return nil, err
		}
	}
	if err := fn.parseRoles(); err != nil {
		return nil, err
	}
	if row.Former != "" {
		if fn.Former, err = parseFormer(fn); err != nil {
			return nil, fmt.Errorf("former: %w", err)
		}
	}
	return fn, fn.parseOwner()
}

// parseFormer makes a function of the former parameters of fn.
func parseFormer(fn *Func) (*Func, error) {
	row := fn.Row
	row.C, row.Roles = fmt.Sprintf("%s %s(%s)", fn.Result.Text, fn.Name, row.Former), row.FormerRoles
	row.Former, row.Older = "", ""
	if row.Creates || fn.Owner != OwnerDriver && fn.Facade.Drivers {
		return nil, fmt.Errorf("whose the call is would be read from today's parameters: want the owner %q", OwnerDriver)
	}
	former, err := parseRow(fn.Facade, row)
	if err != nil {
		return nil, err
	}
	former.Go += "Former"
	return former, nil
}

func parseParams(list string) ([]Param, error) {
	var out []Param
	for _, text := range strings.Split(list, ",") {
		p, err := parseParam(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func parseType(text string) CType {
	text = strings.Join(strings.Fields(text), " ")
	words := slices.DeleteFunc(strings.Fields(strings.ReplaceAll(text, "*", " ")),
		func(w string) bool { return w == "const" })
	return CType{Base: strings.Join(words, " "), Stars: strings.Count(text, "*"), Text: text}
}

func parseParam(text string) (Param, error) {
	text = strings.TrimSpace(text)
	array := strings.HasSuffix(text, "[]")
	text = strings.TrimSuffix(text, "[]")
	i := strings.LastIndexAny(text, " *") + 1
	if i == 0 || i == len(text) {
		return Param{}, fmt.Errorf("parameter %q has no name", text)
	}
	p := Param{Name: text[i:], Type: parseType(text[:i])}
	if array {
		p.Type.Stars++
		p.Type.Text += "*"
	}
	return p, nil
}

// goName turns TensorDesc_SetName, init or set_core_mask into tensorDescSetName, init_ (what Go reserves gets an
// underscore) and setCoreMask.
func goName(symbol string) string {
	var b strings.Builder
	for i, part := range strings.FieldsFunc(symbol, func(r rune) bool { return r == '_' }) {
		switch {
		case i > 0:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		default:
			n := 1
			for n < len(part) && part[n] >= 'A' && part[n] <= 'Z' && (n+1 == len(part) || part[n+1] < 'a' || part[n+1] > 'z') {
				n++
			}
			b.WriteString(strings.ToLower(part[:n]) + part[n:])
		}
	}
	name := b.String()
	if token.IsKeyword(name) || name == "init" || name == "main" {
		return name + "_"
	}
	return name
}

// IsHandle says whether t is a handle of the façade, or with stars more levels of pointers in front of one.
func (fn *Func) IsHandle(t CType, stars int) bool {
	h, ok := fn.Facade.Handles[t.Base]
	if !ok {
		return false
	}
	if !h.ByValue {
		stars++
	}
	return t.Stars == stars
}

// Scalar returns the underlying C scalar of t, "" if t is not a number passed by value.
func (fn *Func) Scalar(t CType) string {
	if t.Stars > 0 {
		return ""
	}
	if _, ok := scalars[t.Base]; ok {
		return t.Base
	}
	return fn.Facade.Types[t.Base].Scalar
}

// IsStruct says whether t is a struct that is passed by value.
func (fn *Func) IsStruct(t CType) bool {
	s, ok := fn.Facade.Types[t.Base]
	return ok && t.Stars == 0 && s.Scalar == "" && !s.Func
}

func (fn *Func) checkResult() error {
	t := fn.Result
	if t.Base == "void" && t.Stars == 0 || t.Stars > 0 || fn.IsHandle(t, 0) || fn.Scalar(t) != "" {
		return nil
	}
	return fmt.Errorf("result type %q is neither a number, a pointer nor a handle: structs are not returned", t.Text)
}

func (fn *Func) parseRoles() error {
	var roles []string
	if fn.Roles != "" {
		roles = strings.Split(fn.Roles, ",")
	}
	if len(roles) != len(fn.Params) {
		return fmt.Errorf("%d roles for %d parameters", len(roles), len(fn.Params))
	}
	lens := map[string]bool{}
	for i := range fn.Params {
		p := &fn.Params[i]
		m := roleRE.FindStringSubmatch(strings.TrimSpace(roles[i]))
		if m == nil {
			return fmt.Errorf("%s: role %q is malformed", p.Name, roles[i])
		}
		p.Role = Role{Name: m[1], Nullable: m[2] != "", Len: m[3], Fits: m[5]}
		p.Role.Max, _ = strconv.Atoi(m[4])
		if p.Role.Name == "newkeep" {
			p.Role.Name, p.Role.Keep = "new", true
		}
		if p.Role.Len != "" {
			lens[p.Role.Len] = true
		}
		if err := fn.checkRole(*p); err != nil {
			return fmt.Errorf("%s: role %q: %w", p.Name, p.Role.Name, err)
		}
	}
	for _, p := range fn.Params {
		if (p.Role.Name == "len") != lens[p.Name] {
			return fmt.Errorf("%s: a len parameter is named by an array, and only such a one", p.Name)
		}
		delete(lens, p.Name)
	}
	for name := range lens {
		return fmt.Errorf("no parameter %s", name)
	}
	for _, p := range fn.Behind {
		if fn.Scalar(p.Type) == "" {
			return fmt.Errorf("%s: an older parameter is a number", p.Name)
		}
	}
	return nil
}

// parseOwner refuses a row of an API with drivers that does not say whose its calls are.
func (fn *Func) parseOwner() error {
	fixed := fn.Owner == OwnerDriver || fn.Owner == OwnerNever
	switch {
	case fn.Owner == "" && (fn.Creates || !fn.Facade.Drivers):
		return nil
	case fn.Owner == "":
		return fmt.Errorf("no owner: it does not create, so name the handle that decides, or OwnerDriver, or OwnerNever")
	case fixed && fn.Creates:
		return fmt.Errorf("owner %q: the behaviour of a function that creates decides, or a handle", fn.Owner)
	case fixed:
		return nil
	}
	for _, text := range strings.Split(fn.Owner, ",") {
		place, err := fn.place(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("owner %q: %w", text, err)
		}
		fn.Owners = append(fn.Owners, place)
	}
	return nil
}

func (fn *Func) place(text string) (Place, error) {
	name, deref := strings.CutPrefix(text, "*")
	name, field, isField := strings.Cut(name, "->")
	i := slices.IndexFunc(fn.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Place{}, fmt.Errorf("no parameter %s", name)
	}
	t := fn.Params[i].Type
	known, isType := fn.Facade.Types[t.Base]
	switch {
	case isField && (deref || field == "" || t.Stars != 1 || !isType || known.Scalar != "" || known.Func):
		return Place{}, fmt.Errorf("%s is no pointer to a struct", name)
	case deref && !fn.IsHandle(t, 1):
		return Place{}, fmt.Errorf("%s is no pointer to a handle", name)
	case !deref && !isField && !fn.IsHandle(t, 0):
		return Place{}, fmt.Errorf("%s is no handle", name)
	}
	return Place{Param: i, Deref: deref, Field: field}, nil
}

// checkRole refuses roles that do not fit the C type.
func (fn *Func) checkRole(p Param) error {
	t := p.Type
	_, known := fn.Facade.Types[t.Base]
	_, scalar := scalars[t.Base]
	_, handle := fn.Facade.Handles[t.Base]
	if !known && !scalar && !handle && t.Base != "void" {
		return fmt.Errorf("unknown type %s", t.Base)
	}
	plain := p.Role.Len == "" && !p.Role.Nullable
	isFunc := fn.Facade.Types[t.Base].Func && t.Stars == 0
	fits := map[string]bool{
		"value":    fn.Scalar(t) != "",
		"len":      fn.Scalar(t) != "",
		"handle":   fn.IsHandle(t, 0),
		"handles":  fn.IsHandle(t, 1) && p.Role.Len != "",
		"take":     fn.IsHandle(t, 1) || fn.IsHandle(t, 0),
		"new":      fn.IsHandle(t, 1),
		"in":       t.Stars > 0 && (t.Base != "void" || t.Stars > 1 || p.Role.Len != "") || fn.IsStruct(t) && plain,
		"out":      t.Stars > 0 && (t.Base != "void" || t.Stars > 1 || p.Role.Len != ""),
		"out0":     t.Stars > 1,
		"inout":    t.Stars > 0,
		"string":   t.Base == "char" && t.Stars == 1,
		"callback": isFunc,
		"opaque":   t.Stars > 0,
		"raw":      t.Stars > 0 || isFunc || handle || fn.Scalar(t) != "",
	}
	ok, exists := fits[p.Role.Name]
	switch {
	case !exists:
		return fmt.Errorf("no such role")
	case !ok:
		return fmt.Errorf("does not fit %q", t.Text)
	case p.Role.Len != "" && !slices.Contains([]string{"in", "out", "handles"}, p.Role.Name):
		return fmt.Errorf("takes no length")
	case p.Role.Fits != "" && (p.Role.Name != "handles" || fn.Params[0].Role.Name != "handle"):
		return fmt.Errorf("a method that judges the length: only for handles, in a function whose first parameter is a " +
			"handle")
	}
	return nil
}
