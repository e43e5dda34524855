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
	Engine    *engineShare `json:"engine,omitempty"` // with --engine
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
	asJSON, engine := false, false
	f := measureFlags{}
	cmd := &cobra.Command{
		Use:   "check MODEL",
		Short: "Tell which operator of a model runs where, and why not",
		Long: `check reads a model as run does and lists, per node, the device that computes it or the reason why none does. A model with
operators that are not known at all is refused with the list of them. Exit code 0 when everything runs, 3 when something does not.

--engine runs the model once, on made-up inputs unless they are given, and prints one line: which share of the nodes and of the arithmetic
(two operations per multiply-add) ran on kernels made for this processor, and which nodes did not. Exit code 1 below 100 % of the arithmetic.`,
		Example: "  anynpu check model.onnx\n  anynpu check --json model.onnx\n  anynpu check --engine model.onnx",
		Args:    oneModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if !engine && (len(f.inputs)+len(f.shapes) > 0 || f.threads != 0) {
				return usage("check: -i, --shape and --threads go with --engine")
			}
			devs, err := devices(f.device)
			if err != nil {
				return err
			}
			r := checkReport{Schema: "anynpu.check/1", File: args[0], Nodes: []nodeReport{}}
			checkErr := r.check(args[0], devs, stderr)
			if checkErr != nil {
				r.Error = checkErr.Error()
			}
			r.Usable = checkErr == nil && r.Supported == len(r.Nodes)
			var share *engineShare
			if engine && r.Usable {
				if share, err = f.share(args[0], stderr); err != nil {
					return err
				}
				r.Engine = share
			}
			if asJSON {
				if err := writeJSON(stdout, r); err != nil {
					return err
				}
			} else if share != nil {
				share.write(stdout, args[0])
			} else {
				r.write(stdout)
			}
			if share != nil && share.FLOPPercent < 100 {
				return exit(exitDifferent, fmt.Errorf("%.2f %% of the arithmetic has a fast kernel", share.FLOPPercent))
			}
			if checkErr == nil && !r.Usable {
				checkErr = fault.New(fault.Unsupported, "%d of %d nodes are computed by no device", len(r.Nodes)-r.Supported, len(r.Nodes))
			}
			return exit(exitModel, checkErr)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.check/1"`)
	f.add(cmd)
	cmd.Flags().BoolVar(&engine, "engine", false, "run once and show the share of fast kernels")
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
