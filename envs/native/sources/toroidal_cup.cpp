// Generations of the Toroidal Cup for two teams whose surviving cells take the majority colour:
// `envs/toroidal_cup/colours.py`, many at a time, with the live cells of each.
//
// Eight boards stand side by side. A column of words takes over some columns of the words beside it (its halo), so that
// as many generations pass before words are exchanged again, and stays in the first cache meanwhile.
#include <algorithm>

#include "bits.h"

namespace {

using namespace cellgames;

constexpr int kMostWords = 64;
constexpr int kLive = 0, kTeam = 1;

// A torus whose rows are words of equally many columns (`boards.bitboards.Grid`), at most 62.
struct Torus {
    int rows, words, width, halo;
    uint64_t own;               // the bits of a word that are no halo
    uint64_t even[kMostWords];  // columns of even number, halos included

    Torus(int rows_, int words_, int width_) : rows(rows_), words(words_), width(width_), halo((64 - width_) / 2) {
        const int columns = words * width;
        own = low_bits(width) << halo;
        for (int word = 0; word < words; ++word) {
            even[word] = 0;
            for (int bit = 0; bit < 64; ++bit) {
                const int column = ((word * width + bit - halo) % columns + columns) % columns;
                even[word] |= uint64_t{column % 2 == 0} << bit;
            }
        }
    }
};

// The planes of eight boards, [word][row][plane].
struct Tile {
    const Torus& torus;
    Words* cells;
    Words* at(int word, int row) const { return cells + (word * torus.rows + row) * 2; }

    // Fill the halos of a row's words, of the words without.
    CELLGAMES_INLINE_MEMBER void widen(int row, int plane, const Words* own) const {
        for (int word = 0; word < torus.words; ++word) {
            Words wide = own[word] << torus.halo;
            for (int bit = torus.halo, next = word; bit > 0; bit -= torus.width) {
                next = next ? next - 1 : torus.words - 1;
                wide = wide | (bit >= torus.width ? own[next] << (bit - torus.width) : own[next] >> (torus.width - bit));
            }
            for (int bit = torus.halo + torus.width, next = word; bit < 64; bit += torus.width) {
                next = next + 1 < torus.words ? next + 1 : 0;
                wide = wide | own[next] << bit;
            }
            at(word, row)[plane] = wide;
        }
    }

    CELLGAMES_INLINE_MEMBER Words own(int word, int row, int plane) const {
        return (at(word, row)[plane] & every(torus.own)) >> torus.halo;
    }

