package serve

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/oip"
)

// The methods of the system shared memory extension.
const (
	sharedRegister   = oip.SharedMemoryRegister
	sharedUnregister = oip.SharedMemoryUnregister
	sharedStatus     = oip.Service + "SystemSharedMemoryStatus"
)

// sharedFolder is where POSIX shared memory lies.
const sharedFolder = "/dev/shm"

// maxRegions bounds the regions that clients have registered.
const maxRegions = 1024

// shared are the regions of shared memory that clients have registered, by name.
type shared struct {
	mu   sync.Mutex
	list map[string]*sharedRegion
}

// sharedRegion is a piece of a file in sharedFolder. A request that uses it holds a reference to the buffer.
type sharedRegion struct {
	name, key    string
	offset, size uint64
	buf          mem.Buffer
}

// register maps memory that a client names as shm_open does.
func (s *Server) register(r *sharedRegion) error {
	switch {
	case !s.config.Shared:
		return errNotShared
	case r.name == "" || len(r.name) > 255:
		return invalid("a region's name of %d bytes, want 1 to 255", len(r.name))
	}
	file := strings.TrimPrefix(r.key, "/")
	if file == "" || len(file) > 255 || file[0] == '.' || strings.ContainsAny(file, "/\x00") {
		return invalid("shared memory key %q: want a name as shm_open takes it", r.key)
	}
	const most = 1 << 46
	if r.size == 0 || r.size > most || r.offset > most {
		return invalid("%d bytes at %d of shared memory %q", r.size, r.offset, r.key)
	}
	fd, err := unix.Open(sharedFolder+"/"+file, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return invalid("unable to open shared memory region %q: %v", r.key, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG ||
		uint64(st.Size) < r.offset+r.size {
		return invalid("shared memory %q has not %d bytes at %d", r.key, r.size, r.offset)
	}
	if r.buf, err = mem.ImportFD(fd, int64(r.offset), int64(r.size), false); err != nil {
		return err
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	_, had := s.shared.list[r.name]
	if had || len(s.shared.list) >= maxRegions {
		r.buf.Release()
		if had {
			return refuse(oip.AlreadyExists, http.StatusBadRequest, "shared memory region %q already in manager", r.name)
		}
		return refuse(oip.ResourceExhausted, http.StatusServiceUnavailable, "%d regions of shared memory are registered",
			maxRegions)
	}
	if s.shared.list == nil {
		s.shared.list = map[string]*sharedRegion{}
	}
	s.shared.list[r.name] = r
	return nil
}

var errNotShared = refuse(oip.PermissionDenied, http.StatusForbidden,
	"shared memory is not offered: the server was started without --shared-memory")

// unregister forgets a region, "" for all; requests that use it end first. One that is not there is none as wanted.
func (s *Server) unregister(name string) error {
	if !s.config.Shared {
		return errNotShared
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	for n, r := range s.shared.list {
		if n == name || name == "" {
			delete(s.shared.list, n)
			r.buf.Release()
		}
	}
	return nil
}

// regions lists a region, "" for all, by name.
func (s *Server) regions(name string) ([]*sharedRegion, error) {
	if !s.config.Shared {
		return nil, errNotShared
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	var list []*sharedRegion
	for n, r := range s.shared.list {
		if n == name || name == "" {
			list = append(list, r)
		}
	}
	if name != "" && list == nil {
		return nil, noRegion(name)
	}
	slices.SortFunc(list, func(a, b *sharedRegion) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

func noRegion(name string) error {
	return refuse(oip.NotFound, http.StatusBadRequest, "unable to find shared memory region: %q", name)
}

// sharedPlace is where a tensor lies.
type sharedPlace struct {
	region       string
	offset, size int64
	buf          mem.Buffer // a reference of its own
}

// sharedPlaceOf returns where parameters say that a tensor lies, nil for one that is in the message. The caller
// releases it.
func (s *Server) sharedPlaceOf(p oip.Parameters) (*sharedPlace, error) {
	if p[oip.SharedMemoryRegion] == nil {
		return nil, nil
	}
	name, is := p[oip.SharedMemoryRegion].(string)
	at := &sharedPlace{region: name, size: -1}
	var sized, placed bool
	at.size, sized = p[oip.SharedMemoryByteSize].(int64)
	at.offset, placed = p[oip.SharedMemoryOffset].(int64)
	if !is || !sized || at.size < 0 || at.offset < 0 || !placed && p[oip.SharedMemoryOffset] != nil {
		return nil, invalid("shared memory wants a region's name, %s, and %s", oip.SharedMemoryByteSize,
			oip.SharedMemoryOffset)
	}
	if !s.config.Shared {
		return nil, errNotShared
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	r := s.shared.list[name]
	if r == nil {
		return nil, noRegion(name)
	}
	if at.offset > int64(r.size) || at.size > int64(r.size)-at.offset {
		return nil, invalid("%d bytes at %d of shared memory region %q, which has %d", at.size, at.offset, name, r.size)
	}
	r.buf.Retain()
	at.buf = r.buf
	return at, nil
}

func (p *sharedPlace) release() {
	if p != nil { // nil: it was not there
		p.buf.Release()
	}
}

// errGone is the error of a file that its owner has made shorter.
var errGone = invalid("the shared memory is shorter than when it was registered")

// move copies between memory of the server and the place: what is computed does not change meanwhile.
func (p *sharedPlace) move(own []byte, in bool) error {
	return io.Guarded(func() error {
		all, err := p.buf.Map()
		if err != nil {
			return err
		}
		if there := all[p.offset : p.offset+p.size]; in {
			copy(own, there)
		} else {
			copy(there, own)
		}
		return nil
	}, func(uintptr) error { return errGone })
}

// sharedInputs brings the inputs that lie in shared memory.
func (c *call) sharedInputs(q *oip.Request) error {
	for i := range q.Inputs {
		t := &q.Inputs[i]
		at, err := c.server.sharedPlaceOf(t.Parameters)
		if err != nil {
			return err
		}
		if at == nil {
			continue
		}
		err = c.fetch(t, at)
		at.release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *call) fetch(t *oip.Tensor, at *sharedPlace) error {
	if t.Raw != nil || t.Contents != nil {
		return invalid("input %q is in the message and in shared memory", t.Name)
	}
	if at.size > c.server.config.Message {
		return c.tooLarge(at.size)
	}
	if err := c.hold(at.size); err != nil {
		return err
	}
	t.Raw = make([]byte, at.size)
	return at.move(t.Raw, true)
}

// sharedOutputs returns the places of the outputs that a request wants in shared memory, by name. The caller releases
// them, on errors too.
func (c *call) sharedOutputs(q *oip.Request) (map[string]*sharedPlace, error) {
	var places map[string]*sharedPlace
	for i := range q.Outputs {
		at, err := c.server.sharedPlaceOf(q.Outputs[i].Parameters)
		if err != nil {
			return places, err
		}
		if at == nil {
			continue
		}
		if places == nil {
			places = map[string]*sharedPlace{}
		}
		places[q.Outputs[i].Name].release()
		places[q.Outputs[i].Name] = at
	}
	return places, nil
}

// put writes an output to its place; the answer then says only where it is.
func (p *sharedPlace) put(t *oip.Tensor) error {
	size := int64(len(t.Raw))
	if size > p.size {
		return invalid("output %q has %d bytes, shared memory region %q has room for %d", t.Name, size, p.region, p.size)
	}
	p.size = size
	if err := p.move(t.Raw, false); err != nil {
		return err
	}
	t.Raw = nil
	t.Parameters = oip.Parameters{oip.SharedMemoryRegion: p.region, oip.SharedMemoryByteSize: size}
	if p.offset != 0 {
		t.Parameters[oip.SharedMemoryOffset] = p.offset
	}
	return nil
}

// The calls of gRPC.

func (c *call) sharedRegister(_ context.Context, message []byte) ([][]byte, error) {
	r := &sharedRegion{}
	err := fields(message, func(num protowire.Number, value uint64, b []byte) {
		switch num {
		case 1:
			r.name = string(b)
		case 2:
			r.key = string(b)
		case 3:
			r.offset = value
		case 4:
			r.size = value
		}
	})
	if err == nil {
		err = c.server.register(r)
	}
	if err != nil {
		return nil, err
	}
	return one(nil)
}

// regionName reads a message whose field 1 is the name of a region.
func regionName(message []byte) (name string, err error) {
	err = fields(message, func(num protowire.Number, _ uint64, b []byte) {
		if num == 1 {
			name = string(b)
		}
	})
	return name, err
}

func (c *call) sharedUnregister(_ context.Context, message []byte) ([][]byte, error) {
	name, err := regionName(message)
	if err == nil {
		err = c.server.unregister(name)
	}
	if err != nil {
		return nil, err
	}
	return one(nil)
}

func (c *call) sharedStatus(_ context.Context, message []byte) ([][]byte, error) {
	name, err := regionName(message)
	if err != nil {
		return nil, err
	}
	list, err := c.server.regions(name)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, r := range list {
		m := appendText(appendText(nil, 1, r.name), 2, r.key)
		m = protowire.AppendVarint(protowire.AppendTag(m, 3, protowire.VarintType), r.offset)
		m = protowire.AppendVarint(protowire.AppendTag(m, 4, protowire.VarintType), r.size)
		entry := protowire.AppendBytes(protowire.AppendTag(appendText(nil, 1, r.name), 2, protowire.BytesType), m)
		b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), entry)
	}
	return one(b)
}

// Their REST twins.

func (c *call) restSharedRegister() (any, error) {
	var q struct {
		Key    string  `json:"key"`
		Offset uint64  `json:"offset"`
		Size   *uint64 `json:"byte_size"`
	}
	if err := c.small(&q); err != nil {
		return nil, err
	}
	if q.Size == nil {
		return nil, invalid("byte_size is missing")
	}
	r := &sharedRegion{name: c.r.PathValue("region"), key: q.Key, offset: q.Offset, size: *q.Size}
	return struct{}{}, c.server.register(r)
}

func (c *call) restSharedUnregister() (any, error) {
	if err := c.small(&struct{}{}); err != nil {
		return nil, err
	}
	return struct{}{}, c.server.unregister(c.r.PathValue("region"))
}

func (c *call) restSharedStatus() (any, error) {
	list, err := c.server.regions(c.r.PathValue("region"))
	if err != nil {
		return nil, err
	}
	type line struct {
		Name   string `json:"name"`
		Key    string `json:"key"`
		Offset uint64 `json:"offset"`
		Size   uint64 `json:"byte_size"`
	}
	out := make([]line, len(list))
	for i, r := range list {
		out[i] = line{r.name, r.key, r.offset, r.size}
	}
	return out, nil
}

// release lets go of all regions.
func (s *shared) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.list {
		delete(s.list, name)
		r.buf.Release()
	}
}
