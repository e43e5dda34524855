package oip

import (
	"os"
	"strings"
	"testing"
	"text/scanner"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// protocol reads oip.proto, so that protobuf's own library marshals what it declares: the tests' second opinion.
func protocol(t testing.TB) protoreflect.FileDescriptor {
	t.Helper()
	src, err := os.ReadFile("oip.proto")
	require.NoError(t, err)
	var s scanner.Scanner
	s.Init(strings.NewReader(string(src)))
	next := func() string { s.Scan(); return s.TokenText() }
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("oip.proto"), Package: proto.String("inference"),
		Syntax: proto.String("proto3")}
	scalars := map[string]descriptorpb.FieldDescriptorProto_Type{"bool": 8, "int32": 5, "int64": 3, "uint32": 13,
		"uint64": 4, "float": 2, "double": 1, "bytes": 12, "string": 9}
	skip := func() {
		for depth := 0; ; {
			switch next() {
			case "{":
				depth++
			case "}":
				if depth--; depth == 0 {
					return
				}
			}
		}
	}
	for tok := next(); tok != ""; tok = next() {
		switch tok {
		case "service":
			skip()
		case "message":
			m := &descriptorpb.DescriptorProto{Name: proto.String(next())}
			require.Equal(t, "{", next())
			field := func(typ, name string, label descriptorpb.FieldDescriptorProto_Label) *descriptorpb.FieldDescriptorProto {
				f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Label: label.Enum()}
				if k, ok := scalars[typ]; ok {
					f.Type = k.Enum()
				} else {
					f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".inference."+typ)
				}
				return f
			}
			number := func(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
				require.Equal(t, "=", next())
				n := int32(next()[0] - '0')
				f.Number = &n
				require.Equal(t, ";", next())
				return f
			}
			const one, many = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
			for tok = next(); tok != "}"; tok = next() {
				switch tok {
				case "repeated":
					typ := next()
					m.Field = append(m.Field, number(field(typ, next(), many)))
				case "map":
					for range 5 { // <string, InferParameter>
						next()
					}
					name := next()
					entry := strings.ToUpper(name[:1]) + name[1:] + "Entry"
					key, value := field("string", "key", one), field("InferParameter", "value", one)
					key.Number, value.Number = proto.Int32(1), proto.Int32(2)
					m.NestedType = append(m.NestedType, &descriptorpb.DescriptorProto{Name: &entry,
						Field:   []*descriptorpb.FieldDescriptorProto{key, value},
						Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}})
					f := field(m.GetName()+"."+entry, name, many)
					m.Field = append(m.Field, number(f))
				case "oneof":
					m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String(next())})
					require.Equal(t, "{", next())
					for tok = next(); tok != "}"; tok = next() {
						f := number(field(tok, next(), one))
						f.OneofIndex = proto.Int32(0)
						m.Field = append(m.Field, f)
					}
				default:
					m.Field = append(m.Field, number(field(tok, next(), one)))
				}
			}
			file.MessageType = append(file.MessageType, m)
		}
	}
	fd, err := protodesc.NewFile(file, nil)
	require.NoError(t, err)
	return fd
}

// message returns a message of oip.proto.
func message(t testing.TB, name string) *dynamicpb.Message {
	d := protocol(t).Messages().ByName(protoreflect.Name(name))
	require.NotNil(t, d, name)
	return dynamicpb.NewMessage(d)
}
