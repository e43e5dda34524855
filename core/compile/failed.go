package compile

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// bans are reasons why devices are not asked, by node of the graph as it was given and by device.
type bans map[int]map[int]string

// partError is a part that its device has claimed and does not compile.
type partError struct {
	device int
	nodes  []int // of the graph as it was given
	err    error
}

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

// ban keeps the nodes of a part that failed from its device; again is false when nothing is left to try.
func (b bans) ban(err error, g *graph.Graph, devices []device.Device, o Options) (again bool) {
	var f *partError
	if !errors.As(err, &f) || o.Strict || f.device == len(devices)-1 || fault.KindOf(err) == fault.Canceled {
		return false
	}
	info := devices[f.device].Info()
	reason := fmt.Sprintf("it failed: %v", f.err)
	for _, i := range f.nodes {
		if b[i] == nil {
			b[i] = map[int]string{}
		}
		again = again || b[i][f.device] == ""
		b[i][f.device] = reason
	}
	if len(f.nodes) == 1 && !errors.Is(err, device.ErrDied) && fault.KindOf(err) != fault.Memory {
		failures.add(failureKey(&info, g, &g.Nodes[f.nodes[0]]), reason)
	}
	if o.Warn != nil && again {
		o.Warn(fmt.Sprintf("device %s does not compile %s that it has claimed, another device does: %v "+
			"[compile-claimed-failed]", info.ID,
			counted(len(f.nodes), "operator"), f.err))
	}
	return again
}

// maxFailures bounds what is kept of failures.
const maxFailures = 1 << 12

// failures are operators that devices of this process have claimed and not compiled: they are not asked for again.
var failures failureList

type failureList struct {
	mu   sync.RWMutex
	kept map[string]string
}

func (l *failureList) add(key, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[string]string{}
	}
	if len(l.kept) < maxFailures {
		l.kept[key] = reason
	}
}

// of returns why a device is not asked for a node, empty if it is.
func (l *failureList) of(d device.Device, g *graph.Graph, n *graph.Node) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.kept) == 0 {
		return ""
	}
	info := d.Info()
	return l.kept[failureKey(&info, g, n)]
}

// failureKey names a device, an operator with its attributes, and the types of its inputs and outputs.
func failureKey(info *device.Info, g *graph.Graph, n *graph.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %+v", info.ID, info.BuildHash, graph.NameOf(n.Op), n.Op)
	for _, list := range [][]graph.Value{n.In, n.Out} {
		for _, v := range list {
			if v == graph.None {
				b.WriteString(" -")
				continue
			}
			f := g.Fact(v)
			fmt.Fprintf(&b, " %v %v", f.Type, f.Const != nil)
		}
		b.WriteString(" to")
	}
	return b.String()
}
