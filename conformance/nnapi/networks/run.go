package networks

import (
	"encoding/json"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// compute computes the network three times with one compilation: twice with its own inputs, and between them with
// others. The result says how many operations each device has, where the library tells.
func (n *Network) compute(l *suite.Library, dir string) suite.Result {
	t := &suite.T{Library: l, Dir: dir}
	var placement map[string]int
	err := t.Compute(func() {
		api := nnapi.NewT(t)
		compilation := api.Compilation(n.Build(api))
		t.OK("Compilation_finish", compilation)
		placement = placed(l.Placement(compilation))
		n.run(api, compilation, false)
		n.run(api, compilation, true)
		n.run(api, compilation, false)
	})
	r := suite.Judge(err)
	r.Placement = placement
	return r
}

// placed counts the operations of each device in a report of the library. What an operation becomes may be several
// devices' work.
func placed(report []byte) map[string]int {
	var p struct {
		Nodes []struct {
			Origin int    `json:"origin"`
			Device string `json:"device"`
		} `json:"nodes"`
	}
	if json.Unmarshal(report, &p) != nil {
		return nil
	}
	type share struct {
		origin int
		device string
	}
	seen := map[share]bool{}
	count := map[string]int{}
	for _, x := range p.Nodes {
		if s := (share{x.Origin, x.Device}); x.Origin >= 0 && !seen[s] {
			seen[s] = true
			count[x.Device]++
		}
	}
	return count
}

// canary stands behind outputs.
const canary = 0xa5

// run computes once. others says that the inputs are not the network's own: their elements stand in reverse order, and
// nothing is judged but that the computation ends well.
func (n *Network) run(t *nnapi.T, compilation uintptr, others bool) {
	e := t.New("Execution_free", "Execution_create", compilation)
	for i, index := range n.In {
		o := n.Operands[index]
		if others {
			o.Data = slices.Clone(o.Numbers())
			o.Pattern = nil
			slices.Reverse(o.Data)
		}
		b := o.Bytes()
		t.Keep(b)
		t.OK("Execution_setInput", e, i, nil, b, len(b))
	}
	out := make([][]byte, len(n.Out))
	for i, index := range n.Out {
		size := n.Operands[index].Size()
		out[i] = slices.Repeat([]byte{canary}, size+16)
		t.Keep(out[i])
		t.OK("Execution_setOutput", e, i, nil, out[i], size)
	}
	t.OK("Execution_compute", e)
	for i, index := range n.Out {
		o := &n.Operands[index]
		size := o.Size()
		behind := slices.ContainsFunc(out[i][size:], func(x byte) bool { return x != canary })
		t.Check(!behind, "output %d: something was written behind %d bytes", i, size)
		if !others {
			judge(t, i, o, out[i][:size])
		}
	}
}

// judge demands the elements of an output.
func judge(t *nnapi.T, i int, o *model.Operand, got []byte) {
	err := o.Compare(got, o.Tolerance())
	d := model.Types[o.Type].DType
	relative := 0.0
	if d.IsFloat() {
		relative = o.Tolerance()
	}
	t.Judge(trace.Event{Kind: trace.Compare, Name: d.String(), Addr: uint64(cmem.First(got)), Data: o.Bytes(),
		OK: err == nil, Abs: o.Tolerance(), Rel: relative})
	t.Check(err == nil, "output %d: %v", i, err)
}
