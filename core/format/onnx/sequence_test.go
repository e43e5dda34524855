package onnx

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// int64Init is an int64 initializer: a scalar, or a list when several values or dims are given.
func int64Init(name string, dims []int64, v ...int64) msg {
	m := msg(nil)
	for _, d := range dims {
		m = m.num(1, uint64(d))
	}
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return initial(m.num(2, 7).str(8, name).str(9, string(raw)))
}

func intAttr(name string, v int64) msg { return msg(nil).str(1, name).num(3, uint64(v)).num(20, 2) }

func graphAttr(name string, g msg) msg { return msg(nil).str(1, name).sub(6, g).num(20, 5) }

// op1 is a node whose inputs and outputs are separated by blanks.
func op1(op, in, out string, attrs ...msg) msg {
	split := func(s string) (l []string) {
		for _, f := range bytes.Split([]byte(s), []byte(" ")) {
			if len(f) > 0 {
				l = append(l, string(f))
			}
		}
		return l
	}
	return nodeMsg(op, split(in), split(out), attrs...)
}

// sequenceModels are models that use every operator of sequences, for the fuzzer to start from.
func sequenceModels() [][]byte {
	model := func(nodes ...msg) []byte {
		return modelMsg(graphMsg(nodes, input("x", 4), output("y"), int64Init("p", nil, 1),
			initial(msg(nil).num(2, 9).str(8, "k").str(9, "\x01"))))
	}
	split, at := op1("SplitToSequence", "x p", "s"), op1("SequenceAt", "t p", "y")
	square := graphMsg([]msg{op1("Mul", "a b", "c")}, input("a"), input("b"), output("c"))
	more := graphMsg([]msg{op1("SequenceAt", "s i", "a"), op1("SequenceInsert", "u a", "v")}, input("i"), input("c"),
		input("u"), output("c"), output("v"))
	rest := graphMsg([]msg{op1("SequenceErase", "s", "v")}, output("v"))
	return [][]byte{
		model(op1("SequenceConstruct", "x x", "s"), op1("SequenceInsert", "s x p", "t"), at),
		model(split, op1("SequenceErase", "s p", "t"), op1("ConcatFromSequence", "t", "y", intAttr("axis", 0),
			intAttr("new_axis", 1))),
		model(split, op1("SequenceEmpty", "", "e"), op1("Identity", "e", "f"), op1("SequenceLength", "f", "y")),
		model(split, op1("SequenceMap", "s x", "t", graphAttr("body", square)), at),
		model(split, op1("Loop", "p k s", "t", graphAttr("body", more)), at),
		model(split, op1("If", "k", "t", graphAttr("then_branch", rest), graphAttr("else_branch", rest)), at),
	}
}

func TestImport_sequenceModels(t *testing.T) {
	for i, m := range sequenceModels() {
		assert.NoError(t, imported(t, m, ""), "model %d", i)
	}
}

