package onnx

import "sort"

// sortedKeys are the keys of a map in one order, so that a model gives the same in every run.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
