// Worlds of Cloth of Gold in memory, and what its native functions share.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "portable.h"

namespace cellgames::cloth {

// A finite board whose rows are words of equally many columns, `boards.bitboards.Grid`; a row and at least one column
// more are stored, which are empty. A word of all worlds of a batch stands together: [rows + 1, words, worlds].
struct Board {
    int rows, cols, words, width;
    int64_t worlds;

    Board(int64_t rows_, int64_t cols_, int64_t worlds_)
        : rows(static_cast<int>(rows_)), cols(static_cast<int>(cols_)), words(cols / 64 + 1),
          width((cols + words) / words), worlds(worlds_) {}
    int64_t at(int row, int word) const { return (int64_t{row} * words + word) * worlds; }
    int64_t plane() const { return at(rows + 1, 0); }
    int64_t cells() const { return int64_t{rows} * cols; }
    uint64_t own(int word) const { return low_bits(word == words - 1 ? cols - width * word : width); }
};

// A thread for each share of the work that is worth one.
inline int64_t threads_for(int64_t threads, int64_t tiles, const Board& board, int64_t least = 40000) {
    return std::min(threads, tiles * board.rows * board.words / least + 1);
}

constexpr int64_t kTile = 8;  // worlds that a thread plays, at least: a multiple of the lanes of every instruction set
inline int64_t tiles_of(int64_t worlds) { return (worlds + kTile - 1) / kTile; }

// The planes of a's, b's, neutral and killed cells, each [rows + 1, words, worlds].
template <class Word>
struct Planes {
    Word* plane[4];
};

// The bits of `neutral_rules`, as `rules.py` has them.
constexpr int64_t kBirths = 1, kHold = 2, kAttack = 4;

// Play generations of the worlds from one place of a list to another (see `Some`); `after` may be `given`. Worlds that
// come back to themselves within 24 generations are not played on if `settle`.
void play_worlds(const Board& board, const Planes<const uint64_t>& given, const Planes<uint64_t>& after,
                 const int64_t* list, int64_t generations, int64_t neutral_rules, bool settle, int64_t from,
                 int64_t to);

}  // namespace cellgames::cloth
