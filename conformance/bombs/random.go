package bombs

import (
	"math/rand/v2"
)

// Random returns the bomb of a seed. Many are no valid models; most are.
func Random(seed uint64) []byte {
	r := &maker{Rand: rand.New(rand.NewPCG(seed, 0)), graph: &graph{}}
	for range 1 + r.IntN(3) {
		r.source()
	}
	for range r.IntN(6) {
		r.step()
	}
	for range 1 + r.IntN(2) {
		v := r.values[r.IntN(len(r.values))]
		r.output(r.node("Identity", []string{v.name}), v.dtype)
	}
	last := r.values[len(r.values)-1]
	r.output(r.node("Identity", []string{last.name}), last.dtype)
	return r.model()
}

// maker makes a random graph.
type maker struct {
	*rand.Rand
	*graph
	values []made
	depth  int
}

type made struct {
	name  string
	dtype int64
	rank  int
	open  bool // sizes are known at run time only: nothing costly follows
}

var sizes = []int64{0, -1, 1, 2, 3, 5, 8, 64, 1000, 4096, 65536, 1 << 20, 1<<24 + 1, 1 << 28, 1 << 30, 1 << 31, 1 << 33,
	1 << 40, 1 << 62}

// size picks a size, half of the time a small one.
func (r *maker) size() int64 {
	if r.IntN(2) == 0 {
		return int64(1 + r.IntN(8))
	}
	if r.IntN(20) == 0 {
		return sizes[r.IntN(2)] // rarely: these are refused at once
	}
	return sizes[2+r.IntN(len(sizes)-2)]
}

func (r *maker) list(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = r.size()
	}
	return v
}

// shape is a list of sizes whose product often stays below 2^34.
func (r *maker) shape(n int) []int64 {
	v := make([]int64, n)
	total := 1.0
	for i := range v {
		v[i] = r.size()
		if total *= float64(max(1, v[i])); total > 1<<34 && r.IntN(8) > 0 {
			v[i] = int64(1 + r.IntN(3))
		}
	}
	return v
}

func (r *maker) add(name string, dtype int64, rank int, open bool) {
	r.values = append(r.values, made{name, dtype, rank, open})
}

// some returns a value of an element type, a small one if there is none.
func (r *maker) some(dtype int64) made {
	for range 8 {
		if v := r.values[r.IntN(len(r.values))]; v.dtype == dtype {
			return v
		}
	}
	if dtype == int64s {
		return made{r.constant(longs(1, 2, 3)), int64s, 1, false}
	}
	return made{r.constant(floats(1, 2, 3)), float, 1, false}
}

// source adds a value out of nothing.
func (r *maker) source() {
	rank := 1 + r.IntN(4)
	dims := r.constant(longs(r.shape(rank)...))
	kind := r.IntN(9)
	if r.depth > 0 && (kind == 5 || kind == 6) { // bodies have the inputs that their operator gives
		kind = 0
	}
	switch kind {
	case 0, 1, 2:
		r.add(r.node("ConstantOfShape", []string{dims}), float, rank, false)
	case 3:
		r.add(r.node("ConstantOfShape", []string{dims}, attr{"value", longs(int64(r.IntN(5)))}), int64s, rank, false)
	case 4:
		r.add(r.node("Range", []string{r.constant(long(0)), r.constant(long(r.size())),
			r.constant(long(int64(1 + r.IntN(3))))}), int64s, 1, false)
	case 5:
		r.add(r.input(float, r.smallShape(rank)...), float, rank, false)
	case 6:
		shape := r.input(int64s, int64(rank))
		r.add(r.node("Expand", []string{r.constant(floats(1)), shape}), float, rank, true)
	case 7:
		kind := []string{"HannWindow", "HammingWindow", "BlackmanWindow"}[r.IntN(3)]
		r.add(r.node(kind, []string{r.constant(long(r.size()))}), float, 1, false)
	case 8:
		kind := []string{"RandomNormal", "RandomUniform"}[r.IntN(2)]
		r.add(r.node(kind, nil, attr{"shape", r.shape(rank)}), float, rank, false)
	}
}

func (r *maker) smallShape(rank int) []int64 {
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = int64(1 + r.IntN(8))
		if r.IntN(10) == 0 {
			dims[i] = -1
		}
	}
	return dims
}

// step adds an operator on what there is.
func (r *maker) step() {
	x := r.some(float)
	if r.depth < 2 && r.IntN(6) == 0 {
		r.flow()
		return
	}
	if r.IntN(3) > 0 || x.open {
		r.cheap(x)
		return
	}
	r.costly(x)
}

