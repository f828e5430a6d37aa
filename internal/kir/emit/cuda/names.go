package cuda

import (
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// words are names that no variable may have: names of the language, and of functions that the
// text calls.
const words = `alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
u8 u16 u32 u64 i32 i64 f32 f64 u128 Set Row Adj SparseAdj Column Graph G DEV DEV_NOINLINE ALL UNROLL ROLLED likely unlikely
g q intersect subtract filter count_if sum_each min max divide modulo shift_left shift_right emit fail SharedLoop`

// reserved are the names that are taken before a function has any.
func reserved() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(words) {
		out[name] = true
	}
	for _, b := range kir.Builtins {
		out[b.Name] = true
	}
	return out
}
