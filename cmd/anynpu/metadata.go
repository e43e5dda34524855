package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/model"
)

// metadataFlags are the flags of metadata.
type metadataFlags struct {
	remove []string
	embed  bool
	from   string
	images string // folder of --calibrate
	out    string
	json   bool
}

func newMetadata(stdout, stderr io.Writer) *cobra.Command {
	f := metadataFlags{}
	cmd := &cobra.Command{
		Use:   "metadata MODEL [KEY=VALUE...]",
		Short: "Show or write what a model says of its inputs",
		Long: `metadata shows the metadata of an ONNX model, or writes them into it: the file's
entries of metadata_props change, no other byte of it does. A program that passes
the bytes of a model has them then, too.

The keys, of which "anynpu." may be left out:
  input.NAME.mean, .std    numbers, one or one per channel; .scale: factors for .std
  input.NAME.order         rgb, bgr, yuv444 or gray: the channels that the network wants
  input.NAME.pixel         gray, rgb, bgr, rgba, nv12, nv21, yuv444
  input.NAME.range         regular or bt601_video: the bytes of YUV images
  input.NAME.planes        2: luma and chroma of nv12, nv21 are two inputs
  input.NAME.source        ddr, resizer, pyramid: the input is the bytes of an image
  input.NAME.layout        nchw or nhwc: the order in which programs hand data over
  input.NAME.shapes        shapes that a dynamic input is meant for, as JSON
  input.NAME.shape         the shape of an input that the model leaves open
  dim.NAME                 size of the open dimension of that name
  value.NAME.shape, .type  what a custom operator makes: sizes and names of
                           dimensions as JSON, or "as input 0"
  value.NAME.stored        how a board stores the value, as JSON: type, scale, zero
                           and, of inputs and outputs, native shapes and dims
  value.NAME.partial       codes between the steps of an operator, likewise
  input.NAME.bytes         signed: the bytes of an image are pixels - 128
  input.NAME.ports         names of the tensors of an image for UCP, as JSON
  output.NAME.codes        the integers that hbDNN programs see, as JSON: type, scale
                           and axis; outputs.codes: the type for all outputs
  output.NAME.layout       nchw or nhwc, as programs see it; .native: as the model does
  filters                  channel or layer: what has codes of its own of a filter
  inputs, outputs          values, as JSON, at which the model begins and ends
  name, custom_string      text
  target                   the board that the model was converted for

--from writes what an .rknn file says of the model: preprocessing, shapes, batch,
custom string, target, and how the board stores each tensor. Programs that use the
RKNN functions then see with the ONNX model alone what they see on the board.

--calibrate runs the model on every file of a folder, images, arrays of NumPy's for
its only input, or .npz files for several, and writes which scales the codes of its
outputs have: of outputs that the metadata call codes, else of all of real numbers,
as int32 with a scale for each index of the last dimension. The largest number seen
is 2^24 of 32 bits, and the largest code of 16 and 8.

The file is replaced as a whole when all is written; an interrupted command leaves
it as it was. External data stay where they are.`,
		Example: `  anynpu metadata model.onnx
  anynpu metadata model.onnx input.x.mean=123.7,116.3,103.5 input.x.std=58.4,57.1,57.4
  anynpu metadata model.onnx dim.batch=1 'input.x.shapes=[[1,3,224,224],[1,3,320,320]]'
  anynpu metadata model.onnx --embed -o with-metadata.onnx
  anynpu metadata model.onnx --from model.rknn
  anynpu metadata model.onnx --calibrate images`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("metadata takes a MODEL and entries KEY=VALUE [tool-metadata-takes-model]")
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(args[0], args[1:], stdout, stderr) },
		ValidArgsFunction: completeEntry,
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.remove, "delete", "d", nil, "remove the entry `KEY`; may be given several times")
	fl.BoolVar(&f.embed, "embed", false, "write the entries of MODEL.anynpu.json into the model")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("delete", completeStored))
	fl.StringVar(&f.from, "from", "", "write what the .rknn file `FILE` says of the model")
	fl.StringVar(&f.images, "calibrate", "", "run the model on the files of `DIR` and write the scales of outputs that "+
		"are codes")
	cobra.CheckErr(cmd.MarkFlagDirname("calibrate"))
	fl.StringVarP(&f.out, "output", "o", "", "write to `FILE` and leave MODEL as it is")
	fl.BoolVar(&f.json, "json", false, `write JSON, schema "anynpu.metadata/1"`)
	return cmd
}

