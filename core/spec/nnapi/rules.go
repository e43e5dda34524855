package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
)

// RuleKind says what a Rule wants.
type RuleKind uint8

// The kinds of rules. Those that addOperation judges are marked; the reference finds the others when it computes.
const (
	RuleSame       RuleKind = iota // Output has the scale and zero point of Input, if it is quantized; Split: each does
	RuleFixed                      // an Output of Type has Scale and Zero
	RuleFixedInput                 // an Input of Type has Scale and Zero
	// addOperation: output 0's scale exceeds the product of those of Input and Second; below Until, if given
	RuleAbove
	// a quantized bias (Third): zero point 0, scale that of Input times that of Second, or 0 for channels
	RuleBias
	RuleChannel       // addOperation: the channels of a TENSOR_QUANT8_SYMM_PER_CHANNEL Input are dimension Dim
	RuleAllSameBefore // addOperation: below Until every input has output 0's scale and zero point
	RuleRanksBefore   // addOperation: below Until the rank of input 0 is one of Ranks
	RuleRanksLater    // the reference judges ranks when it computes, of all arguments
	// addOperation: what Input repeats and output 0 have its scale and zero point, and its rank, output 0 Extra more
	RuleAlike
)

// Rule is one rule of an operation beyond the types of its arguments.
type Rule struct {
	Kind                         RuleKind
	Input, Second, Third, Output int
	Type                         OperandCode
	Scale                        float32
	Zero                         int32
	Dim                          uint32
	Until                        FeatureLevel
	Ranks                        []int
	Extra                        int
}

// Same is RuleSame.
func Same(input, output int) Rule { return Rule{Kind: RuleSame, Input: input, Output: output} }

// Fixed is RuleFixed for output 0.
func Fixed(t OperandCode, scale float32, zero int32) Rule {
	return Rule{Kind: RuleFixed, Type: t, Scale: scale, Zero: zero}
}

// Above is RuleAbove; until is 0 where it holds at every level.
func Above(a, b int, until FeatureLevel) Rule {
	return Rule{Kind: RuleAbove, Input: a, Second: b, Until: until}
}

// Bias is RuleBias.
func Bias(input, filter, bias int) Rule {
	return Rule{Kind: RuleBias, Input: input, Second: filter, Third: bias}
}

// Channel is RuleChannel.
func Channel(input int, dim uint32) Rule { return Rule{Kind: RuleChannel, Input: input, Dim: dim} }

// AllSameBefore is RuleAllSameBefore.
func AllSameBefore(l FeatureLevel) Rule { return Rule{Kind: RuleAllSameBefore, Until: l} }

// RanksBefore is RuleRanksBefore.
func RanksBefore(l FeatureLevel, ranks ...int) Rule {
	return Rule{Kind: RuleRanksBefore, Until: l, Ranks: ranks}
}

// RanksLater is RuleRanksLater.
func RanksLater() Rule { return Rule{Kind: RuleRanksLater} }

// RanksLater reports whether addOperation takes the operation's arguments with any rank.
func (s *Signature) RanksLater() bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Kind == RuleRanksLater })
}

// Alike is RuleAlike.
func Alike(input, extra int) Rule { return Rule{Kind: RuleAlike, Input: input, Extra: extra} }

// coordinateScale is the step of coordinates in pixels, in the operations on regions.
const coordinateScale = 0.125

// Coordinates is RuleFixedInput for regions: in 16 bits their step is an eighth of a pixel.
func Coordinates(input int) Rule {
	return Rule{Kind: RuleFixedInput, Input: input, Type: TensorQuant16Asymm, Scale: coordinateScale}
}

// CoordinatesOut is RuleFixed for regions.
func CoordinatesOut(output int) Rule {
	return Rule{Kind: RuleFixed, Output: output, Type: TensorQuant16Asymm, Scale: coordinateScale}
}

// atAdding reports whether addOperation judges the rule.
func (r *Rule) atAdding() bool {
	switch r.Kind {
	case RuleAbove, RuleChannel, RuleAllSameBefore, RuleRanksBefore, RuleAlike:
		return true
	}
	return false
}

