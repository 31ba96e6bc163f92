// UCT on Torus: the simulations of `agents/search/uct.py` with random playouts, on the arrays of `agents/search/tree.py`.
#include <cmath>

#include "random.h"
#include "torus.h"

namespace {

using namespace cellgames::torus;

constexpr int8_t kIllegal = 0, kOpen = 1, kClosed = 2;
constexpr float kBelow = 1000.0f;  // so far below the others is the score of an edge whose result is certain

}  // namespace

// The arrays of `Tree` and of its states; letters as there. A pointer for each, in the order of `_FIELDS` in Python.
struct CellgamesTorusTrees {
    int64_t *seed;
    int32_t *turn;
    int64_t *current_player;
    float *rewards, *scores;
    uint8_t *terminated, *truncated;
    int32_t *codes;
    int64_t *free;
    int32_t *losing, *last;
    int64_t *count;
    int32_t *parent, *parent_edge;
    int64_t *mover;
    float *visits, *total, *raw, *worth;
    uint8_t *resolved, *whole;
    int32_t *child;
    float *edge_visits, *edge_total;
    int8_t *status;
};

// What a search is given beside its trees.
struct CellgamesTorusSearch {
    int64_t size, trees, capacity, simulations, playouts, threads;
    const float* orders;  // [rows, N], in which untried edges are tried
    int64_t rows;
    const float* weights;  // by visits, of the upper bound
    const int64_t* keys;   // [B], of the playouts' random numbers
    const int32_t* lots;   // null, or [B, evaluations, playouts, N]: these numbers instead
    int64_t evaluations;
};

namespace {

class Simulator {
  public:
    Simulator(const CellgamesTorusTrees& trees, const CellgamesTorusSearch& search, const Geometry& board)
        : t_(trees), s_(search), board_(board), filling_(board), cells_(board.cells), words_((board.cells + 31) / 32) {}

    CELLGAMES_INLINE_MEMBER void run(int64_t tree) {
        first_ = tree * s_.capacity;
        tree_ = tree;
        evaluated_ = 0;
        for (int64_t i = 0; i < s_.simulations && !t_.resolved[first_]; ++i) simulate();
    }

  private:
    const CellgamesTorusTrees& t_;
    const CellgamesTorusSearch& s_;
    const Geometry& board_;
    Filling filling_;
    const int cells_, words_;
    int64_t first_ = 0, tree_ = 0, evaluated_ = 0;
    int64_t path_[kMostCells + 1];
    int edges_[kMostCells + 1];
    int32_t lots_[kMostCells];
    uint8_t won_[kMostCells], lost_[kMostCells];

    CELLGAMES_INLINE_MEMBER void simulate() {
        int depth = 0;
        int64_t node = first_;
        for (;;) {
            const int edge = choose(node);
            path_[depth] = node;
            edges_[depth++] = edge;
            const int32_t child = t_.child[node * cells_ + edge];
            if (child == 0) {
                const int64_t grown = grow(node, edge);
                credit(depth, t_.raw + 2 * grown);
                if (t_.resolved[grown]) resolve(grown);
                return;
            }
            node = first_ + child;
            if (t_.resolved[node]) {
                const float* worth = t_.worth + 2 * node;
                t_.visits[node] += 1.0f;
                t_.total[2 * node] += worth[0];
                t_.total[2 * node + 1] += worth[1];
                credit(depth, worth);
                return;
            }
        }
    }

    CELLGAMES_INLINE_MEMBER void credit(int depth, const float* value) {
        for (int step = 0; step < depth; ++step) {
            const int64_t node = path_[step], edge = node * cells_ + edges_[step];
            t_.visits[node] += 1.0f;
            t_.total[2 * node] += value[0];
            t_.total[2 * node + 1] += value[1];
            t_.edge_visits[edge] += 1.0f;
            t_.edge_total[edge] += value[t_.mover[node]];
        }
    }

