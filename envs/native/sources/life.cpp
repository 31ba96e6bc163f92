// Generations of Conway's Game of Life: `envs/boards/life.py`, many at a time, eight boards side by side.
#include <algorithm>

#include "bits.h"

namespace {

using namespace cellgames;

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

// Where the cells beside a word's come from: other words, the word itself as a ring, as one of 64 columns, or nowhere.
enum Beside { kWords, kRing, kFullRing, kNothing };

// Words of eight boards, [row, word], and how far they lie from each other in memory.
template <class Word>
struct Boards {
    Word* words;
    int64_t stride;
};

// Play a generation of a column of words.
template <Beside beside>
CELLGAMES_INLINE void play_column(const Grid& grid, int word, Boards<const uint64_t> now, Boards<uint64_t> then) {
    const int words = beside == kWords ? grid.words : 1;
    const int before = word ? -1 : words - 1, next = word + 1 < words ? 1 : 1 - words;
    const int down = grid.width[word + before] - 1, up = grid.width[word] - 1;
    const Words cells = every(grid.cells[word]), none = every(0);
    const int64_t row_stride = now.stride * words, then_stride = then.stride * words;
    const uint64_t *at = now.words + word * now.stride, *top = at, *bottom = at + (grid.rows - 1) * row_stride;
    uint64_t* out = then.words + word * then.stride;
    const auto add_up = [&](const uint64_t* row) {
        const Words here = load(row);
        if (beside == kNothing) return across(here);
        const Words lower = beside == kFullRing ? here >> 63 : load(row + before * now.stride) >> down;
        const Words upper = beside == kFullRing ? here << 63 : load(row + next * now.stride) << up;
        const Words left = here << 1 | lower, right = here >> 1 | upper;
        return Across{odd(left, here, right), two_of(left, here, right)};
    };
    Rows rows{{none, none}, add_up(top), {}};
    if (grid.wrap) rows.above = add_up(bottom);
    const auto finish_row = [&] {
        const Nine nine(rows);
        const Words live = nine.three() | (load(at) & nine.four());
        store(out, beside == kFullRing ? live : live & cells);
        rows.next();
        out += then_stride;
    };
    for (; at != bottom; at += row_stride) {
        rows.below = add_up(at + row_stride);
        finish_row();
    }
    rows.below = grid.wrap ? add_up(top) : Across{none, none};
    finish_row();
}

// The first generation reads the given boards, and the last one writes the results, with nothing copied.
template <Beside beside>
CELLGAMES_INLINE void play_eight(const Grid& grid, int64_t generations, Boards<const uint64_t> given,
                                 Boards<uint64_t> after, uint64_t* room) {
    const Boards<uint64_t> rooms[2] = {{room, kLanes}, {room + int64_t{grid.rows} * grid.words * kLanes, kLanes}};
    Boards<const uint64_t> now = given;
    for (int64_t generation = 0; generation < generations; ++generation) {
        const Boards<uint64_t> then = generation + 1 < generations ? rooms[generation % 2] : after;
        for (int word = 0; word < grid.words; ++word) play_column<beside>(grid, word, now, then);
        now = {then.words, then.stride};
    }
}

template <Beside beside>
CELLGAMES_INLINE void play_some(const Grid& grid, int64_t boards, int64_t generations, const uint64_t* given,
                                uint64_t* after, int64_t from, int64_t to) {
    const int size = grid.rows * grid.words, stored = static_cast<int>(grid.stored_rows()) * grid.words;
    Room rooms(4 * size);
    uint64_t* room = reinterpret_cast<uint64_t*>(rooms.begin());
    uint64_t *some = room + 2 * size * kLanes, *found = some + size * kLanes;
    for (int64_t first = from * kLanes; first < std::min(to * kLanes, boards); first += kLanes) {
        const int64_t lanes = std::min<int64_t>(kLanes, boards - first);
        const bool whole = lanes == kLanes && generations;
        if (whole) {
            play_eight<beside>(grid, generations, {given + first, boards}, {after + first, boards}, room);
        } else {
            for (int word = 0; word < size; ++word)
                store(some + word * kLanes, load_some(given + word * boards + first, lanes));
            play_eight<beside>(grid, generations, {some, kLanes}, {found, kLanes}, room);
        }
        for (int word = whole ? size : 0; word < stored; ++word) {
            const Words live = word < size ? load((generations ? found : some) + word * kLanes) : every(0);
            store_some(after + word * boards + first, live, lanes);
        }
    }
}

CELLGAMES_DISPATCH
void play_range(const Grid& grid, int64_t boards, int64_t generations, const uint64_t* given, uint64_t* after,
                int64_t from, int64_t to) {
    if (grid.words > 1)
        play_some<kWords>(grid, boards, generations, given, after, from, to);
    else if (!grid.wrap)
        play_some<kNothing>(grid, boards, generations, given, after, from, to);
    else if (grid.width[0] < 64)
        play_some<kRing>(grid, boards, generations, given, after, from, to);
    else
        play_some<kFullRing>(grid, boards, generations, given, after, from, to);
}

}  // namespace

// Play some generations. given, after: int64 [batches, stored rows, words, boards]; at most 4,000 columns.
CELLGAMES_EXPORT void cellgames_life(int64_t rows, int64_t cols, int64_t wrap, int64_t batches, int64_t boards,
                                     int64_t generations, int64_t threads, const uint64_t* given, uint64_t* after) {
    const Grid grid(rows, cols, wrap != 0);
    const int64_t tiles = (boards + kLanes - 1) / kLanes, batch = grid.stored_rows() * grid.words * boards;
    const int64_t work = batches * batch * std::max<int64_t>(generations, 1) / 40000 + 1;  // shares worth a thread
    in_parallel(batches * tiles, std::min(threads, work), [&](int64_t from, int64_t to) {
        for (int64_t index = from / tiles; index * tiles < to; ++index)
            play_range(grid, boards, generations, given + index * batch, after + index * batch,
                       std::max(from - index * tiles, int64_t{0}), std::min(to - index * tiles, tiles));
    });
}
