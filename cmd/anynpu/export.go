package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
)

// exportReport is the JSON form of export.
type exportReport struct {
	Schema  string   `json:"schema"` // "anynpu.export/1"
	File    string   `json:"file"`
	Written string   `json:"written"`
	Opset   int64    `json:"opset"`
	Nodes   int      `json:"nodes"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
}

func newExport(stdout, stderr io.Writer) *cobra.Command {
	out, serve, name, asJSON := "", "", "", false
	var o export.Options
	cmd := &cobra.Command{
		Use:   "export MODEL",
		Short: "Write what the library computes of a model as an ONNX model",
		Long: `export reads a model as run does and writes the graph that the library computes
as ONNX, in operators of a recent opset: functions and sequences are expanded,
sizes of the metadata are set, images are decoded by nodes of the graph. A
model with operators that ONNX cannot express is refused with all of them and
the reasons, exit code 3.

Constants that are together above 1 GiB go to FILE.data, beside FILE.

--serve writes the model for a server of the Open Inference Protocol to the folder
of -o, with the server's configuration: triton and triton-python, a model of a
repository, computed by Triton's onnxruntime backend or by its Python backend with
ONNX Runtime; kserve, a program of KServe; mlserver, a model of MLServer with its
runtime; ray, a program of Ray Serve for the models of the folder. A manifest that
names the server then makes it a device.`,
		Example: "  anynpu export model.onnx -o graph.onnx\n  anynpu export --quantize-linear model.onnx -o fused.onnx\n" +
			"  anynpu export model.onnx --serve triton -o repository",
		Args: oneModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usage("export: -o FILE says where to write [tool-export-o-file]")
			}
			if serve != "" && !slices.Contains(serveKinds, serve) {
				return usage("--serve %s: want %s [tool-serve-kind]", serve, strings.Join(serveKinds, ", "))
			}
			if serve == "" && name != "" {
				return usage("--name goes with --serve [tool-name-without-serve]")
			}
			m, err := load(args[0], nil, stderr)
			if err != nil {
				return err
			}
			defer m.weights.Release()
			o.Symbols = m.Symbols
			model, err := export.Of(m.Graph, o)
			if err != nil {
				return exit(exitModel, fault.Wrap(err, "model %s", args[0]))
			}
			if serve != "" {
				s, err := newServed(cmp.Or(name, strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))), out, m.Graph,
					model)
				if err == nil {
					err = s.write(serve)
				}
				if err != nil {
					return err
				}
				for _, file := range s.files {
					printf(stdout, "%s\n", file)
				}
				return nil
			}
			if filepath.Clean(out) == filepath.Clean(args[0]) {
				return usage("export: -o %s is the model itself [tool-export-o-model]", out)
			}
			if err := model.WriteFile(out); err != nil {
				return exit(exitRun, err)
			}
			r := exportReport{"anynpu.export/1", args[0], out, model.Opset, model.Nodes, model.In, model.Out}
			if asJSON {
				return writeJSON(stdout, r)
			}
			printf(stdout, "%s: opset %d, %d nodes\n", out, model.Opset, model.Nodes)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`, with --serve to a folder")
	cmd.Flags().StringVar(&serve, "serve", "", "write what `SERVER` needs: "+strings.Join(serveKinds, ", "))
	cmd.Flags().StringVar(&name, "name", "", "with --serve: call the model `NAME` (default: the file's)")
	complete(cmd, "serve", serveKinds...)
	cmd.Flags().BoolVar(&o.QuantizeLinear, "quantize-linear", false,
		"quantize results by QuantizeLinear, whose halves go to even: integers may be one beside the library's")
	cmd.Flags().BoolVar(&asJSON, "json", false, `write JSON, schema "anynpu.export/1"`)
	return cmd
}
