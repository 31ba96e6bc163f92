// Steps, random games and UCT of Hex and Y.
#include "connection.h"
#include "stone_step.h"
#include "stone_uct.h"

namespace {

using namespace cellgames::connection;

CELLGAMES_DISPATCH
void put_stones(const Board& board, int64_t from, int64_t to, const int64_t* cell, const int64_t* player, int32_t* codes,
                uint8_t* won) {
    for (int64_t game = from; game < to; ++game) {
        const bool inside = static_cast<uint64_t>(cell[game]) < static_cast<uint64_t>(board.cells);
        const int at = static_cast<int>(inside ? cell[game] : 0);  // an unchecked action off the board plays somewhere
        won[game] = place(board, codes + game * board.cells, at, static_cast<int>(player[game]) + 1);
    }
}

CELLGAMES_INLINE void step_block(const Board& board, const Batch& batch, int64_t first, int count, bool random) {
    const int cells = static_cast<int>(board.cells), actions = static_cast<int>(board.cells + board.swap);
    const int64_t swap_bit = 1ll << cells % kWord;
    Block action = {};
    if (random) {
        draw_actions(batch, first, count, (actions + kWord - 1) / kWord, action);
        int64_t* __restrict drawn = batch.actions + first;
        for (int i = 0; i < count; ++i) drawn[i] = action.of[i];
    } else {
        for (int i = 0; i < count; ++i) {  // an unchecked action off the board plays somewhere
            const int64_t given = batch.given[first + i];
            action.of[i] = given >= 0 && given < actions ? static_cast<uint32_t>(given) : 0;
        }
    }
    for (int64_t game = first; game < first + count; ++game) {
        int32_t* codes = batch.codes + game * cells;
        uint8_t* mask = batch.mask + game * actions;
        int cell = static_cast<int>(action.of[game - first]);
        if (cell == cells) {  // a swap: the board is cleared, and the mover's stone stands where the first is mirrored to
            cell = board.mirrored[batch.last[game] > 0 ? batch.last[game] : 0];
            clear(batch, game, cells, actions);
        }
        const int colour = static_cast<int>(batch.player[game]) + 1;
        const bool won = place(board, codes, cell, colour);
        mask[cell] = 0;
        batch.free[cell / kWord * batch.games + game] &= ~(1ll << cell % kWord);
        if (board.swap) {  // legal in turn 1 alone
            const bool opening = batch.turn[game] == 0;
            int64_t& word = batch.free[cells / kWord * batch.games + game];
            word = opening ? word | swap_bit : word & ~swap_bit;
            mask[cells] = opening;
        }
        batch.last[game] = cell;
        batch.turn[game] += 1;
        batch.player[game] = 2 - colour;
        if (won) finish(batch, game, colour, cells, actions);
    }
}

CELLGAMES_DISPATCH
void step(const Board& board, const Batch& batch, int64_t from, int64_t to, bool random) {
    std::memset(batch.terminated + from, 0, static_cast<size_t>(to - from));
    for (int64_t seat = 0; seat < 2; ++seat) {
        float* scores = batch.scores + seat * batch.games;
        std::memset(batch.rewards + seat * batch.games + from, 0, sizeof(float) * static_cast<size_t>(to - from));
        for (int64_t game = from; game < to; ++game) scores[game] = scores[game] < 0.0f ? 0.0f : scores[game];
    }
    const int cells = static_cast<int>(board.cells);
    for (int64_t first = from; first < to; first += kBlock) {
        const int count = static_cast<int>(to - first < kBlock ? to - first : kBlock);
        if (to - first >= 2 * kBlock) fetch(batch, first + kBlock, kBlock, cells, static_cast<int>(cells + board.swap));
        step_block(board, batch, first, count, random);
    }
}

CELLGAMES_DISPATCH
void winning(const Board& board, int64_t from, int64_t to, const int32_t* codes, const int64_t* player, uint8_t* won) {
    for (int64_t game = from; game < to; ++game) {
        const int32_t* code = codes + game * board.cells;
        for (int cell = 0; cell < static_cast<int>(board.cells); ++cell)
            won[game * board.cells + cell] =
                code[cell] == 0 && wins_at(board, code, cell, static_cast<int>(player[game]) + 1);
    }
}

CELLGAMES_DISPATCH
void fill(const Board& board, const int32_t* stones, const int64_t* player, const int32_t* lots, int64_t from, int64_t to,
          int32_t* winner) {
    Filling filling(board);
    for (int64_t game = from; game < to; ++game) {
        const int64_t at = game * board.cells;
        winner[game] = filling.winner(stones + at, static_cast<int>(player[game]) + 1, lots + at);
    }
}

CELLGAMES_DISPATCH
void simulate(const CellgamesStoneTrees& trees, const CellgamesStoneSearch& search, const Board& board, int64_t from,
              int64_t to) {
    Simulator<ConnectionRules, Filling> simulator(trees, search, ConnectionRules(board));
    for (int64_t tree = from; tree < to; ++tree) simulator.run(tree);
}

}  // namespace

