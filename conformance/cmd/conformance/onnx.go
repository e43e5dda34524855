package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/conformance/onnx/networks"
	"github.com/anynpu/anynpu/conformance/onnx/node"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// cpuDevice makes the built-in device.
func cpuDevice(c cpu.Config) networks.NewDevice {
	return func() (device.Device, error) { return cpu.New(c) }
}

func newONNX() *cobra.Command {
	return group("onnx", "Judge the built-in device by ONNX models", newNode(), newOutputs(), newKernels(), newMemory())
}

func newNode() *cobra.Command {
	var known, filter string
	var least float64
	c := &cobra.Command{
		Use:   "node FOLDER",
		Short: "Run the backend node tests of the ONNX project",
		Long: `Run the backend node tests of the ONNX project. FOLDER is
onnx/backend/test/data/node of an installed onnx.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reasons, err := node.ReadKnown(known)
			if err != nil {
				return err
			}
			d, err := cpu.New(cpu.Config{})
			if err != nil {
				return err
			}
			results, err := node.Run(cmd.Context(), args[0], filter, d)
			if err != nil {
				return err
			}
			r := node.Judge(results, reasons, filter == "")
			for _, line := range r.Lines {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			fmt.Fprintln(cmd.OutOrStdout(), r)
			return verdict(r.Share() >= least && r.Unexpected == 0, nil)
		},
	}
	c.Flags().StringVar(&known, "known", "", "`file` with the failures that are known: name, then the reason")
	c.Flags().StringVar(&filter, "run", "", "only tests whose names contain this `text`")
	c.Flags().Float64Var(&least, "least", 98, "smallest share that must pass, in percent")
	return c
}

func newOutputs() *cobra.Command {
	var expected, filter string
	c := &cobra.Command{
		Use:   "outputs FOLDER",
		Short: "Compare the outputs of the benchmark networks with those of ONNX Runtime",
		Long: `Compare the outputs of the benchmark networks with those of ONNX Runtime. FOLDER
holds the models that bench/gen_bench_models.py has written.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bad, err := networks.Compare(cmd.OutOrStdout(), args[0], expected, filter, cpuDevice(cpu.Config{}))
			return verdict(bad == 0, err)
		},
	}
	c.Flags().StringVar(&expected, "expected", "bench/expected.zip", "`file` with the expected outputs")
	c.Flags().StringVar(&filter, "run", "", "only models whose names contain this `text`")
	return c
}

// threads is the number of compute threads for the shares: more than one, so that shared work is seen too.
const threads = 2

func newKernels() *cobra.Command {
	var archive, filter string
	c := &cobra.Command{
		Use:   "kernels",
		Short: "Show which share of the benchmark networks fast kernels compute",
		Long: `Show, for every benchmark network, which share of its nodes and of its arithmetic
the CPU's fast kernels compute, and what a run allocates; for quantized ones
also when the integers cross the border. A network fails when it has less than
all of its arithmetic on fast kernels, when it is quantized and has any node
without, or when a run allocates.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "kernels for %v, %d threads\n", kernel.Active(), threads)
			bad, err := networks.Shares(out, archive, filter, cpuDevice(cpu.Config{Threads: threads}))
			return verdict(bad == 0, err)
		},
	}
	c.Flags().StringVar(&archive, "archive", "bench/networks.zip", "`file` that bench/outline.py has written")
	c.Flags().StringVar(&filter, "run", "", "only networks whose names contain this `text`")
	return c
}

func newMemory() *cobra.Command {
	var unsaved bool
	c := &cobra.Command{
		Use:   "memory MODEL",
		Short: "Measure the peak memory of making a model ready to run",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := cpu.Config{Reference: os.Getenv("ANYNPU_CPU") == "ref"}
			err := networks.Memory(cmd.OutOrStdout(), args[0], unsaved, cpuDevice(c))
			if fault.KindOf(err) == fault.Memory {
				fmt.Fprintln(cmd.ErrOrStderr(), "conformance:", err)
				return errFailed
			}
			return err
		},
	}
	c.Flags().BoolVar(&unsaved, "unsaved", false, "make it ready for a program that does not save it, as anynpu run does")
	return c
}
