package onnxruntime

import (
	"runtime"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

// sessionKind is the purpose of a session.
type sessionKind uint8

const (
	forRuns      sessionKind = iota // with every optimization
	forConstants                    // for runs of a model without inputs
	forAnswer                       // to see whether a provider takes everything
	forNames                        // to see which nodes it does not take: those go to the runtime's processor
)

// Levels of GraphOptimizationLevel.
const (
	optimizeNothing = 0
	optimizeAll     = 99
)

// effort is how far a model is optimized.
type effort struct {
	level uintptr
	int8  string // of session.qdqisint8allowed: "1" leaves int8 as it is, "0" makes uint8 of it where that is faster
}

// efforts are tried one after the other: optimizers of the runtime make nodes that it has no kernel for, of float64 and
// of int8, and say so when the session is made.
var efforts = []effort{{optimizeAll, "0"}, {optimizeAll, "1"}, {optimizeNothing, "1"}}

// effortsOf returns the efforts that are tried for a session. OpenVINO optimizes on its own, and has other codes after
// the runtime has done so. It takes no model without inputs: the runtime computes that when the session is made.
func effortsOf(provider string, kind sessionKind) []effort {
	switch {
	case provider == openVINOProvider && kind != forConstants:
		return efforts[2:]
	case provider != CPUProvider:
		return efforts[:1]
	case kind == forAnswer || kind == forNames:
		return efforts[2:]
	}
	return efforts
}

// leftOut are optimizers of the runtime that change results: the first makes codes of real weights between codes, the
// second one pair of QuantizeLinear and DequantizeLinear of two, and in version 1.24 the third drops the zeros before a
// MaxPool.
const leftOut = "WeightBiasQuantization;DoubleQDQPairsRemover;Pad_Fusion"

// session makes a session of a model for a provider. The bytes of the model are copied. id stands in lines of the log.
// Errors are of kind fault.Unsupported for a refusal.
func (l *Library) session(model []byte, p *provider, id string, kind sessionKind) (at uintptr, err error) {
	tried := effortsOf(p.Name, kind)
	for i, e := range tried {
		if at, err = l.sessionWith(model, p, id, kind, e, i == len(tried)-1); fault.KindOf(err) != fault.Unsupported {
			return at, err
		}
	}
	return 0, err
}

// sessionWith makes a session with an effort; last says that the runtime is to tell of an error.
func (l *Library) sessionWith(model []byte, p *provider, id string, kind sessionKind, e effort, last bool) (uintptr,
	error) {
	defer keepSignalStack()()
	options, err := l.options(p, id, kind, e, last)
	if err != nil {
		return 0, err
	}
	defer l.raw(fnReleaseSessionOptions, options)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&model[0])
	at, err := l.made(fnCreateSessionFromArray, l.env, uintptr(unsafe.Pointer(&model[0])), uintptr(len(model)), options)
	return at, refused(err)
}

// options makes the options of a session.
func (l *Library) options(p *provider, id string, kind sessionKind, e effort, last bool) (options uintptr,
	err error) {
	options, err = l.made(fnCreateSessionOptions)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			l.raw(fnReleaseSessionOptions, options)
			options = 0
		}
	}()
	name := word(id)
	err = l.call(fnSetSessionLogId, options, address(name))
	runtime.KeepAlive(name)
	if err == nil {
		err = l.call(fnDisablePerSessionThreads, options)
	}
	if err == nil {
		err = l.call(fnSetSessionGraphOptimizationLevel, options, e.level)
	}
	if err == nil && (kind == forAnswer || kind == forNames || !last) { // what a provider refuses is no fault
		err = l.call(fnSetSessionLogSeverityLevel, options, uintptr(Fatal))
	}
	entries := [][2]string{
		// products of 8 bits that do not saturate where the processor has no instruction for them
		{"session.x64quantprecision", "1"},
		{"session.qdqisint8allowed", e.int8},
	}
	if p.Name == CPUProvider {
		entries = append(entries,
			[2]string{"optimization.disable_specified_optimizers", leftOut},
			// products of real numbers with weights of codes: else the numbers are quantized on the way
			[2]string{"session.qdq_matmulnbits_accuracy_level", "1"})
	}
	if p.Name != CPUProvider && kind != forNames {
		entries = append(entries, [2]string{"session.disable_cpu_ep_fallback", "1"})
	}
	if kind == forNames {
		entries = append(entries, [2]string{"session.record_ep_graph_assignment_info", "1"})
	}
	for _, entry := range entries {
		if err == nil {
			err = l.entry(options, entry[0], entry[1])
		}
	}
	if err == nil {
		err = refused(fault.Wrap(l.append(options, p), "the provider %s", p.Name))
	}
	return options, err
}

// entry sets an entry of the configuration of a session.
func (l *Library) entry(options uintptr, key, value string) error {
	k, v := word(key), word(value)
	defer runtime.KeepAlive(k)
	defer runtime.KeepAlive(v)
	return l.call(fnAddSessionConfigEntry, options, address(k), address(v))
}

// end ends a session.
func (l *Library) end(session uintptr) {
	defer keepSignalStack()()
	l.raw(fnReleaseSession, session)
}

// assigned are the names of the nodes of a session that was made for names, by the provider that takes them.
func (l *Library) assigned(session uintptr) (map[string][]string, error) {
	parts, err := l.list(fnSessionGetEpGraphAssignmentInfo, session)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, part := range parts {
		provider, err := l.made(fnEpAssignedSubgraphGetEpName, part)
		if err != nil {
			return nil, err
		}
		nodes, err := l.list(fnEpAssignedSubgraphGetNodes, part)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			name, err := l.made(fnEpAssignedNodeGetName, n)
			if err != nil {
				return nil, err
			}
			out[cText(provider)] = append(out[cText(provider)], cText(name))
		}
	}
	return out, nil
}