    // The edge of the highest score; the first of equal ones.
    CELLGAMES_INLINE_MEMBER int choose(int64_t node) {
        const float* visits = t_.edge_visits + node * cells_;
        const float* total = t_.edge_total + node * cells_;
        const int8_t* status = t_.status + node * cells_;
        const float* order = s_.orders + (node - first_) % s_.rows * cells_;
        const float weight = s_.weights[static_cast<int64_t>(t_.visits[node])];
        float score[kMostCells];
        for (int edge = 0; edge < cells_; ++edge) {
            const float tried = visits[edge] < 1.0f ? 1.0f : visits[edge];
            const float bound = total[edge] / tried + std::sqrt(weight / tried);
            const float open = visits[edge] > 0.0f ? bound : order[edge];
            const float legal = status[edge] == kClosed ? open - kBelow : open;
            score[edge] = status[edge] == kIllegal ? -INFINITY : legal;
        }
        float highest = -INFINITY;
        for (int edge = 0; edge < cells_; ++edge) highest = score[edge] > highest ? score[edge] : highest;
        int best = 0;
        while (score[best] != highest) ++best;
        return best;
    }

    // Add the node that an edge leads to and return its number: `Game.step`, `Search._add`, `Tree.add`, `decide`, `hang`.
    CELLGAMES_INLINE_MEMBER int64_t grow(int64_t from, int edge) {
        const int64_t place_ = t_.count[tree_]++, node = first_ + place_;
        const int mover = static_cast<int>(t_.current_player[from]);
        int32_t* codes = t_.codes + node * cells_;
        std::memcpy(codes, t_.codes + from * cells_, sizeof(int32_t) * static_cast<size_t>(cells_));
        std::memcpy(t_.free + node * words_, t_.free + from * words_, sizeof(int64_t) * static_cast<size_t>(words_));
        t_.free[node * words_ + edge / 32] &= ~(int64_t{1} << (edge % 32));
        int32_t losing = t_.losing[from];
        const bool ended = place(board_, codes, losing, edge, mover + 1);
        t_.seed[node] = t_.seed[from];
        t_.turn[node] = t_.turn[from] + 1;
        t_.current_player[node] = t_.mover[node] = 1 - mover;
        t_.losing[node] = losing;
        t_.last[node] = edge;
        t_.terminated[node] = ended;
        t_.truncated[node] = t_.truncated[from];
        for (int seat = 0; seat < 2; ++seat) {
            t_.rewards[2 * node + seat] = ended ? (seat == mover ? 1.0f : -1.0f) : 0.0f;
            const float before = t_.scores[2 * from + seat];
            t_.scores[2 * node + seat] = ended && seat == mover ? 1.0f : before;
        }
        t_.whole[node] = 1;
        t_.parent[node] = static_cast<int32_t>(from - first_);
        t_.parent_edge[node] = edge;
        t_.child[from * cells_ + edge] = static_cast<int32_t>(place_);
        float result = ended ? 1.0f : 0.0f;  // for the one who has just moved
        if (!ended) result = -judge(node, codes, losing, 1 - mover);
        t_.resolved[node] |= ended;
        const float value[2] = {mover == 0 ? result : -result, mover == 0 ? -result : result};
        for (int seat = 0; seat < 2; ++seat)
            t_.raw[2 * node + seat] = t_.total[2 * node + seat] = t_.worth[2 * node + seat] = value[seat];
        t_.visits[node] = 1.0f;
        return node;
    }

