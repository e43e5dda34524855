package operations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// contradictionSection is the section of the table of contradictions in the document of statements.
const contradictionSection = "nnapi 12"

// stated is the table of contradictions as statements: for each operation the step and the code.
func stated() (string, error) {
	cases, err := Cases()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s Dimensions that contradict each other, by operation, step and code\n", contradictionSection)
	for i, of := range byOperation(cases) {
		op := of[0].Op
		text, shown := "BAD_DATA by addOperation: what its models take and give", "rules 8.b_if_signature"
		switch {
		case op == nnapi.While.String():
			shown = "rules 8.d_while"
		case op != nnapi.If.String():
			text, shown = statement(of), "operations "+op+"/contradiction*"
			if ranks(of) != "" {
				shown += " " + op + "/refused*_rank"
			}
		}
		fmt.Fprintf(&b, "%s.%d | %s: %s | %s\n", contradictionSection, i+1, op, text, shown)
	}
	return b.String(), nil
}

// statement says of one operation at which step which arguments are judged.
func statement(of []*Case) string {
	var parts []string
	if r := ranks(of); r != "" {
		code, _ := codeOf(of[0].Op)
		by := "BAD_DATA by addOperation"
		if nnapi.SignatureOf(code).RanksLater() {
			by = "OP_FAILED by compute"
		}
		parts = append(parts, by+": ranks of "+r)
	}
	sizes := map[string]string{}
	for _, x := range contradictions(of) {
		sizes[x.step.name] = x.arguments()
	}
	both := func(names ...string) string {
		var out []string
		for _, n := range names {
			if sizes[n] != "" {
				out = append(out, sizes[n])
			}
		}
		return strings.Join(out, "; ")
	}
	for _, p := range [][2]string{{"BAD_DATA by setInput", sizes["refused_input"]}, {"BAD_DATA by setOutput",
		sizes["refused_output"]}, {"OP_FAILED by compute", both("declared_input", "declared_output")}} {
		if p[1] != "" {
			parts = append(parts, p[0]+": sizes of "+p[1])
		}
	}
	return strings.Join(parts, ". ")
}

// ranks are the arguments whose rank addOperation judges.
func ranks(of []*Case) string {
	var ins, outs []int
	for _, v := range variations(of) {
		place, ok := strings.CutSuffix(v.About, "_rank")
		if !ok {
			continue
		}
		words := strings.Split(place, "_")
		list := &ins
		if words[len(words)-2] == "output" {
			list = &outs
		}
		i, err := strconv.Atoi(words[len(words)-1])
		if err == nil && !slices.Contains(*list, i) {
			*list = append(*list, i)
		}
	}
	both := []string{}
	if len(ins) > 0 {
		both = append(both, numbered("input", ins))
	}
	if len(outs) > 0 {
		both = append(both, numbered("output", outs))
	}
	return strings.Join(both, "; ")
}

// numbered are arguments by their numbers: "inputs 0-3, 5".
func numbered(word string, list []int) string {
	slices.Sort(list)
	if len(list) == 1 {
		return fmt.Sprint(word, " ", list[0])
	}
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		s := fmt.Sprint(list[i])
		if k > i {
			s += fmt.Sprint("-", list[k])
		}
		parts, i = append(parts, s), k+1
	}
	return word + "s " + strings.Join(parts, ", ")
}

// arguments are those of which a size is judged, with the dimensions where those are not all.
func (x *Contradiction) arguments() string {
	dims := map[int][]string{}
	var order []int
	for _, p := range x.places() {
		if dims[p.argument] == nil {
			order = append(order, p.argument)
		}
		dims[p.argument] = append(dims[p.argument], fmt.Sprint(p.dim))
	}
	list := x.In
	if x.step.output {
		list = x.Out
	}
	var whole []int
	var out []string
	for _, i := range order {
		if len(dims[i]) < len(list[i].Dims) {
			out = append(out, x.argument(i)+" (dimensions "+strings.Join(dims[i], " ")+")")
			continue
		}
		whole = append(whole, i)
	}
	if len(whole) > 0 {
		word, _, _ := strings.Cut(x.argument(0), " ")
		out = append([]string{numbered(word, whole)}, out...)
	}
	return strings.Join(out, ", ")
}
