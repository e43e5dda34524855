package hbdnn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/tensordump"
)

// profilerPath is the variable that asks for a profiler.log.
const profilerPath = "HB_DNN_PROFILER_LOG_PATH"

// profiling is nil unless the program's end writes a profiler.log (section 9).
var profiling *profiler

func init() {
	if folder, ok := folderOf(profilerPath, boundary.Getenv("HB_DNN_PROFILER_LOG_PATH")); ok {
		profiling = &profiler{file: filepath.Join(folder, "profiler.log")}
		boundary.AtExit(profiling.end)
	}
}

// profiler gathers the times of all models of the process, also of those that are released.
type profiler struct {
	file   string
	mu     sync.Mutex
	models []*profile
}

// profile holds the times of the tasks of the models of one name.
type profile struct {
	name string

	mu            sync.Mutex
	core          int32
	frames        int
	begun, ended  time.Time // the first submission, the last end
	waited        time.Duration
	threads       map[int]bool // that submitted
	pending, busy span
	npu, cpu      span
	prepared      span
	nodes         map[string]*span
}

// span is a time that was taken several times.
type span struct {
	n              int
	sum, low, high time.Duration
}

func (s *span) add(d time.Duration) {
	if s.n == 0 || d < s.low {
		s.low = d
	}
	s.high = max(s.high, d)
	s.sum += d
	s.n++
}

// spanText is a span as the log has it, in milliseconds.
type spanText struct {
	Average float64 `json:"avg_time"`
	Most    float64 `json:"max_time"`
	Least   float64 `json:"min_time"`
}

func (s *span) text() spanText {
	return spanText{millis(s.sum) / float64(max(s.n, 1)), millis(s.high), millis(s.low)}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// of is the profile of the models of a name, nil if none is wanted.
func (p *profiler) of(name string) *profile {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.models {
		if m.name == name {
			return m
		}
	}
	m := &profile{name: name, threads: map[int]bool{}, nodes: map[string]*span{}}
	p.models = append(p.models, m)
	return m
}

func (p *profile) submitted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.threads[unix.Gettid()] = true
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
}

// done takes note of a task of the model that succeeded: when it was submitted and when its first member began.
func (p *profile) done(core int32, queued, begun time.Time) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.core, p.ended = core, now
	p.pending.add(begun.Sub(queued))
	p.busy.add(now.Sub(begun))
}

// ran takes note of a run of the model: the time that its inputs took, and that of its operators.
func (p *profile) ran(queued time.Time, prepared time.Duration, times []device.NodeTime) {
	input, operators := device.LayoutTime(times)
	prepared += input
	cpu, npu := prepared, time.Duration(0)
	nodes := map[string]time.Duration{}
	for _, n := range operators {
		name := n.Name
		if name == "" {
			name = fmt.Sprint(n.Node)
		}
		nodes[n.Op+"_"+name] += n.Length
		if n.Device == "cpu" {
			cpu += n.Length
		} else {
			npu += n.Length
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames++
	p.waited += time.Since(queued)
	p.prepared.add(prepared)
	p.cpu.add(cpu)
	p.npu.add(npu)
	for name, took := range nodes {
		if p.nodes[name] == nil {
			p.nodes[name] = &span{}
		}
		p.nodes[name].add(took)
	}
}

// write adds the two objects of the model. They have the form of the vendor's log.
func (p *profile) write(to *bytes.Buffer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.ended.Sub(p.begun)
	fps := 0.0
	if took > 0 {
		fps = float64(p.frames) / took.Seconds()
	}
	type object = map[string]any // whose keys are written in order
	nodes := map[string]spanText{"Preprocess": p.prepared.text()}
	for name, s := range p.nodes {
		nodes[name] = s.text()
	}
	for i, o := range []object{
		{
			"perf_result": object{"FPS": fps, "average_latency": millis(p.waited) / float64(max(p.frames, 1))},
			"running_condition": object{"core_id": p.core, "frame_count": p.frames, "model_name": p.name,
				"run_time": millis(took), "thread_num": len(p.threads)},
		},
		{
			"chip_latency":  object{"BPU_inference_time_cost": p.npu.text(), "CPU_inference_time_cost": p.cpu.text()},
			"model_latency": nodes,
			"task_latency":  object{"TaskPendingTime": p.pending.text(), "TaskRunningTime": p.busy.text()},
		},
	} {
		text, err := json.MarshalIndent(o, "", "  ")
		if err != nil {
			return err
		}
		if i > 0 || to.Len() > 0 {
			to.WriteString("***\n")
		}
		to.Write(append(text, '\n'))
	}
	return nil
}

// text is the whole log, empty when no model has run.
func (p *profiler) text() ([]byte, error) {
	p.mu.Lock()
	models := slices.Clone(p.models)
	p.mu.Unlock()
	var b bytes.Buffer
	for _, m := range models {
		m.mu.Lock()
		ran := m.pending.n > 0
		m.mu.Unlock()
		if !ran {
			continue
		}
		if err := m.write(&b); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// end writes the log when the program ends. An older one stays until the new one is whole; so does a driver's.
func (p *profiler) end() {
	if boundary.HasDriver("hbdnn") {
		p.file = strings.TrimSuffix(p.file, ".log") + ".anynpu.log"
	}
	text, err := p.text()
	if err == nil && len(text) > 0 {
		temp := fmt.Sprintf("%s.%d", p.file, os.Getpid())
		_ = os.Remove(temp) // of a process that was killed
		if err = tensordump.Create(temp, text); err == nil {
			if err = os.Rename(temp, p.file); err != nil {
				_ = os.Remove(temp)
			}
		}
	}
	if err != nil {
		unwritten(profilerPath, p.file, err)
	}
}
