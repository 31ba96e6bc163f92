// Steps, random games, UCT and Gumbel search of Hex and Y.
#include "connection.h"
#include "stone_gumbel.h"
#include "stone_step.h"
#include "stone_uct.h"

namespace {

using namespace cellgames;
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

// What stones say to their neighbours, game by game: `place` of connection.h.
struct Stones {
    Block group[4], shift[4], code, won;
};

CELLGAMES_INLINE void join(const Board& board, const Block (&around)[8], const Block& cell, const Block& colour,
                           const Block& edges, Stones& stones) {
    for (int part = 0; part < kParts; ++part) {
        const Ints own = colour.lanes[part];
        Ints f[4], g[4], sides = edges.lanes[part], code = own + (cell.lanes[part] << 2);
        for (int slot = 3; slot >= 0; --slot) {
            const Ints first = around[2 * slot].lanes[part], second = around[2 * slot + 1].lanes[part];
            f[slot] = pick((first & kColour) == own, first, pick((second & kColour) == own, second, every(0)));
            g[slot] = f[slot] & kGroup;
            sides = sides | (f[slot] >> kMoreShift);
            code = pick(f[slot] != 0, f[slot], code);
        }
        code = (code & kGroup) + (sides << kMoreShift);
        for (int slot = 0; slot < 4; ++slot) {  // the group that takes the others over is in the first slot that is not 0
            Flags known = (g[slot] == 0) | (f[slot] == code);
            for (int other = 0; other < slot; ++other) known = known | (g[slot] == g[other]);
            stones.shift[slot].lanes[part] = pick(known, every(0), code - f[slot]);
            stones.group[slot].lanes[part] = g[slot];
        }
        const Ints goal = pick(own == 1, every(static_cast<uint32_t>(board.goals[0])), every(static_cast<uint32_t>(board.goals[1])));
        stones.won.lanes[part] = pick((sides & goal) == goal, every(1), every(0));
        stones.code.lanes[part] = code;
    }
}

template <int kCells>  // 0: any number
CELLGAMES_INLINE void step_block(const Board& board, const Batch& batch, int64_t first, int count, bool random) {
    const int cells = kCells ? kCells : static_cast<int>(board.cells), actions = cells + static_cast<int>(board.swap);
    const int64_t swap_bit = 1ll << cells % kWord;
    Block cell = {}, colour = {}, edges = {}, around[8] = {};
    if (random) {
        draw_actions(batch, first, count, (actions + kWord - 1) / kWord, cell);
        int64_t* __restrict drawn = batch.actions + first;
        for (int i = 0; i < count; ++i) drawn[i] = cell.of[i];
    } else {
        for (int i = 0; i < count; ++i) {  // an unchecked action off the board plays somewhere
            const int64_t given = batch.given[first + i];
            cell.of[i] = given >= 0 && given < actions ? static_cast<uint32_t>(given) : 0;
        }
    }
    for (int i = 0; i < count; ++i) {
        const int64_t game = first + i;
        if (cell.of[i] == static_cast<uint32_t>(cells)) {  // a swap: the mover's stone on a board that is cleared
            cell.of[i] = static_cast<uint32_t>(board.mirrored[batch.last[game] > 0 ? batch.last[game] : 0]);
            clear(batch, game, cells, actions);
        }
        const int32_t *codes = batch.codes + game * cells, *near = board.near + 8 * cell.of[i];
        for (int slot = 0; slot < 8; ++slot) around[slot].of[i] = static_cast<uint32_t>(codes[near[slot]]);
        edges.of[i] = static_cast<uint32_t>(board.sides[cell.of[i]]);
        colour.of[i] = static_cast<uint32_t>(batch.player[game]) + 1;
    }
    Stones stones;
    join(board, around, cell, colour, edges, stones);
    for (int slot = 0; slot < 4; ++slot)
        move_groups(batch, first, count, cells, stones.group[slot], stones.shift[slot]);
    for (int i = 0; i < count; ++i) {
        const int64_t game = first + i, at = cell.of[i];
        uint8_t* mask = batch.mask + game * actions;
        batch.codes[game * cells + at] = static_cast<int32_t>(stones.code.of[i]);
        mask[at] = 0;
        batch.free[at / kWord * batch.games + game] &= ~(1ll << at % kWord);
        if (board.swap) {  // legal in turn 1 alone
            const bool opening = batch.turn[game] == 0;
            int64_t& word = batch.free[cells / kWord * batch.games + game];
            word = (word & ~swap_bit) | (opening ? swap_bit : 0);
            mask[cells] = opening;
        }
        batch.last[game] = static_cast<int32_t>(at);
        batch.turn[game] += 1;
        batch.player[game] = 1 - batch.player[game];
    }
    const Chosen won(stones.won, count);
    for (int each = 0; each < won.count; ++each) {
        const int i = won.game[each];
        finish(batch, first + i, static_cast<int>(colour.of[i]), cells, actions);
    }
}

CELLGAMES_DISPATCH
void step(const Board& board, const Batch& batch, int64_t from, int64_t to, bool random) {
    begin(batch, from, to);
    const int cells = static_cast<int>(board.cells);
    for (int64_t first = from; first < to; first += kBlock) {
        const int count = static_cast<int>(to - first < kBlock ? to - first : kBlock);
        if (to - first >= 2 * kBlock) fetch(batch, first + kBlock, kBlock, cells, static_cast<int>(cells + board.swap));
        switch (cells) {  // the usual boards, Hex 11 x 11 and Y 13, in loops of known length
            case 121: step_block<121>(board, batch, first, count, random); break;
            case 91: step_block<91>(board, batch, first, count, random); break;
            default: step_block<0>(board, batch, first, count, random);
        }
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

CELLGAMES_DISPATCH
void search_trees(const CellgamesStoneTrees& trees, const CellgamesStoneGumbel& search, const Board& board, int64_t from,
                  int64_t to) {
    GumbelSearch<ConnectionRules> here(trees, search, ConnectionRules(board));
    for (int64_t tree = from; tree < to; ++tree) here.run(tree);
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

// fields: those of the state. `random`: `given` holds random bits, 0 to 2^31 - 1, else actions; the rest is written.
CELLGAMES_EXPORT void cellgames_connection_step(const CellgamesConnectionBoard* board, const stones::Fields* fields,
                                                int64_t games, int64_t threads, int64_t random, const int64_t* given,
                                                uint8_t* mask, int64_t* actions, float* rewards, uint8_t* terminated,
                                                uint8_t* truncated) {
    stones::step_all(*fields, nullptr, games, threads, given, mask, actions, rewards, terminated, truncated,
                     [&](const Batch& batch, int64_t from, int64_t to) { step(*board, batch, from, to, random != 0); });
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

// Go on with the searches of all trees, and return how many nodes wait for values; 0 if the searches are at their end.
CELLGAMES_EXPORT int64_t cellgames_connection_gumbel(const CellgamesStoneTrees* trees, const CellgamesStoneGumbel* search,
                                                     const CellgamesConnectionBoard* board) {
    cellgames::in_parallel(search->trees, search->threads,
                           [&](int64_t from, int64_t to) { search_trees(*trees, *search, *board, from, to); });
    return hand_out(*search);
}
