// Counts of neighbours on boards of Grid Adaptation: `envs/boards/packedboards.py`.
// No `pragma once`: each_target.h includes this once for each instruction set.
#include "grid_adaptation.h"

namespace CELLGAMES_NAMESPACE {

// Count the cells of a board with those above and below it, and these columns of three with both beside them.
CELLGAMES_INLINE Nine nine_of(const Packing& packing, const Words* board, int words, int word) {
    const int down = static_cast<int>(packing.stride);
    const int up = static_cast<int>((packing.rows_a_word - 1) * packing.stride);
    Words above = board[word] << down, below = board[word] >> down;
    if (word > 0) above = above | board[word - 1] >> up;
    if (word + 1 < words) below = below | board[word + 1] << up;
    const Words ones = odd(above, board[word], below), twos = two_of(above, board[word], below);
    return Nine(Rows{{ones << 1, twos << 1}, {ones, twos}, {ones >> 1, twos >> 1}});
}

}  // namespace CELLGAMES_NAMESPACE
