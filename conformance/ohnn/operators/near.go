package operators

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// near is a case that differs from a judged one in one place; gen/near.py states the format.
type near struct {
	Name, Op, Of, About string
	Tensors             map[int]map[string]json.RawMessage
	In, Out, Params     *[]uint32
	Reject              *Reject
	Mentions            []string
}

// apply returns the case that the difference makes of its base.
func (n *near) apply(base *Case) (*Case, error) {
	c := *base
	c.Name, c.Of, c.About, c.Reject, c.Mentions = n.Of+"/"+n.Name, n.Of, n.About, n.Reject, n.Mentions
	if c.Reject != nil {
		c.From = "rules of the API"
	}
	c.Tensors = slices.Clone(base.Tensors)
	for _, i := range slices.Sorted(maps.Keys(n.Tensors)) {
		if i == len(c.Tensors) {
			c.Tensors = append(c.Tensors, model.Tensor{})
		}
		if i < 0 || i >= len(c.Tensors) {
			return nil, fmt.Errorf("tensor %d of %d", i, len(c.Tensors))
		}
		if err := replace(&c.Tensors[i], n.Tensors[i]); err != nil {
			return nil, fmt.Errorf("tensor %d: %w", i, err)
		}
		c.Changed = append(c.Changed, i)
	}
	for _, l := range []struct {
		to   *[]uint32
		from *[]uint32
	}{{&c.In, n.In}, {&c.Out, n.Out}, {&c.Params, n.Params}} {
		if l.from != nil {
			*l.to = *l.from
		}
	}
	return &c, nil
}

// replace sets the fields that are given, each to a value of its own: the tensor may share the old one with another
// case.
func replace(t *model.Tensor, fields map[string]json.RawMessage) error {
	for name, text := range fields {
		var err error
		switch name {
		case "type":
			err = json.Unmarshal(text, &t.Type)
		case "param":
			err = json.Unmarshal(text, &t.Param)
		case "dims":
			t.Dims, err = fresh[[]int32](text)
		case "data":
			t.Data, err = fresh[[]numbers.Number](text)
		case "quant":
			t.Quant, err = fresh[*model.Quant](text)
		case "feed":
			t.Feed, err = fresh[*model.Body](text)
		case "expect":
			t.Expect, err = fresh[*model.Body](text)
		default:
			err = fmt.Errorf("no field %q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func fresh[T any](text json.RawMessage) (v T, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}
