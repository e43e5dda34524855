package serve

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// infer computes a request. Its tensors stay as they are until it returns.
func (c *call) infer(ctx context.Context, q *oip.Request) (*oip.Response, error) {
	if err := c.sharedInputs(q); err != nil {
		return nil, err
	}
	places, err := c.sharedOutputs(q)
	defer func() {
		for _, p := range places {
			p.release()
		}
	}()
	if err != nil {
		return nil, err
	}
	for {
		v, err := c.server.config.Models.Find(q.Model, q.Version)
		if err != nil {
			return nil, err
		}
		c.label(v)
		in, err := inputs(v, q)
		if err != nil {
			return nil, err
		}
		wanted, err := outputs(v, q)
		if err != nil {
			return nil, err
		}
		r, err := v.Do(ctx, in)
		switch {
		case errors.Is(err, queue.ErrClosed):
			if now, other := c.server.config.Models.Find(q.Model, q.Version); other == nil && now != v {
				continue // it was loaded anew meanwhile
			}
			return nil, err
		case errors.Is(err, queue.ErrFull):
			return nil, full{v.Name, err}
		case err != nil:
			return nil, err
		}
		c.w.Header().Set("Server-Timing", serverTiming(r.Wait, r.Compute))
		answer := &oip.Response{Model: v.Name, Version: strconv.Itoa(v.Number), ID: q.ID}
		for _, i := range wanted {
			t := r.Out[i]
			if t.Data == nil {
				t.Data = []byte{}
			}
			made := oip.Tensor{Name: v.Out[i].Name, Shape: t.Dims, Raw: t.Data, Datatype: v.Metadata.Outputs[i].Datatype}
			if at := places[made.Name]; at != nil {
				if err := at.put(&made); err != nil {
					return nil, err
				}
			}
			answer.Outputs = append(answer.Outputs, made)
		}
		return answer, nil
	}
}

// full says whose queue it is.
type full struct {
	model string
	error
}

// Error implements error.
func (f full) Error() string {
	return "exceeds maximum queue size: " + strconv.Quote(f.model) + " has no room for more requests, try again later"
}

// Unwrap returns the cause.
func (f full) Unwrap() error { return f.error }

// inputs returns a request's tensors in the order of the ports.
func inputs(v *models.Version, q *oip.Request) ([]tensor.Tensor, error) {
	if len(q.Inputs) != len(v.In) {
		return nil, invalid("expected %d inputs but got %d inputs for model %q", len(v.In), len(q.Inputs), v.Name)
	}
	in := make([]tensor.Tensor, len(v.In))
	given := make([]bool, len(v.In))
	for k := range q.Inputs {
		t := &q.Inputs[k]
		i := slices.IndexFunc(v.In, func(p device.Port) bool { return p.Name == t.Name })
		switch {
		case i < 0:
			return nil, invalid("unexpected inference input %q for model %q", t.Name, v.Name)
		case given[i]:
			return nil, invalid("input %q for model %q is given twice", t.Name, v.Name)
		}
		given[i] = true
		var err error
		if in[i], err = input(v, i, t); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// input returns the tensor for input i.
func input(v *models.Version, i int, t *oip.Tensor) (made tensor.Tensor, err error) {
	p := &v.In[i]
	if want := v.Metadata.Inputs[i].Datatype; t.Datatype != want {
		return made, invalid("inference input %q data-type is %q, but model %q expects %q", t.Name, t.Datatype, v.Name, want)
	}
	for _, n := range t.Shape {
		if n < 0 {
			return made, invalid("input %q for model %q has the shape %v", t.Name, v.Name, t.Shape)
		}
	}
	if _, fits := p.Type.Shape.Merge(tensor.Of(t.Shape...)); !fits {
		return made, invalid("unexpected shape for input %q for model %q. Expected %v, got %v", t.Name, v.Name,
			v.Metadata.Inputs[i].Shape, t.Shape)
	}
	size, ok := tensor.T(p.Type.DType, t.Shape...).ByteSize()
	if !ok {
		return made, invalid("input %q for model %q has the shape %v, which has no size", t.Name, v.Name, t.Shape)
	}
	data := t.Raw
	switch {
	case data != nil:
	case t.Contents != nil:
		if data, err = t.Contents.AppendRaw(nil, t.Datatype); err != nil {
			return made, invalid("input %q for model %q: %v", t.Name, v.Name, err)
		}
	}
	if int64(len(data)) != size {
		return made, invalid("input byte size mismatch for input %q for model %q. Expected %d, got %d", t.Name, v.Name, size,
			len(data))
	}
	if p.Type.DType == tensor.Bool {
		if i := slices.IndexFunc(data, func(b byte) bool { return b > 1 }); i >= 0 {
			return made, invalid("input %q for model %q: element %d is %d, want 0 or 1", t.Name, v.Name, i, data[i])
		}
	}
	return tensor.Tensor{DType: p.Type.DType, Dims: slices.Clone(t.Shape), Data: data}, nil
}

// outputs returns which outputs a request asks for.
func outputs(v *models.Version, q *oip.Request) (list []int, err error) {
	if len(q.Outputs) == 0 {
		for i := range v.Out {
			list = append(list, i)
		}
		return list, nil
	}
	for _, o := range q.Outputs {
		i := slices.IndexFunc(v.Out, func(p device.Port) bool { return p.Name == o.Name })
		switch {
		case i < 0:
			return nil, invalid("unexpected inference output %q for model %q", o.Name, v.Name)
		case slices.Contains(list, i):
			return nil, invalid("output %q for model %q is asked for twice", o.Name, v.Name)
		case o.Parameters["classification"] != nil:
			return nil, invalid("output %q for model %q: classification is not offered", o.Name, v.Name)
		}
		list = append(list, i)
	}
	return list, nil
}

// Typed elements, and those in JSON, take up to this many times their bytes when they are read.
const typedFactor = 16

// holdTyped counts what reading a message takes whose elements are not raw, before it is read.
func (c *call) holdTyped(message []byte) error {
	raw := 0
	for b := message; len(b) > 0; {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			break // what reads the message says what is wrong
		}
		if num == 7 && typ == protowire.BytesType { // raw_input_contents
			raw += n
		}
		b = b[n:]
	}
	return c.hold(typedFactor * int64(len(message)-raw))
}
