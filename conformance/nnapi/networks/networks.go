// Package networks is the suite of NNAPI's random networks: what comes of models of up to 30 operations, on one device
// and on several. It knows no implementation. The networks and their expected values are made by gen/gen.py.
package networks

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed" // for the networks
	"encoding/json"
	"fmt"
	"sync"

	"github.com/anynpu/anynpu/conformance/nnapi/model"
)

//go:embed random.jsonl.gz
var random []byte

// Network is a model with the elements of its inputs and those that its outputs must have.
type Network struct {
	Name string `json:"name"`
	model.Graph
}

// networks are all of them, by name and in order.
var networks = sync.OnceValues(func() (list []*Network, err error) {
	text, err := gzip.NewReader(bytes.NewReader(random))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		n := &Network{}
		if err := json.Unmarshal(lines.Bytes(), n); err != nil {
			return nil, fmt.Errorf("network %d: %w", len(list), err)
		}
		list = append(list, n)
	}
	return list, lines.Err()
})

func find(name string) (*Network, error) {
	all, err := networks()
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		if n.Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no network %q", name)
}
