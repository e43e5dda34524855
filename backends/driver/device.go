package driver

import (
	"errors"
	"strconv"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
)

// MaxDevices bounds the list of a driver's devices.
const MaxDevices = 64

// Config describes the devices of a driver.
type Config struct {
	ID       string        // of the first device; the others have 2, 3 and so on behind it
	Name     string        // of the driver
	Patience time.Duration // of Life
	// Died gets the reason when all devices die together, and once for each that dies alone; may be nil.
	Died func(reason string)
	Made int // devices of the same ID that were made before, of other drivers
}

// Devices makes the devices of a driver, which share its life and take turns when they have it make programs.
type Devices struct {
	config   Config
	life     *Life
	building Lane
	build    string
	made     int
}

// Devices returns what makes the devices of a driver, whose functions are called from now on only while it lives. Kind
// fault.Unsupported when the driver lacks a function that is needed, fault.File when its file cannot be read.
func (l *Library) Devices(c Config, needed []string) (*Devices, error) {
	if err := l.Needs(needed); err != nil {
		return nil, err
	}
	build, err := l.Sum()
	if err != nil {
		return nil, err
	}
	life := NewLife(c.ID, c.Patience, c.Died)
	l.While(life.Alive)
	return &Devices{config: c, life: life, building: NewLane(), build: build, made: c.Made}, nil
}

// Next is the next device. It has the driver's id, with 2, 3 and so on behind it if it is not the first, and the sum of
// the driver's file, followed by the further words of info.
func (d *Devices) Next(info device.Info) Device {
	d.made++
	info.ID, info.BuildHash = d.config.ID, d.build+info.BuildHash
	if d.made > 1 {
		info.ID += strconv.Itoa(d.made)
	}
	return Device{Life: d.life, Building: d.building, info: info, own: NewLife(info.ID, 0, d.config.Died)}
}

// Skip leaves out the next id.
func (d *Devices) Skip() { d.made++ }

// Device is the common part of every device.Device behind a driver. A device embeds it, and adds Support, Compile and
// Load.
//
// A call that does not return may hold any lock of the driver, so that all devices of a driver share a Life. One that
// the driver says is dead has died alone: no call of it succeeds any more, but the driver can be called on, and what it
// has of the device is freed.
type Device struct {
	*Life         // of the driver
	Building Lane // of the driver's calls that make programs, for drivers that take graphs

	info device.Info
	own  *Life // of this device alone
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info }

// Alive is the error of a device that has died, alone or with its driver, else nil.
func (d *Device) Alive() error {
	if err := d.Life.Alive(); err != nil {
		return err
	}
	return d.own.Alive()
}

// Note ends the device if err, the driver's answer, says that it is dead. It returns err.
func (d *Device) Note(err error) error {
	if errors.Is(err, device.ErrDied) && d.Alive() == nil {
		d.own.End("%v", err)
	}
	return err
}

// Alloc implements device.Device: memory with a file descriptor, which a driver may take as it is.
func (d *Device) Alloc(size int64) (mem.Buffer, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	return mem.Memfd(size, mem.Options{Name: "anynpu-" + d.info.ID})
}
