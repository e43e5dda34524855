package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// field is a field of a protobuf message whose bytes are short.
func field(num byte, s string) string { return string([]byte{num<<3 | 2, byte(len(s))}) + s }

// nodesModel has an unknown operator, which reads x, nothing and weights {0.5, NaN, 2.5}, and a weight that nothing
// reads.
func nodesModel() []byte {
	value := func(name string) string { return field(1, name) + field(2, field(1, "\x08\x01"+field(2, ""))) }
	attr := func(name, set string, typ byte) string {
		return field(1, name) + set + "\xa0\x01" + string([]byte{typ})
	}
	node := field(1, "x") + field(1, "") + field(1, "w") + field(2, "y") + field(3, "first") + field(4, "Odd") +
		field(7, "org.x") + field(5, attr("text", field(4, "a\xffb"), 3)) + field(5, attr("list", "\x40\x01\x40\x02", 7)) +
		field(5, attr("half", "\x15\x00\x00\x00\x3f", 1))
	weight := "\x08\x03\x10\x01" + field(8, "w") + field(9, "\x00\x00\x00\x3f\x00\x00\xc0\x7f\x00\x00\x20\x40")
	limit := "\x08\x01\x10\x07" + field(8, "end") + field(9, "\xff\xff\xff\xff\xff\xff\xff\x7f")
	graph := field(1, node) + field(2, "g") + field(5, weight) + field(5, limit) + field(11, value("x")) +
		field(12, value("y"))
	return []byte("\x08\x08\x3a" + string([]byte{byte(len(graph)&0x7f | 0x80), byte(len(graph) >> 7)}) + graph +
		field(8, "\x10\x11"))
}

func TestInspect_nodes(t *testing.T) {
	path := writeFile(t, "m.onnx", nodesModel())
	code, out, errs := anynpu("inspect", "--nodes", path)
	require.Equal(t, exitOK, code, errs)
	for _, line := range []string{
		"     0  org.x.Odd  first\n",
		"        in  x                        float32[]\n",
		"        in  -\n",
		"        in  w                        float32[3]  = [0.5, \"NaN\", 2.5]  min 0.5  max 2.5  mean 1.5  nan 1\n",
		"        out y                        float32[]\n",
		"        half = 0.5\n", "        list = [1, 2]\n", "        text = \"a\ufffdb\"\n",
		"  not read by a node: end                      int64[1]  = [9223372036854775807]\n",
	} {
		assert.Contains(t, out, line)
	}
	code, out, errs = anynpu("inspect", "--nodes", "--json", path)
	require.Equal(t, exitOK, code, errs)
	var got struct {
		Graphs struct {
			Main struct {
				Initializers []map[string]any
				Nodes        []struct {
					Op, Name   string
					Inputs     []map[string]any
					Attributes []map[string]any
				}
			}
			Functions []any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Graphs.Main.Nodes, 1)
	n := got.Graphs.Main.Nodes[0]
	assert.Equal(t, "org.x.Odd", n.Op)
	assert.Equal(t, []map[string]any{{"name": "x", "type": "float32", "sizes": []any{}},
		{"name": "", "type": "", "sizes": nil}, {"name": "w", "type": "float32", "sizes": []any{"3"}, "initializer": true}},
		n.Inputs)
	assert.Equal(t, map[string]any{"name": "w", "type": "float32", "sizes": []any{3.0}, "min": 0.5, "max": 2.5,
		"mean": 1.5,
		"nan":  1.0, "inf": 0.0, "values": []any{0.5, "NaN", 2.5}}, got.Graphs.Main.Initializers[0])
	assert.Contains(t, out, "9223372036854775807", "all digits")
	assert.Equal(t, map[string]any{"name": "list", "type": "ints", "value": []any{1.0, 2.0}, "count": 2.0},
		n.Attributes[1])
	code, out, _ = anynpu("inspect", path)
	assert.Equal(t, exitOK, code)
	assert.NotContains(t, out, "org.x.Odd  first")
}

// An import infers the shapes that the file does not declare: digits.onnx says nothing of inner values.
func TestInspect_nodesInferred(t *testing.T) {
	_, out, _ := anynpu("inspect", "--nodes", digits+"digits.onnx")
	assert.Contains(t, out, "out pool1                    float32[N,16,4,4]\n")
	assert.Contains(t, out, "in  conv2.weight             float32[32,16,3,3]  min -0.735595  max 0.557071  mean "+
		"0.00991286\n")
}
