package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// Check stands for the expected elements of a large output. Every element counts: in Hash with all its bits, in Sums
// with a weight of its own.
type Check struct {
	// Hash is that of the elements where they are exact: the first 16 digits of the SHA-256 of their bytes, with -0 as 0.
	Hash string `json:"hash"`

	// Grid, if not 0, allows floats to be Within of a multiple of it, whose bytes are those that count.
	Grid   float64 `json:"grid"`
	Within float64 `json:"within"`

	// Hashes holds one for each way of rounding halves that the API leaves open, by its name.
	Hashes map[string]string `json:"hashes"`

	// Sums has for each Block elements in turn the sum of (1 + k/Block) x element, where k counts from 0 in the block.
	// Of exact elements it tells where they differ. Those of others may differ by Slack.
	Block int       `json:"block"`
	Sums  []float64 `json:"sums"`
	Slack float64   `json:"slack"`

	// Sample holds the values of some elements, each within the case's tolerance.
	Sample []struct {
		At    int
		Value numbers.Number
	} `json:"sample"`
}

// Or stands between ways of rounding that a result does not tell apart.
const Or = " or "

// verify judges the elements got of an output. rounding names those of Hashes that they have.
func (c *Check) verify(got []numbers.Number, tolerance Tolerance, t *Tensor) (rounding string, err error) {
	d := DataTypes[t.Type].DType
	if d.IsFloat() {
		if got, err = c.onGrid(got); err != nil {
			return "", err
		}
	}
	if c.Hash != "" || c.Hashes != nil {
		h := sha256.Sum256(numbers.Encode(got, d))
		sum := hex.EncodeToString(h[:8])
		if sum == c.Hash {
			return "", nil
		}
		var fit []string
		for name, want := range c.Hashes {
			if sum == want {
				fit = append(fit, name)
			}
		}
		if fit != nil {
			slices.Sort(fit)
			return strings.Join(fit, Or), nil
		}
	}
	for _, s := range c.Sample {
		if err := tolerance.compare(got[s.At], s.Value, t); err != nil {
			return "", fmt.Errorf("element %d: %w", s.At, err)
		}
	}
	for b, want := range c.Sums {
		from := b * c.Block
		to := min(from+c.Block, len(got))
		sum := 0.0
		for k, x := range got[from:to] {
			sum += (1 + float64(k)/float64(c.Block)) * x.Real
		}
		if !(math.Abs(sum-want) <= c.Slack+1e-9*math.Abs(want)) {
			return "", fmt.Errorf("elements %d to %d: want the weighted sum %v, got %v", from, to-1, want, sum)
		}
	}
	switch {
	case c.Hashes != nil:
		return "", fmt.Errorf("the result has no rounding of halves, everywhere the same, that is known")
	case c.Hash != "":
		return "", fmt.Errorf("the elements are not those expected: their hash differs")
	}
	return "", nil
}

// onGrid returns the floats that were meant by those got: multiples of the grid, and 0 in the place of -0.
func (c *Check) onGrid(got []numbers.Number) ([]numbers.Number, error) {
	out := make([]numbers.Number, len(got))
	for i, x := range got {
		v := x.Real
		if c.Grid != 0 {
			v = math.Round(x.Real/c.Grid) * c.Grid
			if !(math.Abs(x.Real-v) <= c.Within) {
				return nil, fmt.Errorf("element %d: want a multiple of %v, got %v", i, c.Grid, x.Real)
			}
		}
		if v != 0 {
			out[i].Real = v
		}
	}
	return out, nil
}
