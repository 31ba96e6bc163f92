// Random numbers that are a function of where they are used, so that no thread and no order changes them.
#pragma once

#include "portable.h"

namespace cellgames {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), of uint64_t or of a
// vector of such.
template <class Number>
CELLGAMES_INLINE Number mixed(Number x) {
    x = x + uint64_t{0x9E3779B97F4A7C15};
    x = (x ^ (x >> 30)) * uint64_t{0xBF58476D1CE4E5B9};
    x = (x ^ (x >> 27)) * uint64_t{0x94D049BB133111EB};
    return x ^ (x >> 31);
}

// lowbias32 (Wellons, "Prospecting for hash functions", 2018).
CELLGAMES_INLINE uint32_t mixed32(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

// Fill `count` numbers below 2^bits, which depend on the key only.
CELLGAMES_INLINE void fill_random(int32_t* out, int count, int bits, uint64_t key) {
    const uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
    for (int place = 0; place < count; ++place) {
        const uint32_t number = mixed32(mixed32(low + static_cast<uint32_t>(place) * 0x9E3779B9u) + high);
        out[place] = static_cast<int32_t>(number >> (32 - bits));
    }
}

}  // namespace cellgames
