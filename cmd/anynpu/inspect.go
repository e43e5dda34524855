package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/model"
)

// inspection is the JSON form of inspect.
type inspection struct {
	Schema     string            `json:"schema"` // "anynpu.inspect/1"
	File       string            `json:"file"`
	Name       string            `json:"name"`
	Producer   string            `json:"producer"`
	IRVersion  int64             `json:"ir_version"`
	Opsets     map[string]int64  `json:"opsets"`
	Inputs     []portInfo        `json:"inputs"`
	Outputs    []portInfo        `json:"outputs"`
	Operators  map[string]int    `json:"operators"`
	Functions  []string          `json:"functions"`
	Parameters int64             `json:"parameters"`
	Bytes      int64             `json:"parameter_bytes"`
	Metadata   map[string]string `json:"metadata"`         // that of MODEL.anynpu.json included
	Error      string            `json:"error,omitempty"`  // in a pack: why the model could not be read
	Graphs     *modelGraphs      `json:"graphs,omitempty"` // with --nodes
}

// inspectionPack is the JSON form of inspect of a pack list.
type inspectionPack struct {
	Schema string       `json:"schema"` // "anynpu.inspect-pack/1"
	File   string       `json:"file"`
	Models []inspection `json:"models"`
}

func newInspect(stdout, stderr io.Writer) *cobra.Command {
	asJSON, nodes := false, false
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Describe a model: inputs, outputs, operators, metadata",
		Long: `inspect shows what an ONNX model says of itself: inputs and outputs with element
types and sizes (names stand for open sizes), how often each operator occurs,
the number of parameters, and the metadata. The model need not be computable.
Metadata are those of the model and of MODEL.anynpu.json beside it, whose
entries win. Of a pack list (JSON with anynpu.models) every model is described.

--nodes lists the nodes as well, in the order of the file, with their inputs and
outputs (type and sizes as far as they are known), attributes, and the smallest,
largest and mean element of weights, and how many are NaN or infinite. The
bodies of If, Loop and Scan are indented, the model's functions follow.

Of an .rknn file it shows what that says: names, sizes, types, quantization,
preprocessing, dynamic shapes, operators.`,
		Example: "  anynpu inspect model.onnx\n  anynpu inspect --nodes model.onnx\n  anynpu inspect --json model.onnx\n" +
			"  anynpu inspect pack.json",
		Args: oneModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if ok, err := inspectRKNN(args[0], stdout, asJSON, nodes); ok {
				return err
			}
			all := inspectionPack{"anynpu.inspect-pack/1", args[0], []inspection{}}
			pack, err := eachOf(args[0], stderr, func(path string) error {
				i, err := inspectModel(path, stderr)
				if err == nil && nodes {
					i.Graphs, err = graphsOf(path)
				}
				if err != nil {
					i.Error = err.Error()
				}
				all.Models = append(all.Models, i)
				return err
			})
			if err != nil && !pack {
				return exit(exitModel, err)
			}
			return cmp.Or(all.print(stdout, pack, asJSON), err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		`write JSON, schema "anynpu.inspect/1", of a pack list "anynpu.inspect-pack/1", of an .rknn file "anynpu.inspect-rknn/2"`)
	cmd.Flags().BoolVar(&nodes, "nodes", false, "list the nodes with attributes and weights")
	return cmd
}

// inspectModel describes one model. Metadata that cannot be read is a warning: the model can still be described.
func inspectModel(path string, stderr io.Writer) (inspection, error) {
	none := inspection{Schema: "anynpu.inspect/1", File: path, Opsets: map[string]int64{}, Inputs: []portInfo{},
		Outputs:   []portInfo{},
		Operators: map[string]int{}, Functions: []string{}, Metadata: map[string]string{}}
	if err := wantModel(path, model.Unknown, nil); err != nil {
		return none, err
	}
	s, err := onnx.SurveyFile(path)
	if err != nil {
		return none, err
	}
	values, err := metadata.Merged(s.Meta, path)
	if err != nil {
		values = s.Meta
	} else if meta, e := metadata.Read(s.Meta, path); e != nil {
		err = e
	} else {
		names := []string{}
		for _, p := range s.In {
			names = append(names, p.Name)
		}
		warn(stderr, "model-metadata-no-effect", append(meta.Warnings, meta.Strangers(path, names)...)...)
	}
	if err != nil {
		warn(stderr, "tool-sidecar-unread", err.Error())
	}
	return inspection{"anynpu.inspect/1", path, s.Name, s.Producer, s.IRVersion, opsetNames(s.Opsets), portInfos(s.In),
		portInfos(s.Out), s.Ops,
		append([]string{}, s.Functions...), s.Parameters, s.Bytes, values, "", nil}, nil
}

// print writes the description of the only model, or of all of a pack list.
func (p *inspectionPack) print(w io.Writer, pack, asJSON bool) error {
	switch {
	case asJSON && pack:
		return writeJSON(w, p)
	case asJSON:
		return writeJSON(w, p.Models[0])
	}
	for k := range p.Models {
		i := &p.Models[k]
		if pack {
			printf(w, "file        %s\n", i.File)
		}
		if i.Error != "" {
			printf(w, "error       %s\n", i.Error)
			continue
		}
		i.write(w)
	}
	return nil
}

func opsetNames(m map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for domain, v := range m {
		if domain == "" {
			domain = "ai.onnx"
		}
		out[domain] = v
	}
	return out
}

func (i *inspection) write(w io.Writer) {
	printf(w, "model       %s\n", i.Name)
	printf(w, "producer    %s\n", i.Producer)
	opsets := []string{}
	for _, d := range sorted(i.Opsets) {
		opsets = append(opsets, fmt.Sprintf("%s %d", d, i.Opsets[d]))
	}
	printf(w, "opset       %s (ONNX IR version %d)\n", strings.Join(opsets, ", "), i.IRVersion)
	printf(w, "parameters  %d (%d bytes)\n", i.Parameters, i.Bytes)
	for _, side := range []struct {
		name  string
		ports []portInfo
	}{{"inputs", i.Inputs}, {"outputs", i.Outputs}} {
		printf(w, "%s\n", side.name)
		for _, p := range side.ports {
			printf(w, "  %-24s %s\n", p.Name, p.typeText())
		}
	}
	total := 0
	for _, n := range i.Operators {
		total += n
	}
	printf(w, "operators   %d\n", total)
	for _, op := range byCount(i.Operators) {
		printf(w, "  %-24s %d\n", op, i.Operators[op])
	}
	if len(i.Functions) > 0 {
		printf(w, "functions   %s\n", strings.Join(i.Functions, ", "))
	}
	if len(i.Metadata) > 0 {
		printf(w, "metadata\n")
		for _, k := range sorted(i.Metadata) {
			printf(w, "  %s = %s\n", k, i.Metadata[k])
		}
	}
	if i.Graphs != nil {
		i.Graphs.write(w)
	}
}
