// Generations of Cloth of Gold: `envs/cloth_of_gold/rules.py`, many worlds at a time, some side by side.
#include "cloth_of_gold.h"

#define CELLGAMES_BODY "cloth_of_gold_worlds.h"
#include "each_target.h"

namespace {

using cellgames::cloth::Board;

// Whether a cell of the worlds is neutral; none comes from nothing.
bool neutral_cells(const Board& board, const uint64_t* neutral, const int64_t* list, int64_t from, int64_t to) {
    for (int row = 0; row < board.rows; ++row)
        for (int word = 0; word < board.words; ++word) {
            uint64_t found = 0;
            for (int64_t index = from; index < to; ++index)
                found |= neutral[board.at(row, word) + (list ? list[index] : index)];
            if (found) return true;
        }
    return false;
}

}  // namespace

void cellgames::cloth::play_worlds(const Board& board, const Planes<const uint64_t>& given,
                                   const Planes<uint64_t>& after, const int64_t* list, int64_t generations,
                                   int64_t neutral_rules, bool settle, int64_t from, int64_t to) {
    if (neutral_cells(board, given.plane[2], list, from, to))
        CELLGAMES_CHOSEN(play_with_neutrals)(board, given, after, list, generations, neutral_rules, settle, from, to);
    else
        CELLGAMES_CHOSEN(play_two_sided)(board, given, after, list, generations, settle, from, to);
}

// Play some generations of worlds of at most 1,600 columns. given, after: int64 [4, rows + 1, words, worlds]: a's, b's,
// neutral and killed cells. neutral_rules: of `rules.generation`. settle: see `play_worlds`.
CELLGAMES_EXPORT void cellgames_cloth_of_gold(int64_t rows, int64_t cols, int64_t worlds, int64_t generations,
                                              int64_t neutral_rules, int64_t settle, int64_t threads,
                                              const uint64_t* given, uint64_t* after) {
    using namespace cellgames::cloth;
    const Board board(rows, cols, worlds);
    const int64_t plane = board.plane();
    const Planes<const uint64_t> from_planes{{given, given + plane, given + 2 * plane, given + 3 * plane}};
    const Planes<uint64_t> to_planes{{after, after + plane, after + 2 * plane, after + 3 * plane}};
    cellgames::in_parallel(tiles_of(worlds), threads, [&](int64_t from, int64_t to) {
        play_worlds(board, from_planes, to_planes, nullptr, generations, neutral_rules, settle, from * kTile,
                    std::min(to * kTile, worlds));
    });
}