// cheap adds an operator whose work is the number of its elements.
func (r *maker) cheap(x made) {
	axis := attr{"axis", int64(r.IntN(max(1, x.rank)))}
	add := func(rank int, op string, in []string, attrs ...attr) {
		r.add(r.node(op, in, attrs...), float, rank, x.open)
	}
	kind := r.IntN(28)
	switch {
	case x.rank != 2 && (kind == 18 || kind == 19), x.rank != 4 && kind == 23:
		kind = 5
	}
	switch kind {
	case 0:
		add(x.rank, "Expand", []string{x.name, r.constant(longs(r.shape(x.rank)...))})
	case 1:
		add(x.rank, "Tile", []string{x.name, r.constant(longs(r.shape(x.rank)...))})
	case 2:
		mode := []string{"constant", "edge", "reflect", "wrap"}[r.IntN(4)]
		add(x.rank, "Pad", []string{x.name, r.constant(longs(r.shape(2 * x.rank)...))}, attr{"mode", mode})
	case 3:
		values := r.constant(floats(0, 1))
		add(x.rank+1, "OneHot", []string{r.some(int64s).name, r.constant(long(r.size())), values}, axis)
	case 4:
		add(x.rank, "Transpose", []string{x.name})
	case 5:
		add(x.rank, []string{"Relu", "Exp", "Sqrt", "Sigmoid", "Neg", "Erf"}[r.IntN(6)], []string{x.name})
	case 6, 7:
		y := r.some(float)
		r.add(r.node([]string{"Add", "Mul", "Pow", "Max"}[r.IntN(4)], []string{x.name, y.name}), float, max(x.rank, y.rank),
			x.open || y.open)
	case 8:
		add(x.rank, "Concat", []string{x.name, x.name, r.some(float).name}, axis)
	case 9:
		add(x.rank, []string{"ReduceMax", "ReduceMean", "ReduceL2", "ReduceProd"}[r.IntN(4)], []string{x.name},
			attr{"axes", []int64{axis.value.(int64)}})
	case 10:
		rank := 1 + r.IntN(4)
		dims := r.shape(rank)
		dims[r.IntN(rank)] = -1
		add(rank, "Reshape", []string{x.name, r.constant(longs(dims...))})
	case 11:
		r.add(r.node("NonZero", []string{x.name}), int64s, 2, true)
	case 12:
		add(x.rank, "Softmax", []string{x.name}, axis)
	case 13:
		add(x.rank, "CumSum", []string{x.name, r.constant(long(axis.value.(int64)))})
	case 14:
		r.add(r.node("Shape", []string{x.name}), int64s, 1, false)
	case 15:
		r.add(r.node("Expand", []string{r.constant(floats(2)), r.some(int64s).name}), float, 3, true)
	case 16:
		y := r.node("Cast", []string{x.name}, attr{"to", []int64{double, half, int8s, int64s, bools}[r.IntN(5)]})
		add(x.rank, "Cast", []string{y}, attr{"to", int64(float)})
	case 17:
		add(x.rank, "Gather", []string{x.name, r.some(int64s).name}, axis)
	case 18:
		add(2, "EyeLike", []string{x.name})
	case 19:
		add(x.rank, "Trilu", []string{x.name})
	case 20:
		add(4, "Resize", []string{x.name, "", "", r.constant(longs(r.shape(x.rank)...))},
			attr{"mode", []string{"nearest", "linear", "cubic"}[r.IntN(3)]})
	case 21:
		add(x.rank, "Slice", []string{x.name, r.constant(longs(r.size())), r.constant(longs(r.size())), r.constant(longs(0)),
			r.constant(longs(r.size()))})
	case 22:
		add(x.rank, "CenterCropPad", []string{x.name, r.constant(longs(r.shape(x.rank)...))})
	case 23:
		add(4, []string{"DepthToSpace", "SpaceToDepth"}[r.IntN(2)], []string{x.name}, attr{"blocksize", r.size()})
	case 24:
		scale, zero := r.constant(real(0.5)), r.constant(constant{dtype: int8s, data: []byte{0}})
		q := r.node("QuantizeLinear", []string{x.name, scale, zero})
		add(x.rank, "DequantizeLinear", []string{q, scale, zero})
	case 25:
		out := r.nodeN("Split", 2, []string{x.name}, axis)
		r.add(out[0], float, x.rank, x.open)
		r.add(out[1], float, x.rank, x.open)
	case 26:
		add(x.rank, "Where", []string{r.node("Cast", []string{x.name}, attr{"to", int64(bools)}), x.name, r.some(float).name})
	case 27:
		add(x.rank, "ScatterND", []string{x.name, r.some(int64s).name, r.some(float).name})
	}
}

