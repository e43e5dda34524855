package op

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Einsum sums products of elements over labelled dimensions, NumPy's einsum: every input term names the dimensions of
// one input by letters, the output term those that remain; the others are summed over. A letter that occurs twice in a
// term takes the diagonal. An ellipsis stands for any number of leading, trailing or inner dimensions, which broadcast
// from the right. Without "->" the output has the ellipsis, then the letters that occur once, in alphabetical order.
// Blanks are ignored.
//
// Inputs: one per term, all of one type: float or quantized (summed in float64), or int32, int64, uint32, uint64
// (wrapping). Output: y. Source: ONNX Einsum-12.
type Einsum struct {
	Equation string
}

func init() { graph.Register[*Einsum]("einsum", graph.Traits{}) }

// ellipsis marks an ellipsis in a term; the dimensions it stands for get the labels ellipsis-1, ellipsis-2, ... from
// the right.
const ellipsis = -1

// Terms parses the equation for inputs of the given ranks and returns the labels of every input's dimensions and of the
// output's. Letters are their code, dimensions of an ellipsis are negative.
func (o *Einsum) Terms(ranks []int) (in [][]int, out []int, err error) {
	left, right, explicit := strings.Cut(strings.Join(strings.Fields(o.Equation), ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return nil, nil, fault.New(fault.Argument, "equation %q has %d terms for %d inputs", o.Equation, len(terms),
			len(ranks))
	}
	widest, count := 0, map[int]int{}
	for i, t := range terms {
		labels, err := parseTerm(t)
		if err != nil {
			return nil, nil, fault.Wrap(err, "equation %q", o.Equation)
		}
		covered := ranks[i] - len(labels)
		if at := slices.Index(labels, ellipsis); at >= 0 {
			covered++
			if covered < 0 {
				return nil, nil, fault.New(fault.Shape, "equation %q: term %q for input %d of rank %d", o.Equation, t, i, ranks[i])
			}
			labels = slices.Replace(labels, at, at+1, covering(covered)...)
			widest = max(widest, covered)
		} else if covered != 0 {
			return nil, nil, fault.New(fault.Shape, "equation %q: term %q for input %d of rank %d", o.Equation, t, i, ranks[i])
		}
		for _, l := range labels {
			count[l]++
		}
		in = append(in, labels)
	}
	if !explicit {
		for l, n := range count {
			if l > 0 && n == 1 {
				out = append(out, l)
			}
		}
		slices.Sort(out)
		return in, append(covering(widest), out...), nil
	}
	labels, err := parseTerm(right)
	if err != nil {
		return nil, nil, fault.Wrap(err, "equation %q", o.Equation)
	}
	if at := slices.Index(labels, ellipsis); at >= 0 {
		labels = slices.Replace(labels, at, at+1, covering(widest)...)
	}
	for i, l := range labels {
		if slices.Contains(labels[:i], l) || l > 0 && count[l] == 0 {
			return nil, nil, fault.New(fault.Argument, "equation %q: output label %q repeats or is in no input", o.Equation,
				rune(l))
		}
	}
	return in, labels, nil
}

// covering is the labels of the n dimensions that an ellipsis stands for.
func covering(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = ellipsis - n + i
	}
	return l
}

func parseTerm(t string) ([]int, error) {
	labels := []int{}
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			labels = append(labels, int(c))
		case strings.HasPrefix(t[i:], "...") && !slices.Contains(labels, ellipsis):
			labels = append(labels, ellipsis)
			i += 2
		default:
			return nil, fault.New(fault.Argument, "term %q: want letters and at most one ellipsis", t)
		}
	}
	return labels, nil
}

// Infer returns the sizes of the output's labels.
func (o *Einsum) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, maxOperands, declared, 1, 1); err != nil {
		return nil, err
	}
	ranks, ranked := make([]int, len(in)), true
	for i := range in {
		if !present(in, i) {
			return nil, fault.New(fault.Argument, "input %d is missing", i)
		}
		if err := summand(in[i]); err != nil {
			return nil, fault.Wrap(err, "input %d", i)
		}
		if err := sameKind(in, 0, i); err != nil {
			return nil, err
		}
		ranks[i] = in[i].Shape.Rank()
		ranked = ranked && ranks[i] >= 0
	}
	if !ranked {
		return []tensor.Fact{outType(declared[0], in[0], tensor.AnyShape())}, nil
	}
	terms, out, err := o.Terms(ranks)
	if err != nil {
		return nil, err
	}
	sizes := map[int]tensor.Dim{}
	for i, labels := range terms {
		for k, l := range labels {
			d := in[i].Shape.Dims[k]
			old, ok := sizes[l]
			if !ok {
				sizes[l] = d
				continue
			}
			if l > 0 {
				if sizes[l], err = agree(old, d, "label "+string(rune(l))); err != nil {
					return nil, fault.Wrap(err, "input %d", i)
				}
				continue
			}
			s, err := tensor.Broadcast(tensor.OfDims(old), tensor.OfDims(d))
			if err != nil {
				return nil, fault.New(fault.Shape, "input %d: %v", i, err)
			}
			sizes[l] = s.Dims[0]
		}
	}
	dims := make([]tensor.Dim, len(out))
	for i, l := range out {
		dims[i] = sizes[l]
	}
	return []tensor.Fact{outType(declared[0], in[0], tensor.OfDims(dims...))}, nil
}

// maxOperands bounds the inputs of an operator that takes any number.
const maxOperands = 1 << 16
