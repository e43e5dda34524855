package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/internal/layers"
)

func newCompare(stdout, stderr io.Writer) *cobra.Command {
	f := compareFlags{}
	f.made = true
	cmd := &cobra.Command{
		Use:   "compare MODEL [MODEL2]",
		Short: "Find the node from which on two devices, or two forms of a model, differ",
		Long: `compare computes a model on two devices, or two models, on the same inputs, and
says how far the second one's outputs are from the first one's. With --layers it
does so for every value that a node makes.

Devices are cpu, ref (the CPU's plain reference kernels), or one with a driver.
Without --device a model is compared with ref; two models are both computed by
cpu. --golden DIR takes the values of DIR/NAME.npy, which a board or
'anynpu run --dump DIR' wrote, in place of the first device.

Values of two models are paired by name, and by what makes them of paired values;
one that is quantized and dequantized again counts as the one before, so that a
quantized model is compared with its float form.

A node adds an error of its own and passes on that of its inputs. The two are
told apart by computing each node alone, its inputs taken from the first side: in
the table, "total" is the signal-to-noise ratio of a value in the whole run and
"added" that of its node alone, in decibels; inf: equal. A node departs when
"added" is below --limit, or 40 dB below the median of all nodes.

Inputs that are not given are made up, see 'anynpu run --help'.

Exit code 1 when an output, or with --layers a node, departs; 3 when no output has a
counterpart, so that nothing was compared.`,
		Example: `  anynpu compare model.onnx
  anynpu compare model.onnx --layers --device ref --device cpu -i x=x.npy
  anynpu compare float.onnx quantized.onnx --layers --html compare.html
  anynpu compare float.onnx quantized.onnx --layers --bisect node.onnx
  anynpu compare model.onnx --golden board --layers --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage("compare: want one MODEL or two, got %d; see 'anynpu compare --help' "+
					"[tool-compare-model-two]", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args, stdout, stderr) },
	}
	f.inputFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.devices, "device", nil, "a `DEVICE` that computes: cpu, ref, or with a driver "+
		strings.Join(driverDevices, ", ")+"; given twice: the first and the second")
	fl.IntVar(&f.threads, "threads", 0, "compute with `N` threads; 0: the CPUs that the process may use")
	fl.StringVar(&f.golden, "golden", "", "take the first side's values from `DIR`, as NAME.npy")
	fl.BoolVar(&f.layers, "layers", false, "compare what every node makes, and find the first that departs")
	fl.Float64Var(&f.limit, "limit", 40, "the signal-to-noise ratio, in `DB`, below which a value departs")
	fl.StringVar(&f.html, "html", "", "write a page with the error along the network to `FILE`")
	fl.StringVar(&f.bisect, "bisect", "", "write the part of the second model that departs first to `FILE` as ONNX, and "+
		"to the folder FILE.data its inputs and what the first side has as .npy")
	fl.BoolVar(&f.json, "json", false, `write JSON, schema "anynpu.compare/1"`)
	cobra.CheckErr(cmd.MarkFlagDirname("golden"))
	complete(cmd, "device", append([]string{"cpu", "ref"}, driverDevices...)...)
	return cmd
}

func (f *compareFlags) check(models int) error {
	switch {
	case len(f.devices) > 2:
		return usage("--device is given %d times: want at most two [tool-device-given-times]", len(f.devices))
	case f.golden != "" && models > 1:
		return usage("--golden with two models: want one MODEL [tool-golden-two-models]")
	case f.golden != "" && len(f.devices) > 1:
		return usage("--golden with two devices: the values of the folder stand for the first " +
			"[tool-golden-two-devices]")
	case math.IsNaN(f.limit):
		return usage("--limit NaN: want decibels [tool-limit-na-n]")
	case (f.html != "" || f.bisect != "") && !f.layers:
		return usage("--html and --bisect go with --layers [tool-html-bisect-go]")
	}
	return f.inputFlags.check()
}

// names returns the devices of both sides.
func (f *compareFlags) names(models int) [2]string {
	switch {
	case len(f.devices) == 2:
		return [2]string(f.devices)
	case models > 1 && len(f.devices) == 1:
		return [2]string{f.devices[0], f.devices[0]}
	case models > 1:
		return [2]string{"cpu", "cpu"}
	case len(f.devices) == 1:
		return [2]string{"ref", f.devices[0]}
	}
	return [2]string{"ref", "cpu"}
}

// open loads a model for a device. Exit codes 3 and 4.
func (f *compareFlags) open(path, name string, stderr io.Writer) (*side, error) {
	c := computeFlags{}
	c.add(&cobra.Command{})
	set := map[string]string{"device": name}
	if name == "ref" {
		set = map[string]string{"device": "cpu", "ref": "true"}
	}
	if f.threads != 0 {
		set["threads"] = fmt.Sprint(f.threads)
	}
	for flag, value := range set {
		if err := c.cmd.Flags().Set(flag, value); err != nil {
			return nil, err
		}
	}
	on, err := c.open(stderr, nil)
	if err != nil {
		return nil, err
	}
	m, err := load(path, on.devices, stderr)
	if err != nil {
		on.close()
		return nil, err
	}
	o := m.options(compile.Options{Weights: m.weights, Options: device.Options{Unsaved: true}}, on, stderr)
	s := &side{layers.Side{Graph: m.Graph, Devices: on.devices, Options: o}, m, on, ""}
	s.text = on.devices[0].Info().ID
	if s.text == "cpu" {
		s.text += " " + on.kernels()
	}
	s.text += ": " + path
	return s, nil
}

func (f *compareFlags) run(paths []string, stdout, stderr io.Writer) error {
	if err := f.check(len(paths)); err != nil {
		return err
	}
	names := f.names(len(paths))
	b, err := f.open(paths[len(paths)-1], names[1], stderr)
	if err != nil {
		return err
	}
	defer b.close()
	a := b
	if f.golden == "" {
		if a, err = f.open(paths[0], names[0], stderr); err != nil {
			return err
		}
		defer a.close()
	} else if err := f.takeInputs(b.m.Graph); err != nil {
		return err
	}
	in, err := f.tensors(a.m, portsOf(a.m.Graph), stderr)
	if err != nil {
		return exit(exitUsage, err)
	}
	r := &compareReport{Schema: "anynpu.compare/1", A: a.text, B: b.text, Limit: f.limit, Outputs: []compared{}}
	c := comparisonOf{compareFlags: f, a: a, b: b, report: r}
	if f.golden != "" {
		r.A = f.golden
	}
	if err := c.compare(context.Background(), in, stderr); err != nil {
		return err
	}
	if f.html != "" {
		if err := c.writePage(f.html); err != nil {
			return exit(exitRun, err)
		}
	}
	if f.bisect != "" && len(r.Departs) > 0 {
		if err := c.writePart(f.bisect); err != nil {
			return exit(exitRun, err)
		}
	}
	if f.json {
		err = writeJSON(stdout, r)
	} else {
		r.write(stdout, f.layers)
	}
	if err == nil && r.nothing() {
		return exit(exitModel, fmt.Errorf("nothing was compared: no output of %s has a counterpart in %s", r.B, r.A))
	}
	if text := r.verdict(); err == nil && text != "" {
		return exit(exitDifferent, fmt.Errorf("%s", text))
	}
	return err
}

// takeInputs adds the inputs that the golden folder has to those that are given.
func (f *compareFlags) takeInputs(g *graph.Graph) error {
	if info, err := os.Stat(f.golden); err != nil || !info.IsDir() {
		return usage("--golden %s: want a folder of .npy files [tool-golden-folder-npy]", f.golden)
	}
	ports := portsOf(g)
	given, err := sources("--input", f.files, ports, &f.stdin)
	if err != nil {
		return err
	}
	for i, name := range fileNames(ports) {
		path := filepath.Join(f.golden, name)
		if _, ok := given[ports[i].Name]; ok {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			f.files = append(f.files, ports[i].Name+"="+path)
		}
	}
	return nil
}