// costly adds an operator whose work is more than its elements.
func (r *maker) costly(x made) {
	y := r.some(float)
	if y.open {
		y = made{r.constant(floats(1, 2)), float, 1, false}
	}
	add := func(rank int, op string, in []string, attrs ...attr) {
		r.add(r.node(op, in, attrs...), float, rank, false)
	}
	spatial := max(1, x.rank-2)
	window := []attr{{"pads", r.list(2 * spatial)}, {"strides", r.list(spatial)}, {"dilations", r.list(spatial)}}
	window = window[:r.IntN(4)]
	switch r.IntN(14) {
	case 0, 1:
		add(max(x.rank, y.rank), "MatMul", []string{x.name, y.name})
	case 2, 3:
		w := r.node("ConstantOfShape", []string{r.constant(longs(r.shape(spatial + 2)...))})
		add(x.rank, []string{"Conv", "ConvTranspose"}[r.IntN(2)], []string{x.name, w}, window...)
	case 4, 5:
		add(x.rank, []string{"MaxPool", "AveragePool", "LpPool"}[r.IntN(3)], []string{x.name},
			append(window, attr{"kernel_shape", r.list(spatial)})...)
	case 6:
		out := r.nodeN("TopK", 2, []string{x.name, r.constant(longs(r.size()))})
		r.add(out[0], float, x.rank, false)
		r.add(out[1], int64s, x.rank, false)
	case 7:
		out := r.nodeN("Unique", 4, []string{x.name})
		r.add(out[1], int64s, 1, true)
	case 8:
		add(2, "Einsum", []string{x.name, y.name}, attr{"equation", []string{"ij,jk->ik", "i,j->ij", "ij,kl->ijkl",
			"...i,...i->..."}[r.IntN(4)]})
	case 9:
		rois := r.constant(constant{dtype: float, dims: []int64{1, 4}, data: make([]byte, 16)})
		add(4, "RoiAlign", []string{x.name, rois, r.constant(longs(0))}, attr{"output_height", r.size()},
			attr{"output_width", r.size()}, attr{"sampling_ratio", r.size()})
	case 10:
		add(4, "Col2Im", []string{x.name, r.constant(longs(r.shape(2)...)), r.constant(longs(r.shape(2)...))})
	case 11:
		add(x.rank, "LRN", []string{x.name}, attr{"size", r.size()})
	case 12:
		add(2, "MelWeightMatrix", []string{r.constant(long(r.size())), r.constant(long(r.size())), r.constant(long(16000)),
			r.constant(real(10)), r.constant(real(5000))})
	case 13:
		h := r.size()
		dims := func(v ...int64) string { return r.node("ConstantOfShape", []string{r.constant(longs(v...))}) }
		add(4, "LSTM", []string{dims(int64(1+r.IntN(3)), 1, 4), dims(1, 4*h, 4), dims(1, 4*h, h)}, attr{"hidden_size", h})
	}
}

// flow adds a loop, a scan or a branch.
func (r *maker) flow() {
	body := func() *maker {
		return &maker{Rand: r.Rand, graph: &graph{prefix: r.prefix + "b" + itoa(r.count)}, depth: r.depth + 1}
	}
	cond := func() string {
		if r.depth > 0 || r.IntN(2) == 0 {
			return r.constant(truth(1))
		}
		return r.node("Cast", []string{r.input(float)}, attr{"to", int64(bools)})
	}
	trips := []int64{1, 3, 1000, 1 << 20, 1 << 40, 1<<63 - 1}[r.IntN(6)]
	switch r.IntN(4) {
	case 0, 1:
		b := body()
		i := b.parameter(int64s)
		keep := b.parameter(bools)
		state := b.parameter(float)
		b.add(state, float, 1, true)
		trip := b.node("Reshape", []string{i, b.constant(longs(1))})
		b.add(b.node("Cast", []string{trip}, attr{"to", int64(float)}), float, 1, true)
		for range r.IntN(3) {
			b.step()
		}
		b.output(b.node("Identity", []string{keep}), bools)
		next := b.values[r.IntN(len(b.values))]
		if r.IntN(3) == 0 {
			next.name = b.node("Concat", []string{state, state}, attr{"axis", int64(0)})
		}
		b.output(b.node("Identity", []string{next.name}), float)
		scanned := b.some(float)
		b.output(b.node("Identity", []string{scanned.name}), float)
		out := r.nodeN("Loop", 2, []string{r.constant(long(trips)), cond(), r.some(float).name}, attr{"body", b.graph})
		r.add(out[0], float, 1, true)
		r.add(out[1], float, 2, true)
	case 2:
		b := body()
		x := b.node("Reshape", []string{b.parameter(float), b.constant(longs(-1))})
		b.add(x, float, 1, true)
		for range 1 + r.IntN(3) {
			b.step()
		}
		b.output(b.node("Identity", []string{b.some(float).name}), float)
		r.add(r.node("Scan", []string{r.some(float).name}, attr{"body", b.graph}, attr{"num_scan_inputs", int64(1)}), float,
			2, true)
	case 3:
		var branch [2]*maker
		for k := range branch {
			branch[k] = body()
			branch[k].prefix += itoa(k)
			branch[k].source()
			for range r.IntN(3) {
				branch[k].step()
			}
			branch[k].output(branch[k].node("Identity", []string{branch[k].some(float).name}), float)
		}
		r.add(r.node("If", []string{cond()}, attr{"then_branch", branch[0].graph}, attr{"else_branch", branch[1].graph}),
			float, 2, true)
	}
}
