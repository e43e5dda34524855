// Package messages collects the messages of the library and of the tool from their source: each refusal and each
// warning, with its id. docs/messages.md is made of them, and tests hold that each has an id of its own.
package messages

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// A Message is a refusal or a warning as the source has it.
type Message struct {
	ID   string
	Text string // the format, without the id
	At   string // FILE:LINE
}

// Source is what the source says: its messages in the order of their ids, and its faults.
type Source struct {
	Messages []Message
	Faults   []string // messages without an id, of a foreign one, and ids of two messages
}

// prefixes are what ids of the packages below a folder begin with. Messages of these folders need an id.
var prefixes = map[string][]string{
	"capi/ohnn": {"ohnn"}, "capi/rknn": {"rknn"}, "capi/hbdnn": {"hbdnn"}, "capi/hbucp": {"hbucp"}, "capi/hb": {"hb"},
	"capi/nnapi": {"nnapi"}, "capi/boundary": {"argument", "boundary"}, "capi/devices": {"device"},
	"capi/handle": {"argument", "handle"}, "capi/anynpu": {"anynpu"}, "cmd/anynpu": {"tool", "boundary"},
}

// partly are folders whose messages may do without an id of their own: that of their package and kind is shown then.
var partly = []string{"core", "backends"}

// Read reads the source below root.
func Read(root string) (*Source, error) {
	r := &reader{fset: token.NewFileSet(), makers: map[string]map[string]int{}, methods: map[string]int{},
		shared: map[string]string{}}
	folders := append([]string{}, partly...)
	for folder := range prefixes {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasPrefix(d.Name(), "z") {
				return err
			}
			file, err := parser.ParseFile(r.fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			r.files = append(r.files, source{filepath.ToSlash(name), file})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, f := range r.files {
		r.declared(f)
	}
	for _, f := range r.files {
		r.file(f)
	}
	return r.done()
}

type source struct {
	name string
	file *ast.File
}

func (s source) folder() string { return filepath.Dir(s.name) }

type reader struct {
	fset    *token.FileSet
	files   []source
	makers  map[string]map[string]int // by folder: functions that make messages, with the number of the format
	methods map[string]int            // the same of methods, wherever they are
	shared  map[string]string         // ids by package and kind, with a place of each
	out     Source
}

// declared takes note of the functions of a file whose parameters end in a format and arguments, or a message and
// pairs.
func (r *reader) declared(f source) {
	if r.makers[f.folder()] == nil {
		r.makers[f.folder()] = map[string]int{}
	}
	for _, d := range f.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || notMessages[fn.Name.Name] {
			continue
		}
		at := formatOf(fn.Type)
		switch {
		case at < 0:
		case fn.Recv == nil:
			r.makers[f.folder()][fn.Name.Name] = at
		default:
			r.methods[fn.Name.Name] = at
		}
	}
}

// notMessages are functions of a format that make no message of their own: they say where another one comes from, write
// results, or begin a line.
var notMessages = map[string]bool{"Wrap": true, "Message": true, "printf": true, "write": true, "emit": true,
	"recordMessage": true, "startError": true}

// formatOf is the number of the parameter that is a format, -1 for functions without.
func formatOf(t *ast.FuncType) int {
	names := []string{}
	for _, field := range t.Params.List {
		for _, n := range field.Names {
			names = append(names, n.Name)
		}
	}
	n := len(names) - 2
	if n >= 0 && (names[n] == "format" && names[n+1] == "args" || names[n] == "message" && names[n+1] == "pairs") {
		return n
	}
	return -1
}

// file collects the messages of a file.
func (r *reader) file(f source) {
	for _, d := range f.file.Decls {
		own := map[string]bool{} // parameters of this function and of those in it: what they hold is made elsewhere
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncType:
				for _, field := range n.Params.List {
					for _, name := range field.Names {
						own[name.Name] = true
					}
				}
			case *ast.CallExpr:
				r.call(f, n, own)
			}
			return true
		})
	}
}

// call collects the message that a call makes, if it makes one.
func (r *reader) call(f source, c *ast.CallExpr, own map[string]bool) {
	if r.toolWarning(f, c) {
		return
	}
	name, at := r.maker(f, c)
	if at < 0 || at >= len(c.Args) || quiet(c) {
		return
	}
	whole, isText := text(c.Args[at])
	switch arg := c.Args[at].(type) {
	case *ast.Ident:
		if own[arg.Name] {
			return
		}
	case *ast.TypeAssertExpr: // what was kept
		return
	}
	strict := slices.ContainsFunc(slices.Collect(maps.Keys(prefixes)), func(p string) bool { return below(f.folder(), p) })
	message, id := fault.Cut(whole)
	where := fmt.Sprintf("%s:%d", f.name, r.fset.Position(c.Pos()).Line)
	switch {
	case id != "":
		if strict && !ours(f.folder(), id) {
			r.out.Faults = append(r.out.Faults, fmt.Sprintf("%s: id %s: ids of this folder begin otherwise", where, id))
		}
		r.out.Messages = append(r.out.Messages, Message{id, message, where})
	case !strict && (name == "fault.New" || name == "fault.As"):
		r.classed(f, c, where)
	case strict && isText && !hasCause(name):
		r.out.Faults = append(r.out.Faults, fmt.Sprintf("%s: %s(%q): the message has no id", where, name, whole))
	case strict && !isText && !hasCause(name):
		r.out.Faults = append(r.out.Faults, fmt.Sprintf("%s: %s: the message is no constant", where, name))
	}
}

