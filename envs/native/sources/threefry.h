// Chance that is counted, not consumed: `envs/core/chance.py`.
#pragma once

#include "portable.h"

namespace cellgames {

// 63 random bits by Threefry-2x32 with 20 rounds: `chance.draw`.
inline uint64_t draw_63(int64_t seed, uint32_t purpose, uint32_t counter = 0) {
    constexpr int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const uint32_t low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32);
    const uint32_t keys[3] = {low, high, low ^ high ^ 0x1BD11BDAu};
    uint32_t x = counter + keys[0], y = purpose + keys[1];
    for (uint32_t block = 0; block < 5; ++block) {
        for (int turn : turns[block % 2]) {
            x += y;
            y = (y << turn | y >> (32 - turn)) ^ x;
        }
        x += keys[(block + 1) % 3];
        y += keys[(block + 2) % 3] + block + 1;
    }
    return static_cast<uint64_t>(y & 0x7FFFFFFFu) << 32 | x;
}

// The low half of these bits, which `uniform_int` takes.
inline uint32_t draw(int64_t seed, uint32_t purpose, uint32_t counter = 0) {
    return static_cast<uint32_t>(draw_63(seed, purpose, counter));
}

// A number below `high` of a draw's bits.
inline int64_t uniform_int(uint32_t bits, uint32_t high) {
    return static_cast<int64_t>(static_cast<uint64_t>(bits) * high >> 32);
}

// The seed of the next game of an env.
inline int64_t next_seed(int64_t seed) { return (seed & ((int64_t{1} << 61) - 1)) + 0x1E3779B97F4A7C15; }

}  // namespace cellgames
