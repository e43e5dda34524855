package remote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// sharedFolder is where servers open shared memory by its name.
const sharedFolder = "/dev/shm"

// sharedPrefix begins the names of regions there; the number of this process follows.
const sharedPrefix = "anynpu-"

// region is memory that the process and this program share.
type region struct {
	bytes []byte
	fd    int    // of a file without a name in sharedFolder, -1: servers cannot have it
	name  string // there, "" before a server needs it
}

// named gives a region a name, by which servers open it. The name stays until free.
func (r *region) named(id uint64) (string, error) {
	if r.name != "" {
		return r.name, nil
	}
	if r.fd < 0 {
		return "", fmt.Errorf("the memory is not in %s", sharedFolder)
	}
	name := sharedPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(id, 10)
	from := "/proc/self/fd/" + strconv.Itoa(r.fd)
	path := filepath.Join(sharedFolder, name)
	_ = unix.Unlink(path) // of a program that had this number
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	r.name = name
	return name, nil
}

// free lets go of a region. The program has no calls that use it.
func (r *region) free() error {
	if r.name != "" {
		_ = unix.Unlink(filepath.Join(sharedFolder, r.name))
	}
	if r.fd >= 0 {
		unix.Close(r.fd)
	}
	return unix.Munmap(r.bytes)
}

// removeLeft removes the names that programs have left which were killed.
func removeLeft() {
	list, _ := filepath.Glob(filepath.Join(sharedFolder, sharedPrefix+"*"))
	for _, path := range list {
		text, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), sharedPrefix), "-")
		if pid, err := strconv.Atoi(text); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = unix.Unlink(path)
		}
	}
}

// lent are the regions that a server has.
type lent struct {
	mu    sync.Mutex
	names map[uint64]string // as they are registered there
	count int
	no    bool // the server does not take them
}

// lend registers a region with a server, unless that has been done, and returns its name there; "" if the server does
// not take it.
func (p *Pool) lend(ctx context.Context, e *endpoint, id uint64) string {
	e.lent.mu.Lock()
	defer e.lent.mu.Unlock()
	if name := e.lent.names[id]; name != "" || e.lent.no || p.named == nil {
		return name
	}
	file, size, err := p.named(id)
	name := fmt.Sprintf("%s-%d", file, e.lent.count)
	if err == nil {
		e.lent.count++
		_, err = e.small(ctx, oip.SharedMemoryRegister, registerMessage(name, "/"+file, size))
	}
	if err != nil {
		if f := ofError(ctx, err); f.class != link.Down && f.class != link.Late && f.class != link.Stopped {
			e.lent.no = true
			p.note("%s takes no shared memory, tensors go over the wire: %v", e.address, err)
		}
		return ""
	}
	if e.lent.names == nil {
		e.lent.names = map[uint64]string{}
	}
	e.lent.names[id] = name
	return name
}

func registerMessage(name, key string, size int64) []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), key)
	return protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.VarintType), uint64(size))
}

// take has a server forget a region, if it has it.
func (e *endpoint) take(ctx context.Context, id uint64) {
	e.lent.mu.Lock()
	name := e.lent.names[id]
	delete(e.lent.names, id)
	e.lent.mu.Unlock()
	if name != "" {
		_, _ = e.small(ctx, oip.SharedMemoryUnregister, registerMessage(name, "", 0)[:2+len(name)])
	}
}

// takeLimit is how long servers have to forget regions.
const takeLimit = time.Second

// take has all servers forget a region.
func (p *Pool) take(id uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), takeLimit)
	defer cancel()
	var wait sync.WaitGroup
	for _, e := range p.list {
		wait.Go(func() { e.take(ctx, id) })
	}
	wait.Wait()
}

// onlyRegion is the region in which all tensors of a run lie; false if there is none, or an output has no place.
func onlyRegion(r *link.Request) (id uint64, ok bool) {
	if len(r.In) == 0 {
		return 0, false
	}
	id = r.In[0].Region
	for i := range r.In {
		ok = r.In[i].Region == id && r.In[i].Size > 0
		if !ok {
			return 0, false
		}
	}
	for i := range r.Out {
		if r.Out[i].Region != id || r.Out[i].Room <= 0 {
			return 0, false
		}
	}
	return id, len(r.Out) > 0
}

// placed are the parameters of a tensor that lies in a server's region.
func placed(name string, off, size int64) oip.Parameters {
	p := oip.Parameters{oip.SharedMemoryRegion: name, oip.SharedMemoryByteSize: size}
	if off != 0 {
		p[oip.SharedMemoryOffset] = off
	}
	return p
}
