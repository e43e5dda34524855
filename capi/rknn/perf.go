package rknn

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// perfDetail gives the text of the last run's times; it stays until the next query of this kind or the context's end.
// Without RKNN_FLAG_COLLECT_PERF_MASK or a run it is empty.
func (c *Context) perfDetail(info []byte) error {
	if len(info) < int(unsafe.Sizeof(PerfDetail{})) {
		return invalid("size is %d: rknn_perf_detail has %d bytes "+
			"[rknn-size-perf-detail]", len(info), unsafe.Sizeof(PerfDetail{}))
	}
	text := ""
	if st := c.exec.Stats(); c.flags&flagCollectPerf != 0 && st.Runs > 0 {
		text = perfTable(c.model.board, st, c.model.rows[c.set])
	}
	c.perf.SetString(text)
	return answer(info, "rknn_perf_detail", PerfDetail{c.perf.Addr(), uint64(len(text))})
}

// merged adds up the times of the nodes that loading made of one operator of the model, in the model's order of
// operators. An operator has the type that the model calls it by.
func merged(times []device.NodeTime, rows map[int]row) []device.NodeTime {
	at := map[int]int{}
	var list []device.NodeTime
	for _, n := range times {
		if k, ok := at[n.Node]; ok {
			list[k].Length += n.Length
			continue
		}
		at[n.Node] = len(list)
		if r := rows[n.Node]; r.kind != "" {
			n.Op = r.kind
		}
		list = append(list, n)
	}
	slices.SortStableFunc(list, func(a, b device.NodeTime) int { return cmp.Compare(a.Node, b.Node) })
	return list
}

// perfTable writes the two tables of section 3.2. Cycles, use of the MAC units and traffic are the NPU's and shown as
// 0.
func perfTable(b target, st device.Stats, rows map[int]row) string {
	var text strings.Builder
	cores, load := "WorkLoad(0/1/2)", "0.0%/0.0%/0.0%"
	if b.cores == 2 {
		cores, load = "WorkLoad(0/1)", "0.0%/0.0%"
	}
	rule := strings.Repeat("-", 160) + "\n"
	const row = "%-5v %-24s %-9s %-7s %-32s %-24s %-24s %-10v %-12s %-18s %-8s %s\n"
	text.WriteString(rule + "                                  Network Layer Information Table\n" + rule)
	fmt.Fprintf(&text, row, "ID", "OpType", "DataType", "Target", "InputShape", "OutputShape", "Cycles(DDR/NPU/Total)",
		"Time(us)", "MacUsage(%)", cores, "RW(KB)", "FullName")
	text.WriteString(rule)
	id := 0
	line := func(kind, dtype, in, out string, us int64, full string) {
		id++
		fmt.Fprintf(&text, row, id, fault.Printable(kind), dtype, "CPU", in, out, "0/0/0", us, `\`, load, "0",
			fault.Printable(full))
	}
	input, operators := device.LayoutTime(st.Nodes)
	line("InputOperator", `\`, `\`, `\`, input.Microseconds(), "InputOperator:input")
	type sum struct {
		kind  string
		calls int
		us    int64
	}
	sums := map[string]*sum{}
	total := input
	for _, n := range merged(operators, rows) {
		t := rows[n.Node]
		us := n.Length.Microseconds()
		line(n.Op, strings.ToUpper(t.dtype.String()), orBackslash(t.in), orBackslash(t.out), us, n.Op+":"+n.Name)
		if sums[n.Op] == nil {
			sums[n.Op] = &sum{kind: n.Op}
		}
		sums[n.Op].calls++
		sums[n.Op].us += us
		total += n.Length
	}
	line("OutputOperator", `\`, `\`, `\`, 0, "OutputOperator:output")
	fmt.Fprintf(&text, "%sTotal Operator Elapsed Per Frame Time(us): %d\nTotal Memory Read/Write Per Frame Size(KB): "+
		"0\n%s",
		rule, total.Microseconds(), rule)
	const rank = "%-24s %-12v %-12v %-12v %-12v %-12v %s\n"
	text.WriteString("                                  Operator Time Consuming Ranking Table\n" + rule)
	fmt.Fprintf(&text, rank, "OpType", "CallNumber", "CPUTime(us)", "GPUTime(us)", "NPUTime(us)", "TotalTime(us)",
		"TimeRatio(%)")
	text.WriteString(rule)
	order := make([]*sum, 0, len(sums))
	for _, s := range sums {
		order = append(order, s)
	}
	sort.Slice(order, func(i, j int) bool {
		if order[i].us != order[j].us {
			return order[i].us > order[j].us
		}
		return order[i].kind < order[j].kind
	})
	for _, s := range order {
		ratio := 0.0
		if total > 0 {
			ratio = 100 * float64(s.us) / max(float64(total.Microseconds()), 1)
		}
		fmt.Fprintf(&text, rank, fault.Printable(s.kind), s.calls, s.us, 0, 0, s.us, fmt.Sprintf("%.2f%%", ratio))
	}
	text.WriteString(rule)
	return text.String()
}

func orBackslash(s string) string {
	if s == "" {
		return `\`
	}
	return s
}
