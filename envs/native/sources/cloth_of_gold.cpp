// Generations of Cloth of Gold: `envs/cloth_of_gold/rules.py`, many at a time.
//
// Eight worlds stand side by side. A column of words takes over some columns of the words beside it (its halo), so that
// as many generations pass before words are exchanged again, and stays in the first cache meanwhile.
#include <algorithm>

#include "bits.h"

namespace {

using namespace cellgames;

constexpr int kMostWords = 64;

// How the columns of a finite board are shared out among words with halos. Words are stored without (`Grid.widths`).
struct Layout {
    int rows, stored, stored_width;  // rows of a board, words of a stored row, and columns of each
    int words, width, last, halo;    // words here, columns of each and of the last one, and the narrowest halo
    int left[kMostWords];            // columns of the halo before a word's own

    Layout(int rows_, int cols, int stored_, int stored_width_)
        : rows(rows_), stored(stored_), stored_width(stored_width_), words(cols <= 64 ? 1 : (cols + 51) / 52),
          width((cols + words - 1) / words), last(cols - width * (words - 1)), halo(1 << 20) {
        for (int word = 0; word < words; ++word)
            left[word] = word == 0 ? 0 : word == words - 1 ? 64 - last : (64 - width) / 2;
        for (int word = 0; word + 1 < words; ++word)
            halo = std::min({halo, 64 - left[word] - width, left[word + 1]});
    }
    int first(int word) const { return word * width - left[word]; }  // column
    uint64_t own(int word) const { return low_bits(word == words - 1 ? last : width); }
};

// 64 columns from one on, of words that hold `width` columns each and nothing else.
CELLGAMES_INLINE Words window(const Words* row, int words, int width, int column) {
    int word = column / width, place = column % width;
    Words found = row[word] >> place;
    for (int next = width - place; next < 64 && ++word < words; next += width) found = found | row[word] << next;
    return found;
}

constexpr int kLive = 0, kA = 1, kKilled = 2, kB = 3;  // b's have a plane of their own where cells are neutral

// The planes of eight worlds, [word][row][plane].
template <int planes>
struct Tile {
    const Layout& grid;
    Words* cells;
    Words* at(int word, int row) const { return cells + (word * grid.rows + row) * planes; }

    CELLGAMES_INLINE_MEMBER void own_words(int row, int plane, Words* out) const {
        for (int word = 0; word < grid.words; ++word)
            out[word] = at(word, row)[plane] >> grid.left[word] & every(grid.own(word));
    }

