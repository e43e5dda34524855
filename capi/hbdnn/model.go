package hbdnn

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
)

// Model is an hbDNNHandle_t: one model of a pack, as long as that lives.
type Model struct {
	handle.Ref
	pack      *Packed
	name      string
	in, out   []*port
	operators []int32 // that make the outputs
	execs     executions
	latency   atomic.Int64 // microseconds of a run, 0: not known
	tag, desc string
	scales    bool     // it holds the scalers
	profile   *profile // nil: not wanted
	dump      *dump    // nil: not wanted

	mu    sync.Mutex
	texts map[string]*boundary.Block
}

// BadHandle gives an error the code for what is no model's handle.
func (*Model) BadHandle(err error) error { return refuseFor(errModelHandle, err, "no model") }

// load makes a model from the bytes or the file of a source.
func load(s model.Source) (*Model, error) {
	w := mem.NewWeights()
	defer w.Release()
	files := model.Map(boundary.Getenv("ANYNPU_MODEL_MAP"))
	all, err := devices.List()
	if err != nil {
		return nil, err
	}
	s, beside := standIn(s, files, all)
	im, err := model.Load(s, model.Options{Weights: w, Map: files, Images: imageOptions(), PerAxis: tellsAxis, Wide: true,
		Fix: true, Absent: true, Devices: all})
	if err != nil && beside != "" {
		err = fault.Wrap(err, "beside it is no %s, and ANYNPU_MODEL_MAP names none", filepath.Base(beside))
	}
	if err != nil {
		return nil, err
	}
	im.Warn(warn, caution)
	if im.Instead != nil {
		warn("another ONNX file is loaded", "model", im.Instead.Name, "onnx", im.Path, "map", im.Instead.Map)
	}
	m := &Model{name: nameOf(im, s), texts: map[string]*boundary.Block{}, tag: im.Meta.Target, desc: im.Meta.CustomString}
	m.profile = profiling.of(m.name)
	m.execs.timed = m.profile != nil
	if err := m.build(im, w); err != nil {
		m.free()
		return nil, err
	}
	holdScalers()
	m.scales = true
	m.announce(im)
	return m, nil
}

// standIn returns the ONNX file that is loaded for a model compiled for a board that no device takes: NAME.onnx beside
// NAME.bin or NAME.hbm, unless the map forbids that or names a file. Without one, beside is where it was looked for.
func standIn(s model.Source, files model.Map, all []device.Device) (_ model.Source, beside string) {
	ext := filepath.Ext(s.Path)
	if ext != ".bin" && ext != ".hbm" {
		return s, ""
	}
	f, err := s.Open()
	if err != nil {
		return s, ""
	}
	defer f.Close()
	if f.Format != model.Unknown || model.Reader(all, f.Container()) != nil {
		return s, ""
	}
	if file, err := files.Find(f, f.Size, s.Path); file != "" && err == nil {
		return s, ""
	}
	beside = strings.TrimSuffix(s.Path, ext) + ".onnx"
	if st, err := os.Stat(beside); err != nil || !st.Mode().IsRegular() || files == model.Off {
		return s, beside
	}
	warn("an ONNX file is loaded instead of a compiled model", "model", s.Path, "onnx", beside)
	return model.Source{Path: beside}, ""
}

