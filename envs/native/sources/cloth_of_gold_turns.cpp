// Turns of Cloth of Gold, what may be done in them, and whole steps of a `Vector`: `envs/cloth_of_gold/placement.py`,
// `simulation.py`, `rounds.py`, `native_step.py`.
//
// Some games stand side by side, as in `cloth_of_gold.cpp`.
#include "cloth_of_gold.h"
#include "random.h"
#include "threefry.h"

namespace cellgames::cloth {
namespace {

constexpr int kMostWords = 32, kLargestRadius = 64;

// The cells at a distance less than the radius, by rows up or down: so many columns to either side (`rules.disk`).
struct Disk {
    int radius, spans;          // how many different spans the rows have
    int half[kLargestRadius];   // of the row so many rows away
    int span[kLargestRadius];   // the number of its span; the first one is the narrowest
    int width[kLargestRadius];  // half the columns of each span

    explicit Disk(int64_t radius_) : radius(static_cast<int>(radius_)), spans(0) {
        for (int row = radius - 1; row >= 0; --row) {
            int columns = 0;
            while (row * row + (columns + 1) * (columns + 1) < radius * radius) ++columns;
            if (!spans || width[spans - 1] != columns) width[spans++] = columns;
            half[row] = columns;
            span[row] = spans - 1;
        }
    }
};

// The state of games: bitboards as in `Board`, those of two players one after the other, and numbers.
struct Games {
    const uint64_t *units, *territory, *neutral, *killed, *placed;
    const int64_t* player;
    const int32_t *live, *left, *acts;  // live: [worlds, 2]
    const uint64_t* water = nullptr;    // with terrain
    const int32_t *supply = nullptr, *spells = nullptr;  // [worlds, 2], with perks
};

inline Games games_of(const Rules&, const State& state) {
    return {state.units,  state.territory, state.neutral, state.killed, state.placed,
            state.player, state.live,      state.left,    state.acts};
}
inline Games games_of(const WildRules& rules, const WildState& state) {
    Games games = games_of(static_cast<const Rules&>(rules), state);
    if (rules.terrain) games.water = state.water;
    if (rules.perks) games.supply = state.supply, games.spells = state.spells;
    return games;
}

// The units of a whole turn of the mover: `perks.allowance`.
inline int allowance(const Games& games, int64_t game, int max_units) {
    if (!games.supply) return max_units;
    return std::min(max_units + games.supply[2 * game + games.player[game]] / 4, 2 * max_units);
}

enum Form { kBitboards, kBytes };

// What turns change.
struct Turns {
    uint64_t *units, *placed, *territory;
    int32_t *live, *left, *acts;
    const int64_t *player, *cells;
    const uint8_t* ending;
};

// Add the disk around a cell to the territory of one game.
void add_disk(const Board& board, const Disk& disk, uint64_t* field, int row, int col) {
    for (int down = 1 - disk.radius; down < disk.radius; ++down) {
        if (row + down < 0 || row + down >= board.rows) continue;
        const int half = disk.half[down < 0 ? -down : down];
        const int first = std::max(col - half, 0), last = std::min(col + half, board.cols - 1);
        for (int word = first / board.width; word <= last / board.width; ++word) {
            const int start = word * board.width;
            const uint64_t upto = low_bits(std::min(last - start + 1, board.width));
            field[board.at(row + down, word)] |= upto & ~low_bits(std::max(first - start, 0));
        }
    }
}

// What a step is given, and what it gives.
struct Given {
    const int64_t* given;  // actions, or bits for them
    bool random;
    uint8_t* mask;
    int64_t* actions;  // written if they are drawn
    float* rewards;    // [2][B]
    bool *terminated, *truncated;
};

CELLGAMES_DISPATCH
void draw_actions(const Given& step, int64_t actions, int64_t from, int64_t to) {
    std::vector<uint8_t> counts(static_cast<size_t>(actions / 64 + 1));
    for (int64_t game = from; game < to; ++game)
        step.actions[game] = random_legal(step.mask + game * actions, actions, step.given[game], counts.data());
}

// Let the player begin who places first in the round of a game: `ClothOfGold.places_first`.
void begin_round(const Rules& rules, const State& state, int64_t game) {
    const int32_t number = state.round[game];
    const bool lots = rules.order < 0;
    const int64_t first = lots ? draw(state.seed[game], 22, static_cast<uint32_t>(number)) : rules.order >> number % 4;
    state.player[game] = state.first[game] = first & 1;
}

// Begin the next game of an env: `ClothOfGold._init`.
void restart(const Board& board, const Rules& rules, const State& state, int64_t game) {
    const int64_t plane = board.plane(), worlds = board.worlds, rounds = 6 * (rules.max_rounds + 1);
    const int64_t seed = state.seed[game] = next_seed(state.seed[game]);
    for (uint64_t* field : {state.units, state.units + plane, state.neutral, state.killed, state.territory,
                            state.territory + plane, state.placed})
        for (int64_t at = game; at < plane; at += worlds) field[at] = 0;
    for (int row = 0; rules.neutrals && row < board.rows; ++row)
        for (int col = 0; col < board.cols; ++col)
            if (int64_t{draw(seed, 16, static_cast<uint32_t>(row * board.cols + col))} < rules.neutrals)
                state.neutral[board.at(row, col / board.width) + game] |= uint64_t{1} << (col % board.width);
    state.turn[game] = 0;
    state.live[2 * game] = state.live[2 * game + 1] = state.acts[game] = 0;
    state.left[game] = static_cast<int32_t>(rules.max_units);
    state.round[game] = static_cast<int32_t>(rules.first_round);
    begin_round(rules, state, game);
    std::fill(state.rounds + game * rounds, state.rounds + (game + 1) * rounds, 0);
    for (int64_t at : {game, worlds + game}) state.rewards[at] = state.scores[at] = 0.0f;
}

void restart(const Board& board, const WildRules& rules, const WildState& state, int64_t game) {
    restart(board, static_cast<const Rules&>(rules), state, game);
    begin_wild(board, rules, state, game);
}

// The action that ends a turn.
inline int64_t end_of_turn(const Board& board, const Rules&) { return board.cells(); }
inline int64_t end_of_turn(const Board& board, const WildRules& rules) { return board.cells() * (1 + rules.perks); }

// Draw the weather of a new round, if it has some: `ClothOfGoldWild._next_round`.
inline void begin_weather(const Rules&, const State&, int64_t) {}
inline void begin_weather(const WildRules& rules, const WildState& state, int64_t game) {
    if (rules.weather && state.round[game] > 1) draw_weather(state, game);
}

inline bool holds(const Board& board, const uint64_t* cells, int64_t game, int64_t cell) {
    const int row = static_cast<int>(cell / board.cols), col = static_cast<int>(cell % board.cols);
    return cells[board.at(row, col / board.width) + game] >> (col % board.width) & 1;
}

// Empty the 3 x 3 around a cell, but for cells that are warded for the opponent: `rounds.bolt`.
void strike(const Board& board, const WildState& state, int64_t game, int64_t cell) {
    const int64_t plane = board.plane(), player = state.player[game];
    const int row = static_cast<int>(cell / board.cols), col = static_cast<int>(cell % board.cols);
    for (int down = std::max(row - 1, 0); down <= std::min(row + 1, board.rows - 1); ++down)
        for (int right = std::max(col - 1, 0); right <= std::min(col + 1, board.cols - 1); ++right) {
            const int64_t at = board.at(down, right / board.width) + game;
            const uint64_t bit = uint64_t{1} << (right % board.width);
            if (state.wards[(1 - player) * plane + at] & bit) continue;
            for (int64_t side = 0; side < 2; ++side) state.live[2 * game + side] -= (state.units[side * plane + at] & bit) != 0;
            for (uint64_t* field : {state.units, state.units + plane, state.neutral, state.killed, state.placed})
                field[at] &= ~bit;
        }
    ++state.acts[game];
    --state.spells[2 * game + player];
}

}  // namespace
}  // namespace cellgames::cloth

