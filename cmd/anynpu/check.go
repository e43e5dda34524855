package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
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
	Passes    []passReport `json:"passes,omitempty"` // with --passes
	judged    bool         // whether there is something to tell
}

// checkPack is the JSON form of check of a pack list.
type checkPack struct {
	Schema string        `json:"schema"` // "anynpu.check-pack/1"
	File   string        `json:"file"`
	Usable bool          `json:"usable"` // every model is
	Models []checkReport `json:"models"`
}

// nodeReport is one node after lowering; an operator of the model may give several.
type nodeReport struct {
	Operator int    `json:"operator"` // index of the model's node
	Op       string `json:"op"`       // as the model calls it
	Core     string `json:"core"`     // as the library does
	Name     string `json:"name,omitempty"`
	Device   string `json:"device,omitempty"` // empty: none computes it
	Reason   string `json:"reason,omitempty"`
}

// passReport is the result of a pass of the CPU, a line per node or step.
type passReport struct {
	Pass  string   `json:"pass"`
	Lines []string `json:"lines"`
}

func newCheck(stdout, stderr io.Writer) *cobra.Command {
	asJSON, engine, passes := false, false, false
	f := measureFlags{}
	cmd := &cobra.Command{
		Use:   "check MODEL",
		Short: "Tell which operator of a model runs where, and why not",
		Long: `check reads a model as run does and lists, per node, the device that computes it
or the reason why none does. A model with operators that are not known at all is
refused with the list of them. Exit code 0 when everything runs, 3 when
something does not. Of a pack list (JSON with anynpu.models) every model is
checked.

--api has the library load the file as programs of that API do, and prints what
the call says that refuses it; exit code 1 then. Models for NNAPI, which has no
files, are said by calls. A pack list goes to the API as a whole.

--engine runs the model once, on made-up inputs unless they are given, and
prints one line: which share of the nodes, of the arithmetic (two operations per
multiply-add) and of the elements that are computed, moved or compared ran on
kernels made for this processor, and which nodes did not; what is inside If and
Loop counts once. Exit code 1 below 100 % of the arithmetic or of the elements.

--passes runs the model once as well and prints what each pass of the CPU makes
of it: the nodes of the graph, the operations that they become, with layouts and
conversions, and the steps with the places of their buffers.`,
		Example: "  anynpu check model.onnx\n  anynpu check --json model.onnx\n  anynpu check pack.json\n  anynpu check " +
			"--engine model.onnx\n  anynpu check --passes model.onnx\n  anynpu check --api rknn model.rknn",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !engine && !passes && (f.inputFlags.given() || f.computes()) {
				return usage("check: -i, --shape, --raw, --random, --seed, --threads, --isa and --ref go with " +
					"--engine or --passes [tool-check-i-shape]")
			}
			if !engine && !passes && cmd.Flags().Changed("api") {
				if f.device != "" {
					return usage("check: --api has the library load the model on the devices that it finds, so that --device has no " +
						"effect [tool-check-api-library]")
				}
				return checkAPI(args[0], f.api, asJSON, stdout, stderr)
			}
			var trace func(pass, text string) // of the model that is being checked
			if passes {
				f.trace = func(pass, text string) { trace(pass, text) }
			}
			on, err := f.machine(stderr)
			if err != nil {
				return err
			}
			defer on.close()
			if passes && on.byRef {
				return usage("check: --passes shows the passes of the fast kernels over a model, which ANYNPU_CPU=ref or " +
					"--ref does without; --ref=false turns that off [tool-check-passes-shows]")
			}
			all := checkPack{Schema: "anynpu.check-pack/1", File: args[0], Models: []checkReport{}}
			pack, err := eachOf(args[0], stderr, func(path string) error {
				r := checkReport{Schema: "anynpu.check/1", File: path, Nodes: []nodeReport{}}
				trace = r.pass
				err := r.judge(path, on, engine, passes, &f, stderr)
				all.Models = append(all.Models, r)
				return err
			})
			all.Usable = !slices.ContainsFunc(all.Models, func(r checkReport) bool { return !r.Usable })
			if len(all.Models) == 0 || err != nil && !pack && !all.Models[0].judged {
				return err
			}
			return cmp.Or(all.print(stdout, pack, asJSON), err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		`write JSON, schema "anynpu.check/1", of a pack list "anynpu.check-pack/1", with --api alone "anynpu.check-api/1"`)
	f.addAPI(cmd, "report what loading the model by `API` says: "+strings.Join(sorted(loadingAPIs), ", ")+
		"; with --engine or --passes as in bench", sorted(loadingAPIs)...)
	f.add(cmd)
	cmd.Flags().BoolVar(&engine, "engine", false, "run once and show the share of fast kernels")
	cmd.Flags().BoolVar(&passes, "passes", false, "run once and show what each pass of the CPU makes of the model")
	return cmd
}

// pass notes what a pass has made of the model.
func (r *checkReport) pass(pass, text string) {
	x := passReport{Pass: pass, Lines: []string{}}
	for line := range strings.Lines(text) {
		x.Lines = append(x.Lines, strings.TrimSuffix(line, "\n"))
	}
	r.Passes = append(r.Passes, x)
}

// judge checks one model. The report is to be shown also when there is an error, if it is judged.
func (r *checkReport) judge(path string, on *machine, engine, passes bool, f *measureFlags, stderr io.Writer) error {
	err := r.check(path, on.devices, stderr)
	if err != nil {
		r.Error = err.Error()
	}
	r.Usable = err == nil && r.Supported == len(r.Nodes)
	r.judged = true
	if (engine || passes) && r.Usable {
		if r.Engine, err = f.share(path, on, stderr); err != nil {
			r.Error, r.judged = err.Error(), false
			return err
		}
	}
	if !engine {
		r.Engine = nil
	}
	switch {
	case r.Engine != nil && r.Engine.FLOPPercent < 100:
		return exit(exitDifferent, fmt.Errorf("%.2f %% of the arithmetic has a fast kernel", r.Engine.FLOPPercent))
	case r.Engine != nil && r.Engine.ElementPercent < 100:
		return exit(exitDifferent, fmt.Errorf("%.2f %% of the elements are computed, moved or compared by a fast kernel",
			r.Engine.ElementPercent))
	case err == nil && !r.Usable:
		err = fault.New(fault.Unsupported, "%d of %d nodes %s computed by no device "+
			"[tool-nodes-computed-no]", len(r.Nodes)-r.Supported, len(r.Nodes),
			verb(len(r.Nodes)-r.Supported, "is", "are"))
	}
	return exit(exitModel, err)
}

// print writes the report of the only model, or of all of a pack list.
func (p *checkPack) print(w io.Writer, pack, asJSON bool) error {
	switch {
	case asJSON && pack:
		return writeJSON(w, p)
	case asJSON:
		return writeJSON(w, p.Models[0])
	}
	for i := range p.Models {
		r := &p.Models[i]
		for _, x := range r.Passes {
			printf(w, "%s\n", x.Pass)
			for _, line := range x.Lines {
				printf(w, "  %s\n", line)
			}
		}
		if r.Engine != nil {
			r.Engine.write(w, r.File)
		}
		if r.Engine != nil || r.Passes != nil {
			continue
		}
		if pack {
			printf(w, "%s\n", r.File)
		}
		if pack && r.Error != "" {
			printf(w, "  error: %s\n", r.Error)
		}
		r.write(w)
	}
	return nil
}

func (r *checkReport) check(path string, devs []device.Device, stderr io.Writer) error {
	m, err := load(path, devs, stderr)
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
		node := nodeReport{Operator: n.Origin, Op: m.operator(n.Origin, graph.NameOf(n.Op)), Core: graph.NameOf(n.Op),
			Name: n.Name, Device: devs[0].Info().ID}
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
	width := 20
	for _, n := range r.Nodes {
		width = max(width, min(len(fault.Printable(n.Op)), 40))
	}
	if len(r.Nodes) > 0 {
		printf(w, "%5s  %-*s %-24s %s\n", "node", width, "operator", "name", "device")
	}
	for _, n := range r.Nodes {
		where := n.Device
		if where == "" {
			where = "nowhere: " + n.Reason
		}
		printf(w, "%5d  %-*s %-24s %s\n", n.Operator, width, n.Op, n.Name, where)
	}
	if r.Error == "" {
		printf(w, "%d of %d nodes run\n", r.Supported, len(r.Nodes))
	}
}