// metadataReport is the JSON form of metadata.
type metadataReport struct {
	Schema   string            `json:"schema"` // "anynpu.metadata/1"
	File     string            `json:"file"`
	Metadata map[string]string `json:"metadata"` // of the model itself
	Beside   map[string]string `json:"beside"`   // of MODEL.anynpu.json, which win
}

func (f *metadataFlags) run(path string, entries []string, stdout, stderr io.Writer) error {
	if err := wantModel(path, model.Unknown, nil); err != nil {
		return exit(exitModel, err)
	}
	s, err := onnx.SurveyFile(path)
	if err != nil {
		return exit(exitModel, err)
	}
	beside, err := metadata.Beside(path)
	if err != nil {
		return exit(exitModel, err)
	}
	edits, err := f.edits(s, beside, path, entries, stderr)
	if err != nil {
		return err
	}
	to := path
	if len(edits) == 0 && f.out != "" {
		return usage("-o %s: nothing is to be written: give entries KEY=VALUE, --delete, --embed, --from or "+
			"--calibrate [tool-o-nothing-written]", f.out)
	}
	if len(edits) > 0 {
		own := maps.Clone(s.Meta)
		for k, v := range edits {
			if delete(own, k); v != nil {
				own[k] = *v
			}
		}
		if err := checkMetadata(s, path, own, stderr); err != nil {
			return err
		}
		to = f.target(s, path, edits, beside, stderr)
		if err := rewrite(path, to, edits); err != nil {
			return exit(exitRun, err)
		}
		s.Meta = own
		if to != path {
			if beside, err = metadata.Beside(to); err != nil {
				return exit(exitModel, err)
			}
		}
	}
	r := metadataReport{"anynpu.metadata/1", to, s.Meta, beside}
	if f.json {
		return writeJSON(stdout, r)
	}
	if len(r.Metadata)+len(beside) == 0 {
		printf(stdout, "no metadata: neither the model nor a file %s has any\n", metadata.Sidecar(to))
	}
	for _, k := range slices.Sorted(maps.Keys(r.Metadata)) {
		note := ""
		if _, other := beside[k]; other {
			note = "   (the file beside the model has another)"
		}
		printf(stdout, "%s = %s%s\n", shown(k), shown(r.Metadata[k]), note)
	}
	for _, k := range slices.Sorted(maps.Keys(beside)) {
		printf(stdout, "%s = %s   (%s)\n", shown(k), shown(beside[k]), filepath.Base(metadata.Sidecar(to)))
	}
	return nil
}

// edits are the changes asked for: new values by key, nil for entries that are to go.
func (f *metadataFlags) edits(s *onnx.Summary, beside map[string]string, path string,
	entries []string, stderr io.Writer) (map[string]*string, error) {
	edits := map[string]*string{}
	if f.from != "" {
		d, err := describedBy(f.from, path)
		if err != nil {
			return nil, exit(exitModel, err)
		}
		warn(stderr, "tool-from-skipped", d.Skipped...)
		if d.Missing > 0 {
			warn(stderr, "tool-from-missing", fmt.Sprintf("%d of %d tensors of %s are not in the model", d.Missing, d.Codes,
				f.from))
		}
		for k, v := range d.Entries {
			edits[k] = &v
		}
	}
	if f.embed {
		if len(beside) == 0 {
			return nil, usage("--embed: there is no %s with entries [tool-embed-no-entries]", metadata.Sidecar(path))
		}
		for k, v := range beside {
			edits[k] = &v
		}
	}
	if f.images != "" {
		if len(entries)+len(f.remove) > 0 || f.embed || f.from != "" {
			return nil, usage("--calibrate %s: the model is run as its metadata are: write other entries first "+
				"[tool-calibrate-model-run]", f.images)
		}
		scales, err := calibrate(path, f.images, stderr)
		if err != nil {
			return nil, err
		}
		for k, v := range scales {
			edits[k] = &v
		}
	}
	for _, e := range entries {
		key, value, err := splitEntry(e)
		if err != nil {
			return nil, err
		}
		edits[key] = &value
	}
	for _, k := range f.remove {
		key := k
		if _, ok := s.Meta[key]; !ok {
			key = "anynpu." + k
		}
		if _, ok := s.Meta[key]; !ok {
			return nil, usage("--delete %s: the model has no such entry; there is: %s [tool-delete-model-no]", k,
				strings.Join(slices.Sorted(maps.Keys(s.Meta)), ", "))
		}
		if edits[key] != nil {
			return nil, usage("--delete %s: it is written, too [tool-delete-written]", k)
		}
		edits[key] = nil
	}
	return edits, nil
}