// classed takes note of the id that a message without one gets from its package and its kind.
func (r *reader) classed(f source, c *ast.CallExpr, where string) {
	kind, ok := c.Args[0].(*ast.SelectorExpr)
	if !ok || r.support(f.folder()) {
		return // a kind that is another error's, or what tests alone use
	}
	for k := fault.Internal; k <= fault.Data; k++ {
		if strings.EqualFold(k.String(), kind.Sel.Name) {
			r.shared[k.MessageID(fault.Area(f.folder()))] = where
		}
	}
}

// support says whether a folder is there for tests.
func (r *reader) support(folder string) bool { return below(folder, "core/devicetest") }

// toolWarning collects a warning of the tool, whose id is an argument: warn(stderr, ID, TEXTS...).
func (r *reader) toolWarning(f source, c *ast.CallExpr) bool {
	if fn, ok := c.Fun.(*ast.Ident); !ok || fn.Name != "warn" || !below(f.folder(), "cmd/anynpu") || len(c.Args) < 3 {
		return false
	}
	id, _ := text(c.Args[1])
	if message, ok := text(c.Args[2]); ok {
		r.out.Messages = append(r.out.Messages, Message{id, message, fmt.Sprintf("%s:%d", f.name,
			r.fset.Position(c.Pos()).Line)})
	}
	return true
}

// maker is the function that a call calls, and the number of its format, -1 if it makes no message.
func (r *reader) maker(f source, c *ast.CallExpr) (string, int) {
	switch fn := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		if at, ok := r.makers[f.folder()][fn.Name]; ok {
			return fn.Name, at
		}
		if fn.Name == "warn" || fn.Name == "caution" { // a model.Logger
			return fn.Name, 0
		}
		if fn.Name == "tell" && len(c.Args) > 1 { // a settings.Teller
			return fn.Name, 1
		}
	case *ast.IndexExpr:
		return r.maker(f, &ast.CallExpr{Fun: fn.X})
	case *ast.SelectorExpr:
		if from, ok := fn.X.(*ast.Ident); ok {
			for folder, list := range r.makers {
				if at, ok := list[fn.Sel.Name]; ok && filepath.Base(folder) == from.Name {
					return from.Name + "." + fn.Sel.Name, at
				}
			}
		}
		if at, ok := r.methods[fn.Sel.Name]; ok && at < len(c.Args) {
			if _, isText := text(c.Args[at]); isText {
				return fn.Sel.Name, at
			}
		}
		if fn.Sel.Name == "Warn" && len(c.Args) == 1 { // compile.Options.Warn
			return fn.Sel.Name, 0
		}
		if fn.Sel.Name == "tell" && len(c.Args) > 0 { // of dumps, and of caches
			return fn.Sel.Name, 0
		}
	}
	return "", -1
}

// quiet says whether a call logs an information, which needs no id.
func quiet(c *ast.CallExpr) bool {
	for _, a := range c.Args {
		if s, ok := a.(*ast.SelectorExpr); ok {
			a = s.Sel
		}
		if id, ok := a.(*ast.Ident); ok && slices.Contains([]string{"LevelInfo", "LevelDebug", "LevelTrace"}, id.Name) {
			return true
		}
	}
	return false
}

// hasCause says whether a function puts a place in front of another error, which has an id or a kind.
func hasCause(name string) bool {
	return strings.HasSuffix(name, "For") || strings.HasSuffix(name, "As") || name == "Warn" || name == "tell"
}

// text is the text of a constant: its literals, "..." for what has a name. Of fmt.Sprintf it is that of the format.
func text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, isA := text(e.X)
		b, isB := text(e.Y)
		if !isA {
			a = "..."
		}
		if !isB {
			b = "..."
		}
		return a + b, isA || isB
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return text(e.Args[0])
		}
	}
	return "", false
}

// below says whether a folder is another one or in it.
func below(folder, in string) bool { return folder == in || strings.HasPrefix(folder, in+"/") }

// ours says whether an id may be one of a folder's messages.
func ours(folder, id string) bool {
	for in, list := range prefixes {
		if below(folder, in) && slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(id, p+"-") }) {
			return true
		}
	}
	return false
}

// done sorts the messages, leaves one of each id, and reports ids of several, and shared ones without a cause.
func (r *reader) done() (*Source, error) {
	classes, err := Classes()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(r.shared)) {
		if !slices.ContainsFunc(classes, func(c Class) bool { return c.ID == id }) {
			r.out.Faults = append(r.out.Faults, fmt.Sprintf("%s: kinds.txt has no cause and remedy of %s", r.shared[id], id))
		}
	}
	list := r.out.Messages
	slices.SortStableFunc(list, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(list); i++ {
		if list[i].ID == list[i-1].ID && list[i].Text != list[i-1].Text {
			r.out.Faults = append(r.out.Faults, fmt.Sprintf("id %s is that of two messages: %s: %q, %s: %q", list[i].ID,
				list[i-1].At, list[i-1].Text, list[i].At, list[i].Text))
		}
	}
	r.out.Messages = slices.CompactFunc(list, func(a, b Message) bool { return a.ID == b.ID })
	return &r.out, nil
}
