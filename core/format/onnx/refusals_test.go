package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
)

// TestImport_refusalsAreSentences has what is read of files but not computed.
func TestImport_refusalsAreSentences(t *testing.T) {
	typed := func(name string, typ msg) msg { return msg(nil).sub(11, msg(nil).str(1, name).sub(2, typ)) }
	texts := typed("x", msg(nil).sub(1, msg(nil).num(1, 8)))
	words := msg(nil).num(1, 1).num(2, 8).str(8, "w").str(6, "hi")
	relu, identity := nodeMsg("Relu", []string{"x"}, []string{"y"}), nodeMsg("Identity", []string{"w"}, []string{"y"})
	constant := func(attr msg) []byte {
		return modelMsg(graphMsg([]msg{nodeMsg("Constant", nil, []string{"y"}, attr)}, output("y")))
	}
	odd := func(op, from, to string) msg { return nodeMsg(op, []string{from}, []string{to}) }
	for _, c := range []struct {
		says string
		data []byte
		kind fault.Kind
	}{
		{`input "x": tensors of strings are not supported`, modelMsg(graphMsg([]msg{relu}, texts, output("y"))),
			fault.Unsupported},
		{`node 0 (Identity): input 0: initializer "w": tensors of strings are not supported`,
			modelMsg(graphMsg([]msg{identity}, initial(words), output("y"))), fault.Unsupported},
		{`node 0 (Constant): attribute value: tensors of strings are not supported`,
			constant(msg(nil).str(1, "value").sub(5, words).num(20, 4)), fault.Unsupported},
		{`node 0 (Constant): constants that are strings or sparse tensors are not supported`,
			constant(msg(nil).str(1, "value_string").str(4, "hi").num(20, 3)), fault.Unsupported},
		{`input "x": a value of kind optional is not supported; only tensors can be inputs`,
			modelMsg(graphMsg([]msg{relu}, typed("x", msg(nil).sub(9, nil)), output("y"))), fault.Unsupported},
		{`input "x": element type 77 is none that ONNX has`,
			modelMsg(graphMsg([]msg{relu}, typed("x", msg(nil).sub(1, msg(nil).num(1, 77))), output("y"))), fault.File},
		{`graph "g": sparse initializers are not supported`,
			modelMsg(graphMsg([]msg{relu}, input("x", 2), output("y"), msg(nil).sub(15, nil))), fault.Unsupported},
		{`operator that is not supported: Odd x 2 (node 0 (Odd), node 1 (Odd))`,
			modelMsg(graphMsg([]msg{odd("Odd", "x", "a"), odd("Odd", "a", "y")}, input("x", 2), output("y"))),
			fault.Unsupported},
		{`operators that are not supported: Even x 1 (node 1 (Even)); Odd x 1 (node 0 (Odd))`,
			modelMsg(graphMsg([]msg{odd("Odd", "x", "a"), odd("Even", "a", "y")}, input("x", 2), output("y"))),
			fault.Unsupported},
		{`node 0 (Softmax): want 1 input, got 2`, modelMsg(graphMsg([]msg{nodeMsg("Softmax", []string{"x", "x"},
			[]string{"y"})}, input("x", 2), output("y"))), fault.File},
	} {
		err := imported(t, c.data, "")
		assert.EqualError(t, err, c.says)
		assert.Equal(t, c.kind, fault.KindOf(err), c.says)
	}
}