#define CELLGAMES_BODY "cloth_of_gold_turns.h"
#include "each_target.h"

using namespace cellgames;
using namespace cellgames::cloth;

// Find the territory of units. units, fields: int64 [planes, rows + 1, words, worlds].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_territory(int64_t rows, int64_t cols, int64_t worlds, int64_t planes,
                                                        int64_t radius, int64_t threads, const uint64_t* units,
                                                        uint64_t* fields) {
    const Board board(rows, cols, worlds);
    const Disk disk(radius);
    const int64_t tiles = tiles_of(worlds);
    in_parallel(tiles, threads_for(threads, tiles * planes, board), [&](int64_t from, int64_t to) {
        for (int64_t plane = 0; plane < planes; ++plane)
            CELLGAMES_CHOSEN(make_territory)(board, disk, units + plane * board.plane(), fields + plane * board.plane(),
                                              nullptr, from * kTile, std::min(to * kTile, worlds));
    });
}

// Find what may be done. units, territory: int64 [2, rows + 1, words, worlds]; neutral, killed, placed: the same of one
// plane; player: int64 [worlds]; live: int32 [worlds, 2]; left, acts: int32 [worlds]. form 0: cells for a unit, int64
// [rows + 1, words, worlds], whatever `placed`, `left` and `acts` hold; 1: actions, bytes [worlds, rows * cols + 1];
// 2: the same as bits, int64 [worlds, (rows * cols + 32) / 32], 32 in each.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_legal(int64_t rows, int64_t cols, int64_t worlds, int64_t max_units,
                                                    int64_t form, int64_t threads, const uint64_t* units,
                                                    const uint64_t* territory, const uint64_t* neutral,
                                                    const uint64_t* killed, const uint64_t* placed,
                                                    const int64_t* player, const int32_t* live, const int32_t* left,
                                                    const int32_t* acts, void* out) {
    const Board board(rows, cols, worlds);
    const Games games{units, territory, neutral, killed, placed, player, live, left, acts};
    const int64_t tiles = tiles_of(worlds);
    in_parallel(tiles, threads_for(threads, tiles * 2, board), [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(write_legal)(board, games, static_cast<int>(max_units), static_cast<Form>(form), out,
                                      from * kTile, std::min(to * kTile, worlds));
    });
}

