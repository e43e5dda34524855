package semantics

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// code puts the neighbour of a named constant in its place, such as another return code, type or format.
func (g *maker) code(e ast.Expr) {
	var id *ast.Ident
	switch x := e.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	}
	if id == nil {
		return
	}
	c, ok := g.info.Uses[id].(*types.Const)
	if !ok || c.Pkg() == nil {
		return
	}
	named, ok := c.Type().(*types.Named)
	if !ok || named.Obj().Pkg() != c.Pkg() {
		return
	}
	if other := neighbour(c); other != "" {
		text := other
		if s, ok := e.(*ast.SelectorExpr); ok {
			text = g.source(s.X) + "." + other
		}
		g.add("code", e, g.source(e), fmt.Sprintf("mutant.Pick(%s, %s, %s)", number, g.source(e), text))
	}
}

// neighbour is the constant of the same type with the next value, or the one before.
func neighbour(c *types.Const) string {
	var all []*types.Const
	for _, name := range c.Pkg().Scope().Names() {
		if o, ok := c.Pkg().Scope().Lookup(name).(*types.Const); ok && types.Identical(o.Type(), c.Type()) &&
			o.Exported() == c.Exported() && !strings.HasSuffix(name, "End") {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *types.Const) int {
		if constant.Compare(a.Val(), token.LSS, b.Val()) {
			return -1
		}
		return 1
	})
	for i, o := range all {
		if o == c && i+1 < len(all) {
			return all[i+1].Name()
		}
		if o == c && i > 0 {
			return all[i-1].Name()
		}
	}
	return ""
}

// field reads another field of the same type.
func (g *maker) field(n *ast.SelectorExpr) {
	s := g.info.Selections[n]
	if s == nil || s.Kind() != types.FieldVal || len(s.Index()) != 1 || !g.plain(n.X) {
		return
	}
	if tv := g.info.Types[n]; tv.Type == nil || g.assigned[n] {
		return
	}
	t := s.Recv()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	own := s.Index()[0]
	if b, ok := st.Field(own).Type().Underlying().(*types.Basic); !ok && !sliceOf(st.Field(own).Type()) || ok &&
		b.Kind() == types.String {
		return
	}
	for i := range st.NumFields() {
		other := st.Field((own + 1 + i) % st.NumFields())
		if other.Name() != "_" && other.Name() != n.Sel.Name && types.Identical(other.Type(), st.Field(own).Type()) &&
			(other.Exported() || other.Pkg() == g.types) {
			g.add("other field", n, g.source(n), fmt.Sprintf("%s(%s, %s, %s.%s)", pickOf(other.Type()), number, g.source(n),
				g.source(n.X), other.Name()))
			return
		}
	}
}

// pickOf is the function that picks one of two values of a type: Either sees where they are the same.
func pickOf(t types.Type) string {
	if types.Comparable(t) && !types.IsInterface(t) {
		return "mutant.Either"
	}
	return "mutant.Pick"
}

func sliceOf(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}
