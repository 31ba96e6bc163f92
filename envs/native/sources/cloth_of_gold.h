// Worlds of Cloth of Gold in memory, and what its native functions share.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
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

// What a game's options say, as `native_step.py` writes it.
struct Rules {
    int64_t rows, cols, radius, max_units, generations, neutral_rules, max_rounds, first_round, first_verdict;
    int64_t extinction;  // whether the last unit decides, not the score
    int64_t neutrals;    // a cell is neutral at the start where a draw of 32 bits is below
    int64_t order;       // of placement: `rules.ORDERS`, -1 for lots
    double shaping;      // the reward of one unit more
};

// The fields of `ClothState`, in their order. The games of boards, scores and rewards lie next to each other.
struct State {
    int64_t* seed;
    int32_t* turn;
    int64_t* player;
    float *rewards, *scores;
    bool *terminated, *truncated;  // of no game between steps
    uint64_t *units, *neutral, *killed, *territory, *placed;
    int32_t *live, *left, *acts;
    int64_t* first;
    int32_t *round, *rounds;
};

// What the options of a wild game say, as `cloth_of_gold_wild/native_step.py` writes it.
struct WildRules : Rules {
    int64_t hull, buffer, terrain, weather, perks, combinations;
    int64_t animals[3];            // of each kind
    const int64_t (*forms)[2];     // of still lifes, squares of bits and kinds
    int64_t number_of_forms;

    int64_t number_of_animals() const { return animals[0] + animals[1] + animals[2]; }
};

// The fields of `WildState`, in its order.
struct WildState : State {
    uint8_t* ground;
    uint64_t *land, *water;
    int32_t *level, *weather;
    uint64_t *fire, *wards;
    int32_t *lives, *supply, *reach, *spells, *animals;
};

constexpr int kMostReach = 4;

// Play the generations of a round in some games and count what it has made, but for territory: cloth_of_gold_wild.cpp.
void play_wild_rounds(const Board& board, const WildRules& rules, const WildState& state,
                      const std::vector<int64_t>& games);
// Begin what the wild options add to a game, which has a new seed.
void begin_wild(const Board& board, const WildRules& rules, const WildState& state, int64_t game);
// Draw the weather of a game's round.
void draw_weather(const WildState& state, int64_t game);
// Find the zones of one side's units in a world; with the `cell` of a new unit, not -1, those before it are known.
void find_zones(const Board& board, const uint64_t* units, int64_t buffer, uint64_t* zones, int64_t place, int64_t cell);

}  // namespace cellgames::cloth
