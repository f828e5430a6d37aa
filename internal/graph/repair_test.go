package graph

import (
	"encoding/binary"
	"hash/crc32"
)

// repair sets the checksums and the length of a file right.
func repair(b []byte) {
	binary.LittleEndian.PutUint64(b[16:], uint64(len(b)))
	count := int(min(binary.LittleEndian.Uint32(b[12:]), maxSections))
	end := headerBytes + entryBytes*count
	if end > len(b) {
		return
	}
	for i := range count {
		at := b[headerBytes+entryBytes*i:]
		var s section
		s.get(at)
		if s.off <= uint64(len(b)) && s.length <= uint64(len(b))-s.off {
			binary.LittleEndian.PutUint32(at[4:], crc32.Checksum(b[s.off:s.off+s.length], castagnoli))
			if c, ok := s.headSum(b[s.off : s.off+s.length]); ok {
				binary.LittleEndian.PutUint32(at[32:], c)
			}
		}
	}
	binary.LittleEndian.PutUint32(b[60:], headerSum(b[:end]))
}
