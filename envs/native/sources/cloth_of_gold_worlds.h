// Generations of worlds side by side, in code for one instruction set: see cloth_of_gold.cpp.
//
// A column of words takes over some columns of the words beside it (its halo), so that as many generations pass before
// words are exchanged again, and stays in the first cache meanwhile.
#include "cloth_of_gold_lanes.h"

namespace CELLGAMES_NAMESPACE {
namespace {

using namespace cloth;

constexpr int kMostWords = 64;

// How the columns of a board are shared out among words with halos. Words are stored without (`Board`).
struct Layout {
    int rows, words, width, last, halo;  // columns of a word, of the last one, and of the narrowest halo
    int left[kMostWords];                // columns of the halo before a word's own

    explicit Layout(const Board& board)
        : rows(board.rows), words(board.cols <= 64 ? 1 : (board.cols + 51) / 52),
          width((board.cols + words - 1) / words), last(board.cols - width * (words - 1)), halo(1 << 20) {
        for (int word = 0; word < words; ++word)
            left[word] = word == 0 ? 0 : word == words - 1 ? 64 - last : (64 - width) / 2;
        for (int word = 0; word + 1 < words; ++word)
            halo = std::min({halo, 64 - left[word] - width, left[word + 1]});
    }
    int first(int word) const { return word * width - left[word]; }  // column
    uint64_t own(int word) const { return low_bits(word == words - 1 ? last : width) << left[word]; }
};

// 64 columns from one on, of words that hold `width` columns each and nothing else.
CELLGAMES_INLINE Words window(const Words* row, int words, int width, int column) {
    int word = column / width, place = column % width;
    Words found = row[word] >> place;
    for (int next = width - place; next < 64 && ++word < words; next += width) found = found | row[word] << next;
    return found;
}

constexpr int kLive = 0, kA = 1, kKilled = 2, kB = 3;  // b's have a plane of their own where cells are neutral

// The words of one column of the worlds, [row][plane]; the row after the last is empty.
template <int planes>
struct Column {
    Words* cells;
    int rows;
};

// `rules.two_sided_generation`, in words of one column. Where the board ends within the word, `edge` has its cells.
template <bool edged, bool holding>
CELLGAMES_INLINE void play_column(Column<3> column, int generations, Words edge, int64_t) {
    const Words none = every(0);
    if (!edged) edge = ~none;
    for (int generation = 0; generation < generations; ++generation) {
        Words* at = column.cells;
        Words live = at[kLive], a = at[kA];
        Rows all{{none, none}, across(live), {}}, as{{none, none}, across(a), {}};
        for (int row = 0; row < column.rows; ++row, at += 3) {
            const Words live_below = at[3 + kLive], a_below = at[3 + kA];
            all.below = across(live_below);
            as.below = across(a_below);
            const Nine nine(all), nine_as(as);
            const Words killed = at[kKilled];
            const Words three = nine.three() & edge, four = nine.four() & edge;
            const Words single = a & ~nine_as.ones, more = nine_as.odd_twos ^ single;
            const Words tie = three & single;  // one of a's own two neighbours is a's
            const Words born = three & ~(live | killed), stays = three | four;
            const Words next_a = (more & (born | (a & stays))) | tie;
            const Words may_b = born | (live & ~a & stays);
            at[kLive] = next_a | (~more & may_b);
            at[kA] = next_a;
            at[kKilled] = ((a & ~more) | (~a & live & more)) & stays & ~tie;
            all.next();
            as.next();
            live = live_below;
            a = a_below;
        }
    }
}

// `rules.generation`, in words of one column; `holding`: with kHold, and perhaps kAttack.
template <bool edged, bool holding>
CELLGAMES_INLINE void play_column(Column<4> column, int generations, Words edge, int64_t neutral_rules) {
    const Words none = every(0), may = every(neutral_rules & kBirths ? ~uint64_t{0} : 0);
    if (!edged) edge = ~none;
    for (int generation = 0; generation < generations; ++generation) {
        Words* at = column.cells;
        Words live = at[kLive], a = at[kA], b = at[kB];
        Rows all{{none, none}, across(live), {}}, as{{none, none}, across(a), {}}, bs{{none, none}, across(b), {}};
        for (int row = 0; row < column.rows; ++row, at += 4) {
            const Words live_below = at[4 + kLive], a_below = at[4 + kA], b_below = at[4 + kB];
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
            const Words nobodys = ~(some_a | some_b);
            const Words born = nine.three() & ~(live | killed) & edge;
            Words turning = born | (stays & neutral);
            Words free = (stays & neutral & ~(more_a | more_b)) | (born & nobodys & may);
            Words beats_a = more_b, beats_b = more_a;
            if (holding) {
                turning = born;
                free = free | (stays & neutral);
            }
            if (holding && neutral_rules & kAttack) {  // two or three neutral ones of two or three, and they hold, too
                const Words three = (live & nine.four()) | (~live & nine.three());
                const Words more = nobodys | (three & ~(near_a.twos | near_b.twos | (near_a.ones & near_b.ones)));
                beats_a = beats_a | more;
                beats_b = beats_b | more;
                free = free | (born & more);
                turning = born & ~more;
            }
            const Words next_a = (turning & more_a) | (stays & a & ~beats_a);
            const Words next_b = (turning & more_b) | (stays & b & ~beats_b);
            at[kLive] = next_a | next_b | free;
            at[kA] = next_a;
            at[kB] = next_b;
            at[kKilled] = (stays & ((a & beats_a) | (b & beats_b))) | (lasts & killed & nobodys);
            all.next();
            as.next();
            bs.next();
            live = live_below;
            a = a_below;
            b = b_below;
        }
    }
}

// The planes of worlds side by side, [word][row][plane]; the row after the last is empty.
template <int planes>
struct Tile {
    const Board& board;
    const Layout& grid;
    Words* cells;