// describedBy returns the description in an .rknn file of the ONNX model at path.
func describedBy(from, path string) (*model.Described, error) {
	f, err := model.Source{Path: from}.Open()
	if err != nil {
		return nil, fault.Wrap(err, "--from %s", from)
	}
	defer f.Close()
	c, err := rknn.Read(f, f.Size)
	if err != nil {
		return nil, fault.Wrap(err, "--from %s", from)
	}
	m, err := model.Source{Path: path}.Open()
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	defer m.Close()
	names, err := onnx.ReadNames(m, m.Size)
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	d := model.Describe(c, names)
	if len(d.Entries) == 0 {
		return nil, fault.New(fault.File, "--from %s: nothing in it can be read: %s "+
			"[tool-nothing-read]", from, strings.Join(c.Unread, "; "))
	}
	for _, text := range c.Unread {
		d.Skipped = append(d.Skipped, from+": not read: "+text)
	}
	return d, nil
}

// splitEntry reads KEY=VALUE. Names in keys may have an = themselves: the key is the shortest part that is one.
func splitEntry(e string) (key, value string, err error) {
	for i := range len(e) {
		if e[i] != '=' {
			continue
		}
		for _, key := range []string{e[:i], "anynpu." + e[:i]} {
			if metadata.Known(key) {
				return key, asJSON(key, e[i+1:]), nil
			}
		}
	}
	if !strings.Contains(e, "=") {
		return "", "", usage("%q: want KEY=VALUE [tool-key-value]", e)
	}
	key, _, _ = strings.Cut(e, "=")
	if near := metadata.Near(key); near != "" {
		return "", "", usage("%q: there is no such key; did you mean %s? [tool-no-key-did]", e, near)
	}
	return "", "", usage("%q: there is no such key; anynpu metadata --help lists them [tool-no-key-anynpu]", e)
}

// asJSON makes a list of numbers that are separated by commas, for keys whose values are numbers.
func asJSON(key, value string) string {
	numeric := strings.HasSuffix(key, ".mean") || strings.HasSuffix(key, ".std") || strings.HasSuffix(key, ".scale")
	if !numeric || strings.HasPrefix(value, "[") {
		return value
	}
	numbers := strings.Split(value, ",")
	for i := range numbers {
		numbers[i] = strings.TrimSpace(numbers[i])
		if _, err := strconv.ParseFloat(numbers[i], 32); err != nil {
			return value // what is wrong with it is said where it is read
		}
	}
	return "[" + strings.Join(numbers, ",") + "]"
}

// checkMetadata refuses entries that have wrong values or belong to an input that the model does not have.
func checkMetadata(s *onnx.Summary, path string, props map[string]string, stderr io.Writer) error {
	meta, err := metadata.Read(props, "")
	if err != nil {
		return exit(exitUsage, err)
	}
	var names, open []string
	for _, p := range s.In {
		names = append(names, p.Name)
	}
	for _, p := range slices.Concat(s.In, s.Out) {
		for _, d := range p.Dims {
			if _, err := strconv.Atoi(d); err != nil && d != "?" && !slices.Contains(open, d) {
				open = append(open, d)
			}
		}
	}
	if list := meta.Strangers(path, names); len(list) > 0 {
		return usage("%s [tool-metadata-refused]", list[0])
	}
	for _, p := range s.In {
		if err := fitsInput(p, meta.Inputs[p.Name]); err != nil {
			return err
		}
	}
	for _, d := range slices.Sorted(maps.Keys(meta.Dims)) {
		if !slices.Contains(open, d) {
			warn(stderr, "tool-no-open-dimension", fmt.Sprintf("model %s: no input or output has an open dimension %q; "+
				"there is: %s", path, d, strings.Join(open, ", ")))
		}
	}
	return nil
}

