package lower

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var tfidfOperators = []Operator{
	{"", "TfIdfVectorizer", 9, lowerTfIdf},
}

// maxGramSteps bounds the comparisons that one TfIdfVectorizer expands to: gram sizes times distances.
const maxGramSteps = 256

// lowerTfIdf counts, per row of integers, the n-grams of the pool: windows of n entries that lie 1 to max_skip_count+1
// apart are compared with all grams of that size, and the hits are summed into the columns that ngram_indexes names. A
// weight belongs to a gram of the pool, whatever its column.
func lowerTfIdf(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	if n.p.Attrs["pool_strings"] != nil {
		return fault.New(fault.Unsupported, "a pool of strings")
	}
	pool, counts, columns := n.ints("pool_int64s"), n.ints("ngram_counts"), n.ints("ngram_indexes")
	lo, hi, skips := n.int("min_gram_length", 1), n.int("max_gram_length", 1), n.int("max_skip_count", 0)
	if lo < 1 || hi < lo || skips < 0 || (hi-lo+1) > maxGramSteps || skips >= maxGramSteps/(hi-lo+1) {
		return fault.New(fault.File, "gram lengths %d to %d with up to %d skips", lo, hi, skips)
	}
	width := int64(0)
	for _, c := range columns {
		if c < 0 || c >= 1<<24 {
			return fault.New(fault.File, "attribute ngram_indexes: %d", c)
		}
		width = max(width, c+1)
	}
	mode, weights, err := n.gramWeights(columns)
	if err != nil {
		return err
	}
	x := n.b.Add(&op.Unsqueeze{}, n.b.Add(&op.Cast{To: tensor.Int64}, n.arg(0)), n.b.Int64s(-1))
	sum, first := graph.None, int64(0)
	for i, from := range counts {
		size, to := int64(i+1), int64(len(pool))
		if i+1 < len(counts) {
			to = counts[i+1]
		}
		if from < 0 || to < from || to > int64(len(pool)) || (to-from)%size != 0 ||
			first+(to-from)/size > int64(len(columns)) {
			return fault.New(fault.File, "attribute ngram_counts: %v for a pool of %d and %d columns", counts, len(pool),
				len(columns))
		}
		grams := (to - from) / size
		if size >= lo && size <= hi && grams > 0 {
			hits := n.gramHits(x, pool[from:to], size, skips)
			if mode == "IDF" {
				hits = n.occurs(hits)
			}
			if grams*width > 1<<26 {
				return fault.New(fault.Unsupported, "%d grams in %d columns", grams, width)
			}
			place, err := mem.Make[float32](int(2 * grams * width)) // and the copy below
			if err != nil {
				return fault.Wrap(err, "%d grams in %d columns", grams, width)
			}
			place = place[:grams*width]
			for g := range grams {
				place[g*width+columns[first+g]] = weights[first+g]
			}
			part := n.b.Add(&op.MatMul{}, hits, n.b.Const("", tensor.T(tensor.Float32, grams, width), tensor.Float32s(place...)))
			if sum == graph.None {
				sum = part
			} else {
				sum = n.b.Add(&op.Add{}, sum, part)
			}
		}
		first += grams
	}
	if sum == graph.None {
		return fault.New(fault.File, "no n-gram of the lengths %d to %d", lo, hi)
	}
	if mode == "IDF" && n.p.Attrs["weights"] == nil { // several grams of a column count once
		sum = n.occurs(sum)
	}
	return n.result(sum)
}

// occurs is 1 where a count is above 0, else 0.
func (n *node) occurs(counts graph.Value) graph.Value {
	return n.b.Add(&op.Cast{To: tensor.Float32}, n.b.Add(&op.Greater{}, counts, n.b.Float32(0)))
}

// gramHits counts the grams [G*size] in x [..., L, 1]: float32 [..., G]. Single entries are counted at one distance
// only.
func (n *node) gramHits(x graph.Value, grams []int64, size, skips int64) graph.Value {
	count := int64(len(grams)) / size
	axis, sum := n.b.Int64s(-2), graph.None
	for distance := int64(1); distance <= skips+1; distance++ {
		all := graph.None
		for k := range size {
			end := int64(math.MaxInt64)
			if k < size-1 {
				end = -(size - 1 - k) * distance
			}
			entry := make([]int64, count)
			for g := range count {
				entry[g] = grams[g*size+k]
			}
			window := n.b.Add(&op.Slice{}, x, n.b.Int64s(k*distance), n.b.Int64s(end), axis)
			equal := n.b.Add(&op.Equal{}, window, n.b.Int64s(entry...))
			if all == graph.None {
				all = equal
			} else {
				all = n.b.Add(&op.And{}, all, equal)
			}
		}
		hits := n.b.Add(&op.ReduceSum{}, n.b.Add(&op.Cast{To: tensor.Float32}, all), axis)
		if sum == graph.None {
			sum = hits
		} else {
			sum = n.b.Add(&op.Add{}, sum, hits)
		}
		if size == 1 {
			break
		}
	}
	return sum
}

// gramWeights are the mode and what an occurrence of each gram adds to its column: TF 1, IDF the weight once, TFIDF the
// weight each time.
func (n *node) gramWeights(columns []int64) (mode string, weights []float32, err error) {
	mode, weights = n.string("mode", ""), n.floats("weights")
	if len(weights) > 0 && len(weights) != len(columns) {
		return "", nil, fault.New(fault.File, "attribute weights: %d for %d grams", len(weights), len(columns))
	}
	switch mode {
	case "TF":
		weights = nil
	case "IDF", "TFIDF":
	default:
		return "", nil, fault.New(fault.File, "attribute mode: %q", mode)
	}
	if mode == "IDF" && len(weights) > 0 && len(slices.Compact(slices.Sorted(slices.Values(columns)))) < len(columns) {
		return "", nil, fault.New(fault.Unsupported, "attribute ngram_indexes: %v: several grams with weights in one "+
			"column: "+
			"mode IDF does not say which weight counts", columns)
	}
	if len(weights) == 0 {
		weights = slices.Repeat([]float32{1}, len(columns))
	}
	return mode, weights, nil
}
