package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// mismatched runs e, of turned, with shapes that do not fit each other, which the device refuses.
func (t *T) mismatched(e, out uintptr) {
	in := []uintptr{t.tensor(pattern(6, 1), 2, 3), t.tensor(pattern(2, 2), 2)}
	t.Is(unavail, "Executor_RunSync", e, in, 2, []uintptr{out}, 1)
}

// again are the rules of executors that are used more than once.
var again = []*Rule{
	rule("s8_again_shapes", "one executor runs with one shape after the other; results, GetOutputShape and the tensors' "+
		"descriptors are those of the last run").
		OK("same_output_tensor", func(t *T) {
			e, out := t.turning(), t.room()
			for i, s := range shapes {
				t.turns(e, out, s[0], s[1], i)
			}
		}).
		OK("new_output_tensors", func(t *T) {
			e := t.turning()
			first := t.room()
			t.turns(e, first, 2, 3, 9)
			for i, s := range shapes {
				t.turns(e, t.room(), s[0], s[1], i)
			}
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", first), 3, 2)
			t.Check(slices.Equal(t.floats(first, 6), turn(pattern(6, 9), pattern(3, 10), 2, 3)), "a later run has changed "+
				"the tensor of the first")
		}).
		OK("output_tensors_of_the_result_s_shape", func(t *T) {
			e := t.turning()
			for i, s := range shapes {
				out := t.newTensor("CreateWithSize", 0, t.desc(float32T, int32(s[1]), int32(s[0])), 256)
				t.turns(e, out, s[0], s[1], i)
			}
		}).
		OK("own_tensors_reshaped", func(t *T) {
			e, out := t.turning(), t.room()
			x, b := t.room(), t.newTensor("CreateWithSize", 0, t.desc(float32T, -1), 256)
			for i, s := range shapes {
				t.OK("TensorDesc_SetShape", t.Ptr("Tensor_GetTensorDesc", x), []int32{int32(s[0]), int32(s[1])}, 2)
				t.OK("TensorDesc_SetShape", t.Ptr("Tensor_GetTensorDesc", b), []int32{int32(s[1])}, 1)
				copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", x), 64), pattern(s[0]*s[1], i))
				copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", b), 64), pattern(s[1], i+1))
				t.OK("Executor_RunSync", e, []uintptr{x, b}, 2, []uintptr{out}, 1)
				t.turnedRight(e, out, s[0], s[1], i)
			}
		}).
		No("refused_between", func(t *T) {
			e, out := t.turning(), t.room()
			for i, s := range shapes {
				t.mismatched(e, t.room())
				t.turns(e, out, s[0], s[1], i)
				t.mismatched(e, t.room())
				t.turnedRight(e, out, s[0], s[1], i)
				t.Bad("Executor_RunSync", e, []uintptr{out}, 1, []uintptr{out}, 1)
				t.turnedRight(e, out, s[0], s[1], i)
			}
		}).
		No("too_small_between", func(t *T) {
			e, out := t.turning(), t.room()
			for i, s := range [][2]int{{2, 3}, {3, 2}, {5, 7}} {
				small := t.newTensor("CreateWithSize", 0, t.desc(float32T, -1, -1), 16)
				in := []uintptr{t.tensor(pattern(6, 1), 2, 3), t.tensor(pattern(3, 2), 3)}
				t.Is(unavail, "Executor_RunSync", e, in, 2, []uintptr{small}, 1)
				t.turns(e, out, s[0], s[1], i)
			}
		}),
	rule("s8_again_computed", "how many elements a value inside of the model has may follow from what a run is given; "+
		"the "+
		"sizes of its result that the model declares are those of every run").
		OK("rows_of_a_table", func(t *T) {
			e, out := t.rowsOfATable(), t.tensor(nil, 4, 5)
			for begin := range int32(6) {
				t.givesRows(e, out, begin)
			}
		}).
		No("a_run_without_the_count", func(t *T) {
			e, out := t.rowsOfATable(), t.tensor(nil, 4, 5)
			for begin := range int32(3) {
				in := []uintptr{t.tensor(nil, 9, 5), t.integers(rowsChosen...), t.integers(begin)}
				t.Bad("Executor_RunSync", e, in, 3, []uintptr{out}, 1)
				t.givesRows(e, out, begin)
			}
		}),
	rule("s8_again_data", "a run reads what its tensors hold when it begins, also when they are those of the run before").
		OK("changed_in_place", func(t *T) {
			e, out := t.turning(), t.room()
			in := []uintptr{t.tensor(nil, 2, 3), t.tensor(nil, 3)}
			for seed := range 4 {
				copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", in[0]), 6), pattern(6, seed))
				copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", in[1]), 3), pattern(3, seed+1))
				t.OK("Executor_RunSync", e, in, 2, []uintptr{out}, 1)
				t.turnedRight(e, out, 2, 3, seed)
			}
		}).
		OK("tensors_that_end", func(t *T) {
			e, out := t.turning(), t.room()
			for seed := range 8 {
				x, b := t.Ptr("Tensor_Create", 0, t.desc(float32T, 2, 3)), t.Ptr("Tensor_Create", 0, t.desc(float32T, 3))
				copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", x), 6), pattern(6, seed))
				copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", b), 3), pattern(3, seed+1))
				t.OK("Executor_RunSync", e, []uintptr{x, b}, 2, []uintptr{out}, 1)
				t.OK("Tensor_Destroy", &x)
				t.OK("Tensor_Destroy", &b)
				t.turnedRight(e, out, 2, 3, seed)
			}
		}).
		OK("result_as_input", func(t *T) {
			e, a, b := t.turning(), t.room(), t.tensor(pattern(3, 1), 3)
			square := t.tensor(pattern(9, 0), 3, 3)
			t.OK("Executor_RunSync", e, []uintptr{square, b}, 2, []uintptr{a}, 1)
			other := t.room()
			t.OK("Executor_RunSync", e, []uintptr{a, b}, 2, []uintptr{other}, 1)
			once := turn(pattern(9, 0), pattern(3, 1), 3, 3)
			twice := turn(once, pattern(3, 1), 3, 3)
			t.Check(slices.Equal(t.floats(a, 9), once) && slices.Equal(t.floats(other, 9), twice), "got %v and %v, want %v "+
				"and %v", t.floats(a, 9), t.floats(other, 9), once, twice)
		}).
		OK("same_tensor_twice", func(t *T) {
			e, x, out := t.executor(5), t.tensor(pattern(5, 4), 5), t.tensor(nil, 5)
			t.OK("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{out}, 1)
			for i, v := range pattern(5, 4) {
				t.Check(t.floats(out, 5)[i] == 2*v, "element %d: %v, want %v", i, t.floats(out, 5)[i], 2*v)
			}
		}).
		OK("constants_stay", func(t *T) {
			m := t.emptyModel()
			t.open(m, float32T, []int32{5}, []int32{5}, []int32{5}, []int32{5})
			t.OK("Model_SetTensorData", m, 1, pattern(5, 7), 20)
			t.OK("Model_AddOperation", m, opMul, &ohnn.Array{}, ohnn.List(1, 0), ohnn.List(2))
			t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(2, 1), ohnn.List(3))
			e, out := t.compiled(m, ohnn.List(0), ohnn.List(3)), t.tensor(nil, 5)
			for seed := range 3 {
				x, c := pattern(5, seed), pattern(5, 7)
				t.OK("Executor_RunSync", e, []uintptr{t.tensor(x, 5)}, 1, []uintptr{out}, 1)
				for i, got := range t.floats(out, 5) {
					t.Check(got == c[i]*x[i]+c[i], "run %d, element %d: %v, want %v", seed, i, got, c[i]*x[i]+c[i])
				}
			}
		}).
		No("refused_writes_nothing", func(t *T) {
			e, out := t.turning(), t.room()
			t.turns(e, out, 2, 3, 5)
			t.mismatched(e, out)
			got, want := t.floats(out, 6), turn(pattern(6, 5), pattern(3, 6), 2, 3)
			t.Check(slices.Equal(got, want), "a refused run has changed its output to %v", got)
		}),
	rule("s8_again_ranks", "sizes that a model leaves open are those of each run, whatever the rank").
		OK("each_rank", func(t *T) {
			sizes := [][]int32{{2, 3, 1, 2, 4}, {1, 1, 5, 3, 2}, {4, 2, 2, 1, 1}, {2, 3, 1, 2, 4}, {3, 1, 2, 2, 3}}
			for rank := 1; rank <= 5; rank++ {
				e := t.executor(slices.Repeat([]int32{-1}, rank)...)
				out := t.newTensor("CreateWithSize", 0, t.desc(float32T, slices.Repeat([]int32{4}, rank)...), 4096)
				for seed, all := range sizes {
					dims, n := all[:rank], 1
					for _, d := range dims {
						n *= int(d)
					}
					x, y := pattern(n, seed), pattern(n, seed+7)
					t.OK("Executor_RunSync", e, []uintptr{t.tensor(x, dims...), t.tensor(y, dims...)}, 2, []uintptr{out}, 1)
					t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), dims...)
					for i, got := range t.floats(out, n) {
						t.Check(got == x[i]+y[i], "shape %v, element %d: %v, want %v", dims, i, got, x[i]+y[i])
					}
				}
			}
		}).
		No("another_rank", func(t *T) {
			for rank := 1; rank <= 4; rank++ {
				e := t.executor(slices.Repeat([]int32{-1}, rank)...)
				more := slices.Repeat([]int32{2}, rank+1)
				x := t.tensor(pattern(1<<(rank+1), 1), more...)
				t.Bad("Executor_RunSync", e, []uintptr{x, x}, 2, []uintptr{t.room()}, 1)
			}
		}),
	rule("s8_again_executors", "executors of one compilation, and of several of one model, do not share shapes or data").
		OK("interleaved", func(t *T) {
			c := t.compilation(t.turned(-1, -1))
			t.OK("Compilation_Build", c)
			a, b := t.executorOf(c), t.executorOf(c)
			outA, outB := t.room(), t.room()
			for i := range shapes {
				s, u := shapes[i], shapes[len(shapes)-1-i]
				t.turns(a, outA, s[0], s[1], i)
				t.turns(b, outB, u[0], u[1], i+20)
				t.turnedRight(a, outA, s[0], s[1], i)
			}
		}).
		OK("one_after_another", func(t *T) {
			c := t.compilation(t.turned(-1, -1))
			t.OK("Compilation_Build", c)
			for i, s := range shapes {
				e := t.Ptr("Executor_Construct", c)
				shape := t.outputShape(e)
				t.Check(slices.Equal(shape, []int32{-1, -1}), "a new executor tells the shape %v", shape)
				t.turns(e, t.room(), s[0], s[1], i)
				t.Call("Executor_Destroy", &e)
			}
		}).
		OK("model_compiled_twice", func(t *T) {
			m := t.turned(-1, -1)
			a, b := t.compilation(m), t.compilation(m)
			t.OK("Compilation_SetPriority", a, 3)
			t.OK("Compilation_Build", a)
			first := t.executorOf(a)
			t.turns(first, t.room(), 2, 3, 1)
			t.Call("Compilation_Destroy", &a)
			t.OK("Compilation_SetPerformanceMode", b, 2)
			t.OK("Compilation_Build", b)
			t.Call("Model_Destroy", &m)
			second := t.executorOf(b)
			t.turns(second, t.room(), 3, 2, 2)
			t.Call("Executor_Destroy", &first)
			t.turns(second, t.room(), 4, 1, 3)
		}).
		OK("tensors_of_another_model", func(t *T) {
			e, sums := t.turning(), t.executor(-1, 3)
			out := t.room()
			x, b := t.tensor(pattern(6, 1), 2, 3), t.tensor(pattern(3, 2), 3)
			for range 2 {
				t.OK("Executor_RunSync", e, []uintptr{x, b}, 2, []uintptr{out}, 1)
				t.turnedRight(e, out, 2, 3, 1)
				t.OK("Executor_RunSync", sums, []uintptr{x, x}, 2, []uintptr{out}, 1)
				t.wantShape(t.Ptr("Tensor_GetTensorDesc", out), 2, 3)
				for i, v := range pattern(6, 1) {
					t.Check(t.floats(out, 6)[i] == 2*v, "element %d: %v, want %v", i, t.floats(out, 6)[i], 2*v)
				}
			}
		}).
		No("one_refused", func(t *T) {
			c := t.compilation(t.turned(-1, -1))
			t.OK("Compilation_Build", c)
			a, b := t.executorOf(c), t.executorOf(c)
			out := t.room()
			t.turns(a, out, 2, 3, 1)
			t.mismatched(b, t.room())
			t.Bad("Compilation_Build", c)
			t.turnedRight(a, out, 2, 3, 1)
			shape := t.outputShape(b)
			t.Check(slices.Equal(shape, []int32{-1, -1}), "the other executor tells the shape %v", shape)
			t.turns(a, out, 3, 2, 2)
		}),
	rule("s8_again_threads", "executors work in the threads of the program, one executor in several").
		OK("other_thread", func(t *T) {
			e, out := t.turning(), t.room()
			t.turns(e, out, 2, 3, 1)
			t.Parallel(1, func(own *suite.T, _ int) {
				u := newT(own)
				u.turnedRight(e, out, 2, 3, 1)
				u.turns(e, out, 3, 2, 2)
				u.turns(e, u.room(), 4, 1, 3)
			})
			t.turns(e, out, 5, 7, 4)
		}).
		OK("one_executor_each", func(t *T) {
			c := t.compilation(t.turned(-1, -1))
			t.OK("Compilation_Build", c)
			t.Parallel(4, func(own *suite.T, k int) {
				u := newT(own)
				e, out := u.executorOf(c), u.room()
				for i := range shapes {
					s := shapes[(i+k)%len(shapes)]
					u.turns(e, out, s[0], s[1], 10*k+i)
				}
			})
			t.Judged(true)
		}).
		OK("one_for_all", func(t *T) {
			e := t.turning()
			t.Parallel(4, func(own *suite.T, k int) {
				u := newT(own)
				s, out := shapes[k], u.room()
				x, b := pattern(s[0]*s[1], k), pattern(s[1], k+1)
				in := []uintptr{u.tensor(x, int32(s[0]), int32(s[1])), u.tensor(b, int32(s[1]))}
				want := turn(x, b, s[0], s[1])
				for range 10 {
					u.OK("Executor_RunSync", e, in, 2, []uintptr{out}, 1)
					u.wantShape(u.Ptr("Tensor_GetTensorDesc", out), int32(s[1]), int32(s[0]))
					got := u.floats(out, len(want))
					u.Check(slices.Equal(got, want), "thread %d: got %v, want %v", k, got, want)
				}
			})
			t.Judged(true)
		}).
		No("refused_in_another", func(t *T) {
			e, out := t.turning(), t.room()
			t.turns(e, out, 2, 3, 1)
			t.Parallel(2, func(own *suite.T, _ int) { newT(own).mismatched(e, newT(own).room()) })
			t.Judged(false)
			t.turnedRight(e, out, 2, 3, 1)
		}),
	rule("s10_again", "inputs and outputs of the functions of API 9 are set again with another shape, and stay set "+
		"between runs; runs with tensors do not change them").
		OK("shapes", func(t *T) {
			e := t.turning()
			for i, s := range shapes {
				out := t.setTurn(e, s[0], s[1], i)
				t.OK("Executor_Run", e)
				t.turnedLegacy(e, out, s[0], s[1], i)
			}
		}).
		OK("tensors_between", func(t *T) {
			e := t.turning()
			out := t.setTurn(e, 2, 3, 1)
			t.turns(e, t.room(), 3, 2, 7)
			t.OK("Executor_Run", e)
			t.turnedLegacy(e, out, 2, 3, 1)
			t.turns(e, t.room(), 4, 1, 8)
			clear(out)
			t.OK("Executor_Run", e)
			t.turnedLegacy(e, out, 2, 3, 1)
		}).
		OK("one_input_again", func(t *T) {
			e, out := t.ready()
			t.OK("Executor_Run", e)
			t.OK("Executor_SetInput", e, 1, two, []float32{-5, 7.5}, 8)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out, []float32{-4, 9.5, 0, 0}), "got %v", out)
			t.OK("Executor_SetInput", e, 0, two, []float32{100, 200}, 8)
			t.OK("Executor_Run", e)
			t.Check(slices.Equal(out, []float32{95, 207.5, 0, 0}), "got %v", out)
		}).
		No("refused_between", func(t *T) {
			e := t.turning()
			out := t.setTurn(e, 2, 3, 1)
			t.OK("Executor_Run", e)
			t.Bad("Executor_SetInput", e, 0, legacy(float32T, 3), pattern(3, 1), 12)
			t.Bad("Executor_SetInput", e, 0, legacy(float32T, 3, 2), pattern(6, 9), 23)
			t.Bad("Executor_SetOutput", e, 0, out, 23)
			clear(out)
			t.OK("Executor_Run", e)
			t.turnedLegacy(e, out, 2, 3, 1)
		}),
}

