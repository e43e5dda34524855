package compile

import (
	"fmt"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
)

// The cost of a part on a device of its own, beside its nodes: for each run, and for each byte that goes in or out.
const (
	crossing        = 40 * time.Microsecond
	crossingPerByte = 0.5 // nanoseconds
)

// balance gives parts that are not worth what crossing to their device costs to the later device that is cheapest: only
// the CPU computes where the rest of the program is. Devices without estimates keep their parts, and those that know no
// more than the least that a node takes keep a part that is the whole graph: no other device has a reason to be
// preferred.
func (pl *placed) balance(devices []device.Device, o Options) error {
	if len(devices) < 2 || o.Strict {
		return nil
	}
	answers := make([][]device.NodeSupport, len(devices))
	for d := range devices {
		var err error
		if answers[d], err = ask(devices[d], pl.graph, o.Options); err != nil {
			return err
		}
	}
	parts, err := pl.graph.Partition(pl.owner)
	if err != nil {
		return err
	}
	for _, nodes := range parts {
		from := pl.owner[nodes[0]]
		here := pl.total(answers[from], from, nodes)
		least := slices.ContainsFunc(nodes, func(i int) bool { return answers[from][i].Least })
		if here <= 0 || least && len(nodes) == len(pl.graph.Nodes) {
			continue
		}
		cross := crossing + time.Duration(crossingPerByte*float64(traffic(pl.graph, nodes)))
		to, there := -1, here+cross
		if devices[from].Info().Kind == device.CPU {
			there = here
		}
		for d := from + 1; d < len(devices); d++ {
			total := pl.total(answers[d], d, nodes)
			if total <= 0 || slices.ContainsFunc(nodes, func(i int) bool { return answers[d][i].Least }) {
				continue // it may take any time
			}
			if devices[d].Info().Kind != device.CPU {
				total += cross
			}
			if total < there {
				to, there = d, total
			}
		}
		if to < 0 {
			continue
		}
		takes := fmt.Sprintf("%v there and %v to cross", here, cross)
		if least {
			takes = fmt.Sprintf("%v to cross alone", cross)
		}
		why := device.Refusal{Device: devices[from].Info().ID, Reason: fmt.Sprintf("a part of %s takes %s, %v on %s",
			counted(len(nodes), "node"), takes, there, devices[to].Info().ID)}
		for _, i := range nodes {
			n := &pl.report.Nodes[i]
			pl.owner[i], n.Device, n.Refused = to, devices[to].Info().ID, append(n.Refused, why)
		}
	}
	return nil
}

// total is the estimate for nodes on device d, 0 if one of them is not computed there or has none.
func (pl *placed) total(answers []device.NodeSupport, d int, nodes []int) (sum time.Duration) {
	for _, i := range nodes {
		if !answers[i].OK || answers[i].Cost <= 0 || pl.banned[pl.source[i]][d] != "" {
			return 0
		}
		sum += answers[i].Cost
	}
	return sum
}

// traffic is the number of bytes that a part takes from outside, constants left out, and gives to it; what has no known
// size counts nothing.
func traffic(g *graph.Graph, nodes []int) (bytes int64) {
	inside := map[int]bool{}
	for _, i := range nodes {
		inside[i] = true
	}
	producers, counted := g.Producers(), map[graph.Value]bool{}
	count := func(v graph.Value) {
		if v == graph.None || counted[v] || g.Fact(v).Const != nil {
			return
		}
		counted[v] = true
		n, _ := g.Fact(v).ByteSize()
		bytes += n
	}
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			if v != graph.None && inside[i] != (producers[v] >= 0 && inside[producers[v]]) {
				count(v)
			}
		}
	}
	for _, v := range g.Out {
		if p := producers[v]; p >= 0 && inside[p] {
			count(v)
		}
	}
	return bytes
}

// counted is a number of things: "1 node", "2 nodes".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