// Count cells of `count` games: both players' territory, what is in both, and killed cells, int32 [count, 4].
// territory: int64 [2, rows + 1, words, worlds], killed: the same of one plane, games: int64 [count].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_tally(int64_t rows, int64_t cols, int64_t worlds, int64_t count,
                                                    int64_t threads, const uint64_t* territory, const uint64_t* killed,
                                                    const int64_t* games, int32_t* out) {
    const Board board(rows, cols, worlds);
    const int64_t tiles = tiles_of(count);
    in_parallel(tiles, threads_for(threads, tiles, board), [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(tally_all)(board, territory, killed, games, out, from * kTile, std::min(to * kTile, count));
    });
}

namespace {

// Call `play` with the games from one place to another, on some threads.
template <class Play>
void in_tiles(const Board& board, int64_t threads, const Play& play) {
    const int64_t tiles = tiles_of(board.worlds);
    in_parallel(tiles, threads_for(threads, tiles * 4, board),
                [&](int64_t from, int64_t to) { play(from * kTile, std::min(to * kTile, board.worlds)); });
}

}  // namespace

// Play a step of all games and begin those anew that end; the mask of legal actions, bytes [worlds, rows * cols + 1], is
// overwritten. rules: `Rules`; fields: the addresses of `State`; the rest: `Given`.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_step(const void* rules, const void* fields, int64_t worlds,
                                                   int64_t threads, int64_t random, const int64_t* given,
                                                   uint8_t* mask, int64_t* actions, float* rewards, bool* terminated,
                                                   bool* truncated) {
    const Rules& game = *static_cast<const Rules*>(rules);
    const State& state = *static_cast<const State*>(fields);
    const Board board(game.rows, game.cols, worlds);
    const Disk disk(game.radius);
    const Given step{given, random != 0, mask, actions, rewards, terminated, truncated};
    in_tiles(board, threads, [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(play_step)(board, disk, game, state, step, from, to);
    });
}

// The same with wild options; rules: `WildRules`; fields: the addresses of `WildState`.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_wild_step(const void* rules, const void* fields, int64_t worlds,
                                                        int64_t threads, int64_t random, const int64_t* given,
                                                        uint8_t* mask, int64_t* actions, float* rewards,
                                                        bool* terminated, bool* truncated) {
    const WildRules& game = *static_cast<const WildRules*>(rules);
    const WildState& state = *static_cast<const WildState*>(fields);
    const Board board(game.rows, game.cols, worlds);
    const Disk disk(game.hull ? 1 : game.radius);
    const Given step{given, random != 0, mask, actions, rewards, terminated, truncated};
    in_tiles(board, threads, [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(play_wild_step)(board, disk, game, state, step, from, to);
    });
}

// Place units of the movers or take them back, and end turns and rounds. cells: int64 [worlds, count], -1 for none;
// ending: bool [worlds]. rules: `Rules`; fields: the addresses of `State`, changed in place.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_units(const void* rules, const void* fields, int64_t worlds,
                                                    int64_t count, int64_t threads, const int64_t* cells,
                                                    const uint8_t* ending) {
    const Rules& game = *static_cast<const Rules*>(rules);
    const State& state = *static_cast<const State*>(fields);
    const Board board(game.rows, game.cols, worlds);
    const Disk disk(game.radius);
    const Given step{cells, false, nullptr, nullptr, state.rewards, state.terminated, state.truncated};
    in_tiles(board, threads, [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(play_units)(board, disk, game, state, step, ending, static_cast<int>(count), from, to);
    });
}

// The same with wild options, whose bolts stand among the cells; rules: `WildRules`; fields: the addresses of `WildState`.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_wild_units(const void* rules, const void* fields, int64_t worlds,
                                                         int64_t count, int64_t threads, const int64_t* cells,
                                                         const uint8_t* ending) {
    const WildRules& game = *static_cast<const WildRules*>(rules);
    const WildState& state = *static_cast<const WildState*>(fields);
    const Board board(game.rows, game.cols, worlds);
    const Disk disk(game.hull ? 1 : game.radius);
    const Given step{cells, false, nullptr, nullptr, state.rewards, state.terminated, state.truncated};
    in_tiles(board, threads, [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(play_wild_units)(board, disk, game, state, step, ending, static_cast<int>(count), from, to);
    });
}
