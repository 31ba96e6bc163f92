// One generation of Life on tori of 64 columns, many boards at a time, in the layout of envs/core/bitboards.py:
// a row in a word, the boards next to each other. What a C++ programmer writes by hand, for comparison.
#include <cstdint>
extern "C" void advance(const uint64_t* __restrict now, uint64_t* __restrict then, long rows, long boards) {
  for (long row = 0; row < rows; row++) {
    const uint64_t* above = now + (row + rows - 1) % rows * boards;
    const uint64_t* here = now + row * boards;
    const uint64_t* below = now + (row + 1) % rows * boards;
    uint64_t* out = then + row * boards;
    for (long i = 0; i < boards; i++) {
      const uint64_t a = above[i], x = here[i], b = below[i];
      const uint64_t ones = a ^ b, twos = a & b, column = ones ^ x, pair = twos | (ones & x);
      const uint64_t left = column << 1 | column >> 63, right = column >> 1 | column << 63;
      const uint64_t left2 = pair << 1 | pair >> 63, right2 = pair >> 1 | pair << 63;
      const uint64_t either = left ^ right, low = either ^ ones, carry = (left & right) | (either & ones);
      const uint64_t sides = left2 ^ right2, middle = twos ^ carry;
      out[i] = (sides ^ middle) & ~((left2 & right2) | (twos & carry)) & (low | x);
    }
  }
}