    // Fill the halos anew.
    CELLGAMES_INLINE_MEMBER void exchange() const {
        Words own[kMostWords];
        for (int row = 0; row < grid.rows; ++row)
            for (int plane = 0; plane < planes; ++plane) {
                own_words(row, plane, own);
                for (int word = 0; word < grid.words; ++word)
                    at(word, row)[plane] = window(own, grid.words, grid.width, grid.first(word));
            }
    }
};

// `rules.two_sided_generation`, in words of one column.
CELLGAMES_INLINE void play_column(const Tile<3>& tile, int word, int generations, Words edge, bool) {
    const Words none = every(0);
    for (int generation = 0; generation < generations; ++generation) {
        Words* at = tile.at(word, 0);
        Words live = at[kLive], a = at[kA];
        Rows all{{none, none}, across(live), {}}, as{{none, none}, across(a), {}};
        for (int row = 1; row <= tile.grid.rows; ++row, at += 3) {
            const bool last = row == tile.grid.rows;
            const Words live_below = last ? none : at[3 + kLive], a_below = last ? none : at[3 + kA];
            all.below = across(live_below);
            as.below = across(a_below);
            const Nine nine(all);
            const Neighbours near_a(as, a);
            const Words killed = at[kKilled], b = live & ~a, more = near_a.twos;
            const Words tie = nine.three() & near_a.ones & a;  // one of a's own two neighbours is a's
            const Words born = nine.three() & ~(live | killed) & edge, stays = (nine.three() | nine.four()) & edge;
            const Words next_a = (more & (born | (a & stays))) | (tie & edge);
            at[kLive] = next_a | (~more & (born | (b & stays)));
            at[kA] = next_a;
            at[kKilled] = ((a & ~more) | (b & more)) & stays & ~tie;
            all.next();
            as.next();
            live = live_below;
            a = a_below;
        }
    }
}

// `rules.generation`, in words of one column.
CELLGAMES_INLINE void play_column(const Tile<4>& tile, int word, int generations, Words edge, bool births) {
    const Words none = every(0), may = every(births ? ~uint64_t{0} : 0);
    for (int generation = 0; generation < generations; ++generation) {
        Words* at = tile.at(word, 0);
        Words live = at[kLive], a = at[kA], b = at[kB];
        Rows all{{none, none}, across(live), {}}, as{{none, none}, across(a), {}}, bs{{none, none}, across(b), {}};
        for (int row = 1; row <= tile.grid.rows; ++row, at += 4) {
            const bool last = row == tile.grid.rows;
            const Words live_below = last ? none : at[4 + kLive], a_below = last ? none : at[4 + kA];
            const Words b_below = last ? none : at[4 + kB];
            all.below = across(live_below);
            as.below = across(a_below);
            bs.below = across(b_below);
            const Nine nine(all);
            const Neighbours near_a(as, a), near_b(bs, b);
            const Words killed = at[kKilled], neutral = live & ~(a | b);
            const Words some_a = near_a.ones | near_a.twos, some_b = near_b.ones | near_b.twos;
            const Words more_a = near_a.twos | (near_a.ones & ~some_b), more_b = near_b.twos | (near_b.ones & ~some_a);
            const Words stays = (nine.three() | nine.four()) & edge;  // live cells with two or three neighbours
            const Words lasts = (nine.two() | nine.three()) & edge;   // killed ones
            const Words born = nine.three() & ~(live | killed) & edge, turning = born | (stays & neutral);
            const Words next_a = (turning & more_a) | (stays & a & ~more_b);
            const Words next_b = (turning & more_b) | (stays & b & ~more_a);
            const Words free = (stays & neutral & ~(more_a | more_b)) | (born & ~(some_a | some_b) & may);
            at[kLive] = next_a | next_b | free;
            at[kA] = next_a;
            at[kB] = next_b;
            at[kKilled] = (stays & ((a & more_b) | (b & more_a))) | (lasts & killed & ~(some_a | some_b));
            all.next();
            as.next();
            bs.next();
            live = live_below;
            a = a_below;
            b = b_below;
        }
    }
}

// Play eight worlds at a time. Planes in memory: a's, b's, neutral and killed cells.
template <int planes>
CELLGAMES_INLINE void play(const Layout& grid, int64_t worlds, const uint64_t* given, uint64_t* after, int generations,
                           bool births, int64_t from, int64_t to) {
    const int64_t plane = int64_t{grid.rows + 1} * grid.stored * worlds;
    Room room(int64_t{grid.words} * grid.rows * planes);
    const Tile<planes> tile{grid, room.begin()};
    const Words mask = every(low_bits(grid.stored_width));
    const Words edge = every(grid.words == 1 ? grid.own(0) : ~uint64_t{0});  // of more words, the edges are those of words
    Words row_words[4][kMostWords];
    for (int64_t first = from * kLanes; first < std::min(to * kLanes, worlds); first += kLanes) {
        const int64_t lanes = std::min<int64_t>(kLanes, worlds - first);
        for (int row = 0; row < grid.rows; ++row) {
            for (int word = 0; word < grid.stored; ++word) {
                const uint64_t* source = given + (int64_t{row} * grid.stored + word) * worlds + first;
                const Words a = load_some(source, lanes), b = load_some(source + plane, lanes);
                row_words[kLive][word] = a | b;
                if (planes == 4) row_words[kLive][word] = a | b | load_some(source + 2 * plane, lanes);
                row_words[kA][word] = a;
                row_words[kB][word] = b;
                row_words[kKilled][word] = load_some(source + 3 * plane, lanes);
            }
            for (int word = 0; word < grid.words; ++word)
                for (int kind = 0; kind < planes; ++kind)
                    tile.at(word, row)[kind] = window(row_words[kind], grid.stored, grid.stored_width, grid.first(word));
        }
        for (int done = 0; done < generations; done += grid.halo) {
            if (done) tile.exchange();
            for (int word = 0; word < grid.words; ++word)
                play_column(tile, word, std::min(grid.halo, generations - done), edge, births);
        }
        for (int row = 0; row < grid.rows; ++row) {
            for (int kind = 0; kind < planes; ++kind) tile.own_words(row, kind, row_words[kind]);
            for (int word = 0; word < grid.stored; ++word) {
                const auto found = [&](int kind) {
                    return window(row_words[kind], grid.words, grid.width, word * grid.stored_width) & mask;
                };
                uint64_t* target = after + (int64_t{row} * grid.stored + word) * worlds + first;
                const Words live = found(kLive), a = found(kA), b = planes == 4 ? found(kB) : live & ~a;
                store_some(target, a, lanes);
                store_some(target + plane, b, lanes);
                if (planes == 4) store_some(target + 2 * plane, live & ~(a | b), lanes);
                store_some(target + 3 * plane, found(kKilled), lanes);
            }
        }
    }
}

CELLGAMES_DISPATCH
void play_two_sided(const Layout& grid, int64_t worlds, const uint64_t* given, uint64_t* after, int generations,
                    int64_t from, int64_t to) {
    play<3>(grid, worlds, given, after, generations, false, from, to);
}

CELLGAMES_DISPATCH
void play_with_neutrals(const Layout& grid, int64_t worlds, const uint64_t* given, uint64_t* after, int generations,
                        bool births, int64_t from, int64_t to) {
    play<4>(grid, worlds, given, after, generations, births, from, to);
}

}  // namespace

// Play some generations. given, after: int64 [4, rows + 1, words, worlds]: a's, b's, neutral and killed cells; `after`
// is empty before. `neutrals`: 0 if no cell is neutral, 1, or 2 if neutral cells may also be born. Boards have at most
// 1,600 columns.
CELLGAMES_EXPORT void cellgames_cloth_of_gold(int64_t rows, int64_t cols, int64_t words, int64_t width, int64_t worlds,
                                              int64_t generations, int64_t neutrals, int64_t threads,
                                              const uint64_t* given, uint64_t* after) {
    const Layout grid(static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(words), static_cast<int>(width));
    const int calls = static_cast<int>(generations);
    in_parallel((worlds + kLanes - 1) / kLanes, threads, [&](int64_t from, int64_t to) {
        if (neutrals)
            play_with_neutrals(grid, worlds, given, after, calls, neutrals == 2, from, to);
        else
            play_two_sided(grid, worlds, given, after, calls, from, to);
    });
}
