package ohnn

import "slices"

// lacks reports whether the guise does not compute the operation.
func (n *npu) lacks(o *operation) bool { return n.guise.Lacks(o.Name) }

// takes refuses a model that needs an ability that the device lacks: an operator, or a dimension that is known at run
// time. No other device steps in. The caller holds m.mu.
func (n *npu) takes(m *Model) error {
	for i, o := range m.ops {
		if n.lacks(o) {
			return refuse(Failed, "compilation: operation %d: device %s does not compute OH_NN_OPS_%s "+
				"[ohnn-compilation-operation-device]", i, n.name, o.Name)
		}
	}
	if n.Info().Dynamic {
		return nil
	}
	for _, index := range m.inputs {
		if t := m.tensors[index]; slices.Contains(t.shape, -1) {
			return refuse(Failed, "compilation: input tensor %d: shape %v: device %s takes no dynamic shapes "+
				"[ohnn-compilation-input-tensor]", index, t.shape,
				n.name)
		}
	}
	return nil
}
