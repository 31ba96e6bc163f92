// Eight whole numbers side by side, of as many games: a register of AVX2.
#pragma once

#include "portable.h"

namespace cellgames {

constexpr int kInts = 8;

#if defined(__GNUC__)
typedef uint32_t Ints __attribute__((vector_size(4 * kInts)));
typedef int32_t Flags __attribute__((vector_size(4 * kInts)));  // all bits of a number set, or none
CELLGAMES_INLINE Ints every(uint32_t number) { return number - Ints{}; }
CELLGAMES_INLINE Ints pick(Flags flags, Ints yes, Ints no) {
    const Ints mask = reinterpret_cast<Ints>(flags);
    return (yes & mask) | (no & ~mask);
}
#else
struct Ints {
    uint32_t lane[kInts];
};
using Flags = Ints;
CELLGAMES_INLINE Ints every(uint32_t number) {
    Ints all;
    for (uint32_t& lane : all.lane) lane = number;
    return all;
}
#define CELLGAMES_OPERATOR(symbol, result)                                                      \
    CELLGAMES_INLINE Ints operator symbol(Ints a, Ints b) {                                     \
        Ints out;                                                                               \
        for (int i = 0; i < kInts; ++i) out.lane[i] = result(a.lane[i] symbol b.lane[i]);       \
        return out;                                                                             \
    }                                                                                           \
    CELLGAMES_INLINE Ints operator symbol(Ints a, uint32_t b) { return a symbol every(b); }
#define CELLGAMES_FLAG(condition) ((condition) ? ~0u : 0u)
CELLGAMES_OPERATOR(&, )
CELLGAMES_OPERATOR(|, )
CELLGAMES_OPERATOR(^, )
CELLGAMES_OPERATOR(+, )
CELLGAMES_OPERATOR(-, )
CELLGAMES_OPERATOR(*, )
CELLGAMES_OPERATOR(<<, )
CELLGAMES_OPERATOR(>>, )
CELLGAMES_OPERATOR(==, CELLGAMES_FLAG)
CELLGAMES_OPERATOR(!=, CELLGAMES_FLAG)
CELLGAMES_OPERATOR(<, CELLGAMES_FLAG)
CELLGAMES_OPERATOR(>=, CELLGAMES_FLAG)
CELLGAMES_INLINE Ints pick(Flags flags, Ints yes, Ints no) { return (yes & flags) | (no & (flags ^ ~0u)); }
#endif

}  // namespace cellgames
