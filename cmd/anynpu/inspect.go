package main

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/format/onnx"
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
	Metadata   map[string]string `json:"metadata"`
}

// portInfo is an input or output; an empty type and absent sizes are not declared.
type portInfo struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Sizes []string `json:"sizes"`
}

func newInspect(stdout, _ io.Writer) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Describe a model: inputs, outputs, operators, metadata",
		Long: `inspect shows what an ONNX model says of itself: inputs and outputs with element types and sizes (names stand for open
sizes), how often each operator occurs, the number of parameters, and the metadata. The model need not be computable.`,
		Example: "  anynpu inspect model.onnx\n  anynpu inspect --json model.onnx",
		Args:    oneModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := wantONNX(args[0]); err != nil {
				return exit(exitModel, err)
			}
			s, err := onnx.SurveyFile(args[0])
			if err != nil {
				return exit(exitModel, err)
			}
			i := inspection{"anynpu.inspect/1", args[0], s.Name, s.Producer, s.IRVersion, opsetNames(s.Opsets), portInfos(s.In), portInfos(s.Out), s.Ops,
				append([]string{}, s.Functions...), s.Parameters, s.Bytes, s.Meta}
			if asJSON {
				return writeJSON(stdout, i)
			}
			i.write(stdout)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.inspect/1"`)
	return cmd
}

// oneModel checks for exactly one argument.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s: want one MODEL, got %d; see 'anynpu %s --help'", cmd.Name(), len(args), cmd.Name())
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

func portInfos(ps []onnx.Port) []portInfo {
	out := make([]portInfo, len(ps))
	for i, p := range ps {
		out[i] = portInfo{p.Name, p.Type, p.Dims}
	}
	return out
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (i *inspection) write(w io.Writer) {
	fmt.Fprintf(w, "model       %s\n", i.Name)
	fmt.Fprintf(w, "producer    %s\n", i.Producer)
	opsets := []string{}
	for _, d := range sorted(i.Opsets) {
		opsets = append(opsets, fmt.Sprintf("%s %d", d, i.Opsets[d]))
	}
	fmt.Fprintf(w, "opset       %s (ONNX IR version %d)\n", strings.Join(opsets, ", "), i.IRVersion)
	fmt.Fprintf(w, "parameters  %d (%d bytes)\n", i.Parameters, i.Bytes)
	for _, side := range []struct {
		name  string
		ports []portInfo
	}{{"inputs", i.Inputs}, {"outputs", i.Outputs}} {
		fmt.Fprintf(w, "%s\n", side.name)
		for _, p := range side.ports {
			fmt.Fprintf(w, "  %-24s %s\n", p.Name, p.typeText())
		}
	}
	total := 0
	for _, n := range i.Operators {
		total += n
	}
	fmt.Fprintf(w, "operators   %d\n", total)
	ops := sorted(i.Operators)
	slices.SortStableFunc(ops, func(a, b string) int { return i.Operators[b] - i.Operators[a] })
	for _, op := range ops {
		fmt.Fprintf(w, "  %-24s %d\n", op, i.Operators[op])
	}
	if len(i.Functions) > 0 {
		fmt.Fprintf(w, "functions   %s\n", strings.Join(i.Functions, ", "))
	}
	if len(i.Metadata) > 0 {
		fmt.Fprintln(w, "metadata")
		for _, k := range sorted(i.Metadata) {
			fmt.Fprintf(w, "  %s = %s\n", k, i.Metadata[k])
		}
	}
}

func (p *portInfo) typeText() string {
	typ := p.Type
	if typ == "" {
		typ = "?"
	}
	if p.Sizes == nil {
		return typ + "[...]"
	}
	return typ + "[" + strings.Join(p.Sizes, ",") + "]"
}
