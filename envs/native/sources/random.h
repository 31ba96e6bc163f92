// Random numbers that are a function of where they are used, so that no thread and no order changes them.
#pragma once

#include <cstring>

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

// The sum of eight bytes, each 0 or 1, or of their sums over a few.
CELLGAMES_INLINE int64_t sum_bytes(uint64_t eight) { return static_cast<int64_t>(eight * 0x0101010101010101 >> 56); }

CELLGAMES_INLINE uint64_t eight_bytes(const void* from) {
    uint64_t eight;
    std::memcpy(&eight, from, sizeof eight);
    return eight;
}

// The legal action that stands behind `bits * all >> 31` others: `sampling.random_legal`. `counts`: room.
CELLGAMES_INLINE int64_t random_legal(const uint8_t* mask, int64_t actions, int64_t bits, uint8_t* counts) {
    constexpr int64_t kChunk = 64;
    int64_t all = 0, chunks = 0, at = 0;
    for (; at + kChunk <= actions; at += kChunk) {
        uint64_t sum = 0;
        for (int64_t byte = 0; byte < kChunk; byte += 8) sum += eight_bytes(mask + at + byte);
        all += counts[chunks++] = static_cast<uint8_t>(sum_bytes(sum));
    }
    for (; at < actions; ++at) all += mask[at];
    if (all == 0) return 0;
    int64_t rank = bits * all >> 31;
    at = 0;
    for (int64_t chunk = 0; chunk < chunks && rank >= counts[chunk]; ++chunk, at += kChunk) rank -= counts[chunk];
    for (int64_t count; at + 8 <= actions && rank >= (count = sum_bytes(eight_bytes(mask + at))); at += 8) rank -= count;
    for (;; ++at)
        if (mask[at] && rank-- == 0) return at;
}

}  // namespace cellgames
