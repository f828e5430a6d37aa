// Operators of kir whose result C++ leaves undefined for some operands. A whole number divided by 0, or modulo 0,
// is 0. A shift by all bits of a number or more gives 0, or -1 for a negative number shifted to the right. Signed
// numbers wrap.
#pragma once
#include "base/device.cuh"

template <class T> DEV T divide(T a, T b) { return b == 0 ? 0 : a / b; }
template <class T> DEV T modulo(T a, T b) { return b == 0 ? 0 : a % b; }
template <class T> DEV T shift_left(T a, u32 n) { return n < 8 * sizeof(T) ? a << n : 0; }
template <class T> DEV T shift_right(T a, u32 n) { return n < 8 * sizeof(T) ? a >> n : 0; }

// The least number has no quotient by -1.
DEV i64 divide(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? i64(-u64(a)) : a / b; }
DEV i64 modulo(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
DEV i64 shift_left(i64 a, u32 n) { return n < 64 ? i64(u64(a) << n) : 0; }
DEV i64 shift_right(i64 a, u32 n) { return a >> (n < 64 ? n : 63); }

// Device compilers leave division of 128-bit numbers to a library that is not there. Divisors are small as a rule:
// four steps of 32 bits.
DEV u128 divide(u128 a, u128 b) {
  if (b == 0) return 0;
  if (!(a >> 64) && !(b >> 64)) return u64(a) / u64(b);
  u128 q = 0, r = 0;
  if (b >> 32) {
    for (int i = 127; i >= 0; --i) {
      const bool over = r >> 127;
      r = r << 1 | (a >> i & 1);
      if (over || r >= b) { r -= b; q |= u128(1) << i; }
    }
    return q;
  }
  for (int i = 96; i >= 0; i -= 32) {
    const u64 part = u64(r) << 32 | u32(a >> i);
    q |= u128(part / u64(b)) << i;
    r = part % u64(b);
  }
  return q;
}
DEV u128 modulo(u128 a, u128 b) { return b == 0 ? 0 : a - divide(a, b) * b; }
