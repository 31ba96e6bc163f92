// Generations of Conway's Game of Life: `envs/boards/life.py`, many boards at a time, some side by side.
#include <algorithm>
#include <cstring>

#include "portable.h"

namespace cellgames::life {

constexpr int kTile = 8;  // boards that a thread plays, at least
constexpr int kMostWords = 64;

// How rows are packed into words: `boards.bitboards.Grid`. A finite board has one more row and column, always empty.
struct Grid {
    int rows, words;
    bool wrap;
    int width[kMostWords];     // columns of each word, with the spare one
    uint64_t cells[kMostWords];

    Grid(int64_t rows_, int64_t cols, bool wrap_) : rows(static_cast<int>(rows_)), wrap(wrap_) {
        const int columns = static_cast<int>(cols) + !wrap;
        words = (columns + 63) / 64;
        for (int word = 0, first = 0; word < words; first += width[word++]) {
            width[word] = wrap ? columns / words + (word < columns % words) : (columns + words - 1) / words;
            cells[word] = low_bits(std::min<int>(width[word], static_cast<int>(cols) - first));
        }
    }
    int64_t stored_rows() const { return rows + !wrap; }
};

}  // namespace cellgames::life

#define CELLGAMES_BODY "life_boards.h"
#include "each_target.h"

// Play some generations. given, after: int64 [batches, stored rows, words, boards]; at most 4,000 columns.
CELLGAMES_EXPORT void cellgames_life(int64_t rows, int64_t cols, int64_t wrap, int64_t batches, int64_t boards,
                                     int64_t generations, int64_t threads, const uint64_t* given, uint64_t* after) {
    using namespace cellgames::life;
    const Grid grid(rows, cols, wrap != 0);
    const int64_t tiles = (boards + kTile - 1) / kTile, batch = grid.stored_rows() * grid.words * boards;
    const int64_t work = batches * batch * std::max<int64_t>(generations, 1) / 40000 + 1;  // shares worth a thread
    cellgames::in_parallel(batches * tiles, std::min(threads, work), [&](int64_t from, int64_t to) {
        for (int64_t index = from / tiles; index * tiles < to; ++index)
            CELLGAMES_CHOSEN(play_range)(grid, boards, generations, given + index * batch, after + index * batch,
                                         std::max(from - index * tiles, int64_t{0}) * kTile,
                                         std::min(std::min(to - index * tiles, tiles) * kTile, boards));
    });
}
