package expand

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

var update = flag.Bool("update", false, "write testdata/passes anew")

type attrs = map[string]*proto.Attribute

// n is a node: its outputs, its operator and its inputs, separated by spaces.
func n(line string, a attrs) *proto.Node {
	out, rest, _ := strings.Cut(line, " = ")
	words := strings.Fields(rest)
	p := &proto.Node{OpType: words[0], Attrs: a}
	for _, name := range strings.Fields(out) {
		p.Out = append(p.Out, strings.Trim(name, "_"))
	}
	for _, name := range words[1:] {
		p.In = append(p.In, strings.Trim(name, "_"))
	}
	if p.Domain = ""; strings.HasPrefix(p.OpType, "own.") {
		p.Domain, p.OpType = "own", p.OpType[4:]
	}
	return p
}

func values(names string) (vs []*proto.ValueInfo) {
	for _, name := range strings.Fields(names) {
		v := &proto.ValueInfo{Name: name, Kind: "tensor", DType: 1}
		if name == "x" {
			v.Ranked, v.Dims = true, []proto.Dimension{{Value: 4, Known: true}, {Value: 2, Known: true}}
		}
		vs = append(vs, v)
	}
	return vs
}

func g(name, in, out string, nodes ...*proto.Node) *proto.Graph {
	return &proto.Graph{Name: name, In: values(in), Out: values(out), Nodes: nodes}
}

func number(name string, v int64) *proto.Tensor {
	return &proto.Tensor{Name: name, DType: 7, Ints: []int64{v}}
}

func with(graph *proto.Graph, inits ...*proto.Tensor) *proto.Graph {
	graph.Inits = inits
	return graph
}

// passCases are graphs that show what passes do; testdata/passes has their text before and after each pass.
var passCases = []struct {
	name      string
	graph     *proto.Graph
	functions []*proto.Function
}{
	{"calls", // a call in a call, an attribute of the call, an input that is not given, a name of the function's own
		g("main", "x w", "y z", n("y = own.Twice x", attrs{"by": {I: 3}}), n("z = own.Bias x", nil)),
		[]*proto.Function{
			{Name: "Twice", Domain: "own", In: []string{"v"}, Out: []string{"r"}, Attrs: []string{"by"}, Nodes: []*proto.Node{
				n("x = Concat v v", attrs{"axis": {Ref: "by"}}), n("r = own.Bias x v", nil)}},
			{Name: "Bias", Domain: "own", In: []string{"a", "b"}, Out: []string{"r"}, Nodes: []*proto.Node{
				n("c = Clip a b", nil), n("r = Relu c", nil)}},
		}},
	{"branches", // a condition that is known only because another If has been replaced, and one that is not known
		with(g("main", "x c", "y z",
			n("k = If t", attrs{"then_branch": {G: g("yes", "", "a", n("a = Not t", nil))},
				"else_branch": {G: g("no", "", "a", n("a = Identity t", nil))}}),
			n("y = If k", attrs{"then_branch": {G: g("yes", "", "a", n("a = Relu x", nil))},
				"else_branch": {G: with(g("no", "", "a", n("s = Mul x w", nil), n("a = Neg s", nil)), number("w", 5))}}),
			n("z = If c", attrs{"then_branch": {G: g("yes", "", "a", n("a = Relu y", nil))},
				"else_branch": {G: g("no", "", "a", n("a = Neg y", nil))}})), number("t", 1)), nil},
	{"loops", // a sequence is carried for three trips, and each trip gives a row
		with(g("main", "x", "last rows",
			n("s = SequenceEmpty", nil),
			n("t rows = Loop trips _ s", attrs{"body": {G: g("body", "i on u", "on v r", n("r = Mul x i", nil),
				n("v = SequenceInsert u r", nil))}}),
			n("last = SequenceAt t at", nil)), number("trips", 3), number("at", -1)), nil},
	{"loops_that_stay", // the body uses no sequence, or its trips are not known
		with(g("main", "x m", "y z",
			n("y = Loop trips _ x", attrs{"body": {G: g("body", "i on u", "on v", n("v = Mul u i", nil))}}),
			n("s = SequenceConstruct x y", nil),
			n("z = Loop m _ x", attrs{"body": {G: with(g("body", "i on u", "on v", n("a = SequenceAt s p", nil),
				n("v = Add u a", nil)), number("p", 1))}})), number("trips", 3)), nil},
	{"maps", // the tensor is given to each call of the body whole
		g("main", "x y", "z", n("s = SequenceConstruct x y x", nil),
			n("t = SequenceMap s y", attrs{"body": {G: g("body", "a b", "c", n("c = Sub a b", nil))}}),
			n("z = ConcatFromSequence t", attrs{"axis": {I: 1}})), nil},
	{"sequences",
		with(g("main", "x y", "z c len",
			n("s = SplitToSequence x", attrs{"axis": {I: 0}, "keepdims": {I: 0}}),
			n("t = SequenceInsert s y one", nil),
			n("u = SequenceErase t", nil),
			n("k = Identity u", nil),
			n("z = SequenceAt k one", nil),
			n("p = SplitToSequence x three", nil),
			n("c = ConcatFromSequence p", attrs{"axis": {I: 0}, "new_axis": {I: 1}}),
			n("len = SequenceLength u", nil)), number("one", 1), number("three", 3)), nil},
	{"sequences_of_a_function",
		with(g("main", "x y", "z", n("s = own.Pair x y", nil), n("z = own.Second s", nil)), number("unused", 1)),
		[]*proto.Function{
			{Name: "Pair", Domain: "own", In: []string{"a", "b"}, Out: []string{"s"}, Nodes: []*proto.Node{
				n("s = SequenceConstruct a b", nil)}},
			{Name: "Second", Domain: "own", In: []string{"s"}, Out: []string{"v"}, Nodes: []*proto.Node{
				n("i = Constant", attrs{"value_int": {I: 1}}), n("v = SequenceAt s i", nil)}},
		}},
}

// The text before all passes and after each that changes it.
func TestPasses_text(t *testing.T) {
	for _, c := range passCases {
		t.Run(c.name, func(t *testing.T) {
			text := "# before\n" + c.graph.Text()
			for _, f := range c.functions {
				text += (&proto.Graph{Name: f.Name, In: values(strings.Join(f.In, " ")),
					Out: values(strings.Join(f.Out, " ")), Nodes: f.Nodes}).Text()
			}
			last := ""
			for k := 0; k <= len(passes()); k++ {
				name := "no pass"
				if k > 0 {
					name = passes()[k-1].name
				}
				r, err := run(c.graph, c.functions, k)
				if err != nil { // what comes out is no graph of tensors yet
					require.Less(t, k, len(passes()), "%v", err)
					continue
				}
				if after := r.text.String(); after != last {
					text, last = text+"# "+name+"\n"+after, after
				}
			}
			file := filepath.Join("testdata", "passes", c.name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), text)
		})
	}
}
