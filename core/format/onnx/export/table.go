package export

import (
	"reflect"
	"slices"

	"github.com/anynpu/anynpu/core/format/onnx/lower"
)

func init() { rules = allRules() } // rules of bodies lead back to rules

func allRules() map[reflect.Type]func(n *node) error {
	all := map[reflect.Type]func(n *node) error{}
	for _, r := range slices.Concat(elementwiseRules(), activationRules(), typeRules(), indexRules(),
		shapeRules(), layoutRules(), reduceRules(), spatialRules(), poolRules(), productRules(), normRules(),
		resizeRules(), regionRules(), recurrentRules(), attentionRules(), signalRules(), randomRules(), controlRules(),
		refusals()) {
		if all[r.op] != nil {
			panic("export: two rules for " + r.op.String())
		}
		all[r.op] = r.export
	}
	for _, p := range lower.Plains {
		if t := reflect.TypeOf(p.New()); all[t] == nil {
			all[t] = func(n *node) error { return n.plain(p.Name, n.xs()) }
		}
	}
	return all
}
