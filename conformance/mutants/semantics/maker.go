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

// maker collects the candidates of a function.
type maker struct {
	*loaded
	text     string
	start    token.Pos // of the file
	function string
	assigned map[ast.Expr]bool // what has values set or its address taken
	out      []*candidate
}

func (g *maker) at(p token.Pos) int { return int(p - g.start) }

func (g *maker) source(n ast.Node) string { return g.text[g.at(n.Pos()):g.at(n.End())] }

// add takes a candidate: the text in place of n, which the ID shows as what.
func (g *maker) add(kind string, n ast.Node, what, text string) {
	m := Mutant{ID: compact(what), About: kind + ": " + strings.Join(strings.Fields(what), " "),
		edits: []edit{{g.at(n.Pos()), g.at(n.End()), text}}}
	g.out = append(g.out, &candidate{Mutant: m, kind: kind})
}

// findAssigned notes expressions that stand for a place, not a value.
func (g *maker) findAssigned(body *ast.BlockStmt) {
	g.assigned = map[ast.Expr]bool{}
	var place func(e ast.Expr)
	place = func(e ast.Expr) {
		g.assigned[e] = true
		switch x := e.(type) {
		case *ast.SelectorExpr:
			place(x.X)
		case *ast.IndexExpr:
			place(x.X)
		case *ast.SliceExpr:
			place(x.X)
		case *ast.ParenExpr:
			place(x.X)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				place(e)
			}
		case *ast.IncDecStmt:
			place(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				place(n.X)
			}
		case *ast.SelectorExpr: // a method or a field of it may need its address
			place(n.X)
		case *ast.SliceExpr: // of an array
			place(n.X)
		case *ast.RangeStmt:
			if n.Key != nil {
				place(n.Key)
			}
			if n.Value != nil {
				place(n.Value)
			}
		}
		return true
	})
}

func (g *maker) walk(body *ast.BlockStmt) {
	if g.assigned == nil {
		g.findAssigned(body)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if g.statistics(n) {
				return false
			}
		case *ast.IfStmt:
			g.condition(n)
		case *ast.BinaryExpr:
			g.binary(n)
		case *ast.BlockStmt:
			for _, s := range n.List {
				g.statement(s)
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				g.boolean(r)
			}
		case *ast.CaseClause: // its values are constants of switches
			for _, s := range n.Body {
				g.walk(&ast.BlockStmt{List: []ast.Stmt{s}})
			}
			return false
		case *ast.CompositeLit:
			g.literal(n)
		case *ast.CallExpr:
			g.call(n)
			if g.telling(n) {
				return false
			}
		case *ast.SelectorExpr:
			g.field(n)
		}
		return true
	})
}

// condition negates the condition of n, or lets a guard never hold.
func (g *maker) condition(n *ast.IfStmt) {
	cond := g.source(n.Cond)
	if strings.Contains(cond, "LogEnabled") {
		return
	}
	// A dropped check of an error or of NULL is one kind, so that their number does not count.
	_, leaves := last(n.Body).(*ast.ReturnStmt)
	if n.Else == nil && leaves {
		kind := "dropped check"
		if strings.Contains(cond, "err") || strings.Contains(cond, "nil") {
			kind = "dropped error"
		}
		g.add(kind, n.Cond, cond, fmt.Sprintf("mutant.Unless(%s, %s)", number, cond))
		return
	}
	if !strings.Contains(cond, "err ") {
		g.add("negated condition", n.Cond, cond, fmt.Sprintf("(%s) != %s", cond, on))
	}
}

func last(b *ast.BlockStmt) ast.Stmt {
	if len(b.List) == 0 {
		return nil
	}
	return b.List[len(b.List)-1]
}

var boundaries = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

// comparisons are the functions of package mutant that stand for operators.
var comparisons = map[token.Token]string{token.LSS: "Less", token.LEQ: "LessEqual", token.GTR: "Greater",
	token.GEQ: "GreaterEqual"}

var others = map[token.Token]string{token.ADD: "-", token.SUB: "+"}

