package main

import (
	"fmt"
	"math"
	"strings"
)

// Summary is a geometric mean over a set of networks.
type Summary struct {
	Set      string             `json:"set"`
	Threads  int                `json:"threads"`
	Networks int                `json:"networks"`
	Ratio    float64            `json:"ratio"`
	Lowest   float64            `json:"lowest"`          // ratio
	Network  string             `json:"lowest_network"`  // whose it is
	Peers    map[string]float64 `json:"peers,omitempty"` // means beside each, over the networks that it has figures of
	peers    []string           // names in order
}

func (s *Summary) line() string {
	return fmt.Sprintf("%-55s %-10s %6.3f over %d, lowest %.3f %s%s", s.Set, threadsText(s.Threads), s.Ratio, s.Networks,
		s.Lowest, s.Network, s.beside())
}

// beside is the mean beside each peer as text.
func (s *Summary) beside() string {
	var b strings.Builder
	for _, p := range s.peers {
		if v, ok := s.Peers[p]; ok {
			fmt.Fprintf(&b, "; %s %.3f", title(p), v)
		}
	}
	return b.String()
}

// setScaling is the one set whose ratio is of this library alone: its best time with one thread by that with more.
const setScaling = "one thread's time by that of more"

// sets are the groups that have a geometric mean; slow says whether ONNX Runtime takes more than 1 ms.
var sets = []struct {
	name string
	has  func(r *Result, slow bool) bool
}{
	{"float32 networks above 1 ms", func(r *Result, slow bool) bool { return r.Format == "fp32" && !r.Product && slow }},
	{"float32 networks", func(r *Result, _ bool) bool { return r.Format == "fp32" && !r.Product }},
	{"float32 matrix products", func(r *Result, _ bool) bool { return r.Format == "fp32" && r.Product }},
	{"float16 networks", func(r *Result, _ bool) bool { return r.Format == "fp16" && !r.Product }},
	{"int8 networks", func(r *Result, _ bool) bool { return quantized(r.Format) && !r.Product }},
	{"int8 matrix products", func(r *Result, _ bool) bool { return quantized(r.Format) && r.Product }},
}

// fastest ends the names of sets whose ratio is the fastest peer's time by ours.
const fastest = ", x the fastest peer"

// summarize fills Summaries. A network is above 1 ms when ONNX Runtime's best time with one thread is, or with the only
// number measured.
func (r *Report) summarize() {
	one := map[string]*Result{} // by network: one thread
	for i := range r.Results {
		if x := &r.Results[i]; x.Error == "" && (x.Threads == 1 || one[x.Network] == nil) {
			one[x.Network] = x
		}
	}
	for _, threads := range r.Settings.Threads {
		for _, set := range sets {
			has := func(x *Result) bool { return set.has(x, one[x.Network].ORT.BestMS > 1) }
			s := r.mean(threads, func(x *Result) float64 {
				if !has(x) {
					return 0
				}
				return x.Ratio
			})
			if s.Networks == 0 {
				continue
			}
			s.Set, s.peers, s.Peers = set.name+fastest, r.peers, map[string]float64{}
			for k, name := range r.peers {
				beside := r.mean(threads, func(x *Result) float64 {
					if !has(x) {
						return 0
					}
					return x.Peers[k].Ratio
				})
				if beside.Networks > 0 {
					s.Peers[name] = beside.Ratio
				}
			}
			r.Summaries = append(r.Summaries, s)
		}
		s := r.mean(threads, func(x *Result) float64 {
			o := one[x.Network]
			if threads == 1 || o.Threads != 1 || !sets[0].has(x, o.ORT.BestMS > 1) {
				return 0
			}
			return o.AnyNPU.BestMS / x.AnyNPU.BestMS
		})
		if s.Networks > 0 {
			s.Set = setScaling + ", float32 above 1 ms"
			r.Summaries = append(r.Summaries, s)
		}
	}
}

// mean returns the geometric mean and the lowest of ratio over the results where it is not 0.
func (r *Report) mean(threads int, ratio func(*Result) float64) Summary {
	s, sum := Summary{Threads: threads}, 0.0
	for i := range r.Results {
		x := &r.Results[i]
		if x.Threads != threads || x.Error != "" {
			continue
		}
		if v := ratio(x); v > 0 {
			sum, s.Networks = sum+math.Log(v), s.Networks+1
			if s.Network == "" || v < s.Lowest {
				s.Lowest, s.Network = v, x.Network
			}
		}
	}
	if s.Networks > 0 {
		s.Ratio = math.Exp(sum / float64(s.Networks))
	}
	return s
}
