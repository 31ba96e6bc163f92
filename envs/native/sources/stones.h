// What games of connected stones share: `envs/stones`, whose words this uses.
#pragma once

#include <climits>
#include <cstring>

#include "lanes.h"

namespace cellgames::stones {

constexpr int kMostCells = 512;
constexpr int32_t kColour = 3, kGroup = 2047;
constexpr int kMoreShift = 11, kPlaceBits = 9, kLotBits = 21, kWord = 32;

CELLGAMES_INLINE int32_t one_frame(int32_t first, int32_t second, int colour) {
    return (first & kColour) == colour ? first : (second & kColour) == colour ? second : 0;
}

// Call body(first, wide) with a constant `wide` so that all of [0, count) is met, some of it twice: each block is a few
// vectors, with no rest. What body writes must follow from what was there before the first call.
template <int kWide, class Body>
CELLGAMES_INLINE void in_blocks(int count, const Body& body) {
    if (count < kWide) {
        for (int at = 0; at < count; ++at) body(at, 1);
        return;
    }
    for (int at = 0; at < count - kWide; at += kWide) body(at, kWide);
    body(count - kWide, kWide);
}

CELLGAMES_INLINE void move_group(int32_t* codes, int cells, int32_t group, int32_t by) {
    if (cells < kInts) {
        for (int cell = 0; cell < cells; ++cell) codes[cell] += (codes[cell] & kGroup) == group ? by : 0;
        return;
    }
    const auto moved = [&](const int32_t* from) {
        Ints part;
        std::memcpy(&part, from, sizeof part);
        return part + pick((part & every(kGroup)) == every(static_cast<uint32_t>(group)), every(static_cast<uint32_t>(by)), every(0));
    };
    const Ints last = moved(codes + cells - kInts);  // overlaps the part before it
    for (int cell = 0; cell < cells - kInts; cell += kInts) {
        const Ints part = moved(codes + cell);
        std::memcpy(codes + cell, &part, sizeof part);
    }
    std::memcpy(codes + cells - kInts, &last, sizeof last);
}

// A full board, at random.
class RandomBoard {
  protected:
    uint8_t black_[kMostCells + 16] = {};  // 1 where Black is; rows are read 16 at a time

    // Give the free cells of the lowest lots to the mover, half of them, and the rest to the opponent. `lots` are below
    // 2^21, one for each cell.
    CELLGAMES_INLINE_MEMBER void fill(int cells, const int32_t* codes, int mover, const int32_t* lots) {
        int32_t free = 0;
        for (int cell = 0; cell < cells; ++cell) {
            const bool taken = codes[cell] != 0;
            keys_[cell] = taken ? INT32_MAX : (lots[cell] << kPlaceBits) + cell;
            free += !taken;
        }
        const int32_t last = lowest(cells, free, (free + 1) / 2);
        const bool white = mover == 2;
        for (int cell = 0; cell < cells; ++cell) {
            const bool drawn = (keys_[cell] <= last) != white;
            black_[cell] = codes[cell] ? (codes[cell] & kColour) == 1 : drawn;
        }
    }

  private:
    int32_t keys_[kMostCells];

    // The key that so many of the free cells' keys do not exceed. A guess by proportion is off by a few.
    CELLGAMES_INLINE_MEMBER int32_t lowest(int cells, int32_t free, int32_t wanted) {
        int32_t last = static_cast<int32_t>((int64_t{wanted} << (kLotBits + kPlaceBits)) / (free ? free : 1)) - 1;
        int32_t count = 0;
        for (int cell = 0; cell < cells; ++cell) count += keys_[cell] <= last;
        // The nearest key above, and the nearest one at or below: what is on the other side wraps around to huge numbers.
        for (; count < wanted; ++count) {
            uint32_t least = UINT32_MAX;
            const uint32_t from = static_cast<uint32_t>(last) + 1;
            for (int cell = 0; cell < cells; ++cell) {
                const uint32_t above = static_cast<uint32_t>(keys_[cell]) - from;
                least = above < least ? above : least;
            }
            last = static_cast<int32_t>(from + least);
        }
        for (; count > wanted; --count) {
            uint32_t least = UINT32_MAX;
            for (int cell = 0; cell < cells; ++cell) {
                const uint32_t below = static_cast<uint32_t>(last) - static_cast<uint32_t>(keys_[cell]);
                least = below < least ? below : least;
            }
            last -= static_cast<int32_t>(least) + 1;
        }
        return last;
    }
};

}  // namespace cellgames::stones