    // The value of a position for who is to move there. It also marks edges, and the node if its result is certain.
    CELLGAMES_INLINE_MEMBER float judge(int64_t node, const int32_t* codes, int32_t losing, int mover) {
        int8_t* status = t_.status + node * cells_;
        const auto [won, lost] = threats(codes, losing, mover + 1);
        if (won) {
            for (int cell = 0; cell < cells_; ++cell) {
                status[cell] = won_[cell] ? kClosed : codes[cell] == 0 ? kOpen : kIllegal;
                t_.edge_visits[node * cells_ + cell] = t_.edge_total[node * cells_ + cell] = won_[cell];
            }
            t_.resolved[node] = 1;
            return 1.0f;
        }
        for (int cell = 0; cell < cells_; ++cell) status[cell] = (lost ? lost_[cell] : codes[cell] == 0) ? kOpen : kIllegal;
        if (lost > 1) {
            t_.resolved[node] = 1;
            return -1.0f;
        }
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

    struct Threats {
        int won, lost;
    };

    // Mark the free cells by which the mover wins at once, and those by which the opponent would; return their numbers.
    CELLGAMES_INLINE_MEMBER Threats threats(const int32_t* codes, int32_t losing, int colour) {
        int own = 0, other = 0;
        for (int cell = 0; cell < cells_; ++cell) {
            own += (codes[cell] & kColour) == colour;
            other += (codes[cell] & kColour) == 3 - colour;
        }
        const int least = board_.size - 1;  // a path around the torus has a cell in every row
        if (own < least && other < least) return {0, 0};
        std::memset(won_, 0, sizeof won_);
        std::memset(lost_, 0, sizeof lost_);
        Threats found{0, 0};
        for (int cell = 0; cell < cells_; ++cell) {
            if (codes[cell]) continue;
            const Cycles mine = frames(board_, codes, cell, colour).closed();
            if (mine.any() && mine.win(losing, colour)) found.won += won_[cell] = 1;
            const Cycles theirs = frames(board_, codes, cell, 3 - colour).closed();
            if (theirs.any() && theirs.win(losing, 3 - colour)) found.lost += lost_[cell] = 1;
        }
        return found;
    }

    // Tell the parents of a node whose result has become certain: `Tree.resolve`.
    CELLGAMES_INLINE_MEMBER void resolve(int64_t node) {
        while (node != first_) {
            const int64_t parent = first_ + t_.parent[node], edges = parent * cells_;
            const int64_t mover = t_.mover[parent];
            const int edge = t_.parent_edge[node];
            const float own = t_.worth[2 * node + mover];
            t_.status[edges + edge] = kClosed;
            t_.edge_total[edges + edge] = own * t_.edge_visits[edges + edge];
            if (t_.resolved[parent]) return;
            int best = edge;
            if (own < 1.0f) {
                if (!t_.whole[parent]) return;
                float highest = -INFINITY;
                best = 0;
                for (int other = 0; other < cells_; ++other) {
                    if (t_.status[edges + other] == kOpen) return;
                    const float visits = t_.edge_visits[edges + other];
                    const float mean = visits == 0.0f ? -INFINITY : t_.edge_total[edges + other] / visits;
                    if (mean > highest) highest = mean, best = other;
                }
            }
            const int64_t result = first_ + t_.child[edges + best];
            t_.worth[2 * parent] = t_.worth[2 * result];
            t_.worth[2 * parent + 1] = t_.worth[2 * result + 1];
            t_.resolved[parent] = 1;
            node = parent;
        }
    }
};

CELLGAMES_DISPATCH
void simulate(const CellgamesTorusTrees& trees, const CellgamesTorusSearch& search, const Geometry& board, int64_t from,
              int64_t to) {
    Simulator simulator(trees, search, board);
    for (int64_t tree = from; tree < to; ++tree) simulator.run(tree);
}

}  // namespace

// Add simulations to trees that have room for them; a tree whose root is resolved stays as it is.
CELLGAMES_EXPORT void cellgames_torus_uct(const CellgamesTorusTrees* trees, const CellgamesTorusSearch* search) {
    const Geometry& board = geometry(search->size);
    cellgames::in_parallel(search->trees, search->threads,
                           [&](int64_t from, int64_t to) { simulate(*trees, *search, board, from, to); });
}
