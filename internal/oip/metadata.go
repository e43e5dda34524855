package oip

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Append appends the message to b.
func (m Flag) Append(b []byte) []byte { return appendFlag(b, 1, m.Value) }

// ParseFlag reads a message of one bool, a response of ServerLive, ServerReady or ModelReady.
func ParseFlag(b []byte) (m Flag, err error) {
	err = each("ready", b, func(f field) error {
		if f.num == 1 {
			return f.flag("ready", &m.Value)
		}
		return nil
	})
	return m, err
}

// Append appends the message to b.
func (m ModelName) Append(b []byte) []byte { return appendText(appendText(b, 1, m.Name), 2, m.Version) }

// ParseModelName reads a request of ModelReady or ModelMetadata.
func ParseModelName(b []byte) (m ModelName, err error) {
	const what = "model name"
	err = each(what, b, func(f field) error {
		switch f.num {
		case 1:
			return f.text(what, &m.Name)
		case 2:
			return f.text(what, &m.Version)
		}
		return nil
	})
	return m, err
}

// Append appends the message to b.
func (m *Server) Append(b []byte) []byte {
	return appendTexts(appendText(appendText(b, 1, m.Name), 2, m.Version), 3, m.Extensions)
}

// ParseServer reads a response of ServerMetadata.
func ParseServer(b []byte) (m *Server, err error) {
	const what = "server metadata"
	m = &Server{}
	err = each(what, b, func(f field) error {
		switch f.num {
		case 1:
			return f.text(what, &m.Name)
		case 2:
			return f.text(what, &m.Version)
		case 3:
			return f.texts(what, &m.Extensions)
		}
		return nil
	})
	return m, err
}

// Append appends the message to b.
func (m *Model) Append(b []byte) []byte {
	b = appendText(appendTexts(appendText(b, 1, m.Name), 2, m.Versions), 3, m.Platform)
	for num, list := range [...][]Port{4: m.Inputs, 5: m.Outputs} {
		for i := range list {
			p := &list[i]
			b = appendMessage(b, protowire.Number(num),
				appendShape(appendText(appendText(nil, 1, p.Name), 2, p.Datatype), 3, p.Shape))
		}
	}
	return b
}

// ParseModel reads a response of ModelMetadata.
func ParseModel(b []byte) (m *Model, err error) {
	const what = "model metadata"
	m = &Model{}
	err = each(what, b, func(f field) error {
		switch f.num {
		case 1:
			return f.text(what, &m.Name)
		case 2:
			return f.texts(what, &m.Versions)
		case 3:
			return f.text(what, &m.Platform)
		case 4:
			return f.port(what, &m.Inputs)
		case 5:
			return f.port(what, &m.Outputs)
		}
		return nil
	})
	return m, err
}

// port appends a port.
func (f field) port(what string, dst *[]Port) error {
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	if len(*dst) >= MaxTensors {
		return fmt.Errorf("%s: more than %d tensors", what, MaxTensors)
	}
	var p Port
	err := each(what, f.bytes, func(f field) error {
		switch f.num {
		case 1:
			return f.text(what, &p.Name)
		case 2:
			return f.text(what, &p.Datatype)
		case 3:
			return f.shape(what, &p.Shape)
		}
		return nil
	})
	*dst = append(*dst, p)
	return err
}
