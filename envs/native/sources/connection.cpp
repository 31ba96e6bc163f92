// Steps, random games and UCT of Hex and Y.
#include "connection.h"
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
