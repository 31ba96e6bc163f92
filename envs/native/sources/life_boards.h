// Generations of boards side by side, in code for one instruction set: see life.cpp.
#include "bits.h"

namespace CELLGAMES_NAMESPACE {
namespace {

using namespace life;

// Where the cells beside a word's come from: other words, the word itself as a ring, as one of 64 columns, or nowhere.
enum Beside { kWords, kRing, kFullRing, kNothing };

// Words of the boards in a vector, [row, word], and how far they lie from each other in memory.
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
CELLGAMES_INLINE void play_together(const Grid& grid, int64_t generations, Boards<const uint64_t> given,
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
    for (int64_t first = from; first < to; first += kLanes) {
        const int64_t lanes = std::min<int64_t>(kLanes, to - first);
        const bool whole = lanes == kLanes && generations;
        if (whole) {
            play_together<beside>(grid, generations, {given + first, boards}, {after + first, boards}, room);
        } else {
            for (int word = 0; word < size; ++word)
                store(some + word * kLanes, load_some(given + word * boards + first, lanes));
            play_together<beside>(grid, generations, {some, kLanes}, {found, kLanes}, room);
        }
        for (int word = whole ? size : 0; word < stored; ++word) {
            const Words live = word < size ? load((generations ? found : some) + word * kLanes) : every(0);
            store_some(after + word * boards + first, live, lanes);
        }
    }
}

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
}  // namespace CELLGAMES_NAMESPACE
