// Winners of random games of Torus: `envs/torus/filling.py`.
#include "torus.h"

namespace {

using namespace cellgames::torus;

CELLGAMES_DISPATCH
void fill(const Geometry& board, const int32_t* stones, const int64_t* player, const int32_t* lots, int64_t from,
          int64_t to, int32_t* winner) {
    Filling filling(board);
    for (int64_t game = from; game < to; ++game) {
        const int64_t at = game * board.cells;
        winner[game] = filling.winner(stones + at, static_cast<int>(player[game]) + 1, lots + at);
    }
}

}  // namespace

// stones int32 [X, N]; player int64 [X]; lots int32 [X, N]; winner int32 [X], written.
CELLGAMES_EXPORT void cellgames_torus_winners(int64_t size, int64_t games, int64_t threads, const int32_t* stones,
                                              const int64_t* player, const int32_t* lots, int32_t* winner) {
    const Geometry& board = geometry(size);
    cellgames::in_parallel(games, threads, [&](int64_t from, int64_t to) {
        fill(board, stones, player, lots, from, to, winner);
    });
}
