package numbers

// Pattern gives the elements of a tensor by a closed form, which conformance/vectors/patterns.py computes, too. Element
// i is made of the 64-bit number h, the output i of SplitMix64 from Seed x 2^32:
//
//	(Lo + (h >> 33) mod (Hi-Lo+1)) * Step       integers, each times a power of two
//	Lo + (Hi-Lo) * (h >> 40) / 2^24             with Real: in float64, then rounded to the element type
type Pattern struct {
	Seed uint32  `json:"seed"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
	Step float64 `json:"step"` // 0: 1
	Real bool    `json:"real"`
}

// Numbers are the first n elements.
func (p *Pattern) Numbers(n int) []Number {
	step := p.Step
	if step == 0 {
		step = 1
	}
	span := uint64(p.Hi-p.Lo) + 1
	out := make([]Number, n)
	for i := range out {
		h := splitMix64(uint64(p.Seed)<<32 + uint64(i))
		if p.Real {
			out[i] = Real(p.Lo + (p.Hi-p.Lo)*(float64(h>>40)/(1<<24)))
		} else {
			out[i] = Real((p.Lo + float64((h>>33)%span)) * step)
		}
	}
	return out
}

// splitMix64 is the generator's output from a state.
func splitMix64(state uint64) uint64 {
	z := (state + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