// fitsInput refuses numbers per channel, and shapes, that the input cannot have.
func fitsInput(p onnx.Port, in metadata.Input) error {
	declared := "[" + strings.Join(p.Dims, ",") + "]"
	for what, n := range map[string]int{"mean": len(in.Mean), "std": len(in.Std), "scale": len(in.Scale)} {
		if n < 2 {
			continue
		}
		fits := len(p.Dims) == 4
		if fits {
			c, err := strconv.Atoi(p.Dims[1])
			last, e := strconv.Atoi(p.Dims[3])
			fits = err != nil || e != nil || c == n || last == n
		}
		if !fits {
			return usage("anynpu.input.%s.%s has %d numbers: want 1, or as many as channels of an input of rank 4, got the "+
				"shape %s [tool-anynpu-input-numbers]", p.Name, what, n, declared)
		}
	}
	if len(in.Std) > 0 && len(in.Scale) > 0 {
		return usage("anynpu.input.%s has std and scale: want one of them [tool-anynpu-input-std]", p.Name)
	}
	shapes, key := in.Shapes, "shapes"
	if in.Shape != nil {
		shapes, key = append(slices.Clone(shapes), in.Shape), "shape"
	}
	for _, shape := range shapes {
		fits := p.Dims == nil || len(shape) == len(p.Dims)
		for i := 0; fits && i < len(p.Dims); i++ {
			n, err := strconv.ParseInt(p.Dims[i], 10, 64)
			fits = err != nil || n == shape[i] || i == 0 && n == 1
		}
		if !fits {
			return usage("anynpu.input.%s.%s: %v does not fit the input's shape %s "+
				"[tool-anynpu-input-fit]", p.Name, key, shape, declared)
		}
	}
	return nil
}

// target is the file that is written. Surprises about it are warnings.
func (f *metadataFlags) target(s *onnx.Summary, path string, edits map[string]*string, beside map[string]string,
	stderr io.Writer) string {
	if f.out == "" {
		for _, k := range slices.Sorted(maps.Keys(edits)) {
			if other, ok := beside[k]; ok && (edits[k] == nil || *edits[k] != other) {
				warn(stderr, "tool-sidecar-wins", fmt.Sprintf("%s has %s, too, and wins", metadata.Sidecar(path), shown(k)))
			}
		}
		return path
	}
	if s.External && !sameFolder(path, f.out) {
		warn(stderr, "tool-external-data", fmt.Sprintf("model %s has external data, which %s looks for in its own folder",
			path, f.out))
	}
	return f.out
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(filepath.Dir(a))
	if err != nil {
		return false
	}
	y, err := os.Stat(filepath.Dir(b))
	return err == nil && os.SameFile(x, y)
}

// rewrite writes the model at from with edits to the file to, which is replaced as a whole. A link stays one: what it
// leads to is replaced.
func rewrite(from, to string, edits map[string]*string) (err error) {
	if real, e := filepath.EvalSymlinks(to); e == nil {
		to = real
	}
	in, err := os.Open(from)
	if err != nil {
		return fault.New(fault.File, "model %s: %v [tool-model]", from, cause(err))
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return fault.New(fault.File, "model %s: %v [tool-model]", from, cause(err))
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".anynpu-metadata-*")
	if err != nil {
		return fault.New(fault.File, "%s: %v [tool-file-not-written]", to, cause(err))
	}
	defer func() {
		if err != nil {
			err = fault.New(fault.KindOf(err), "%s: %v [tool-file-not-written]", to, cause(err))
			os.Remove(out.Name())
		}
	}()
	mode := st.Mode().Perm()
	if old, e := os.Stat(to); e == nil {
		mode = old.Mode().Perm()
	}
	err = onnx.EditMetadata(out, in, st.Size(), edits)
	err = errors.Join(err, out.Chmod(mode), out.Sync(), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	return err
}

// shown is text for a terminal: quoted where it has characters that would not be seen as they are.
func shown(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		b, err := json.Marshal(s)
		if err == nil {
			return string(b)
		}
	}
	return s
}
