package layout

import "math/bits"

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
// bits, or if they take at most room bytes.
func newRanks(ids []uint32, end uint32, room int) ranks {
	r := ranks{end: end}
	all := int(end)
	for first := uint32(0); ; first = 1 {
		// The words that have bits behind a word 0, which is that of all others; and their numbers.
		words := []rankWord{0}
		var numbers []uint32
		for i, id := range ids {
			k := len(numbers)
			if k == 0 || numbers[k-1] != id>>rankBits {
				words, numbers = append(words, rankWord(first+uint32(i))<<32), append(numbers, id>>rankBits)
				k++
			}
			words[k] |= 1 << (id % (1 << rankBits))
		}
		all = (all + 1<<rankBits - 1) >> rankBits
		whole := all <= 2*len(words) || 8*all <= room || r.words != nil && all <= wholeWords
		if whole {
			some := words[1:]
			words = make([]rankWord, all)
			for i, k := range numbers {
				words[k] = some[i]
			}
		}
		if r.words == nil {
			r.words = words
		} else {
			r.above = append(r.above, words)
		}
		if whole {
			return r
		}
		ids = numbers
	}
}

// bytes returns the size of all words.
func (r *ranks) bytes() uint64 {
	n := len(r.words)
	for _, words := range r.above {
		n += len(words)
	}
	return 8 * uint64(n)
}