func TestImport_sequencesThatCannotBeResolved(t *testing.T) {
	three := op1("SequenceConstruct", "x x x", "s")
	at := func(v ...int64) msg { return int64Init("p", nil, v...) }
	build := func(nodes []msg, more ...msg) []byte {
		return modelMsg(graphMsg(nodes, append([]msg{input("x", 4), output("y")}, more...)...))
	}
	one := func(op, in string, more ...msg) []byte { return build([]msg{three, op1(op, in, "y")}, more...) }
	// n doublings of a sequence by mapping it onto itself.
	grown := []msg{op1("SplitToSequence", "w", "s0")}
	for i := range 100 {
		grown = append(grown, op1("SequenceInsert", "s"+strconv.Itoa(i)+" x", "s"+strconv.Itoa(i+1)))
	}
	grown = append(grown, op1("SequenceAt", "s100 p", "y"))
	counting := graphMsg([]msg{op1("Identity", "c", "d"), op1("SequenceInsert", "u x", "w")}, input("i"), input("c"),
		input("u"), output("d"), output("w"))
	idle := graphMsg(nil, input("i"), input("c"), input("u"), output("c"), output("u"))
	bySum := graphMsg([]msg{op1("ReduceSum", "x", "v"), op1("Cast", "v", "d", intAttr("to", 9)),
		op1("Identity", "u", "w")},
		input("i"), input("c"), input("u"), output("d"), output("w"))
	loop := func(in string, body msg) []msg {
		return []msg{three, op1("Loop", in, "r", graphAttr("body", body)), op1("SequenceAt", "r p", "y")}
	}
	mapped := func(body msg) []msg {
		return []msg{three, op1("SequenceMap", "s s", "r", graphAttr("body", body)), op1("SequenceAt", "r p", "y")}
	}
	for _, c := range []struct {
		name, says string
		data       []byte
	}{
		{"position beyond the end", "node 1 (SequenceAt): input 1: position 3 in a sequence of 3",
			one("SequenceAt", "s p", at(3))},
		{"position before the beginning", "position -4 in a sequence of 3", one("SequenceAt", "s p", at(-4))},
		{"lowest position", "position -9223372036854775808 in a sequence of 3", one("SequenceAt", "s p", at(-1<<63))},
		{"highest position", "position 9223372036854775807 in a sequence of 3", one("SequenceAt", "s p", at(1<<63-1))},
		{"two positions", "want one position, got 2", one("SequenceAt", "s p", int64Init("p", []int64{2}, 0, 1))},
		{"no position", "want 2 inputs, got 1", one("SequenceAt", "s")},
		{"position that is computed", "node 1 (SequenceAt): input 1: the position in a sequence is not known",
			one("SequenceAt", "s x")},
		{"position that is a sequence", "input 1: want a tensor", one("SequenceAt", "s s")},
		{"tensor for a sequence", "input 0: want a sequence", one("SequenceAt", "x p", at(0))},
		{"sequence for a tensor", `node 1 (Relu): input 0: value "s" is a sequence; want a tensor`, one("Relu", "s")},
		{"insert beyond the end", "position 4 in a sequence of 3",
			build([]msg{three, op1("SequenceInsert", "s x p", "r"), op1("SequenceLength", "r", "y")}, at(4))},
		{"insert before the beginning", "position -4 in a sequence of 3",
			build([]msg{three, op1("SequenceInsert", "s x p", "r"), op1("SequenceLength", "r", "y")}, at(-4))},
		{"insert another type", "a sequence of float32, a value of int64",
			build([]msg{three, op1("SequenceInsert", "s p", "r"), op1("SequenceLength", "r", "y")}, at(4))},
		{"construct of two types", "input 1: a sequence of float32, a value of int64",
			build([]msg{op1("SequenceConstruct", "x p", "r"), op1("SequenceLength", "r", "y")}, at(4))},
		{"construct of nothing", "want 1 input or more",
			build([]msg{op1("SequenceConstruct", "", "r"), op1("SequenceLength", "r", "y")})},
		{"erase beyond the end", "position 3 in a sequence of 3",
			build([]msg{three, op1("SequenceErase", "s p", "r"), op1("SequenceLength", "r", "y")}, at(3))},
		{"erase of nothing", "the sequence is empty",
			build([]msg{op1("SequenceEmpty", "", "s"), op1("SequenceErase", "s", "r"), op1("SequenceLength", "r", "y")})},
		{"concat of nothing", "the sequence is empty",
			build([]msg{op1("SequenceEmpty", "", "s"), op1("ConcatFromSequence", "s", "y", intAttr("axis", 0))})},
		{"concat without axis", "attribute axis is missing", one("ConcatFromSequence", "s")},
		{"concat beyond the rank", "node 1 (ConcatFromSequence)",
			build([]msg{three, op1("ConcatFromSequence", "s", "y", intAttr("axis", 7), intAttr("new_axis", 1))})},
		{"output of the model", `output: value "s" is a sequence`,
			modelMsg(graphMsg([]msg{three}, input("x", 4), output("s")))},
		{"name that is taken", `value "w" is an input and made by node 0`, build([]msg{op1("SequenceConstruct", "x", "w")},
			input("w"))},
		{"huge split", "a sequence of 16777216 values; at most 65536",
			modelMsg(graphMsg([]msg{op1("SplitToSequence", "x", "s"), op1("SequenceLength", "s", "y")}, input("x", 1<<24),
				output("y")))},
		{"split of an empty dimension", "in a sequence of 0",
			modelMsg(graphMsg([]msg{op1("SplitToSequence", "x p", "s"), op1("SequenceAt", "s p", "y")}, input("x", 0),
				output("y"), at(1<<40)))},
		{"pieces of size 0", "pieces of size 0",
			build([]msg{op1("SplitToSequence", "x p", "s"), op1("SequenceLength", "s", "y")}, at(0))},
		{"pieces of negative size", "pieces of size -1",
			build([]msg{op1("SplitToSequence", "x p", "s"), op1("SequenceLength", "s", "y")}, at(-1))},
		{"negative sizes", "sizes [-1 5]", build([]msg{op1("SplitToSequence", "x p", "s"), op1("SequenceLength", "s", "y")},
			int64Init("p", []int64{2}, -1, 5))},
		{"sizes of another sum", "node 0 (SplitToSequence)",
			build([]msg{op1("SplitToSequence", "x p", "s"), op1("SequenceLength", "s", "y")}, int64Init("p", []int64{2}, 1, 1))},
		{"axis beyond the rank", "node 0 (SplitToSequence)", build([]msg{op1("SplitToSequence", "x", "s", intAttr("axis", 1)),
			op1("SequenceLength", "s", "y")})},
		{"sequences that grow", "more than 4194304", modelMsg(graphMsg(grown, input("w", 1<<16-101), input("x", 1),
			output("y"), at(0)))},
		{"splits that make many values", "expand to more than",
			modelMsg(graphMsg([]msg{op1("SplitToSequence", "x", "s", intAttr("keepdims", 0)),
				op1("SplitToSequence", "x", "r", intAttr("keepdims", 0)), op1("SequenceLength", "s", "y")}, input("x", 40000),
				output("y")))},
		{"loop with open trips", "a sequence is carried by a loop whose trips are not known", build(loop("n k s", counting),
			at(0), input("n"), input("k"))},
		{"loop that grows without end", "more than 4194304 values", build(loop("n k s", counting), at(0),
			int64Init("n", nil, 1<<62), initial(msg(nil).num(2, 9).str(8, "k").str(9, "\x01")))},
		{"loop without end", "expand to more than", build(loop("n k s", idle), at(0), int64Init("n", nil, 1<<62),
			initial(msg(nil).num(2, 9).str(8, "k").str(9, "\x01")))},
		{"loop with an open condition", "the condition after trip 0 is not known", build(loop("n k s", bySum), at(0),
			int64Init("n", nil, 3), initial(msg(nil).num(2, 9).str(8, "k").str(9, "\x01")))},
		{"map that gives a sequence", "output 0 is a sequence",
			build(mapped(graphMsg([]msg{op1("SequenceConstruct", "a", "b")}, input("a"), input("e"), output("b"))), at(0))},
		{"map with other inputs", "the body has 1 inputs, it is given 2",
			build(mapped(graphMsg([]msg{op1("Relu", "a", "b")}, input("a"), output("b"))), at(0))},
		{"map of other lengths", "input 1: a sequence of 2 beside one of 3",
			build([]msg{three, op1("SequenceErase", "s", "e"),
				op1("SequenceMap", "s e", "r", graphAttr("body", graphMsg([]msg{op1("Add", "a c", "b")}, input("a"), input("c"),
					output("b")))), op1("SequenceAt", "r p", "y")}, at(0))},
		{"unknown operator in a map", "Frob x 1",
			build(mapped(graphMsg([]msg{op1("Frob", "a", "b")}, input("a"), input("e"), output("b"))), at(0))},
		{"unknown operator in a branch", "Frob x 1",
			build([]msg{op1("If", "k", "y", graphAttr("then_branch", graphMsg([]msg{op1("Frob", "x", "b")}, output("b"))),
				graphAttr("else_branch", graphMsg(nil, output("x"))))}, input("k"))},
		{"if that gives a sequence", "node 1 (If): attribute then_branch: output: value \"r\" is a sequence",
			build([]msg{three,
				op1("If", "k", "q", graphAttr("then_branch", graphMsg([]msg{op1("Identity", "s", "r")}, output("r"))),
					graphAttr("else_branch", graphMsg(nil, output("x")))),
				op1("SequenceAt", "q p", "y")}, at(0), input("k"))},
	} {
		err := imported(t, c.data, "")
		require.Error(t, err, c.name)
		assert.ErrorContains(t, err, c.says, c.name)
		assert.NotEqual(t, fault.Internal, fault.KindOf(err), "%s: %v", c.name, err)
	}
}

