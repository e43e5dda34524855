package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Names of a body hide those around it: those of the node's own results among them, which it does not wait for.
func TestImport_namesOfBodiesHideOthers(t *testing.T) {
	scan := func(body msg, outs ...string) []byte {
		return modelMsg(graphMsg([]msg{nodeMsg("Scan", []string{"x"}, outs, graphAttr("body", body),
			msg(nil).str(1, "num_scan_inputs").num(3, 1).num(20, 2))}, input("x", 4, 3), output(outs[0])))
	}
	for name, body := range map[string]msg{
		"a result":  graphMsg([]msg{nodeMsg("Relu", []string{"e"}, []string{"y"})}, input("e", 3), output("y")),
		"an input":  graphMsg([]msg{nodeMsg("Relu", []string{"y"}, []string{"o"})}, input("y", 3), output("o")),
		"the input": graphMsg([]msg{nodeMsg("Relu", []string{"x"}, []string{"o"})}, input("x", 3), output("o")),
		"a constant": graphMsg([]msg{nodeMsg("Add", []string{"e", "y"}, []string{"o"})}, input("e", 3), output("o"),
			initial(tensorMsg("y", []int64{1}, make([]byte, 4)))),
	} {
		assert.NoError(t, imported(t, scan(body, "y"), ""), name)
	}
	err := imported(t, scan(graphMsg([]msg{nodeMsg("Add", []string{"e", "y"}, []string{"o"})}, input("e", 3), output("o")),
		"y"), "")
	assert.ErrorContains(t, err, "depends on its own result")
}
