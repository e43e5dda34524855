package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/npy"
)

// inputFlags say what a model is run on.
type inputFlags struct {
	files, shapes []string
	raw, random   bool
	seed          uint64
	made          bool // inputs that are not given are made up without --random, too

	stdin []string // flags that standard input was given for
	cmd   *cobra.Command
}

func (f *inputFlags) add(cmd *cobra.Command) {
	f.cmd = cmd
	fl := cmd.Flags()
	rest, random := "once per input", "make up the inputs that are not given: numbers that --seed chooses, from -1 to 1 "+
		"in "+
		"float inputs"
	if f.made {
		rest, random = "inputs that are not given are made up", "make up inputs of numbers that --seed chooses, not of the "+
			"same ones each time"
	}
	fl.StringArrayVarP(&f.files, "input", "i", nil, "an input, by name, as `NAME=FILE`: .npy, .npz, PNG, JPEG, PGM, "+
		"PPM, or "+
		"raw numbers with --raw; - is standard input; "+rest)
	fl.BoolVar(&f.raw, "raw", false, "files other than .npy and .npz hold nothing but the numbers of the input, "+
		"little-endian; "+
		"type and sizes are the model's, or those of --shape")
	fl.StringArrayVar(&f.shapes, "shape", nil, "sizes of an input that is made up or raw, as `NAME=SIZES`, e.g. "+
		"x=1,3,224,224")
	fl.BoolVar(&f.random, "random", false, random)
	fl.Uint64Var(&f.seed, "seed", 0, "the `NUMBER` that --random begins with")
}

// given reports whether a flag says something of the inputs.
func (f *inputFlags) given() bool {
	return slices.ContainsFunc([]string{"input", "shape", "raw", "random", "seed"}, f.cmd.Flags().Changed)
}

func (f *inputFlags) check() error {
	if f.cmd.Flags().Changed("seed") && !f.random {
		return usage("--seed %d: it goes with --random [tool-seed-goes-random]", f.seed)
	}
	return nil
}

// sizing are the sizes that open dimensions of one name have.
type sizing struct {
	m    *loaded
	open map[uint32]int64
}

// take notes the sizes of an input; what says where they come from.
func (s *sizing) take(p device.Port, dims []int64, what string) error {
	typ := s.m.typeText(p)
	if _, fits := p.Type.Shape.Merge(tensor.Of(dims...)); !fits {
		return usage("input %q (%s): %s %v [tool-input]", p.Name, typ, what, dims)
	}
	for k, d := range p.Type.Shape.Dims {
		if d.Known() || d.Sym == tensor.Unknown {
			continue
		}
		n, seen := s.open[d.Sym]
		if s.open[d.Sym] = dims[k]; seen && n != dims[k] {
			return usage("input %q (%s): %s %v, but %s is %d already "+
				"[tool-input-already]", p.Name, typ, what, dims, s.m.Symbols[d.Sym-1], n)
		}
	}
	return nil
}

// of returns the sizes of an input, false when one is still open.
func (s *sizing) of(p device.Port) ([]int64, bool) {
	if dims, ok := p.Type.Shape.Ints(); ok {
		return dims, true
	}
	dims := make([]int64, p.Type.Shape.Rank())
	for k, d := range p.Type.Shape.Dims {
		n, seen := s.open[d.Sym]
		switch {
		case d.Known():
			dims[k] = d.N
		case d.Sym != tensor.Unknown && seen:
			dims[k] = n
		default:
			return nil, false
		}
	}
	return dims, len(dims) > 0
}

// typeText is the type of a port as the model declares it.
func (m *loaded) typeText(p device.Port) string {
	return fmt.Sprintf("%v%s", p.Type.DType, m.ShapeText(p.Type.Shape))
}