// binary drops a side of a condition, moves a bound by one, or computes another way.
func (g *maker) binary(n *ast.BinaryExpr) {
	what, x, y := g.source(n), g.source(n.X), g.source(n.Y)
	if g.constant(n) || strings.Contains(what, "err ") {
		return
	}
	switch n.Op {
	case token.LAND:
		g.add("dropped operand", n, what, fmt.Sprintf("((%s) && mutant.Or(%s, %s))", x, number, y))
		return
	case token.LOR:
		g.add("dropped operand", n, what, fmt.Sprintf("((%s) || mutant.Unless(%s, %s))", x, number, y))
		return
	}
	basic := g.basic(n.X)
	if basic == nil || basic.Info()&types.IsNumeric == 0 {
		return
	}
	if other, ok := boundaries[n.Op]; ok {
		text := fmt.Sprintf("mutant.%s(%s, %s, %s)", comparisons[n.Op], number, x, y)
		if g.shifts(n) { // whose type would be another one as an argument
			text = fmt.Sprintf("(%s && %s %s %s || !%s && %s)", on, x, other, y, on, what)
		}
		g.add("bound", n, what, text)
		return
	}
	if b, ok := g.info.Types[n].Type.(*types.Basic); ok && g.shifts(n) && b.Info()&types.IsUntyped == 0 {
		what, x = b.Name()+"("+what+")", b.Name()+"("+x+")" // as an argument a shifted constant would be an int
	}
	switch n.Op {
	case token.ADD, token.SUB:
		wrong := x + " " + others[n.Op] + " (" + y + ")"
		if y == "1" {
			wrong = x
		}
		g.add("arithmetic", n, g.source(n), fmt.Sprintf("mutant.Either(%s, %s, %s)", number, what, wrong))
	case token.MUL, token.QUO:
		g.add("arithmetic", n, g.source(n), fmt.Sprintf("mutant.Either(%s, %s, %s)", number, what, g.typed(n, n.X, x)))
	}
}

// shifts tells whether an expression shifts by what is no constant.
func (g *maker) shifts(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		found = found || ok && (b.Op == token.SHL || b.Op == token.SHR) && !g.constant(b)
		return !found
	})
	return found
}

// typed is an operand as the type that the whole expression has.
func (g *maker) typed(whole, part ast.Expr, text string) string {
	if tv := g.info.Types[part]; tv.Value != nil { // an untyped constant beside a typed operand
		if b, ok := g.info.Types[whole].Type.(*types.Basic); ok && b.Info()&types.IsUntyped == 0 {
			return b.Name() + "(" + text + ")"
		}
	}
	return text
}

// statistics are not what a program computes with.
func (g *maker) statistics(n *ast.AssignStmt) bool {
	return strings.Contains(g.source(n.Lhs[0]), "Counts.")
}

// assignment drops an assignment to what outlives it: a field, an element, what a pointer leads to.
func (g *maker) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE || len(n.Lhs) != 1 || g.statistics(n) {
		return
	}
	kind := "dropped assignment"
	switch lhs := n.Lhs[0].(type) {
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
	case *ast.Ident:
		if n.Tok == token.ASSIGN || lhs.Name == "_" { // may be what gives a variable its value
			return
		}
		kind = "dropped step"
	default:
		return
	}
	if r := g.source(n.Rhs[0]); n.Tok == token.ASSIGN && (slices.Contains([]string{"nil", "0", "false", `""`}, r) ||
		strings.HasSuffix(r, "[:0]") || strings.HasSuffix(r, "{}")) {
		kind = "dropped reset"
	}
	g.add(kind, n, g.source(n), fmt.Sprintf("if !%s { %s }", on, g.source(n)))
	g.boolean(n.Rhs[0])
}

// statement drops a statement of a block.
func (g *maker) statement(s ast.Stmt) {
	switch n := s.(type) {
	case *ast.AssignStmt:
		g.assignment(n)
	case *ast.ExprStmt:
		g.dropCall(n)
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.CONTINUE || n.Tok == token.BREAK) {
			g.add("dropped jump", n, g.source(n), fmt.Sprintf("if !%s { %s }", on, g.source(n)))
		}
	}
}

func (g *maker) dropCall(n *ast.ExprStmt) {
	call, ok := n.X.(*ast.CallExpr)
	if !ok || g.telling(call) {
		return
	}
	name := calledName(call)
	if name == "panic" || name == "" || slices.Contains(locking, name) {
		return
	}
	kind := "dropped call"
	if slices.Contains([]string{"clear", "delete", "Release", "release", "Free", "Close"}, name) {
		kind = "dropped release"
	}
	if !strings.Contains(g.source(n), "\n") {
		g.add(kind, n, g.source(n), fmt.Sprintf("if !%s { %s }", on, g.source(n)))
	}
}

// boolean turns true into false and false into true.
func (g *maker) boolean(e ast.Expr) {
	if id, ok := e.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") {
		text := on
		if id.Name == "true" {
			text = "!" + on
		}
		g.add("boolean", e, id.Name, text)
	}
}

// literal leaves a field of a struct literal at its zero value.
func (g *maker) literal(n *ast.CompositeLit) {
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := kv.Key.(*ast.Ident)
		if _, isFunction := kv.Value.(*ast.FuncLit); !ok || isFunction || strings.Contains(g.source(kv.Value), "\n") {
			continue
		}
		if v, ok := g.info.Uses[key].(*types.Var); !ok || !v.IsField() {
			continue
		}
		tv := g.info.Types[kv.Value]
		if tv.Value != nil || tv.Type == nil || tv.IsNil() {
			g.boolean(kv.Value)
			continue
		}
		if b, ok := tv.Type.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			continue
		}
		g.add("dropped field", kv.Value, g.source(kv), fmt.Sprintf("mutant.Zero(%s, %s)", number, g.source(kv.Value)))
	}
}