    static int64_t size(const Layout& grid) { return int64_t{grid.words} * (grid.rows + 1) * planes; }
    Words* at(int word, int row) const { return cells + (word * (grid.rows + 1) + row) * planes; }

    // Take in some worlds; the others stay.
    CELLGAMES_INLINE_MEMBER void take(const Planes<const uint64_t>& given, const Some& some) const {
        const Words other = ~some.where([](int64_t) { return true; });
        Words row_words[planes][kMostWords];
        for (int row = 0; row < grid.rows; ++row) {
            for (int word = 0; word < board.words; ++word) {
                const int64_t place = board.at(row, word);
                const Words a = some.load(given.plane[0] + place), b = some.load(given.plane[1] + place);
                row_words[kLive][word] = planes == 4 ? a | b | some.load(given.plane[2] + place) : a | b;
                row_words[kA][word] = a;
                row_words[kKilled][word] = some.load(given.plane[3] + place);
                if (planes == 4) row_words[planes - 1][word] = b;
            }
            for (int word = 0; word < grid.words; ++word)
                for (int kind = 0; kind < planes; ++kind) {
                    Words& cell = at(word, row)[kind];
                    cell = (cell & other) | window(row_words[kind], board.words, board.width, grid.first(word));
                }
        }
    }

    // Write some worlds.
    CELLGAMES_INLINE_MEMBER void give(const Planes<uint64_t>& after, const Some& some) const {
        Words row_words[planes][kMostWords];
        for (int row = 0; row < grid.rows; ++row) {
            for (int kind = 0; kind < planes; ++kind)
                for (int word = 0; word < grid.words; ++word)
                    row_words[kind][word] = (at(word, row)[kind] & every(grid.own(word))) >> grid.left[word];
            for (int word = 0; word < board.words; ++word) {
                const auto found = [&](int kind) {
                    return window(row_words[kind], grid.words, grid.width, word * board.width) & every(board.own(word));
                };
                const Words live = found(kLive), a = found(kA), b = planes == 4 ? found(planes - 1) : live & ~a;
                const int64_t place = board.at(row, word);
                some.store(after.plane[0] + place, a);
                some.store(after.plane[1] + place, b);
                some.store(after.plane[2] + place, live & ~(a | b));
                some.store(after.plane[3] + place, found(kKilled));
            }
        }
        for (int word = 0; word < board.words; ++word)
            for (uint64_t* plane : after.plane) some.store(plane + board.at(grid.rows, word), every(0));
    }

    // Fill the halos anew, as far as generations until the next time need them.
    CELLGAMES_INLINE_MEMBER void exchange() const {
        for (int word = 0; word < grid.words; ++word) {
            const bool before = word > 0, behind = word + 1 < grid.words;
            const int left = grid.left[word], right = left + grid.width;  // of a last word nothing stands at the right
            const int down = before ? grid.left[word - 1] + grid.width - left : 0;
            const int up = behind ? right - grid.left[word + 1] : 0;
            const Words lower = every(low_bits(left)), upper = every(behind ? ~low_bits(right) : 0), own = ~(lower | upper);
            Words *here = at(word, 0), *back = before ? at(word - 1, 0) : here, *next = behind ? at(word + 1, 0) : here;
            for (int index = 0; index < grid.rows * planes; ++index)
                here[index] = (here[index] & own) | (back[index] >> down & lower) | (next[index] << up & upper);
        }
    }

