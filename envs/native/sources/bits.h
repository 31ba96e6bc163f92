// Words of eight boards side by side, and counts of neighbours on them: `envs/boards/bitboards.py`.
#pragma once

#include <cstring>

#include "portable.h"

namespace cellgames {

constexpr int kLanes = 8;

#if defined(__GNUC__)
typedef uint64_t Words __attribute__((vector_size(8 * kLanes)));
typedef uint64_t LooseWords __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));
CELLGAMES_INLINE Words load(const uint64_t* from) { return *reinterpret_cast<const LooseWords*>(from); }
CELLGAMES_INLINE void store(uint64_t* to, Words words) { *reinterpret_cast<LooseWords*>(to) = words; }
CELLGAMES_INLINE Words every(uint64_t word) { return word - Words{}; }
#else
struct Words {
    uint64_t lane[kLanes];
};
template <class Operation>
CELLGAMES_INLINE Words each(Words a, Words b, Operation operation) {
    Words out;
    for (int i = 0; i < kLanes; ++i) out.lane[i] = operation(a.lane[i], b.lane[i]);
    return out;
}
CELLGAMES_INLINE Words operator&(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x & y; }); }
CELLGAMES_INLINE Words operator|(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x | y; }); }
CELLGAMES_INLINE Words operator^(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x ^ y; }); }
CELLGAMES_INLINE Words operator~(Words a) { return each(a, a, [](uint64_t x, uint64_t) { return ~x; }); }
CELLGAMES_INLINE Words operator<<(Words a, int n) { return each(a, a, [n](uint64_t x, uint64_t) { return x << n; }); }
CELLGAMES_INLINE Words operator>>(Words a, int n) { return each(a, a, [n](uint64_t x, uint64_t) { return x >> n; }); }
CELLGAMES_INLINE Words load(const uint64_t* from) {
    Words words;
    std::memcpy(&words, from, sizeof words);
    return words;
}
CELLGAMES_INLINE void store(uint64_t* to, Words words) { std::memcpy(to, &words, sizeof words); }
CELLGAMES_INLINE Words every(uint64_t word) {
    Words words;
    for (int i = 0; i < kLanes; ++i) words.lane[i] = word;
    return words;
}
#endif

CELLGAMES_INLINE Words odd(Words a, Words b, Words c) { return a ^ b ^ c; }
CELLGAMES_INLINE Words two_of(Words a, Words b, Words c) { return (a & b) | ((a ^ b) & c); }

// The number of live cells among three of a row, the middle one being the cell itself: ones and twos.
struct Across {
    Words ones, twos;
};

CELLGAMES_INLINE Across across(Words row) {
    const Words left = row << 1, right = row >> 1;
    return {odd(left, row, right), two_of(left, row, right)};
}

}  // namespace cellgames
