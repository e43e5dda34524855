package rknn

import (
	"maps"
	"math"
	"slices"
)

// parseAttributes reads the converter's dictionary: preprocessing per input, ranges per tensor, dynamic shapes.
func (f *File) parseAttributes(text string) {
	if text == "" {
		return
	}
	v, err := literal(text)
	if err != nil {
		f.lose("attributes", "%v", err)
		return
	}
	d, ok := v.(map[string]any)
	if !ok {
		f.lose("attributes", "they are no dictionary")
		return
	}
	f.parsePreprocess(d["attrs"])
	f.parseRanges(d["quant_tab"])
	f.parseShapes(d["dynamic_shapes"])
}

func (f *File) parsePreprocess(v any) {
	inputs, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			f.lose("preprocessing", "attrs is no dictionary")
		}
		return
	}
	for name, v := range inputs {
		a, ok := v.(map[string]any)
		if !ok {
			f.lose("preprocessing", "input %q: it is no dictionary", clip(name))
			continue
		}
		if out, _ := a["is_output"].(bool); out { // nothing is done to it
			continue
		}
		var p Preprocess
		var ok1, ok2 bool
		p.Mean, ok1 = channels(a["mean"])
		p.Std, ok2 = channels(a["std"])
		if !ok1 || !ok2 || slices.Contains(p.Std, 0) {
			f.lose("preprocessing", "input %q: mean or std are no finite numbers, or a std is 0", clip(name))
			continue
		}
		switch flag := a["rgb2bgr"].(type) {
		case bool:
			p.RGB2BGR = flag
		case float64:
			p.RGB2BGR = flag != 0
		}
		if f.Preprocess == nil {
			f.Preprocess = map[string]Preprocess{}
		}
		f.Preprocess[name] = p
	}
}

// channels reads numbers, in one list or in a list of one list; nil, also in a list, means no list.
func channels(v any) (list []float64, ok bool) {
	if outer, nested := v.([]any); nested && len(outer) == 1 {
		if inner, is := outer[0].([]any); is || outer[0] == nil {
			v = nil
			if is {
				v = inner
			}
		}
	}
	switch v := v.(type) {
	case nil:
		return nil, true
	case float64:
		return []float64{v}, finite(v)
	case []any:
		for _, x := range v {
			n, is := x.(float64)
			if !is || !finite(n) {
				return nil, false
			}
			list = append(list, n)
		}
		return list, true
	}
	return nil, false
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// parseRanges reads {name: [min, max]} or {name: {"min": ..., "max": ...}}; with values per channel the smallest and
// the largest count.
func (f *File) parseRanges(v any) {
	tensors, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			f.skip("ranges", "quant_tab is no dictionary")
		}
		return
	}
	for name, v := range tensors {
		var lo, hi any
		switch v := v.(type) {
		case []any:
			if len(v) == 2 {
				lo, hi = v[0], v[1]
			}
		case map[string]any:
			lo, hi = v["min"], v["max"]
		}
		from, ok1 := channels(lo)
		to, ok2 := channels(hi)
		if ok1 && ok2 && len(from)+len(to) == 0 { // it is not quantized
			continue
		}
		if !ok1 || !ok2 || len(from) == 0 || len(to) == 0 {
			f.skip("ranges", "tensor %q: no smallest and largest value", clip(name))
			continue
		}
		if f.Ranges == nil {
			f.Ranges = map[string][2]float64{}
		}
		f.Ranges[name] = [2]float64{slices.Min(from), slices.Max(to)}
	}
}

// parseShapes reads {name: [shape, ...]} of inputs and outputs; all lists are of one length. A model with fixed shapes
// has an empty dictionary.
func (f *File) parseShapes(v any) {
	tensors, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			f.lose("dynamic shapes", "they are no dictionary")
		}
		return
	}
	all, count := map[string][][]int64{}, -1
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		list, ok := tensors[name].([]any)
		if !ok || len(list) == 0 || count >= 0 && len(list) != count {
			f.lose("dynamic shapes", "tensor %q has no list of shapes, or one of another length", clip(name))
			return
		}
		count = len(list)
		for k, s := range list {
			shape, ok := sizes(s)
			if !ok {
				f.lose("dynamic shapes", "shape %d of tensor %q is no list of sizes", k, clip(name))
				return
			}
			all[name] = append(all[name], shape)
		}
	}
	if len(all) > 0 {
		f.DynamicShapes = all
	}
}

// sizes reads a shape.
func sizes(v any) (shape []int64, ok bool) {
	list, ok := v.([]any)
	if !ok || len(list) > maxRank {
		return nil, false
	}
	for _, x := range list {
		n, ok := x.(float64)
		if !ok || n != math.Trunc(n) || n < 1 || n > math.MaxInt32 {
			return nil, false
		}
		shape = append(shape, int64(n))
	}
	return shape, true
}
