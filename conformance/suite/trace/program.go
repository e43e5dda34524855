package trace

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed prelude.c.txt
var prelude string

// Read reads a record; one whose process died ends early.
func Read(r io.Reader) ([]Event, error) {
	var out []Event
	data := map[uint64][]byte{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if e.Number > 0 {
			data[e.Number] = e.Data
		}
		if e.Same > 0 {
			e.Data = data[e.Same]
		}
		out = append(out, e)
	}
}

// most is the number of bytes that a program has as numbers.
const most = 2 << 20

// Program is a record as a C program.
type Program struct {
	Source string
	Calls  []string // one by one
	Forks  bool     // it has threads, whose calls need not meet in the order in which those of the case did
}

// Program makes a program of a record. It demands of each call what the case does. A condition that is the case's own
// becomes a comparison where its message has the wanted value; else the program fails if it sees what the case saw when
// it failed. The calls are there beside an error, too.
func (c *Case) Program(events []Event) (Program, error) {
	used := map[string]bool{}
	for range 2 { // a name that is used may need another one
		p := newPrinter(c, events, used)
		p.events(events)
	}
	p := newPrinter(c, events, used)
	p.events(events)
	made := Program{Source: p.source(), Calls: p.calls}
	for _, all := range p.bodies {
		made.Forks = made.Forks || len(all) > 0
	}
	cut := slices.ContainsFunc(events, func(e Event) bool { return e.Kind == Cut })
	if cut || len(made.Source) > 8*most {
		made.Source = ""
		return made, fmt.Errorf("the data of %s is too large for a program", c.ID)
	}
	return made, nil
}

// events prints all events.
func (p *printer) events(events []Event) {
	for _, e := range events {
		if e.Kind == Callback {
			cb := &callback{name: fmt.Sprintf("callback%d", len(p.order)+1), args: e.Codes[0]}
			p.callbacks[e.Bits] = cb
			p.order = append(p.order, cb)
		}
	}
	open := map[int][]*pending{}
	for i, e := range events {
		t := e.Thread
		switch e.Kind {
		case Begin:
			p.dir = e.Text
		case Object:
			p.known(t, e)
		case Out:
			p.changed(t, e)
		case Seen:
			p.looked(t, e)
		case Write:
			to := p.address(e.Addr)
			if to == "" {
				p.line(t, "/* %d bytes are written to %#x */", len(e.Data), e.Addr)
				break
			}
			p.copyTo(t, parenthesized(to), e.Data)
		case Call:
			p.await(t)
			open[t] = append(open[t], p.call(e))
		case Return:
			if n := len(open[t]); n > 0 {
				call := open[t][n-1]
				open[t] = open[t][:n-1]
				p.back(t, call, e, judgement(events[i+1:], t))
			}
		case Check:
			p.await(t)
			p.condition(t, e)
		case Compare:
			p.await(t)
			if at := p.address(e.Addr); at != "" {
				p.compare(t, e.Text, at, e.Name, e.Data, e.Abs, e.Rel)
				p.fails = p.fails || !e.OK
			}
		case Enter:
			p.enter(t, e)
		case Leave:
			p.leave(t, e)
		case Fork:
			p.inFork, p.forked, p.threads = true, nil, map[int]*strings.Builder{}
		case Join:
			p.join()
		case Descriptor:
			name := fmt.Sprintf("fd%d", len(p.descriptors))
			p.descriptors = append(p.descriptors, name)
			p.fds[e.Bits] = name
			p.line(t, "%s = file_of(%d, (unsigned char[]){%s}, %d);", name, e.Addr, hex(append(e.Data, 0)), len(e.Data))
		case File:
			p.files = true
			switch {
			case !e.OK:
				p.line(t, "remove_file(%s);", quoted(e.Name))
			case len(e.Data) == 0:
				p.line(t, `write_file(%s, "", 0);`, quoted(e.Name))
			default:
				p.line(t, "write_file(%s, (unsigned char[]){%s}, %d);", quoted(e.Name), hex(e.Data), len(e.Data))
			}
		case Folder:
			p.files = true
			p.line(t, "make_folder(%s);", quoted(e.Name))
		case Setenv:
			p.line(t, "setenv(%s, %s, 1);", quoted(e.Name), quoted(e.Text))
		case End:
			if e.Name == "fail" && !p.fails {
				p.fallBack(0, e.Text, nil)
			}
		}
	}
	for t, calls := range open {
		for _, c := range calls {
			p.line(t, "/* the case did not come back from this call */")
			p.line(t, "%s;", c.text)
			p.calls = append(p.calls, c.text+" did not return")
		}
	}
	if p.inFork {
		p.join()
	}
}

// judgement is what is demanded of the call of a thread that has returned just before these events.
func judgement(events []Event, thread int) *Event {
	for i, e := range events {
		if e.Thread != thread {
			continue
		}
		switch e.Kind {
		case Code, Pointer, Null:
			return &events[i]
		case Out, Seen, Write, Object, File, Folder:
		default:
			return nil
		}
	}
	return nil
}
