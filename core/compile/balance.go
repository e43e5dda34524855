package compile

import (
	"fmt"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
)

// What a part on a device of its own costs beside its nodes: for each run, and for each byte that goes in or out.
const (
	crossing        = 40 * time.Microsecond
	crossingPerByte = 0.5 // nanoseconds
)

// balance gives parts that are not worth what crossing to their device costs to the next device that computes them.
// Devices without estimates keep their parts.
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
		to, there := from+1, time.Duration(0)
		for ; to < len(devices); to++ {
			if there = pl.total(answers[to], to, nodes); there > 0 {
				break
			}
		}
		here := pl.total(answers[from], from, nodes)
		if to == len(devices) || here <= 0 {
			continue
		}
		cross := crossing + time.Duration(crossingPerByte*float64(traffic(pl.graph, nodes)))
		if here+cross < there {
			continue
		}
		why := device.Refusal{Device: devices[from].Info().ID, Reason: fmt.Sprintf("a part of %s takes %v there and %v to "+
			"cross, %v on %s", counted(len(nodes), "node"), here, cross, there, devices[to].Info().ID)}
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
