package hbdnn

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

// Functions are a driver's functions that both generations of the API have, under one name.
type Functions interface {
	DnnGetVersion() (uintptr, error)
	DnnInitializeFromDDR(pack, data, lengths unsafe.Pointer, count int32) (int32, error)
	DnnRelease(pack uintptr) (int32, error)
	DnnGetModelNameList(names, count unsafe.Pointer, pack uintptr) (int32, error)
	DnnGetModelHandle(model unsafe.Pointer, pack uintptr, name unsafe.Pointer) (int32, error)
	DnnGetInputCount(count unsafe.Pointer, model uintptr) (int32, error)
	DnnGetInputName(name unsafe.Pointer, model uintptr, index int32) (int32, error)
	DnnGetInputTensorProperties(properties unsafe.Pointer, model uintptr, index int32) (int32, error)
	DnnGetOutputCount(count unsafe.Pointer, model uintptr) (int32, error)
	DnnGetOutputName(name unsafe.Pointer, model uintptr, index int32) (int32, error)
	DnnGetOutputTensorProperties(properties unsafe.Pointer, model uintptr, index int32) (int32, error)
}

// A vendor is a driver in the generation that it is of: tasks and memory differ.
type vendor interface {
	Functions
	words() *words
	// prepare writes the control values of a task with a priority.
	prepare(c *call, priority int32)
	// start makes a task of a model and has it run; its handle comes to the beginning of the call.
	start(c *call, model uintptr) error
	// finish waits for a task and ends it.
	finish(task uintptr) error
	// alloc, flush and free take the address of a description of memory.
	alloc(at unsafe.Pointer, size uint32) (int32, error)
	flush(at unsafe.Pointer, flag int32) (int32, error)
	free(at unsafe.Pointer) (int32, error)
}

// words are the names of functions in messages, and codes.
type words struct {
	wait, alloc, flush string
	noMemory, noBlock  int32            // for a model, and for memory of the driver's
	models             map[int32]string // of loading: the model is at fault, not the driver
}

// older is a driver of the older generation.
type older struct{ Driver }

var olderWords = words{wait: "hbDNNWaitTaskDone", alloc: "hbSysAllocCachedMem", flush: "hbSysFlushMem",
	noMemory: -6000007, noBlock: -6000130,
	models: map[int32]string{-6000002: "HB_DNN_INVALID_MODEL", -6000014: "HB_DNN_INCOMPATIBLE_MODEL"}}

func (older) words() *words { return &olderWords }

func (older) prepare(c *call, priority int32) { c.setWord(c.control+8, priority) }

func (o older) start(c *call, model uintptr) error {
	c.setAddress(8, uintptr(c.at(c.outputs)))
	code, err := o.DnnInfer(c.at(0), c.at(8), c.at(c.inputs), model, c.at(c.control))
	return made("hbDNNInfer", c, code, err)
}

func (o older) finish(task uintptr) error {
	code, err := o.DnnWaitTaskDone(task, 0)
	err = refused("hbDNNWaitTaskDone", code, err)
	code, released := o.DnnReleaseTask(task)
	if err == nil {
		err = refused("hbDNNReleaseTask", code, released)
	}
	return err
}

func (o older) alloc(at unsafe.Pointer, size uint32) (int32, error) {
	return o.SysAllocCachedMem(at, size)
}

func (o older) flush(at unsafe.Pointer, flag int32) (int32, error) { return o.SysFlushMem(at, flag) }
func (o older) free(at unsafe.Pointer) (int32, error)              { return o.SysFreeMem(at) }

// made is the error of a function that makes a task, nil if it has made one.
func made(function string, c *call, code int32, err error) error {
	if err = refused(function, code, err); err == nil && c.address(0) == 0 {
		err = fault.New(fault.Device, "%s succeeds without a task", function)
	}
	return err
}
