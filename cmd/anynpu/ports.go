package main

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/anynpu/anynpu/core/format/onnx"
)

// portInfo is an input or output; an empty type and absent sizes are not declared.
type portInfo struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Sizes []string `json:"sizes"`
}

func portInfos(ps []onnx.Port) []portInfo {
	out := make([]portInfo, len(ps))
	for i, p := range ps {
		out[i] = portInfo{p.Name, p.Type, p.Dims}
	}
	return out
}

func (p *portInfo) typeText() string {
	typ := orUnknown(p.Type)
	if p.Sizes == nil {
		return typ + "[...]"
	}
	return typ + "[" + strings.Join(p.Sizes, ",") + "]"
}

// orUnknown is a type's name, "?" when it is not said.
func orUnknown(typ string) string { return cmp.Or(typ, "?") }

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// byCount returns the names of operators, the most frequent first.
func byCount(operators map[string]int) []string {
	ops := sorted(operators)
	slices.SortStableFunc(ops, func(a, b string) int { return operators[b] - operators[a] })
	return ops
}