// setTurn sets inputs and output of e, of turned, with the functions of API 9.
func (t *T) setTurn(e uintptr, rows, columns, seed int) []float32 {
	x, b, out := pattern(rows*columns, seed), pattern(columns, seed+1), make([]float32, 64)
	t.Keep(out)
	t.OK("Executor_SetInput", e, 0, legacy(float32T, int32(rows), int32(columns)), x, 4*len(x))
	t.OK("Executor_SetInput", e, 1, legacy(float32T, int32(columns)), b, 4*len(b))
	t.OK("Executor_SetOutput", e, 0, out, 256)
	clear(x)
	clear(b)
	return out
}

func (t *T) turnedLegacy(e uintptr, out []float32, rows, columns, seed int) {
	want := append(turn(pattern(rows*columns, seed), pattern(columns, seed+1), rows, columns), make([]float32, 64)...)[:64]
	t.Check(slices.Equal(out, want), "%d x %d: got %v, want %v", rows, columns, out, want)
	shape := t.outputShape(e)
	t.Check(slices.Equal(shape, []int32{int32(columns), int32(rows)}), "GetOutputShape: %v, want [%d %d]", shape, columns,
		rows)
}

var rowsChosen = []int32{8, 3, 5, 5, 0, 7, 1, 6, 2}

