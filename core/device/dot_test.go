package device_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
)

// statement is one of the subset of DOT that drawings need: an id, an edge or a subgraph's attribute, and attributes.
var (
	token     = regexp.MustCompile(`^\s*("(?:[^"\\\n]|\\["\\n])*"|->|[A-Za-z_0-9]+|[{}\[\]=;,])`)
	identical = regexp.MustCompile(`^(".*"|[A-Za-z_][A-Za-z_0-9]*|[0-9]+)$`)
)

// readDOT parses a drawing: attributes by node, by "a -> b", and by subgraph; nodes of a subgraph have its name as
// attribute "in".
func readDOT(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	var tokens []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		m := token.FindStringSubmatch(text)
		require.NotNil(t, m, "no token: %.60q", text)
		tokens, text = append(tokens, m[1]), text[len(m[0]):]
	}
	next := func() string {
		require.NotEmpty(t, tokens, "the drawing ends early")
		s := tokens[0]
		tokens = tokens[1:]
		return s
	}
	want := func(s string) { require.Equal(t, s, next()) }
	id := func() string {
		s := next()
		require.Regexp(t, identical, s)
		if s[0] == '"' {
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(s[1 : len(s)-1])
		}
		return s
	}
	all := map[string]map[string]string{}
	want("digraph")
	all["digraph"] = map[string]string{"name": id()}
	want("{")
	inside := ""
	for {
		if tokens[0] == "}" {
			next()
			if inside == "" {
				break
			}
			inside = ""
			continue
		}
		name := id()
		if name == "subgraph" {
			inside = id()
			all[inside] = map[string]string{}
			want("{")
			continue
		}
		at := map[string]string{}
		switch next() {
		case "=":
			all[inside][name] = id()
			want(";")
			continue
		case "->":
			name += " -> " + id()
			want("[")
		}
		for {
			key := id()
			want("=")
			at[key] = id()
			if next() == "]" {
				break
			}
		}
		want(";")
		if inside != "" {
			at["in"] = inside
		}
		require.NotContains(t, all, name, "told twice")
		all[name] = at
	}
	require.Empty(t, tokens)
	return all
}

func TestPlacement_DOT(t *testing.T) {
	hostile := "a\"]; b -> c [x=\"\\\n\x00\xff\\N<b>é"
	printable := "a\"]; b -> c [x=\"\\\n\uFFFD\uFFFD\\N<b>é"
	float, codes := "float32[1,8]", "uint8[2]"
	p := &device.Placement{Model: hostile,
		Parts: []device.PartPlacement{{Device: "npu", Nodes: 2}, {Device: "cpu", Nodes: 1}},
		Nodes: []device.NodePlacement{
			{Op: "conv", Name: hostile, Device: "npu", Part: 0},
			{Op: "relu", Device: "npu", Part: 0},
			{Op: "gelu", Device: "cpu", Part: 1, Refused: []device.Refusal{{Device: "npu", Reason: hostile}}}},
		Edges: []device.Edge{
			{Value: 7, From: -1, To: 0, Name: hostile, Type: float},
			{Value: 8, From: 0, To: 1, Type: float},
			{Value: 9, From: 1, To: 2, Type: codes},
			{Value: 7, From: -1, To: 2, Name: hostile, Type: float},
			{Value: 10, From: 2, To: -1, Name: "y", Type: float},
			{Value: 11, From: 3, To: 0, Type: float}}}
	all := readDOT(t, p.DOT())
	assert.Equal(t, printable, all["digraph"]["name"])
	assert.Equal(t, "part 0 on npu", all["cluster_0"]["label"])
	assert.Equal(t, "part 1 on cpu", all["cluster_1"]["label"])
	assert.Equal(t, "conv\n"+printable, all["n0"]["label"])
	assert.Equal(t, []string{"cluster_0", "cluster_0", "cluster_1"}, []string{all["n0"]["in"], all["n1"]["in"],
		all["n2"]["in"]})
	assert.Equal(t, all["n0"]["fillcolor"], all["n1"]["fillcolor"])
	assert.NotEqual(t, all["n0"]["fillcolor"], all["n2"]["fillcolor"])
	assert.Contains(t, all["n2"]["tooltip"], "npu: "+printable)
	assert.Equal(t, printable, all["in7"]["label"])
	assert.Equal(t, "y", all["out10"]["label"])
	assert.Equal(t, map[string]string{"label": "float32[1,8]"}, all["n0 -> n1"])
	assert.Equal(t, map[string]string{"label": "uint8[2]", "style": "bold"}, all["n1 -> n2"])
	assert.Contains(t, all, "in7 -> n0")
	assert.Contains(t, all, "in7 -> n2")
	assert.Contains(t, all, "n2 -> out10")
	assert.Len(t, all, 14, "what is of no node is not drawn")
}
