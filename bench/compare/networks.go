package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// network is an entry of models.json.
type network struct {
	name, file string
	Format     string `json:"format"` // "fp32", "fp16", or of quantized values
	MACs       int64  `json:"macs"`
	Selects    bool   `json:"selects"` // it chooses among candidates, by TopK
}

// quantized reports whether the network computes with integers.
func (n *network) quantized() bool { return quantized(n.Format) }

func quantized(format string) bool { return format != "fp32" && format != "fp16" }

// product reports whether the network is one matrix product.
func (n *network) product() bool { return strings.HasPrefix(n.name, "matmul_") }

func (n *network) gflop() float64 { return 2e-9 * float64(n.MACs) }

// networks reads the networks of folder that match: float32 ones first, then those of halves, products after others,
// small ones before large ones.
func networks(folder string, patterns []string) ([]network, error) {
	text, err := os.ReadFile(filepath.Join(folder, "models.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]network{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("models.json: %w", err)
	}
	var found []network
	for name, n := range all {
		ok, err := matches(name, patterns)
		if err != nil {
			return nil, fmt.Errorf("-run: %w", err)
		}
		if ok {
			n.name, n.file = name, filepath.Join(folder, name+".onnx")
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: none of the %d networks matches %s", folder, len(all), strings.Join(patterns, ","))
	}
	slices.SortFunc(found, func(a, b network) int {
		return cmp.Or(order(&a)-order(&b), cmp.Compare(a.MACs, b.MACs), cmp.Compare(a.name, b.name))
	})
	return found, nil
}

func order(n *network) int {
	k := 0
	switch {
	case n.quantized():
		k = 4
	case n.Format == "fp16":
		k = 2
	}
	if n.product() {
		k++
	}
	return k
}
