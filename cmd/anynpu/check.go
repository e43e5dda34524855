package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// checkReport is the JSON form of check.
type checkReport struct {
	Schema    string       `json:"schema"` // "anynpu.check/1"
	File      string       `json:"file"`
	Usable    bool         `json:"usable"`
	Error     string       `json:"error,omitempty"` // why the model could not be read at all
	Nodes     []nodeReport `json:"nodes"`
	Supported int          `json:"supported"`
}

// nodeReport is one node after lowering; an operator of the model may give several.
type nodeReport struct {
	Operator int    `json:"operator"` // index of the model's node
	Op       string `json:"op"`
	Name     string `json:"name,omitempty"`
	Device   string `json:"device,omitempty"` // empty: none computes it
	Reason   string `json:"reason,omitempty"`
}

func newCheck(stdout, stderr io.Writer) *cobra.Command {
	asJSON, id := false, "cpu"
	cmd := &cobra.Command{
		Use:   "check MODEL",
		Short: "Tell which operator of a model runs where, and why not",
		Long: `check reads a model as run does and lists, per node, the device that computes it or the reason why none does. A model with
operators that are not known at all is refused with the list of them. Exit code 0 when everything runs, 3 when something does not.`,
		Example: "  anynpu check model.onnx\n  anynpu check --json model.onnx",
		Args:    oneModel,
		RunE: func(_ *cobra.Command, args []string) error {
			devs, err := devices(id)
			if err != nil {
				return err
			}
			r := checkReport{Schema: "anynpu.check/1", File: args[0], Nodes: []nodeReport{}}
			checkErr := r.check(args[0], devs, stderr)
			if checkErr != nil {
				r.Error = checkErr.Error()
			}
			r.Usable = checkErr == nil && r.Supported == len(r.Nodes)
			if asJSON {
				if err := writeJSON(stdout, r); err != nil {
					return err
				}
			} else {
				r.write(stdout)
			}
			if checkErr == nil && !r.Usable {
				checkErr = fault.New(fault.Unsupported, "%d of %d nodes are computed by no device", len(r.Nodes)-r.Supported, len(r.Nodes))
			}
			return exit(exitModel, checkErr)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.check/1"`)
	cmd.Flags().StringVar(&id, "device", id, "the device to ask")
	return cmd
}

func (r *checkReport) check(path string, devs []device.Device, stderr io.Writer) error {
	m, err := load(path, stderr)
	if err != nil {
		return err
	}
	defer m.weights.Release()
	answers, err := compile.Support(m.Graph, devs[0], device.Options{})
	if err != nil {
		return err
	}
	for i, a := range answers {
		n := &m.Graph.Nodes[i]
		node := nodeReport{Operator: n.Origin, Op: n.Op.Name(), Name: n.Name, Device: devs[0].Info().ID}
		if !a.OK {
			node.Device, node.Reason = "", a.Reason
		} else {
			r.Supported++
		}
		r.Nodes = append(r.Nodes, node)
	}
	return nil
}

func (r *checkReport) write(w io.Writer) {
	for _, n := range r.Nodes {
		where := n.Device
		if where == "" {
			where = "nowhere: " + n.Reason
		}
		fmt.Fprintf(w, "%5d  %-20s %-24s %s\n", n.Operator, n.Op, n.Name, where)
	}
	if r.Error == "" {
		fmt.Fprintf(w, "%d of %d nodes run\n", r.Supported, len(r.Nodes))
	}
}
