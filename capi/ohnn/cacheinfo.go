package ohnn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"

	"github.com/anynpu/anynpu/core/fault"
)

// cacheInfo is the content of a cache's info file (section 9): one compact JSON object with sorted keys and a newline.
type cacheInfo struct {
	device     uint64 // written as a signed number
	sums       []uint16
	model      uint64
	hasModel   bool
	op         int64
	hasOp      bool
	version    uint32
	overLimit  bool
	fileNumber int
}

// Cache limits of the reference implementation.
const (
	maxCacheFiles    = 100
	cacheDescriptors = 2 // the last two data files describe inputs and outputs
	reservedVersion  = math.MaxUint32
)

func (c cacheInfo) encode() []byte {
	limit := 0
	if c.overLimit {
		limit = 1
	}
	data := mustJSON(map[string]any{
		"deviceId": int64(c.device), "fileNumber": c.fileNumber, "isExceedRamLimit": limit, "liteGraphModelId": c.model,
		"modelCheckSum": c.sums, "opVersion": c.op, "version": c.version,
	})
	return append(mustJSON(map[string]any{"CheckSum": checksum(data), "data": json.RawMessage(data)}), '\n')
}

// mustJSON encodes what always has a JSON form; the keys of maps come out sorted.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// decodeCacheInfo reads an info file. Anything missing (but opVersion), of the wrong type or with a wrong checksum is
// of kind fault.File.
func decodeCacheInfo(text []byte) (cacheInfo, error) {
	bad := func(what string) (cacheInfo, error) {
		return cacheInfo{}, fault.New(fault.File, "the cache's info file is damaged: %s [ohnn-cache-info-file]", what)
	}
	var file struct {
		CheckSum *int64
		Data     map[string]any `json:"data"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return bad(err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return bad("something follows the object")
	}
	if file.CheckSum == nil || file.Data == nil {
		return bad("CheckSum or data is missing")
	}
	if want := checksum(mustJSON(file.Data)); *file.CheckSum != int64(want) {
		return bad("its checksum is wrong")
	}
	var c cacheInfo
	var ok bool
	number := func(key string) int64 {
		n, isNumber := file.Data[key].(json.Number)
		v, err := n.Int64()
		ok = ok && isNumber && err == nil
		return v
	}
	ok = true
	c.device = uint64(number("deviceId"))
	c.fileNumber = int(number("fileNumber"))
	version := number("version")
	number("isExceedRamLimit")
	sums, isList := file.Data["modelCheckSum"].([]any)
	if !ok || !isList || version < 0 || version > math.MaxUint32 {
		return bad("a key is missing or not of its type")
	}
	c.version = uint32(version)
	if c.fileNumber <= cacheDescriptors || c.fileNumber > maxCacheFiles || len(sums) != c.fileNumber {
		return bad("the number of files is impossible")
	}
	for _, s := range sums {
		n, isNumber := s.(json.Number)
		v, err := n.Int64()
		if !isNumber || err != nil || v < 0 || v > math.MaxUint16 {
			return bad("a checksum is no number of 16 bits")
		}
		c.sums = append(c.sums, uint16(v))
	}
	if n, isNumber := file.Data["liteGraphModelId"].(json.Number); isNumber {
		if err := json.Unmarshal([]byte(n), &c.model); err != nil {
			return bad("liteGraphModelId is no unsigned number of 64 bits")
		}
		c.hasModel = true
	}
	if n, isNumber := file.Data["opVersion"].(json.Number); isNumber {
		v, err := n.Int64()
		c.op, c.hasOp = v, err == nil
	}
	return c, nil
}

// checksum is the reference's: the inverted sum of little-endian 16-bit words, carries folded in, where a carry out of
// 32 bits is lost.
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.LittleEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0])
	}
	return fold(sum)
}

func fold(sum uint32) uint16 {
	for sum>>16 != 0 {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

const sampleFrom = 2 << 20

// fileChecksum is checksum for data files; from 2 MiB on only a sample of the words counts, and then the last byte.
func fileChecksum(b []byte) uint16 {
	if len(b) < sampleFrom {
		return checksum(b)
	}
	step := len(b) / sampleFrom
	var sum uint32
	at := 0
	for rest := len(b); rest > 2*step+1; rest -= 2 * step {
		sum += uint32(binary.LittleEndian.Uint16(b[at:]))
		at += 2 * step
	}
	return fold(sum + uint32(b[len(b)-1]))
}

// opVersion stands for the build of the device's code in the info file.
func opVersion(d *npu) int64 { return int64(crc32.ChecksumIEEE([]byte(d.Info().BuildHash))) }
