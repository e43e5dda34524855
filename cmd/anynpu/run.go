package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/layers"
	"github.com/anynpu/anynpu/internal/session"
)

// runFlags are the flags of run.
type runFlags struct {
	computeFlags
	inputFlags
	dump         dumpFlags
	expects      []string
	out          string
	dot          string
	topK, repeat int
	rtol, atol   float64
	timeout      time.Duration
	json         bool
}

func newRun(stdout, stderr io.Writer) *cobra.Command {
	f := runFlags{}
	cmd := &cobra.Command{
		Use:   "run MODEL",
		Short: "Compute a model",
		Long: `run computes an ONNX model once. Every input is given with -i NAME=FILE, a
model's only input also with -i FILE, or made up with --random. FILE is
  - an array in NumPy's .npy format of the input's element type and sizes,
  - a .npz of such arrays: the one with the input's name, or the only one; without
    NAME every input of which it has an array,
  - an image (PNG, JPEG, PGM, PPM), which the model's metadata
    (anynpu.input.NAME.mean, std, pixel, order) turn into the input; it is resized
    to the height and width of the input if these are fixed,
  - with --raw, nothing but the numbers, in the machine's order of bytes,
  - "-", standard input, which holds one of these.

Open sizes of inputs without a file that tells them are given with --shape; what
an input says of a named size holds for the others.

What computes is said by flags, else by the environment variables that the library
reads: ANYNPU_DEVICE, ANYNPU_THREADS, ANYNPU_CPU, ANYNPU_CPU_ISA, and also
ANYNPU_MEMORY_LIMIT, ANYNPU_MEM, ANYNPU_FALLBACK, ANYNPU_MODEL_MAP.

Outputs are described on stdout: type, sizes, smallest and largest number, mean of
the finite ones, and how many elements are not a number or infinite, if any are.
-o DIR writes each as DIR/NAME.npy. With --expect outputs are compared with files,
exit code 1 when they differ by more than --rtol and --atol allow; largest and mean
difference, the cosine of both as vectors, and the worst element are shown.`,
		Example: `  anynpu run model.onnx -i x=x.npy -o results
  anynpu run classifier.onnx -i photo.png --top-k 5
  anynpu run model.onnx -i all.npz --expect all.npz --timeout 10s --json
  anynpu run model.onnx --random --seed 7 --shape x=1,3,224,224 -o fast
  anynpu run model.onnx --random --seed 7 --shape x=1,3,224,224 -o plain --ref
  anynpu run model.onnx --raw -i x=x.bin --threads 1
  cat x.npy | anynpu run model.onnx -i x=-`,
		Args: oneModel,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], stdout, stderr) },
	}
	f.computeFlags.add(cmd)
	f.inputFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write each output as .npy into `DIR`, which is made if it is not there")
	fl.StringArrayVar(&f.expects, "expect", nil, "what an output must agree with, as `NAME=FILE`: .npy, .npz, or - for "+
		"standard input; once per output")
	fl.Float64Var(&f.rtol, "rtol", 1e-4, "relative tolerance of --expect")
	fl.Float64Var(&f.atol, "atol", 1e-6, "absolute tolerance of --expect")
	fl.IntVar(&f.topK, "top-k", 0, "show the `N` largest values of each output with their indices")
	fl.IntVar(&f.repeat, "repeat", 1, "run `N` times; times are of all runs")
	fl.Var((*seconds)(&f.timeout), "timeout",
		"end with exit code 7 after this `TIME`, in seconds or with a unit, as 500ms; 0: never")
	cobra.CheckErr(cmd.MarkFlagDirname("output"))
	fl.StringVar(&f.dump.dir, "dump", "", "write what every node makes, which is not fused then, and the inputs as .npy "+
		"into `DIR`")
	fl.StringArrayVar(&f.dump.values, "dump-values", nil, "with --dump: the values alone whose names match `PATTERN`, as "+
		"'conv*'; may be given again")
	fl.BoolVar(&f.dump.fused, "dump-fused", false, "with --dump: nodes stay fused; of those that are, the last one's "+
		"results alone are there")
	cobra.CheckErr(cmd.MarkFlagDirname("dump"))
	fl.StringVar(&f.dot, "dot", "", "draw which device computes which node into `FILE`, in the language of Graphviz")
	fl.BoolVar(&f.json, "json", false, `write JSON, schema "anynpu.run/1"`)
	return cmd
}

func (f *runFlags) check() error {
	if err := f.inputFlags.check(); err != nil {
		return err
	}
	if err := f.dump.check(); err != nil {
		return err
	}
	if f.topK < 0 {
		return usage("--top-k %d: want 0 or more [tool-top-k]", f.topK)
	}
	if f.repeat < 1 {
		return usage("--repeat %d: want 1 or more [tool-repeat]", f.repeat)
	}
	if f.timeout < 0 {
		return usage("--timeout %v: want 0 or more [tool-timeout]", f.timeout)
	}
	if !(f.rtol >= 0) || !(f.atol >= 0) {
		return usage("--rtol %g --atol %g: want 0 or more [tool-rtol-atol]", f.rtol, f.atol)
	}
	return nil
}

