package layout

import (
	"context"
	"math/bits"
	"slices"
	"unsafe"
)

// ranks gives the ids of a set their ranks: their numbers in ascending order. It is a bitmap of the ids with
// the number of bits before each word. Where few words have bits, only those are stored, and a bitmap
// of words says which they are, and so on.
//
// Why: a rank takes one read of a word, and one more for each bitmap above, without a jump that can be guessed
// wrongly. Runs of ids are found by several reads that wait for each other, and most labels
// of graphs with many labels have nearly as many runs as vertices.
type ranks struct {
	words []rankWord
	end   uint32       // no id is so large
	above [][]rankWord // of the bitmaps of words: above[0] of those of words, above[1] of those of above[0]
	all   []rankWord   // words and those above, one behind the other
}

// rankWord is 32 bits of a bitmap, and above them the number of the first: the rank of an id, or the place
// of a word.
type rankWord uint64

const rankBits = 5 // the binary logarithm of the number of bits of a word

// find returns the number of a bit that is set and 1, or 0 and 0.
func (w rankWord) find(bit uint32) (at, in uint32) {
	bit %= 1 << rankBits
	in = uint32(w) >> bit & 1
	return in * (uint32(w>>32) + uint32(bits.OnesCount32(uint32(w)&(1<<bit-1)))), in
}

// place returns the place of the word with this number, or 0 if it is not stored.
func (r *ranks) place(number uint32) (at uint32) {
	k := len(r.above) - 1
	for at = number >> (rankBits * (k + 1) & 31); k >= 0; k-- {
		if at, _ = r.above[k][at].find(number >> (rankBits * k & 31)); at == 0 {
			return 0
		}
	}
	return at
}

// wholeWords is the most words of an upper bitmap that are all stored, however few have bits.
const wholeWords = 64

// newRanks returns the ranks of ids, which ascend and are below end. All words are stored if half of them have
// bits, or if they take at most room bytes. The error is that of the context.
func newRanks(ctx context.Context, ids []uint32, end uint32, room, threads int) (ranks, error) {
	r := ranks{end: end}
	all := int(end)
	var levels [][]rankWord
	for first := uint32(0); ; first = 1 {
		begin, err := starts(ctx, ids, rankBits, 0, threads)
		if err != nil {
			return ranks{}, err
		}
		numbers := make([]uint32, len(begin)-1) // of the words that have bits
		for i, at := range begin[:len(numbers)] {
			numbers[i] = ids[at] >> rankBits
		}
		all = (all + 1<<rankBits - 1) >> rankBits
		whole := all <= 2*(len(numbers)+1) || 8*all <= room || levels != nil && all <= wholeWords
		// These words stand behind a word 0, which is that of all others, or at their numbers.
		var words []rankWord
		if whole {
			words = make([]rankWord, all)
		} else {
			words = make([]rankWord, len(numbers)+1)
		}
		err = blocksOf(len(numbers), count(threads)).each(ctx, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				w := rankWord(first+begin[i]) << 32
				for _, id := range ids[begin[i]:begin[i+1]] {
					w |= 1 << (id % (1 << rankBits))
				}
				if whole {
					words[numbers[i]] = w
				} else {
					words[i+1] = w
				}
			}
		})
		if err != nil {
			return ranks{}, err
		}
		levels = append(levels, words)
		if whole {
			break
		}
		ids = numbers
	}
	// All levels share one array, which devices take as it is.
	r.all = slices.Concat(levels...)
	at := 0
	for i, words := range levels {
		level := r.all[at : at+len(words) : at+len(words)]
		if at += len(words); i == 0 {
			r.words = level
		} else {
			r.above = append(r.above, level)
		}
	}
	return r, nil
}

// bytes returns the size of all words.
func (r *ranks) bytes() uint64 { return 8 * uint64(len(r.all)) }

// RankIndex has the words of a rank bitmap for programs that read them elsewhere.
type RankIndex struct {
	// Words has each word as the two halves of a 64-bit number of this machine. Its low 32 bits are a bit for each of 32
	// ids, and its high 32 bits the number of bits before them. Level 0 says which ids there are, and
	// level k+1 which words of level k are stored; of the last level all are.
	Words []uint32
	First []uint32 // the number of each level's first word
}

// index returns the words, which it does not copy.
func (r *ranks) index() RankIndex {
	x := RankIndex{First: []uint32{0}}
	if len(r.all) > 0 {
		x.Words = unsafe.Slice((*uint32)(unsafe.Pointer(&r.all[0])), 2*len(r.all))
	}
	for at, k := len(r.words), 0; k < len(r.above); k++ {
		x.First = append(x.First, uint32(at))
		at += len(r.above[k])
	}
	return x
}
