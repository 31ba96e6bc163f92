// Search trees of games of connected stones: the arrays of `agents/search/tree.py`, and how nodes are added, credited
// and resolved.
#pragma once

#include <cmath>

#include "stones.h"

namespace cellgames::stones {

// The compiler makes vectors of loops over so many numbers.
constexpr int kPart = 16;

CELLGAMES_INLINE float highest(const float* numbers, int count) {
    float found[kPart], most = -INFINITY;
    for (float& part : found) part = -INFINITY;
    int i = 0;
    for (; i + kPart <= count; i += kPart)
        for (int lane = 0; lane < kPart; ++lane) found[lane] = numbers[i + lane] > found[lane] ? numbers[i + lane] : found[lane];
    for (; i < count; ++i) most = numbers[i] > most ? numbers[i] : most;
    for (const float part : found) most = part > most ? part : most;
    return most;
}

// The place of the highest number, the first of equal ones.
CELLGAMES_INLINE int first_highest(const float* numbers, int count) {
    const float most = highest(numbers, count);
    int best = 0;
    for (; best + kPart <= count; best += kPart) {
        int here = 0;
        for (int lane = 0; lane < kPart; ++lane) here |= numbers[best + lane] == most;
        if (here) break;
    }
    while (best + 1 < count && numbers[best] != most) ++best;
    return best;
}

}  // namespace cellgames::stones

// The arrays of `Tree` and of its states; letters as there. A pointer for each, in the order of `_FIELDS` in Python.
struct CellgamesStoneTrees {
    int64_t *seed;
    int32_t *turn;
    int64_t *current_player;
    float *rewards, *scores;
    uint8_t *terminated, *truncated;
    int32_t *codes;
    int64_t *free;
    int32_t *losing, *last;  // the first one of Torus only
    int64_t *count;
    int32_t *parent, *parent_edge;
    int64_t *mover;
    float *visits, *total, *raw, *worth;
    uint8_t *resolved, *whole;
    int32_t *child;
    float *edge_visits, *edge_total;
    int8_t *status;
};

namespace cellgames::stones {

constexpr int8_t kIllegal = 0, kOpen = 1, kClosed = 2;

// Cells that win at once for the mover, and those that would for the opponent: how many.
struct Threats {
    int won, lost;
};

// One of the trees of a game; searches are derived from it. `Rules` has the numbers of cells and of actions, the legal
// actions, and
//     bool play(trees, from, node, action, mover): fill in the game's own fields after a move; whether it wins
//     Threats threats(trees, node, mover, won, lost): mark actions that win, and that the opponent has to be kept from
template <class Rules>
class StoneTree {
  public:
    StoneTree(const CellgamesStoneTrees& trees, const Rules& rules, int64_t capacity)
        : t_(trees), rules_(rules), cells_(rules.cells), edges_(rules.actions), capacity_(capacity) {}

  protected:
    const CellgamesStoneTrees& t_;
    const Rules rules_;
    const int cells_, edges_;
    const int64_t capacity_;
    int64_t first_ = 0, tree_ = 0;  // the root's number, and that of the tree

    CELLGAMES_INLINE_MEMBER void turn_to(int64_t tree) {
        first_ = tree * capacity_;
        tree_ = tree;
    }

    // Count a simulation that ended in a node, or its result, or both, for all nodes and edges on the way there.
    template <bool kVisits, bool kTotals>
    CELLGAMES_INLINE_MEMBER void credit(int64_t node, const float* value) {
        while (node != first_) {
            const int64_t parent = first_ + t_.parent[node], edge = parent * edges_ + t_.parent_edge[node];
            if (kVisits) {
                t_.visits[parent] += 1.0f;
                t_.edge_visits[edge] += 1.0f;
            }
            if (kTotals) {
                t_.total[2 * parent] += value[0];
                t_.total[2 * parent + 1] += value[1];
                t_.edge_total[edge] += value[t_.mover[parent]];
            }
            node = parent;
        }
    }

    // Count a simulation that ended in a node whose result is certain.
    CELLGAMES_INLINE_MEMBER void credit_again(int64_t node) {
        const float* worth = t_.worth + 2 * node;
        t_.visits[node] += 1.0f;
        t_.total[2 * node] += worth[0];
        t_.total[2 * node + 1] += worth[1];
        credit<true, true>(node, worth);
    }

    // Give a new node its value, for who is to move there.
    CELLGAMES_INLINE_MEMBER void evaluate(int64_t node, float value) {
        const int64_t mover = t_.mover[node];
        for (int64_t seat = 0; seat < 2; ++seat)
            t_.raw[2 * node + seat] = t_.total[2 * node + seat] = t_.worth[2 * node + seat] = seat == mover ? value : -value;
    }

    // Add the node that an edge leads to and return its number: `Game.step`, `Search._add`, `Tree.add`, `decide`, `hang`.
    // It has no value yet unless its result is certain.
    CELLGAMES_INLINE_MEMBER int64_t grow(int64_t from, int edge) {
        const int64_t place_ = t_.count[tree_]++, node = first_ + place_;
        const int mover = static_cast<int>(t_.current_player[from]);
        const bool ended = rules_.play(t_, from, node, edge, mover);
        t_.seed[node] = t_.seed[from];
        t_.turn[node] = t_.turn[from] + 1;
        t_.current_player[node] = t_.mover[node] = 1 - mover;
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
        t_.child[from * edges_ + edge] = static_cast<int32_t>(place_);
        t_.visits[node] = 1.0f;
        t_.resolved[node] = ended;
        if (ended) {
            evaluate(node, -1.0f);
        } else if (const int certain = judge(node, 1 - mover)) {
            t_.resolved[node] = 1;
            evaluate(node, static_cast<float>(certain));
        }
        return node;
    }

    // Tell what is certain of a position for who is to move there: 1 won, -1 lost, 0 nothing. It also marks edges.
    CELLGAMES_INLINE_MEMBER int judge(int64_t node, int mover) {
        int8_t* status = t_.status + node * edges_;
        std::memset(won_, 0, sizeof won_);
        std::memset(lost_, 0, sizeof lost_);
        const auto [won, lost] = rules_.threats(t_, node, mover + 1, won_, lost_);
        if (won) {
            for (int edge = 0; edge < edges_; ++edge) {
                status[edge] = won_[edge] ? kClosed : rules_.legal(t_, node, edge) ? kOpen : kIllegal;
                t_.edge_visits[node * edges_ + edge] = t_.edge_total[node * edges_ + edge] = won_[edge];
            }
            return 1;
        }
        for (int edge = 0; edge < edges_; ++edge)
            status[edge] = (lost ? lost_[edge] : rules_.legal(t_, node, edge)) ? kOpen : kIllegal;
        return lost > 1 ? -1 : 0;
    }

    // Tell the parents of a node whose result has become certain: `Tree.resolve`.
    CELLGAMES_INLINE_MEMBER void resolve(int64_t node) {
        while (node != first_) {
            const int64_t parent = first_ + t_.parent[node], edges = parent * edges_;
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
                for (int other = 0; other < edges_; ++other) {
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

  private:
    uint8_t won_[kMostCells + 1], lost_[kMostCells + 1];
};

}  // namespace cellgames::stones
