// Host is a Go program that is linked to the library by cgo, so two Go runtimes share the process: calls from many
// goroutines, with both garbage collectors busy, give right answers, and signals of the host's still arrive.
package main

/*
#cgo LDFLAGS: -lanynpu
#include <anynpu.h>
#include <neural_network_runtime/neural_network_core.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/anynpu/anynpu/internal/leak"
)

// answer returns the bytes of a 2 x 3 x 4 float tensor.
func answer() (uint64, error) {
	desc := C.OH_NNTensorDesc_Create()
	if desc == nil {
		return 0, fmt.Errorf("no descriptor")
	}
	shape := [...]C.int32_t{2, 3, 4}
	var bytes C.size_t
	for _, rc := range []C.OH_NN_ReturnCode{
		C.OH_NNTensorDesc_SetShape(desc, &shape[0], 3),
		C.OH_NNTensorDesc_SetDataType(desc, C.OH_NN_FLOAT32),
		C.OH_NNTensorDesc_GetByteSize(desc, &bytes),
		C.OH_NNTensorDesc_Destroy(&desc),
	} {
		if rc != C.OH_NN_SUCCESS {
			return 0, fmt.Errorf("status %d", rc)
		}
	}
	return uint64(bytes), nil
}

// left tells what the process has open now and had not before, or the other way round, without what the library's Go
// runtime and its log keep for the life of the process: event poll and its event, the CPU's quota, the log file.
func left(before leak.State) []string {
	log, err := filepath.EvalSymlinks(os.Getenv("ANYNPU_LOG_FILE"))
	if err != nil {
		log = "?"
	}
	keeps := []string{"=anon_inode:[eventpoll]", "=anon_inode:[eventfd]", "=/sys/fs/cgroup/", "=/sys/fs/cgroup/",
		"=" + log}
	return slices.DeleteFunc(leak.Now().Since(before), func(line string) bool {
		i := slices.IndexFunc(keeps, func(k string) bool {
			return strings.HasPrefix(line, "descriptor left behind: ") && strings.Contains(line, k)
		})
		if i < 0 {
			return false
		}
		keeps = slices.Delete(keeps, i, i+1)
		return true
	})
}

func main() {
	leak.Warm()
	before := leak.Now()
	var wg sync.WaitGroup
	failures := make(chan error, 64)
	for range 16 {
		wg.Go(func() {
			for i := range 300 {
				if n, err := answer(); err != nil || n != 96 {
					failures <- fmt.Errorf("want 96, got %d: %v", n, err)
					return
				}
				if i%50 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGCHLD)
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		failures <- err
	}
	if s := <-signals; s != syscall.SIGUSR1 {
		failures <- fmt.Errorf("want SIGUSR1, got %v", s)
	}
	if handles, buffers := C.anynpu_live_handles(), C.anynpu_live_buffers(); handles != 0 || buffers != 0 {
		failures <- fmt.Errorf("%d handles and %d buffers left", handles, buffers)
	}
	for _, line := range left(before) {
		failures <- errors.New(line)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	runtimes := 0
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "libanynpu.so.0") && strings.Contains(line, " r-xp ") {
			runtimes++
		}
	}
	if err != nil || runtimes != 1 {
		failures <- fmt.Errorf("%d copies of the library in the process: %v", runtimes, err)
	}
	select {
	case err := <-failures:
		fmt.Println(err)
		os.Exit(1)
	default:
		fmt.Println("4800 answers from 16 goroutines are right")
	}
}
