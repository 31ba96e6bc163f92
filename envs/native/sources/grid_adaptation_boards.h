// Boards of Grid Adaptation: how rows are packed into words, and counts of neighbours: `envs/boards/packedboards.py`.
// No `pragma once`: each_target.h includes this once for each instruction set.
#include <algorithm>

namespace CELLGAMES_NAMESPACE {

constexpr int kMostWords = 16;

// A square board's rows in words, as `PackedGrid` has them.
struct Packing {
    int64_t stride, rows_a_word;
    int words;
    uint64_t cells[kMostWords];

    explicit Packing(int64_t size)
        : stride(size + 1), rows_a_word(std::min(size, 64 / stride)),
          words(static_cast<int>((size + rows_a_word - 1) / rows_a_word)) {
        std::memset(cells, 0, sizeof cells);
        for (int64_t row = 0; row < size; ++row)
            cells[row / rows_a_word] |= low_bits(static_cast<int>(size)) << row % rows_a_word * stride;
    }
};

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
