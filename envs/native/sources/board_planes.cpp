// Planes of packed boards and of numbers, as players see them: `envs/boards/board_planes.py`.
#include <cstring>

#include "portable.h"

namespace {

constexpr int kChunk = 16;  // cells that are written at a time
constexpr uint16_t kBit[kChunk] = {1,     1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                   1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};

struct Layout {
    int64_t rows, cols;      // of the board
    int64_t stored, words;   // rows, and words of a row, in memory
    const int64_t* widths;   // [words], columns in each
};

// Write the cells of a row as 0 and 1; `out` has room for a chunk more.
CELLGAMES_INLINE void unpack(const Layout& layout, const int64_t* row, int16_t* __restrict out) {
    int64_t start = 0;
    for (int64_t word = 0; word < layout.words; ++word) {
        const auto bits = static_cast<uint64_t>(row[word]);
        const int64_t left = layout.cols - start, width = layout.widths[word] < left ? layout.widths[word] : left;
        for (int64_t at = 0; at < width; at += kChunk) {
            const auto chunk = static_cast<uint16_t>(bits >> at);
            for (int bit = 0; bit < kChunk; ++bit) out[start + at + bit] = (chunk & kBit[bit]) != 0;
        }
        start += width;
    }
}

// Write a board. What a row writes too much, the next one writes over; the last rows are written elsewhere first.
CELLGAMES_INLINE void board(const Layout& layout, const int64_t* plane, int16_t* out, int16_t* line) {
    const int64_t cols = layout.cols, size = layout.rows * cols;
    for (int64_t row = 0; row < layout.rows; ++row, plane += layout.words) {
        const bool fits = (row + 1) * cols + kChunk <= size;
        unpack(layout, plane, fits ? out + row * cols : line);
        if (!fits) std::memcpy(out + row * cols, line, sizeof(int16_t) * static_cast<size_t>(cols));
    }
}

CELLGAMES_INLINE void fill(int16_t* __restrict out, int64_t size, int16_t number) {
    for (int64_t cell = 0; cell < size; ++cell) out[cell] = number;
}

CELLGAMES_DISPATCH
void planes(const Layout& layout, int64_t boards, int64_t values, int64_t first_boards, int64_t first_values,
            const int64_t* words, const int16_t* numbers, int16_t* seen, int16_t* line, int64_t from, int64_t to) {
    const int64_t size = layout.rows * layout.cols, stored = layout.stored * layout.words;
    for (int64_t game = from; game < to; ++game) {
        const int64_t* plane = words + game * boards * stored;
        const int16_t* number = numbers + game * values;
        int16_t* out = seen + game * (boards + values) * size;
        for (int64_t i = 0; i < first_boards; ++i, out += size) board(layout, plane + i * stored, out, line);
        for (int64_t i = 0; i < first_values; ++i, out += size) fill(out, size, number[i]);
        for (int64_t i = first_boards; i < boards; ++i, out += size) board(layout, plane + i * stored, out, line);
        for (int64_t i = first_values; i < values; ++i, out += size) fill(out, size, number[i]);
    }
}

}  // namespace

// words int64 [B][boards][stored][words]; numbers int16 [B][values]; seen int16 [B][boards + values][rows][cols], written.
// The first boards come first, then the first values, then the others.
CELLGAMES_EXPORT void cellgames_board_planes(int64_t games, int64_t threads, int64_t rows, int64_t cols, int64_t stored,
                                             int64_t words_a_row, int64_t boards, int64_t values, int64_t first_boards,
                                             int64_t first_values, const int64_t* widths, const int64_t* words,
                                             const int16_t* numbers, int16_t* seen) {
    const Layout layout{rows, cols, stored, words_a_row, widths};
    cellgames::in_parallel(games, threads, [&](int64_t from, int64_t to) {
        std::vector<int16_t> line(static_cast<size_t>(cols + kChunk));
        planes(layout, boards, values, first_boards, first_values, words, numbers, seen, line.data(), from, to);
    });
}