// tensors returns an input for every port: read from files, or made up. Sizes that files and --shape give hold for all
// open dimensions of the same name.
func (f *inputFlags) tensors(m *loaded, ports []device.Port, warnTo io.Writer) ([]tensor.Tensor, error) {
	files, err := sources("--input", f.files, ports, &f.stdin)
	if err != nil {
		return nil, err
	}
	shapes, err := assignments("--shape", f.shapes, ports)
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Tensor, len(ports))
	known := &sizing{m, map[uint32]int64{}}
	for i, p := range ports {
		s, file := files[p.Name]
		text, sized := shapes[p.Name]
		switch {
		case file && !f.isRaw(s):
			if sized {
				return nil, usage("--shape %s=%s: the input is given as a file, which has sizes "+
					"[tool-shape-input-given]", p.Name, text)
			}
			if out[i], err = m.readInput(s, p, warnTo); err != nil {
				return nil, fault.Wrap(err, "input %q (%s): %s", p.Name, m.typeText(p), s.file)
			}
			if err := known.take(p, out[i].Dims, s.file+" holds sizes"); err != nil {
				return nil, err
			}
		case sized:
			dims, err := sizes(text)
			if err != nil {
				return nil, usage("--shape %s=%s: %v [tool-shape]", p.Name, text, err)
			}
			if _, fits := p.Type.Shape.Merge(tensor.Of(dims...)); !fits {
				return nil, usage("--shape %s=%s: the input is %s [tool-shape-input]", p.Name, text, m.typeText(p))
			}
			if err := known.take(p, dims, "--shape says"); err != nil {
				return nil, err
			}
			out[i].Dims = dims
		case !file && !f.random && !f.made:
			return nil, usage("input %q (%s) is not given; add -i %s=FILE, or --random to make it up "+
				"[tool-input-given-add]", p.Name, m.typeText(p),
				p.Name)
		}
	}
	for i, p := range ports {
		if out[i].Data != nil {
			continue
		}
		if _, file := files[p.Name]; out[i].Dims == nil {
			ok := false
			if out[i].Dims, ok = known.of(p); !ok && file {
				return nil, usage("input %q is %s; give the sizes of the raw file with --shape %s=SIZES "+
					"[tool-input-give-sizes]", p.Name, m.typeText(p),
					p.Name)
			} else if !ok {
				return nil, usage("input %q is %s; give its sizes with --shape %s=SIZES or a file with -i "+
					"%s=FILE [tool-input-give-sizes-shape]", p.Name,
					m.typeText(p), p.Name, p.Name)
			}
		}
		if s, file := files[p.Name]; file {
			if out[i], err = m.readRaw(s, p, out[i].Dims); err != nil {
				return nil, fault.Wrap(err, "input %q (%s): %s", p.Name, m.typeText(p), s.file)
			}
		} else if out[i], err = f.makeUp(i, p, out[i].Dims); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isRaw reports whether a file holds numbers alone.
func (f *inputFlags) isRaw(s source) bool {
	return f.raw && !isPack(s.file) && !strings.EqualFold(filepath.Ext(s.file), ".npy")
}

// makeUp makes up input i.
func (f *inputFlags) makeUp(i int, p device.Port, dims []int64) (tensor.Tensor, error) {
	t := tensor.Type{DType: p.Type.DType, Shape: tensor.Of(dims...)}
	if n, ok := t.ByteSize(); !ok || n > maxFill {
		return tensor.Tensor{}, usage("input %q is %v: too large to make up [tool-input-large-make]", p.Name, t)
	}
	made, err := pattern(p.Type.DType, dims)
	if err == nil && f.random {
		randomize(made, f.seed, i)
	}
	return made, fault.Wrap(err, "input %q", p.Name)
}

// readInput reads an array or image for p.
func (m *loaded) readInput(s source, p device.Port, warnTo io.Writer) (tensor.Tensor, error) {
	c, err := openContent(s.file)
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer c.end()
	head, _ := c.Peek(8)
	if isImage(head) {
		r, _, err := c.seekable()
		if err != nil {
			return tensor.Tensor{}, err
		}
		t, cautions, err := readImage(r, p, m.inputInfo(p.Name), m.imageOf(p.Name))
		for _, text := range cautions {
			warn(warnTo, "tool-input-converted", fmt.Sprintf("input %q: %s: %s", p.Name, s.file, text))
		}
		return t, err
	}
	t, err := c.readArray(p.Name, s, func(t tensor.Tensor) error { return holds(t, p) })
	if err != nil {
		return t, err
	}
	return fromProgram(t, p, m.inputInfo(p.Name)), nil
}

// holds refuses an array, without its data, that is none for p.
func holds(t tensor.Tensor, p device.Port) error {
	if t.DType != p.Type.DType {
		return fault.New(fault.File, "holds %v%s [tool-holds]", t.DType, converts(p.Type.DType))
	}
	own, open := p.Type.Shape.Count()
	if n, ok := tensor.Of(t.Dims...).Count(); open && (!ok || n != own) {
		return fault.New(fault.File, "holds sizes %v [tool-holds-sizes]", t.Dims)
	}
	return nil
}

// readRaw reads nothing but numbers, for p with the given sizes, in the order in which programs hand them over.
func (m *loaded) readRaw(s source, p device.Port, dims []int64) (tensor.Tensor, error) {
	t := tensor.Tensor{DType: p.Type.DType, Dims: toProgram(dims, p, m.inputInfo(p.Name))}
	n, ok := t.Type().ByteSize()
	if !ok || n > npy.MaxBytes {
		return t, fault.New(fault.File, "%v is too large [tool-large]", t.Type())
	}
	c, err := openContent(s.file)
	if err != nil {
		return t, err
	}
	defer c.end()
	if c.file != nil && c.size != n {
		return t, fault.New(fault.File, "holds %d bytes, and %v needs %d [tool-holds-bytes-needs]", c.size, t.Type(), n)
	}
	if err := mem.Fits(n); err != nil {
		return t, err
	}
	t.Data, err = io.ReadAll(io.LimitReader(c, n+1))
	switch {
	case err != nil:
		return t, fault.As(fault.File, err, "read")
	case int64(len(t.Data)) > n:
		return t, fault.New(fault.File, "holds more than %d bytes, which is what %v needs "+
			"[tool-holds-bytes-needs-read-raw]", n, t.Type())
	case int64(len(t.Data)) < n:
		return t, fault.New(fault.File, "holds %d bytes, and %v needs %d "+
			"[tool-holds-bytes-needs]", len(t.Data), t.Type(), n)
	}
	return fromProgram(t, p, m.inputInfo(p.Name)), nil
}

// maxFill bounds an input that is made up.
const maxFill = 1 << 31

// sizes parses "1,3,224,224"; an empty text is a scalar's.
func sizes(text string) ([]int64, error) {
	dims := []int64{}
	if text == "" {
		return dims, nil
	}
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return nil, fault.New(fault.Argument, "size %q: want a whole number of 0 or more "+
				"[tool-size-whole-number]", s)
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// pattern returns a tensor of numbers that look like none in particular: from -1 to 1 in float ones, 0 in others, which
// any index allows. Kind fault.Memory.
func pattern(d tensor.DType, dims []int64) (tensor.Tensor, error) {
	n, ok := tensor.T(d, dims...).ByteSize()
	if !ok {
		return tensor.Tensor{}, fault.New(fault.Memory, "%v%v has no size [tool-no-size]", d, dims)
	}
	data, err := mem.Make[byte](int(n))
	if err != nil {
		return tensor.Tensor{}, fault.Wrap(err, "%v%v", d, dims)
	}
	t := tensor.Tensor{DType: d, Dims: dims, Data: data}
	if d.IsFloat() {
		for i := range t.Count() {
			tensor.PutFloat(d, t.Data, i, float64(uint32(2654435761*uint64(i)+12345))/(1<<31)-1, false)
		}
	}
	return t, nil
}

// randomize fills input number input with the numbers of the generator splitmix64, whose state begins at
// mix(seed) + input. Float elements are multiples of 1/2^23 from -1 up to 1, those of 16 bits and less have every
// value, longer ones, which may be indices, and booleans are 0 or 1.
func randomize(t tensor.Tensor, seed uint64, input int) {
	state := mix(seed) + uint64(input)
	d, n := t.DType, t.Count()
	switch d {
	case tensor.Complex64:
		d, n = tensor.Float32, 2*n
	case tensor.Complex128:
		d, n = tensor.Float64, 2*n
	}
	for i := range n {
		state += 0x9e3779b97f4a7c15
		z := mix(state)
		switch {
		case d.IsFloat():
			tensor.PutFloat(d, t.Data, i, float64(z>>40)/(1<<23)-1, false)
		case d.IsInt() && d.Bits() <= 16:
			lo, hi := tensor.IntLimits(d)
			tensor.PutInt(d, t.Data, i, lo+int64(z%uint64(hi-lo+1)))
		default:
			tensor.PutInt(d, t.Data, i, int64(z>>63))
		}
	}
}

// mix is the output function of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// converts says how an array becomes one of type d, where NumPy has that type.
func converts(d tensor.DType) string {
	switch d {
	case tensor.Float16, tensor.Float32, tensor.Float64, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
		tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Bool:
		return fmt.Sprintf("; in NumPy, x.astype(%q) converts it", d)
	}
	return ""
}