// cell, player int64 [B]; codes int32 [B][N], changed; won [B], written.
CELLGAMES_EXPORT void cellgames_connection_put_stones(const CellgamesConnectionBoard* board, int64_t games,
                                                      int64_t threads, const int64_t* cell, const int64_t* player,
                                                      int32_t* codes, uint8_t* won) {
    cellgames::in_parallel(games, threads, [&](int64_t from, int64_t to) {
        put_stones(*board, from, to, cell, player, codes, won);
    });
}

// The arrays in the order of `Batch`, without `losing`. `random`: `given` holds random bits, 0 to 2^31 - 1, else actions.
CELLGAMES_EXPORT void cellgames_connection_step(const CellgamesConnectionBoard* board, int64_t games, int64_t threads,
                                                int64_t random, int32_t* codes, int64_t* free, int32_t* last,
                                                int32_t* turn, int64_t* player, int64_t* seed, float* scores,
                                                uint8_t* mask, const int64_t* given, int64_t* actions, float* rewards,
                                                uint8_t* terminated) {
    const cellgames::stones::Batch batch{codes, free,  nullptr, last,    turn,       player, seed, scores,
                                         mask,  given, actions, rewards, terminated, games};
    cellgames::in_parallel(games, threads, [&](int64_t from, int64_t to) { step(*board, batch, from, to, random != 0); });
}

// codes int32 [B][N], player int64 [B]; won [B][N], written: where each player would win.
CELLGAMES_EXPORT void cellgames_connection_winning(const CellgamesConnectionBoard* board, int64_t games, int64_t threads,
                                                   const int32_t* codes, const int64_t* player, uint8_t* won) {
    cellgames::in_parallel(games, threads,
                           [&](int64_t from, int64_t to) { winning(*board, from, to, codes, player, won); });
}

// stones int32 [X, N]; player int64 [X]; lots int32 [X, N]; winner int32 [X], written.
CELLGAMES_EXPORT void cellgames_connection_winners(const CellgamesConnectionBoard* board, int64_t games, int64_t threads,
                                                   const int32_t* stones, const int64_t* player, const int32_t* lots,
                                                   int32_t* winner) {
    cellgames::in_parallel(games, threads, [&](int64_t from, int64_t to) {
        fill(*board, stones, player, lots, from, to, winner);
    });
}

// Add simulations to trees that have room for them; a tree whose root is resolved stays as it is.
CELLGAMES_EXPORT void cellgames_connection_uct(const CellgamesStoneTrees* trees, const CellgamesStoneSearch* search,
                                               const CellgamesConnectionBoard* board) {
    cellgames::in_parallel(search->trees, search->threads,
                           [&](int64_t from, int64_t to) { simulate(*trees, *search, *board, from, to); });
}
