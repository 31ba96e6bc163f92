// How the rows of boards of Grid Adaptation are packed into words: `envs/boards/packedboards.py`.
#pragma once

#include <algorithm>
#include <cstring>

#include "portable.h"

namespace cellgames {

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

}  // namespace cellgames
