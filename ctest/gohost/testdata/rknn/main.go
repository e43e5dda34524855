// Rknn is a Go program that is linked to librknnrt.so by cgo, so two Go runtimes share the process: four threads, each
// with a duplicate of one context, recognize digits, first as the library computes them, then with an operator that
// this program computes in Go.
//
//	rknn MODEL IMAGE...
package main

/*
#cgo LDFLAGS: -lrknnrt -lanynpu
#include <stdlib.h>
#include <anynpu.h>
#include <rknn_custom_op.h>
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Threads that infer, and how often all together.
const (
	threads    = 4
	inferences = 100
)

var relus atomic.Int64

//export goRelu
func goRelu(_ *C.rknn_custom_op_context, in *C.rknn_custom_op_tensor, nIn C.uint32_t, out *C.rknn_custom_op_tensor,
	nOut C.uint32_t) C.int {
	if nIn != 1 || nOut != 1 {
		return -1
	}
	x := unsafe.Slice((*float32)(in.mem.virt_addr), int(in.attr.n_elems))
	y := unsafe.Slice((*float32)(out.mem.virt_addr), int(out.attr.n_elems))
	for i, v := range x {
		y[i] = max(v, 0)
	}
	if relus.Add(1)%16 == 0 {
		runtime.GC()
	}
	return 0
}

func check(call string, code C.int) error {
	if code != C.RKNN_SUCC {
		return fmt.Errorf("%s: %d", call, code)
	}
	return nil
}

// image is the ink of a digit, and which it is.
type image struct {
	name  string
	ink   []byte
	digit int
}

var labelRE = regexp.MustCompile(`_label([0-9])`)

// read reads an 8 x 8 PGM image of grey values from 0, paper, to its maximum, ink, and makes it 0 to 16.
func read(path string) (image, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return image{}, err
	}
	var w, h, top int
	label := labelRE.FindStringSubmatch(path)
	if _, err := fmt.Fscanf(bytes.NewReader(data), "P5\n%d %d\n%d\n", &w, &h, &top); err != nil || w*h != 64 ||
		len(data) < 64 || label == nil || top < 1 {
		return image{}, fmt.Errorf("%s: no digit: %v", path, err)
	}
	m := image{name: path, ink: make([]byte, 64), digit: int(label[1][0] - '0')}
	for i, v := range data[len(data)-64:] {
		m.ink[i] = byte((int(v)*16 + top/2) / top)
	}
	return m, nil
}

// recognize returns the most probable digit.
func recognize(ctx C.rknn_context, ink []byte) (int, error) {
	buf := C.CBytes(ink)
	defer C.free(buf)
	in := C.rknn_input{buf: buf, size: C.uint32_t(len(ink)), _type: C.RKNN_TENSOR_UINT8, fmt: C.RKNN_TENSOR_NHWC}
	if err := check("rknn_inputs_set", C.rknn_inputs_set(ctx, 1, &in)); err != nil {
		return 0, err
	}
	if err := check("rknn_run", C.rknn_run(ctx, nil)); err != nil {
		return 0, err
	}
	out := C.rknn_output{want_float: 1}
	if err := check("rknn_outputs_get", C.rknn_outputs_get(ctx, 1, &out, nil)); err != nil {
		return 0, err
	}
	p := unsafe.Slice((*float32)(out.buf), 10)
	best := 0
	for i := range p {
		if p[i] > p[best] {
			best = i
		}
	}
	return best, check("rknn_outputs_release", C.rknn_outputs_release(ctx, 1, &out))
}

// infer recognizes in all threads and returns how many were right.
func infer(source C.rknn_context, images []image) (int64, error) {
	var wg sync.WaitGroup
	var right, next atomic.Int64
	failures := make(chan error, threads)
	for range threads {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var ctx C.rknn_context
			from := source
			err := check("rknn_dup_context", C.rknn_dup_context(&from, &ctx))
			for k := next.Add(1); err == nil && k <= inferences; k = next.Add(1) {
				m, digit := images[int(k)%len(images)], 0
				if digit, err = recognize(ctx, m.ink); err == nil && digit == m.digit {
					right.Add(1)
				}
				if k%8 == 0 {
					runtime.GC()
				}
			}
			if err == nil {
				err = check("rknn_destroy", C.rknn_destroy(ctx))
			}
			if err != nil {
				failures <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failures:
		return 0, err
	default:
		return right.Load(), nil
	}
}

func run() error {
	var images []image
	for _, path := range os.Args[2:] {
		m, err := read(path)
		if err != nil {
			return err
		}
		images = append(images, m)
	}
	path := C.CString(os.Args[1])
	defer C.free(unsafe.Pointer(path))
	var ctx C.rknn_context
	if err := check("rknn_init", C.rknn_init(&ctx, unsafe.Pointer(path), 0, 0, nil)); err != nil {
		return err
	}
	var right [2]int64
	for i := range right {
		if i == 1 {
			if err := register(ctx); err != nil {
				return err
			}
		}
		n, err := infer(ctx, images)
		if err != nil {
			return err
		}
		right[i] = n
	}
	if err := check("rknn_destroy", C.rknn_destroy(ctx)); err != nil {
		return err
	}
	if right[0] < inferences*97/100 || right[1] != right[0] || relus.Load() < inferences {
		return fmt.Errorf("%d and %d of %d right, %d calls of goRelu", right[0], right[1], inferences, relus.Load())
	}
	if n := C.anynpu_live_handles(); n != 0 {
		return fmt.Errorf("%d handles left", n)
	}
	fmt.Printf("%d of %d digits are right in %d threads, %d with an operator in Go\n", right[0], inferences, threads,
		right[1])
	return nil
}

func main() {
	if len(os.Args) < 3 {
		fmt.Println("usage: rknn MODEL IMAGE...")
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
