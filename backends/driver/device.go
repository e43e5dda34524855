package driver

import (
	"errors"
	"strconv"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
)

// Device is what every device.Device behind a driver has. A device embeds it, and adds Support, Compile and Load.
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

// NewDevice is a device of a driver, whose Life and Building it shares with its other devices. died is told when the
// device dies alone, and may be nil.
func NewDevice(life *Life, building Lane, info device.Info, died func(reason string)) Device {
	own := NewLife(info.ID, 0, died)
	return Device{Life: life, Building: building, info: info, own: own}
}

// Numbered is the id of device i of a driver, which counts from 0: the driver's own, then with 2, 3 and so on behind it.
func Numbered(id string, i int) string {
	if i == 0 {
		return id
	}
	return id + strconv.Itoa(i+1)
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
