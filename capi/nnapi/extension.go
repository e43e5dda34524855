package nnapi

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Extensions (section 7). A device has extensions of its vendor's; the processor has none, and neither has any device
// of this library, so that no name is known.

func deviceGetExtensionSupport(p unsafe.Pointer, _ string, supported *bool) error {
	_, err := deviceAt("device", p)
	if err == nil {
		*supported = false
	}
	return err
}

func unknownExtension(name string) error {
	return badData("extensionName: %q: no device has this extension [nnapi-extension-name-no]", name)
}

func modelGetExtensionOperandType(_ *Model, name string, _ uint16, _ *int32) error {
	return unknownExtension(name)
}

func modelGetExtensionOperationType(_ *Model, name string, _ uint16, _ *OperationType) error {
	return unknownExtension(name)
}

// modelSetOperandExtensionData copies the data.
func modelSetOperandExtensionData(m *Model, index int32, p unsafe.Pointer, n uint64) error {
	if p == nil && n > 0 {
		return null("data")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	o, err := m.operand("index", uint32(index))
	if err != nil {
		return err
	}
	if p != nil && n == 0 {
		return badData("length: 0: want NULL with it, or the number of bytes [nnapi-length-null-number]")
	}
	if !o.Type.IsExtension() {
		return badData("index: operand %d is %v: want a type of an extension [nnapi-index-operand-type]", index, o.Type)
	}
	data, err := elements((*byte)(p), n, "data")
	if err != nil {
		return err
	}
	kept, err := mem.Clone(data)
	if err != nil {
		return fault.Wrap(err, "data")
	}
	o.Extension = kept
	return nil
}

func compilationAddExtensionAttribute(c *Compilation, name string, _ uint16, p unsafe.Pointer, n uint64) error {
	if p == nil && n > 0 {
		return null("data")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if err := c.single("an attribute"); err != nil {
		return err
	}
	return unknownExtension(name)
}

func executionAddExtensionAttribute(e *Execution, name string, _ uint16, p unsafe.Pointer, n uint64) error {
	if p == nil && n > 0 {
		return null("data")
	}
	if err := e.compiled.single("an attribute"); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(); err != nil {
		return err
	}
	return unknownExtension(name)
}
