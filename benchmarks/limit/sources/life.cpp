// Life on tori of 64 x 64: a row in a word, a board in each lane of a wide word, as many generations in a call as are wanted.
#include "common.h"

using namespace limit;

namespace {

constexpr int kRows = 64;

// Ones and twos of each cell and the two beside it.
inline void row_sums(Wide x, Wide* sums) {
    const Wide west = (x << 1) | (x >> 63), east = (x >> 1) | (x << 63);
    sums[0] = sum(west, x, east);
    sums[1] = carry(west, x, east);
}

// One generation in place: three rows of sums are all that is kept of the old one.
void generation(u64* board) {
    Wide first[2], above[2], here[2], below[2], now = load(board), next;
    row_sums(load(board + (kRows - 1) * kLanes), above);
    row_sums(now, here);
    first[0] = here[0], first[1] = here[1];
    for (int row = 0; row < kRows; ++row) {
        if (row + 1 < kRows) {
            next = load(board + (row + 1) * kLanes);
            row_sums(next, below);
        } else {
            next = now, below[0] = first[0], below[1] = first[1];
        }
        store(board + row * kLanes, life(nine(above, here, below), now));
        above[0] = here[0], above[1] = here[1];
        here[0] = below[0], here[1] = below[1];
        now = next;
    }
}

}  // namespace

LIMIT_EXPORT i64 limit_lanes() { return kLanes; }

// tiles: [boards / lanes, 64, lanes] words, overwritten.
LIMIT_EXPORT void limit_life(i64 boards, i64 generations, i64 threads, u64* tiles) {
    in_parts(boards / kLanes, 1, threads, [&](i64 from, i64 to, i64) {
        for (i64 tile = from; tile < to; ++tile)
            for (i64 i = 0; i < generations; ++i) generation(tiles + tile * kRows * kLanes);
    });
}
