// UCT and Gumbel search on Torus.
#include "stone_gumbel.h"
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

CELLGAMES_DISPATCH
void search_trees(const CellgamesStoneTrees& trees, const CellgamesStoneGumbel& search, const Geometry& board, int64_t from,
                  int64_t to) {
    GumbelSearch<TorusRules> here(trees, search, TorusRules(board));
    for (int64_t tree = from; tree < to; ++tree) here.run(tree);
}

}  // namespace

// Add simulations to trees that have room for them; a tree whose root is resolved stays as it is.
CELLGAMES_EXPORT void cellgames_torus_uct(const CellgamesStoneTrees* trees, const CellgamesStoneSearch* search) {
    const Geometry& board = geometry(search->size);
    cellgames::in_parallel(search->trees, search->threads,
                           [&](int64_t from, int64_t to) { simulate(*trees, *search, board, from, to); });
}

// Go on with the searches of all trees, and return how many nodes wait for values; 0 if the searches are at their end.
CELLGAMES_EXPORT int64_t cellgames_torus_gumbel(const CellgamesStoneTrees* trees, const CellgamesStoneGumbel* search) {
    const Geometry& board = geometry(search->size);
    cellgames::in_parallel(search->trees, search->threads,
                           [&](int64_t from, int64_t to) { search_trees(*trees, *search, board, from, to); });
    return hand_out(*search);
}