func (f *runFlags) run(path string, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	on, err := f.open(stderr, nil)
	if err != nil {
		return err
	}
	defer on.close()
	devs := on.devices
	ctx, cancel := context.Background(), func() {}
	var deadline time.Time
	if f.timeout > 0 {
		deadline = time.Now().Add(f.timeout)
		ctx, cancel = context.WithDeadline(ctx, deadline)
	}
	defer cancel()
	begin := time.Now()
	loaded := waiting(stderr, "loading "+path)
	defer loaded()
	m, err := load(path, devs, stderr)
	if err != nil {
		return err
	}
	defer m.weights.Release()
	options := m.options(compile.Options{Weights: m.weights, Options: device.Options{Unsaved: true}}, on, stderr)
	asIs := layers.Side{Graph: m.Graph, Devices: devs, Options: options} // for --dump
	options.Consume = f.dump.dir == ""
	s, err := session.Open(ctx, m.Graph, devs, options, device.ExecOptions{})
	if err != nil {
		return exit(exitModel, timedOut(ctx, err))
	}
	defer s.Close()
	loaded()
	r := runReport{Schema: "anynpu.run/1", File: path, Device: devs[0].Info().ID, Threads: on.threads,
		Kernels: on.kernels(), Placement: s.Placement().Summary(),
		Nodes:  len(s.Placement().Nodes),
		LoadMS: ms(time.Since(begin)), Outputs: []outputReport{}}
	if f.dot != "" {
		if err := os.WriteFile(f.dot, []byte(s.Placement().DOT()), 0o666); err != nil {
			return exit(exitRun, fault.As(fault.File, cause(err), "--dot %s", f.dot))
		}
	}
	ins, outs := s.Ports()
	expected, err := sources("--expect", f.expects, outs, &f.stdin)
	if err != nil {
		return err
	}
	in, err := f.tensors(m, ins, stderr)
	if err != nil {
		return exit(exitUsage, err)
	}
	want, err := expectations(expected)
	if err != nil {
		return exit(exitUsage, err)
	}
	for _, dir := range []string{f.out, f.dump.dir} { // results must not be computed for nothing
		if dir != "" {
			if err := writable(dir); err != nil {
				return exit(exitRun, err)
			}
		}
	}
	var results []tensor.Tensor
	progress := newProgress(stderr, f.repeat)
	defer progress.done()
	for range f.repeat {
		if results, err = s.Run(ctx, in, deadline); err != nil {
			return exit(exitRun, timedOut(ctx, err))
		}
		t := ms(s.Stats().LastRun)
		if r.Runs == 0 || t < r.MinMS {
			r.MinMS = t
		}
		r.MeanMS += t
		r.Runs++
		progress.step(r.Runs)
	}
	progress.done()
	r.MeanMS /= float64(r.Runs)
	r.PeakBytes = s.Stats().PeakMemory
	files := fileNames(outs)
	for i, p := range outs {
		o := describe(p.Name, results[i], f.topK)
		if w, ok := want[p.Name]; ok {
			o.compare(results[i], w, f.rtol, f.atol)
			if o.Difference != "" {
				r.Different++
			}
		}
		if f.out != "" {
			if o.File, err = save(f.out, files[i], p.Name, results[i]); err != nil {
				return exit(exitRun, err)
			}
		}
		r.Outputs = append(r.Outputs, o)
	}
	if f.dump.dir != "" {
		if r.Dumped, err = f.dump.write(ctx, &asIs, in, stderr); err != nil {
			return err
		}
	}
	if f.json {
		err = writeJSON(stdout, r)
	} else {
		r.write(stdout)
	}
	if err == nil && r.Different > 0 {
		return exit(exitDifferent, fmt.Errorf("%d of %d outputs %s from what is expected", r.Different, len(want),
			verb(r.Different, "differs", "differ")))
	}
	return err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// timedOut says of a run that --timeout has stopped that it timed out.
func timedOut(ctx context.Context, err error) error {
	if k := fault.KindOf(err); ctx.Err() == context.DeadlineExceeded && (k == fault.Canceled || k == fault.Timeout) {
		return fault.As(fault.Timeout, err, "timed out")
	}
	return err
}

// expectations reads the files of --expect.
func expectations(files map[string]source) (map[string]tensor.Tensor, error) {
	out := map[string]tensor.Tensor{}
	for name, s := range files {
		t, err := expectation(name, s)
		if err != nil {
			return nil, fault.Wrap(err, "--expect %s", s.file)
		}
		out[name] = t
	}
	return out, nil
}

func expectation(name string, s source) (tensor.Tensor, error) {
	c, err := openContent(s.file)
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer c.end()
	return c.readArray(name, s, func(tensor.Tensor) error { return nil })
}

// writable makes the folder unless it is there, and checks that files can be made in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fault.As(fault.File, err, "output")
	}
	f, err := os.CreateTemp(dir, ".anynpu-*")
	if err != nil {
		return fault.New(fault.File, "output: no file can be made in %s: %v [tool-output-no-file]", dir, cause(err))
	}
	return fault.As(fault.File, cmp.Or(f.Close(), os.Remove(f.Name())), "output")
}
