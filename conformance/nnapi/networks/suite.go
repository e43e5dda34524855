package networks

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/internal/built"
)

// way is a set of devices that share the networks, a mode of the suite.
type way struct {
	name    string
	environ []string
	devices []string // that compute; each must have at least share operations
	share   int
	split   int // networks that at least two devices compute together
}

// Driver is the driver of the way of that name, as the caller in the repository's root reaches it: the fake driver of
// ctest/drivers, which the Makefile builds.
func Driver() string { return built.Path(".", "drivers", "nnapi", nnapi.API.Soname) }

// guises are two devices of which none computes all, and some operations neither.
const guises = "large:as-accelerator:no-CONV_2D:no-MUL:no-RELU:no-SELECT:no-DEQUANTIZE:no-TRANSPOSE:no-CONCATENATION:" +
	"no-MEAN:no-SOFTMAX,small:as-gpu:no-TRANSPOSE:no-CONCATENATION:no-MEAN:no-SOFTMAX"

// ways are the processor alone, two guises before it, and a driver of two devices before it. The driver's second device
// claims everything and is asked first: what it does not compile goes to the others with the rest of its part.
func ways() []way {
	driver, err := filepath.Abs(Driver())
	if err != nil {
		driver = Driver()
	}
	return []way{
		{"cpu", []string{"ANYNPU_NNAPI=cpu", "ANYNPU_NNAPI_DEVICES=", "ANYNPU_DEVICE="}, []string{"nnapi-reference"}, 4000,
			0},
		{"guises", []string{"ANYNPU_NNAPI=cpu", "ANYNPU_NNAPI_DEVICES=" + guises, "ANYNPU_DEVICE="},
			[]string{"large", "small", "nnapi-reference"}, 200, 200},
		{"driver", []string{"ANYNPU_NNAPI=device", "ANYNPU_DRIVER_NNAPI=" + driver, "ANYNPU_NNAPI_DEVICES=",
			"ANYNPU_DEVICE=nnapi2,nnapi"}, []string{"nnapi2", "nnapi", "nnapi-reference"}, 60, 100},
	}
}

// Suite is the random networks of the API.
func Suite() *suite.Suite {
	s := &suite.Suite{
		API:       nnapi.API,
		Name:      "networks",
		Short:     "Compute random networks on one device and on several, and compare the results",
		Environ:   []string{"ANYNPU_LOG=off", "ANYNPU_NNAPI_FEATURE_LEVEL="},
		Cases:     items,
		Open:      open,
		Summarize: summarize,
		List:      list,
	}
	for _, w := range ways() {
		s.Modes = append(s.Modes, suite.Mode{Name: w.name, Environ: w.environ})
	}
	return s
}

func items(string) ([]suite.Item, error) {
	all, err := networks()
	if err != nil {
		return nil, err
	}
	var out []suite.Item
	for _, n := range all {
		out = append(out, suite.Item{ID: n.Name, Object: "random networks"})
	}
	return out, nil
}

func open(l *suite.Library, _ string) suite.Computer {
	return func(id, dir string) (suite.Result, error) {
		n, err := find(id)
		if err != nil {
			return suite.Result{}, err
		}
		return n.compute(l, dir), nil
	}
}

// summarize prints a line for each way: how many networks passed, and how many operations each device computed.
func summarize(w io.Writer, o *suite.Outcome) bool {
	good := true
	for _, rep := range o.Reports {
		operations, split := map[string]int{}, 0
		for _, x := range rep.Results {
			for device, n := range x.Placement {
				operations[device] += n
			}
			if len(x.Placement) > 1 {
				split++
			}
		}
		var shares []string
		for _, device := range slices.Sorted(maps.Keys(operations)) {
			shares = append(shares, fmt.Sprintf("%s %d", device, operations[device]))
		}
		n := rep.Counts
		fmt.Fprintf(w, "nnapi graphs: %d of %d on %s (%d crashes, %d hangs; %d split; operations: %s)\n", n[suite.Pass],
			len(rep.Results), rep.Mode, n[suite.Crash], n[suite.Hang], split, strings.Join(shares, ", "))
		good = good && n[suite.Pass] == len(rep.Results)
		if o.Own && !o.Filtered {
			good = divided(w, rep.Mode, operations, split) && good
		}
	}
	return good
}

// divided tells whether every device of a way had its share, and prints what it had not.
func divided(w io.Writer, mode string, operations map[string]int, split int) bool {
	all := ways()
	x := all[slices.IndexFunc(all, func(x way) bool { return x.name == mode })]
	good := true
	for _, device := range x.devices {
		if n := operations[device]; n < x.share {
			fmt.Fprintf(w, "nnapi graphs: %s: %d operations on %s, want %d at least\n", mode, n, device, x.share)
			good = false
		}
	}
	if split < x.split {
		fmt.Fprintf(w, "nnapi graphs: %s: %d networks on several devices, want %d at least\n", mode, split, x.split)
		good = false
	}
	if !good && mode == "driver" {
		fmt.Fprintf(w, "nnapi graphs: the driver is %s: make conformance builds it\n", Driver())
	}
	return good
}

// list prints each network with its operations.
func list(w io.Writer) {
	all, err := networks()
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	for _, n := range all {
		fmt.Fprintf(w, "%s %2d operations: %s\n", n.Name, len(n.Operations), n.kinds())
	}
}

// kinds names the operations, each once.
func (n *Network) kinds() string {
	var out []string
	for _, o := range n.Operations {
		if !slices.Contains(out, o.Op) {
			out = append(out, o.Op)
		}
	}
	return strings.Join(out, " ")
}