// TestImportFile_repeatedConstants: the body of a function and of a loop is lowered several times; its constants come
// from the file each time, although the file's copy is given back once they are stored.
func TestImportFile_repeatedConstants(t *testing.T) {
	const n = 1 << 14 // floats: several pages
	raw := make([]byte, 4*n)
	for i := range n {
		copy(raw[4*i:], tensor.Float32s(float32(i%100)))
	}
	constant := func(out string) msg {
		return op1("Constant", "", out, msg(nil).str(1, "value").sub(5, tensorMsg("", []int64{n}, raw)).num(20, 4))
	}
	f := msg(nil).sub(25, msg(nil).str(1, "f").str(10, "d").str(4, "a").str(5, "b").sub(7, constant("k")).sub(7,
		op1("Add", "a k", "b")))
	body := graphMsg([]msg{constant("k"), op1("Add", "a k", "t"), op1("Add", "t w", "b")}, input("a"), output("b"),
		initial(tensorMsg("w", []int64{n}, raw)))
	g := graphMsg([]msg{op1("f", "x", "p").str(7, "d"), op1("f", "p", "q").str(7, "d"), op1("SequenceConstruct", "q q",
		"s"),
		op1("SequenceMap", "s", "r", graphAttr("body", body)), op1("ConcatFromSequence", "r", "y", intAttr("axis", 0))},
		input("x", n), output("y"))
	path := filepath.Join(t.TempDir(), "m.onnx")
	require.NoError(t, os.WriteFile(path, modelMsg(g, f), 0o600))
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := ImportFile(path, Options{Weights: weights})
	require.NoError(t, err)
	y, err := ref.Run(context.Background(), m.Graph, []tensor.Tensor{tensor.New(tensor.Float32, n)})
	require.NoError(t, err)
	got, err := tensor.ReadFloat32s(y[0].Data, 2*n)
	require.NoError(t, err)
	for i, v := range got {
		if want := float32(4 * (i % n % 100)); v != want {
			require.Equal(t, want, v, fmt.Sprintf("element %d", i))
		}
	}
}

