package run

import "github.com/anynpu/anynpu/core/tensor"

// Body is a plan that a step runs, with its memory, and the tensors that its runs get.
type Body struct {
	state   *State
	In, Out []tensor.Tensor // Out is memory offered, as for State.Run
}

// Body returns what a step needs to run a plan; it lives as long as s. Only a step's start may call it.
func (s *State) Body(p *Plan) *Body {
	state, err := p.NewState(s.run, s.Threads)
	if err != nil {
		panic(shortage{err})
	}
	s.bodies = append(s.bodies, state)
	b := &Body{state: state, In: make([]tensor.Tensor, len(p.Inputs)), Out: make([]tensor.Tensor, len(p.Outputs))}
	for i, t := range p.Inputs {
		dims, _ := t.Shape.Ints()
		b.In[i] = tensor.Tensor{DType: t.DType, Dims: dims, Quant: t.Quant}
	}
	return b
}

// Run is a run of the body within that of s.
func (b *Body) Run(s *State) ([]tensor.Tensor, error) {
	return b.state.Run(s.Ctx, b.In, b.Out, false, s.between)
}