// rowsOfATable is an executor of y = table[chosen[begin : begin+count]], all four given by the run, y of 4 rows.
func (t *T) rowsOfATable() uintptr {
	m := t.emptyModel()
	t.open(m, float32T, []int32{9, 5})
	t.open(m, int32T, []int32{9}, []int32{1}, []int32{1}, []int32{-1}, []int32{1})
	t.open(m, float32T, []int32{4, 5})
	t.OK("Model_SetTensorData", m, 5, []int32{0}, 4)
	t.OK("Model_AddOperation", m, opSlice, &ohnn.Array{}, ohnn.List(1, 2, 3), ohnn.List(4))
	t.OK("Model_AddOperation", m, opGather, &ohnn.Array{}, ohnn.List(0, 4, 5), ohnn.List(6))
	return t.compiled(m, ohnn.List(0, 1, 2, 3), ohnn.List(6))
}

// givesRows runs rowsOfATable with another table for each begin, and compares.
func (t *T) givesRows(e, out uintptr, begin int32) {
	table := pattern(45, int(begin))
	in := []uintptr{t.tensor(table, 9, 5), t.integers(rowsChosen...), t.integers(begin), t.integers(4)}
	t.OK("Executor_RunSync", e, in, 4, []uintptr{out}, 1)
	var want []float32
	for _, row := range rowsChosen[begin : begin+4] {
		want = append(want, table[row*5:row*5+5]...)
	}
	got := t.floats(out, 20)
	t.Check(slices.Equal(got, want), "from %d on: got %v, want %v", begin, got, want)
}
