package ohnn

import (
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// modelGetAvailableOperations gives one flag per operation. The array is valid until the next call or the model's end.
func modelGetAvailableOperations(m *Model, deviceID uint64, supported *uintptr, n *uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.built {
		return forbidden("model: it is not finished: call OH_NNModel_Finish first [ohnn-model-finished-model]")
	}
	d := deviceByID(deviceID)
	if d == nil {
		return refuse(Failed, "deviceID: %d: %s [ohnn-device-id-device-get-name]", deviceID, noSuchDevice())
	}
	flags, err := m.support(d)
	if err != nil {
		return refuseFor(Failed, err, "model")
	}
	boundary.SetSlice(&m.supported, flags)
	*supported, *n = m.supported.Addr(), uint32(len(flags))
	return nil
}

// support tells for every operation whether a build for device d takes it: what d does not compute, another device may,
// unless ANYNPU_FALLBACK=off. The caller holds m.mu; the model is built. An operation whose shapes or parameters are
// wrong counts as supported: the build says what is wrong with it. So does, in reference mode, one that is not computed
// with its shapes or parameters.
func (m *Model) support(d *npu) ([]bool, error) {
	flags := make([]bool, len(m.ops))
	for i, o := range m.ops {
		flags[i] = lowerings[o.Name] != nil && !d.lacks(o)
	}
	g := m.graph()
	if g.graph == nil {
		if g.failed >= 0 && fault.KindOf(g.err) == fault.Unsupported && !settings().reference {
			flags[g.failed] = false
		}
		return flags, nil
	}
	computed := make([]bool, len(g.graph.Nodes))
	for _, one := range d.preference() {
		nodes, err := compile.Support(g.graph, one, device.Options{})
		if err != nil {
			return nil, err
		}
		for i, s := range nodes {
			computed[i] = computed[i] || s.OK
		}
		if !slices.Contains(computed, false) {
			break
		}
	}
	for i, ok := range computed {
		if origin := g.graph.Nodes[i].Origin; origin >= 0 && !ok {
			flags[origin] = false
		}
	}
	return flags, nil
}
