// UCT on games of connected stones: the simulations of `agents/search/uct.py` with random playouts, on the arrays of
// `agents/search/tree.py`.
#pragma once

#include "random.h"
#include "stone_tree.h"

// What a search is given beside its trees.
struct CellgamesStoneSearch {
    int64_t size, trees, capacity, simulations, playouts, threads;
    const float* orders;  // [rows, N], in which untried edges are tried
    int64_t rows;
    const float* weights;  // by visits, of the upper bound
    const int64_t* keys;   // [B], of the playouts' random numbers
    const int32_t* lots;   // null, or [B, evaluations, playouts, N]: these numbers instead
    int64_t evaluations;
};

namespace cellgames::stones {

constexpr float kBelow = 1000.0f;  // so far below the others is the score of an edge whose result is certain

// `Filling` is made of a board, and tells the winner of a random filling of its free cells.
template <class Rules, class Filling>
class Simulator : StoneTree<Rules> {
  public:
    Simulator(const CellgamesStoneTrees& trees, const CellgamesStoneSearch& search, const Rules& rules)
        : Tree(trees, rules, search.capacity), s_(search), filling_(rules.board) {}

    CELLGAMES_INLINE_MEMBER void run(int64_t tree) {
        this->turn_to(tree);
        evaluated_ = 0;
        for (int64_t i = 0; i < s_.simulations && !t_.resolved[first_]; ++i) simulate();
    }

  private:
    using Tree = StoneTree<Rules>;
    using Tree::cells_, Tree::edges_, Tree::first_, Tree::t_, Tree::tree_;

    const CellgamesStoneSearch& s_;
    Filling filling_;
    int64_t evaluated_ = 0;
    int32_t lots_[kMostCells];

    CELLGAMES_INLINE_MEMBER void simulate() {
        int64_t node = first_;
        for (;;) {
            const int edge = choose(node);
            const int32_t child = t_.child[node * edges_ + edge];
            if (child == 0) {
                const int64_t grown = this->grow(node, edge);
                if (!t_.resolved[grown]) this->evaluate(grown, playouts(grown));
                this->template credit<true, true>(grown, t_.raw + 2 * grown);
                if (t_.resolved[grown]) this->resolve(grown);
                return;
            }
            node = first_ + child;
            if (t_.resolved[node]) return this->credit_again(node);
        }
    }

    // The edge of the highest score; the first of equal ones.
    CELLGAMES_INLINE_MEMBER int choose(int64_t node) {
        const float* visits = t_.edge_visits + node * edges_;
        const float* total = t_.edge_total + node * edges_;
        const int8_t* status = t_.status + node * edges_;
        const float* order = s_.orders + (node - first_) % s_.rows * edges_;
        const float weight = s_.weights[static_cast<int64_t>(t_.visits[node])];
        float score[kMostCells + 1];
        for (int edge = 0; edge < edges_; ++edge) {
            const float tried = visits[edge] < 1.0f ? 1.0f : visits[edge];
            const float bound = total[edge] / tried + std::sqrt(weight / tried);
            const float open = visits[edge] > 0.0f ? bound : order[edge];
            const float legal = status[edge] == kClosed ? open - kBelow : open;
            score[edge] = status[edge] == kIllegal ? -INFINITY : legal;
        }
        return first_highest(score, edges_);
    }

    // The mean result of random games from a position, for who is to move there.
    CELLGAMES_INLINE_MEMBER float playouts(int64_t node) {
        const int32_t* codes = t_.codes + node * cells_;
        const int mover = static_cast<int>(t_.mover[node]);
        int sum = 0;
        for (int64_t playout = 0; playout < s_.playouts; ++playout) {
            const int32_t* lots = lots_;
            if (s_.lots)
                lots = s_.lots + ((tree_ * s_.evaluations + evaluated_) * s_.playouts + playout) * cells_;
            else
                cellgames::fill_random(lots_, cells_, kLotBits, cellgames::mixed(
                    static_cast<uint64_t>(s_.keys[tree_]) + static_cast<uint64_t>((node - first_) * s_.playouts + playout)));
            sum += filling_.winner(codes, mover + 1, lots) == mover + 1 ? 1 : -1;
        }
        ++evaluated_;
        return static_cast<float>(sum) / static_cast<float>(s_.playouts);
    }
};

}  // namespace cellgames::stones