// TestImport_sequencesLeaveNoTrace: a model that takes a sequence apart again is the graph of what remains.
func TestImport_sequencesLeaveNoTrace(t *testing.T) {
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := Import(modelMsg(graphMsg([]msg{op1("SequenceConstruct", "a b", "s"), op1("SequenceInsert", "s b p", "t"),
		op1("Identity", "t", "u"),
		op1("SequenceAt", "u p", "v"), op1("SequenceLength", "u", "y"), op1("Relu", "v", "z")},
		input("a", 4), input("b", 2), output("y"), output("z"), int64Init("p", nil, 1))), Options{Weights: weights})
	require.NoError(t, err)
	assert.Equal(t, "a", m.Graph.Values[m.Graph.In[0]].Name)
	assert.Equal(t, "b", m.Graph.Values[m.Graph.In[1]].Name, "reading a sequence does not rename what is in it")
	v, ok := m.Graph.Fact(m.Graph.Out[0]).KnownInts()
	assert.True(t, ok)
	assert.Equal(t, []int64{3}, v)
	assert.Equal(t, tensor.T(tensor.Float32, 2).String(), m.Graph.Fact(m.Graph.Out[1]).Type.String())
	for _, n := range m.Graph.Nodes {
		assert.Contains(t, []string{"identity", "relu"}, graph.NameOf(n.Op))
	}
}