    CELLGAMES_INLINE_MEMBER void exchange() const {
        Words row_words[kMostWords];
        for (int row = 0; row < torus.rows; ++row)
            for (int plane = 0; plane < 2; ++plane) {
                for (int word = 0; word < torus.words; ++word) row_words[word] = own(word, row, plane);
                widen(row, plane, row_words);
            }
    }
};

// The live cells of a plane in the words of one column.
CELLGAMES_INLINE Words count(const Tile& tile, int word, int plane) {
    const Words own = every(tile.torus.own), none = every(0);
    const Words* at = tile.at(word, 0) + plane;
    Counter counter{none, none, none, none};
    for (int left = tile.torus.rows; left > 0; left -= 8) {
        Words eight[8];
        for (int row = 0; row < 8; ++row, at += 2) eight[row] = row < left ? *at & own : none;
        counter.add(eight);
    }
    return counter.total();
}

// Play generations in the words of one column, and add the live cells of each to counts, [generation][plane].
CELLGAMES_INLINE void play_column(const Tile& tile, int word, int generations, Words* counts) {
    const int rows = tile.torus.rows;
    for (int generation = 0; generation < generations; ++generation) {
        Words* at = tile.at(word, 0);
        const Words* bottom = tile.at(word, rows - 1);
        Words live = at[kLive], team = at[kTeam], tie = every(tile.torus.even[word]);
        Rows all{across(bottom[kLive]), across(live), {}}, teams{across(bottom[kTeam]), across(team), {}};
        const Across first = all.here, first_team = teams.here;  // what is below the last row, before it changes
        for (int row = 1; row <= rows; ++row, at += 2) {
            const bool last = row == rows;
            const Words live_below = last ? live : at[2 + kLive], team_below = last ? team : at[2 + kTeam];
            all.below = last ? first : across(live_below);
            teams.below = last ? first_team : across(team_below);
            const Nine nine(all);
            const Neighbours near(teams, team);
            const Words after = nine.three() | (nine.four() & live);
            // Two of the team's, or one of two where ties are the first team's: in even row and column, or odd both.
            const Words after_team = after & (near.twos | (near.ones & ~(nine.ones ^ live) & tie));
            at[kLive] = after;
            at[kTeam] = after_team;
            tie = ~tie;
            all.next();
            teams.next();
            live = live_below;
            team = team_below;
        }
        if (!counts) continue;
        for (const int plane : {kLive, kTeam})
            counts[2 * generation + plane] = counts[2 * generation + plane] + count(tile, word, plane);
    }
}

CELLGAMES_DISPATCH
void play(const Torus& torus, int64_t boards, int generations, const int64_t* wait, uint64_t* planes, uint64_t* counts,
          int64_t from, int64_t to) {
    const int64_t plane = int64_t{torus.rows} * torus.words * boards;
    Room room(int64_t{2} * (torus.words * torus.rows + generations));
    const Tile tile{torus, room.begin()};
    Words* const found = tile.cells + 2 * torus.words * torus.rows;
    Words row_words[kMostWords];
    for (int64_t first = from * kLanes; first < std::min(to * kLanes, boards); first += kLanes) {
        const int64_t lanes = std::min<int64_t>(kLanes, boards - first);
        const auto source = [&](int kind, int row, int word) {
            return planes + kind * plane + (int64_t{row} * torus.words + word) * boards + first;
        };
        for (int kind = 0; kind < 2; ++kind)
            for (int row = 0; row < torus.rows; ++row) {
                for (int word = 0; word < torus.words; ++word)
                    row_words[word] = load_some(source(kind, row, word), lanes);
                tile.widen(row, kind, row_words);
            }
        for (int place = 0; place < 2 * generations; ++place) found[place] = every(0);
        int64_t longest = generations;
        if (wait) longest = *std::max_element(wait + first, wait + first + lanes);
        const int together = wait ? 1 : torus.halo;
        for (int done = 0; done < longest; done += together) {
            if (done) tile.exchange();
            for (int word = 0; word < torus.words; ++word)
                play_column(tile, word, std::min<int>(together, static_cast<int>(longest) - done), wait ? nullptr : found + 2 * done);
            for (int64_t lane = 0; wait && lane < lanes; ++lane) {
                if (wait[first + lane] != done + 1) continue;
                for (int kind = 0; kind < 2; ++kind)
                    for (int row = 0; row < torus.rows; ++row)
                        for (int word = 0; word < torus.words; ++word) {
                            uint64_t lane_words[kLanes];
                            store(lane_words, tile.own(word, row, kind));
                            source(kind, row, word)[lane] = lane_words[lane];
                        }
            }
        }
        if (wait) continue;
        for (int kind = 0; kind < 2; ++kind)
            for (int row = 0; row < torus.rows; ++row)
                for (int word = 0; word < torus.words; ++word)
                    store_some(source(kind, row, word), tile.own(word, row, kind), lanes);
        for (int place = 0; place < 2 * generations; ++place)
            store_some(counts + place * boards + first, found[place], lanes);
    }
}

}  // namespace

// Play generations of two teams. planes: int64 [2, rows, words, boards], live cells and those of the first team,
// overwritten. Either `wait` is null and counts, int64 [generations, 2, boards], get the live cells of each generation;
// or wait, int64 [boards], says how many generations each board is played, at most `generations`.
CELLGAMES_EXPORT void cellgames_toroidal_cup(int64_t rows, int64_t words, int64_t width, int64_t boards,
                                             int64_t generations, int64_t threads, const int64_t* wait,
                                             uint64_t* planes, uint64_t* counts) {
    const Torus torus(static_cast<int>(rows), static_cast<int>(words), static_cast<int>(width));
    in_parallel((boards + kLanes - 1) / kLanes, threads, [&](int64_t from, int64_t to) {
        play(torus, boards, static_cast<int>(generations), wait, planes, counts, from, to);
    });
}