// call swaps arguments of one type or the functions min and max, passes another code, or shares what it should copy.
func (g *maker) call(n *ast.CallExpr) {
	name := calledName(n)
	if name == "SetPanicOnFault" || name == "Log" || name == "LogEnabled" {
		return
	}
	for _, a := range n.Args {
		g.code(a)
		g.boolean(a)
	}
	g.standard(n)
	if id, ok := n.Fun.(*ast.Ident); ok && (name == "min" || name == "max") && !g.constant(n) {
		if _, builtin := g.info.Uses[id].(*types.Builtin); builtin {
			g.add("min and max", n.Fun, g.source(n), "")
			c := g.out[len(g.out)-1]
			c.edits[0].text = "mutant." + strings.ToUpper(name[:1]) + name[1:]
			c.edits = append(c.edits, edit{g.at(n.Lparen), g.at(n.Lparen) + 1, "(" + number + ", "})
		}
		return
	}
	if s, ok := n.Fun.(*ast.SelectorExpr); ok && name == "Clone" && len(n.Args) == 1 {
		if x, ok := s.X.(*ast.Ident); ok && (x.Name == "slices" || x.Name == "bytes" || x.Name == "maps") {
			g.add("shared", n, g.source(n), fmt.Sprintf("mutant.Pick(%s, %s, %s)", number, g.source(n), g.source(n.Args[0])))
			return
		}
	}
	if g.telling(n) || name == "append" || n.Ellipsis.IsValid() {
		return
	}
	for i := range max(len(n.Args)-1, 0) {
		a, b := n.Args[i], n.Args[i+1]
		ta, tb := g.info.Types[a], g.info.Types[b]
		if ta.Type == nil || tb.Type == nil || ta.Value != nil && tb.Value != nil || ta.IsNil() || tb.IsNil() ||
			!types.Identical(ta.Type, tb.Type) || !g.plain(a) || !g.plain(b) {
			continue
		}
		x, y := g.source(a), g.source(b)
		if commutative(name) || x == y {
			continue
		}
		if _, interfaced := ta.Type.Underlying().(*types.Interface); interfaced {
			continue
		}
		pick := pickOf(ta.Type)
		g.add("swapped arguments", a, g.source(n), fmt.Sprintf("%s(%s, %s, %s)", pick, number, x, y))
		c := g.out[len(g.out)-1]
		c.edits = append(c.edits, edit{g.at(b.Pos()), g.at(b.End()), fmt.Sprintf("%s(%s, %s, %s)", pick, number, y, x)})
	}
}

// standard gives an attribute that is read by its name another default.
func (g *maker) standard(n *ast.CallExpr) {
	if len(n.Args) != 2 {
		return
	}
	name, lit := g.info.Types[n.Args[0]].Value, g.info.Types[n.Args[1]]
	basic, ok := lit.Type.(*types.Basic)
	if name == nil || name.Kind() != constant.String || lit.Value == nil || !ok || basic.Info()&types.IsNumeric == 0 {
		return
	}
	text := g.source(n.Args[1])
	wrong := map[string]string{"0": "1", "1": "0", "-1": "0"}[text]
	if wrong == "" {
		wrong = "2*" + text
	}
	g.add("default", n.Args[1], g.source(n),
		fmt.Sprintf("mutant.Pick(%s, %s(%s), %s)", number, basic.Name(), text, wrong))
}

func commutative(name string) bool {
	return slices.Contains([]string{"Equal", "sameDims", "Mul64", "Identical", "same"}, name)
}

// plain expressions can be computed twice.
func (g *maker) plain(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CallExpr, *ast.FuncLit, *ast.IndexExpr, *ast.SliceExpr, *ast.CompositeLit, *ast.UnaryExpr:
			ok = false
		}
		return ok
	})
	return ok
}

func (g *maker) constant(e ast.Expr) bool { return g.info.Types[e].Value != nil }

func (g *maker) basic(e ast.Expr) *types.Basic {
	tv := g.info.Types[e]
	if tv.Type == nil {
		return nil
	}
	b, _ := tv.Type.Underlying().(*types.Basic)
	return b
}

// telling reports whether a call has a text for people among its arguments, with what follows in it.
func (g *maker) telling(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
		v := g.info.Types[a].Value
		return v != nil && v.Kind() == constant.String && strings.ContainsAny(constant.StringVal(v), " %")
	})
}