    // Play some generations. The halos are those of the worlds.
    CELLGAMES_INLINE_MEMBER void play(int generations, int64_t neutral_rules) const {
        const Words edge = every(grid.own(0));  // of more words, the edges are those of words
        for (int done = 0; done < generations; done += grid.halo) {
            if (done) exchange();
            const int now = std::min(grid.halo, generations - done);
            for (int word = 0; word < grid.words; ++word) {
                const Column<planes> column{at(word, 0), grid.rows};
                const bool holding = planes == 4 && neutral_rules & kHold;
                if (grid.words == 1)
                    holding ? play_column<true, planes == 4>(column, now, edge, neutral_rules)
                            : play_column<true, false>(column, now, edge, neutral_rules);
                else
                    holding ? play_column<false, planes == 4>(column, now, edge, neutral_rules)
                            : play_column<false, false>(column, now, edge, neutral_rules);
            }
        }
    }

    // The bits of each world that are not as `before`.
    CELLGAMES_INLINE_MEMBER Words changed(const Words* before) const {
        Words all = every(0);
        for (int word = 0; word < grid.words; ++word) {
            const Words *here = at(word, 0), *there = before + (here - cells);
            Words some = every(0);
            for (int index = 0; index < grid.rows * planes; ++index) some = some | (here[index] ^ there[index]);
            all = all | (some & every(grid.own(word)));
        }
        return all;
    }
};

constexpr int kPeriod = 24;  // `rules.PERIOD`

// Play all generations of worlds, some at a time.
template <int planes>
CELLGAMES_INLINE void play_on(const Tile<planes>& tile, const Planes<const uint64_t>& given,
                              const Planes<uint64_t>& after, const int64_t* list, int generations,
                              int64_t neutral_rules, int64_t from, int64_t to) {
    for (int64_t first = from; first < to; first += kLanes) {
        const Some some(list, first, to);
        tile.take(given, some);
        tile.play(generations, neutral_rules);
        tile.give(after, some);
    }
}

// Play the worlds until they repeat, at most so many periods. Where one is done, the next takes its lane.
template <int planes>
CELLGAMES_INLINE void play_until_settled(const Tile<planes>& tile, const Planes<const uint64_t>& given,
                                         const Planes<uint64_t>& after, const int64_t* list, int64_t periods,
                                         int64_t neutral_rules, int64_t from, int64_t to) {
    const int64_t size = Tile<planes>::size(tile.grid);
    Room room(size);
    Some here;
    int64_t left[kLanes] = {}, next = from;
    for (;;) {
        Some fresh;
        int64_t most = 0;
        bool fill = false;
        for (int lane = 0; lane < kLanes; ++lane) {
            if (!left[lane] && next < to) {
                here.place[lane] = fresh.place[lane] = list ? list[next] : next;
                ++next;
                fill = true;
                left[lane] = periods;
            }
            most = std::max(most, left[lane]);
        }
        if (!most) return;
        fresh.join();
        if (fill) tile.take(given, fresh);
        tile.exchange();
        if (most > 1) std::copy(tile.cells, tile.cells + size, room.begin());
        tile.play(kPeriod, neutral_rules);
        uint64_t changed[kLanes];
        store(changed, most > 1 ? tile.changed(room.begin()) : every(0));
        Some done;
        bool ready = false;
        for (int lane = 0; lane < kLanes; ++lane) {
            if (!left[lane]) continue;
            if (changed[lane] && left[lane] > 1) {
                --left[lane];
                continue;
            }
            left[lane] = 0;
            done.place[lane] = here.place[lane];
            ready = true;
        }
        done.join();
        if (ready) tile.give(after, done);
    }
}

template <int planes>
CELLGAMES_INLINE void play(const Board& board, const Planes<const uint64_t>& given, const Planes<uint64_t>& after,
                           const int64_t* list, int64_t generations, int64_t neutral_rules, bool settle,
                           int64_t from, int64_t to) {
    const Layout grid(board);
    Room room(Tile<planes>::size(grid));
    const Tile<planes> tile{board, grid, room.begin()};
    const int64_t periods = settle ? generations / kPeriod : 0;
    const int rest = static_cast<int>(generations - periods * kPeriod);
    if (rest || !periods) play_on(tile, given, after, list, rest, neutral_rules, from, to);
    const Planes<const uint64_t> rested{{after.plane[0], after.plane[1], after.plane[2], after.plane[3]}};
    if (periods) play_until_settled(tile, rest ? rested : given, after, list, periods, neutral_rules, from, to);
}

void play_two_sided(const Board& board, const Planes<const uint64_t>& given, const Planes<uint64_t>& after,
                    const int64_t* list, int64_t generations, bool settle, int64_t from, int64_t to) {
    play<3>(board, given, after, list, generations, 0, settle, from, to);
}

void play_with_neutrals(const Board& board, const Planes<const uint64_t>& given, const Planes<uint64_t>& after,
                        const int64_t* list, int64_t generations, int64_t neutral_rules, bool settle, int64_t from,
                        int64_t to) {
    play<4>(board, given, after, list, generations, neutral_rules, settle, from, to);
}

}  // namespace
}  // namespace CELLGAMES_NAMESPACE