// nameOf is the name that a model says it has, else that of its file.
func nameOf(im *model.Model, s model.Source) string {
	if im.Meta.Name != "" {
		return im.Meta.Name
	}
	if base := filepath.Base(s.Path); s.Path != "" {
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	return "model"
}

func (m *Model) build(im *model.Model, w *mem.Weights) error {
	in, out, err := im.Ports()
	if err != nil {
		return err
	}
	meant, err := model.ShapesOf(in)
	if err != nil {
		return err
	}
	for _, p := range meant.Opened {
		warn("the open first dimension is taken as 1: anynpu.input.NAME.shape in the model's metadata gives another",
			"input", p.Name, "shape", p.Declared)
	}
	dims := meant.Sets[0]
	if len(meant.Sets) > 1 {
		warn("the model runs with the first of its listed shapes: the API has fixed shapes", "shapes", dims)
	}
	model.SetSizes(im.Graph, dims)
	sized, err := model.WithSizes(im.Graph, dims)
	if err != nil {
		return err
	}
	results, err := im.OutputDims(sized)
	if err != nil {
		return err
	}
	shift := im.Meta.Quantization == "shift"
	for i, of := range in {
		if of.Image != nil && of.Image.Part == model.ImageChroma {
			m.in[len(m.in)-1].chroma = dims[i]
			continue
		}
		p, err := newPort(of, dims[i], true, shift)
		if err != nil {
			return err
		}
		p.at = i
		m.in = append(m.in, p)
		if p.Image != nil {
			p.tellBytes(im.Meta.Inputs[p.Name])
		}
	}
	for i, of := range out {
		p, err := newPort(of, results[i], false, shift)
		if err == nil {
			err = p.setCodes(im)
		}
		if err != nil {
			return err
		}
		p.at = i
		m.out = append(m.out, p)
	}
	m.operators = operatorsOf(im.Graph)
	forms, why := im.Forms()
	if why != "" {
		caution("model", "text", why)
	}
	if m.dump, err = dumping.expose(im.Graph, m.name); err != nil {
		return err
	}
	if m.dump != nil {
		forms = nil // they have the model's outputs alone
	}
	all, err := devices.List()
	if err != nil {
		return err
	}
	m.execs.program, err = compile.Compile(context.Background(), im.Graph, all, compile.Options{Weights: w, Consume: true,
		Strict: devices.Strict(), ByCost: true, Forms: forms, Warn: func(text string) { caution(text) }})
	return err
}

// operatorsOf says which kind of operator makes each output, as far as the API has a word for it.
func operatorsOf(g *graph.Graph) []int32 {
	producers := g.Producers()
	out := make([]int32, len(g.Out))
	for i, v := range g.Out {
		if at := producers[v]; at >= 0 {
			out[i] = map[string]int32{"conv": operatorConv, "arg_max": operatorArgMax}[graph.NameOf(g.Nodes[at].Op)]
		}
	}
	return out
}

// free ends a model that no task uses.
func (m *Model) free() {
	if m.scales {
		dropScalers()
	}
	for _, p := range append(append([]*port{}, m.in...), m.out...) {
		p.lists.Free()
	}
	for _, b := range m.texts {
		b.Free()
	}
	m.execs.release()
}

// text is the address of a C string that lives as long as the model.
func (m *Model) text(s string) uintptr {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.texts[s]
	if b == nil {
		b = &boundary.Block{}
		b.SetString(s)
		m.texts[s] = b
	}
	return b.Addr()
}

// learn takes the time of a run into the estimate: an eighth of the new time, seven of the estimate so far.
func (m *Model) learn(took time.Duration) {
	for {
		old := m.latency.Load()
		now := max(took.Microseconds(), 1)
		if old != 0 {
			now = (old*(roundsOfAnAverage-1) + now) / roundsOfAnAverage
		}
		if m.latency.CompareAndSwap(old, now) {
			return
		}
	}
}

// announce writes what was loaded, as information.
func (m *Model) announce(im *model.Model) {
	if !boundary.LogEnabled(boundary.LevelInfo, "hbdnn") {
		return
	}
	boundary.Log(boundary.LevelInfo, "hbdnn", "model loaded", "name", m.name, "file", im.Path, "opset", im.Opset,
		"producer", im.Producer, "inputs", len(m.in), "outputs", len(m.out), "placement", m.execs.program.Placement().Summary())
	for k, list := range [][]*port{m.in, m.out} {
		for i, p := range list {
			boundary.Log(boundary.LevelInfo, "hbdnn", []string{"input", "output"}[k], "index", i, "name", p.Name, "valid",
				p.valid, "aligned", p.aligned, "layout", layoutName(p.layout), "type", typeName(p.kind), "bytes", p.bytes)
		}
	}
}

// Placement returns where the nodes of the model run, as JSON. It serves anynpu_placement_report.
func (m *Model) Placement() []byte { return m.execs.program.Placement().JSON() }

// Packed is an hbPackedDNNHandle_t: the models of some files (section 3).
type Packed struct {
	handle.Ref
	models []*Model
	names  boundary.Block // addresses of the models' names

	mu     sync.Mutex
	busy   int  // members of tasks that wait or run
	closed bool // it is being released
}

// enter counts a member of a task that uses one of the models.
func (p *Packed) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return refuse(errModelHandle, "dnnHandle: its models are being released")
	}
	p.busy++
	return nil
}

func (p *Packed) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
}
