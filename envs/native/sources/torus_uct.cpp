// UCT on Torus.
#include "stone_uct.h"
#include "torus_tree.h"

namespace {

using namespace cellgames::torus;

CELLGAMES_DISPATCH
void simulate(const CellgamesStoneTrees& trees, const CellgamesStoneSearch& search, const Geometry& board, int64_t from,
              int64_t to) {
    Simulator<TorusRules, Filling> simulator(trees, search, TorusRules(board));
    for (int64_t tree = from; tree < to; ++tree) simulator.run(tree);
}

}  // namespace

// Add simulations to trees that have room for them; a tree whose root is resolved stays as it is.
CELLGAMES_EXPORT void cellgames_torus_uct(const CellgamesStoneTrees* trees, const CellgamesStoneSearch* search) {
    const Geometry& board = geometry(search->size);
    cellgames::in_parallel(search->trees, search->threads,
                           [&](int64_t from, int64_t to) { simulate(*trees, *search, board, from, to); });
}