// CheckParameters judges the rules for scales, zero points and ranks that the reference judges when it computes. op
// must have passed Check. Errors are of kind fault.Argument, about ranks of kind fault.Shape.
func CheckParameters(m *Model, op Operation) error {
	s := SignatureOf(op.Code)
	if s == nil || len(s.Rules) == 0 {
		return nil
	}
	c := &checker{m, op, s, nil, Levels[len(Levels)-1]}
	f, err := c.chooseForm()
	if err != nil {
		return err
	}
	c.form = f
	return c.rules(false)
}

func (c *checker) rules(adding bool) error {
	for i := range c.sig.Rules {
		r := &c.sig.Rules[i]
		if r.atAdding() != adding {
			continue
		}
		if err := c.rule(r); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) rule(r *Rule) error {
	switch r.Kind {
	case RuleSame:
		for k := r.Output; k < len(c.op.Outputs); k++ {
			if k > r.Output && c.form.Outputs.Repeated != r.Output {
				break
			}
			in, out := c.in(r.Input), c.out(k)
			if out.Type.quantized() && (in.Scale != out.Scale || in.ZeroPoint != out.ZeroPoint) {
				return fault.New(fault.Argument, "%s: want scale %v and zero point %d as %s has, got %v and %d", c.outName(k),
					in.Scale, in.ZeroPoint, c.inName(r.Input), out.Scale, out.ZeroPoint)
			}
		}
	case RuleFixed:
		return wantFixed(r, c.out(r.Output), c.outName(r.Output))
	case RuleFixedInput:
		return wantFixed(r, c.in(r.Input), c.inName(r.Input))
	case RuleAbove:
		return c.above(r)
	case RuleBias:
		return c.bias(r)
	case RuleChannel:
		in := c.in(r.Input)
		if in.Channel != nil && in.Type == TensorQuant8SymmPerChannel && in.Channel.Dim != r.Dim {
			return fault.New(fault.Argument, "%s: want a scale for each index of dimension %d, got dimension %d",
				c.inName(r.Input), r.Dim, in.Channel.Dim)
		}
	case RuleAllSameBefore:
		out := c.out(0)
		for i := range c.op.Inputs {
			in := c.in(i)
			if c.level < r.Until && in.Type == out.Type && in.Type.quantized() && (in.Scale != out.Scale || in.ZeroPoint !=
				out.ZeroPoint) {
				return fault.New(fault.Unsupported, "%s: scale %v and zero point %d other than output 0 (scale %v, zero point %d) "+
					"need %v, this is %v", c.inName(i), in.Scale, in.ZeroPoint, out.Scale, out.ZeroPoint, r.Until, c.level)
			}
		}
	case RuleAlike:
		return c.alike(r)
	case RuleRanksLater:
		return c.ranks()
	case RuleRanksBefore:
		in := c.in(0)
		ok := c.level >= r.Until || len(in.Dims) == 0
		for _, rank := range r.Ranks {
			ok = ok || len(in.Dims) == rank
		}
		if !ok {
			return fault.New(fault.Unsupported, "%s: rank %d needs %v, this is %v", c.inName(0), len(in.Dims), r.Until,
				c.level)
		}
	}
	return nil
}

// ranks judges the ranks of all arguments: a wrong one is of kind fault.Shape.
func (c *checker) ranks() error {
	for i := range c.op.Inputs {
		o := c.in(i)
		if o.Lifetime == NoValue {
			continue
		}
		if err := c.form.Inputs.At(i, len(c.op.Inputs)).rank(o, fault.Shape); err != nil {
			return fault.Wrap(err, "%s", c.inName(i))
		}
	}
	for i := range c.op.Outputs {
		if err := c.form.Outputs.At(i, len(c.op.Outputs)).rank(c.out(i), fault.Shape); err != nil {
			return fault.Wrap(err, "%s", c.outName(i))
		}
	}
	return nil
}

// alike judges what is declared: the other inputs of a repeated argument, and output 0.
func (c *checker) alike(r *Rule) error {
	first := c.in(r.Input)
	judge := func(o *Operand, name string, extra int) error {
		if o.Type.quantized() && (o.Scale != first.Scale || o.ZeroPoint != first.ZeroPoint) {
			return fault.New(fault.Argument, "%s: want scale %v and zero point %d as %s has, got %v and %d", name, first.Scale,
				first.ZeroPoint, c.inName(r.Input), o.Scale, o.ZeroPoint)
		}
		if len(first.Dims) > 0 && len(o.Dims) > 0 && len(o.Dims) != len(first.Dims)+extra {
			return fault.New(fault.Argument, "%s: want rank %d beside %s of rank %d, got %d", name, len(first.Dims)+extra,
				c.inName(r.Input), len(first.Dims), len(o.Dims))
		}
		return nil
	}
	for i := r.Input + 1; i < len(c.op.Inputs); i++ {
		if c.form.Inputs.At(i, len(c.op.Inputs)) != c.form.Inputs.At(r.Input, len(c.op.Inputs)) {
			continue
		}
		if err := judge(c.in(i), c.inName(i), 0); err != nil {
			return err
		}
	}
	return judge(c.out(0), c.outName(0), r.Extra)
}

func wantFixed(r *Rule, o *Operand, name string) error {
	if o.Type == r.Type && (o.Scale != r.Scale || o.ZeroPoint != r.Zero) {
		return fault.New(fault.Argument, "%s: want scale %v and zero point %d for %v, got %v and %d", name, r.Scale, r.Zero,
			o.Type, o.Scale, o.ZeroPoint)
	}
	return nil
}

func (c *checker) above(r *Rule) error {
	a, b, out := c.in(r.Input), c.in(r.Second), c.out(0)
	if !out.Type.quantized() || r.Until != 0 && c.level >= r.Until || a.Type == TensorQuant8SymmPerChannel ||
		b.Type == TensorQuant8SymmPerChannel {
		return nil
	}
	if product := a.Scale * b.Scale; !(out.Scale > product) {
		if r.Until != 0 {
			return fault.New(fault.Unsupported, "%s: a scale of %v, not above the product %v of those of %s and %s, needs %v, "+
				"this is %v", c.outName(0), out.Scale, product, c.inName(r.Input), c.inName(r.Second), r.Until, c.level)
		}
		return fault.New(fault.Argument, "%s: want a scale above the product %v of those of %s and %s, got %v", c.outName(0),
			product, c.inName(r.Input), c.inName(r.Second), out.Scale)
	}
	return nil
}

// biasTolerance is how much, relative to the product, the scale of a bias may differ from it.
const biasTolerance = 1e-6

func (c *checker) bias(r *Rule) error {
	in, filter, bias := c.in(r.Input), c.in(r.Second), c.in(r.Third)
	if bias.Type != TensorInt32 {
		return nil
	}
	if bias.ZeroPoint != 0 {
		return fault.New(fault.Argument, "%s: want zero point 0, got %d", c.inName(r.Third), bias.ZeroPoint)
	}
	if filter.Type == TensorQuant8SymmPerChannel {
		if bias.Scale != 0 {
			return fault.New(fault.Argument, "%s: want scale 0 beside a filter with scales per channel, got %v",
				c.inName(r.Third), bias.Scale)
		}
		return nil
	}
	product := float64(in.Scale) * float64(filter.Scale)
	if !(math.Abs(float64(bias.Scale)-product) <= biasTolerance*math.Min(product, float64(bias.Scale))) {
		return fault.New(fault.Argument, "%s: want scale %v, the product of those of %s and %s, got %v", c.inName(r.Third),
			float32(product), c.inName(r.Input), c.inName(r.Second), bias.Scale)
	}
	return nil
}

// quantized reports whether operands of the type have one scale for all elements.
func (c OperandCode) quantized() bool {
	f, ok := c.Facts()
	return ok && (f.Parameters == ScaleAndZero || f.Parameters == ScaleOnly)
}
