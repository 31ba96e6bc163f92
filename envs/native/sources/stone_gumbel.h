// Gumbel AlphaZero search on games of connected stones: the simulations of `agents/search/gumbel.py` on the arrays of
// `tree.py`. Positions that a network is to evaluate are handed out, and the next call brings their values.
#pragma once

#include "stone_tree.h"

// What a search is given beside its trees; letters as in `tree.py`, and W: simulations that may wait for values.
struct CellgamesStoneGumbel {
    int64_t size, trees, capacity, simulations, width, threads;
    const float* scale;   // one number
    const float* wish;    // [B, E], of the edges of roots
    const float* before;  // [B, E], their visits from an earlier search
    const float* plan;    // [B, simulations], visits of the edge that a simulation takes at the root
    float* logits;        // of the trees
    int64_t* done;        // [B], simulations so far
    int64_t* pending;     // [B], of these without a value
    int64_t* waiting;     // [B, W], their nodes
    int64_t* rows;        // [B], where their values begin
    int64_t* leaves;      // [B W], all such nodes, to be evaluated
    const float* priors;  // [X, E], logits of those handed out by the call before
    const float* values;  // [X, 2]
    const int64_t* sure;  // [X], whether the mover wins (1) or loses (-1) for certain, or null
    const int64_t* moves;  // [X], moves that win, or -1; null with `sure`
    const uint8_t* worth;  // [X, E], 0 for useless moves; null with `sure`
};

namespace cellgames::stones {

constexpr float kVisits = 50.0f, kFar = 1e9f;  // as in `gumbel.py`

// exp(x) for x up to 0, within some units of the last place, without branches.
CELLGAMES_INLINE float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f;  // its lowest bits are a whole number of powers of two
    const float whole = shifted - 12582912.0f;
    const float rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float sum = 1.9875691500e-4f;
    sum = sum * rest + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1.0f;
    const int32_t bits = (static_cast<int32_t>(whole) + 127) * (1 << 23);
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}

// The sum in an order that processors add several numbers of at once.
CELLGAMES_INLINE float total(const float* numbers, int count) {
    float sums[16] = {};
    int i = 0;
    for (; i + 16 <= count; i += 16)
        for (int lane = 0; lane < 16; ++lane) sums[lane] += numbers[i + lane];
    for (; i < count; ++i) sums[i % 16] += numbers[i];
    for (int width = 8; width; width /= 2)
        for (int lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
    return sums[0];
}

template <class Rules>
class GumbelSearch : StoneTree<Rules> {
  public:
    GumbelSearch(const CellgamesStoneTrees& trees, const CellgamesStoneGumbel& search, const Rules& rules)
        : Tree(trees, rules, search.capacity), s_(search) {}

    // Take the values of what was handed out, and go on until something is handed out again or the search is at its end.
    CELLGAMES_INLINE_MEMBER void run(int64_t tree) {
        this->turn_to(tree);
        for (int64_t place = 0; place < s_.pending[tree]; ++place) {
            const int64_t node = s_.waiting[tree * s_.width + place], row = s_.rows[tree] + place;
            std::memcpy(s_.logits + node * edges_, s_.priors + row * edges_, sizeof(float) * static_cast<size_t>(edges_));
            const float* value = s_.values + 2 * row;
            for (int seat = 0; seat < 2; ++seat)
                t_.raw[2 * node + seat] = t_.total[2 * node + seat] = t_.worth[2 * node + seat] = value[seat];
            this->template credit<false, true>(node, value);
            if (!s_.sure) continue;
            keep(node, s_.worth + row * edges_);
            if (s_.sure[row]) prove(node, s_.moves[row]);
        }
        s_.pending[tree] = 0;
        while (!s_.pending[tree] && goes_on()) play_round();
    }

  private:
    // Leave a node its edges that are not useless, if there are any.
    CELLGAMES_INLINE_MEMBER void keep(int64_t node, const uint8_t* worth) {
        int8_t* status = t_.status + node * edges_;
        int left = 0;
        for (int edge = 0; edge < edges_; ++edge) left += status[edge] && worth[edge];
        for (int edge = 0; left && edge < edges_; ++edge) status[edge] = worth[edge] ? status[edge] : kIllegal;
    }

    // `Tree.prove`, of a node that has its value; a lost one has no move.
    CELLGAMES_INLINE_MEMBER void prove(int64_t node, int64_t move) {
        t_.resolved[node] = 1;
        if (move >= 0) {
            t_.status[node * edges_ + move] = kClosed;
            t_.edge_visits[node * edges_ + move] = t_.edge_total[node * edges_ + move] = 1.0f;
        }
        this->resolve(node);
    }

    using Tree = StoneTree<Rules>;
    using Tree::edges_, Tree::first_, Tree::t_, Tree::tree_;

    const CellgamesStoneGumbel& s_;
    float sigma_[kMostCells + 1], score_[kMostCells + 1];

    CELLGAMES_INLINE_MEMBER bool goes_on() const { return s_.done[tree_] < s_.simulations && !t_.resolved[first_]; }

    // Run simulations that the plan sends through edges with as many visits. Each takes another edge, so none depends on
    // the value of one before it, unless edges with and without a result compete.
    CELLGAMES_INLINE_MEMBER void play_round() {
        const float* plan = s_.plan + tree_ * s_.simulations;
        const float planned = plan[s_.done[tree_]];
        const bool alone = mixed_round(planned);
        do {
            const int edge = choose_at_root(planned);
            const bool strange = taken(edge) != planned;  // no edge has as many
            if (strange && s_.pending[tree_]) return;
            simulate(edge);
            ++s_.done[tree_];
            if (alone || strange) return;
        } while (goes_on() && plan[s_.done[tree_]] == planned && s_.pending[tree_] < s_.width);
    }

    // The visits of a root's edge in this search.
    CELLGAMES_INLINE_MEMBER float taken(int edge) const {
        return t_.edge_visits[first_ * edges_ + edge] - s_.before[tree_ * edges_ + edge];
    }

    CELLGAMES_INLINE_MEMBER bool mixed_round(float planned) const {
        bool with = false, without = false;
        for (int edge = 0; edge < edges_; ++edge) {
            const bool competes = t_.status[first_ * edges_ + edge] != kIllegal && taken(edge) == planned;
            const bool tried = t_.edge_visits[first_ * edges_ + edge] > 0.0f;
            with |= competes && tried;
            without |= competes && !tried;
        }
        return with && without;
    }

    // Go down from an edge of the root, and add a node.
    CELLGAMES_INLINE_MEMBER void simulate(int edge) {
        int64_t node = first_;
        for (;;) {
            const int32_t child = t_.child[node * edges_ + edge];
            if (child == 0) break;
            node = first_ + child;
            if (t_.resolved[node]) return this->credit_again(node);
            edge = choose(node);
        }
        const int64_t grown = this->grow(node, edge);
        if (!t_.resolved[grown]) {
            this->template credit<true, false>(grown, nullptr);
            s_.waiting[tree_ * s_.width + s_.pending[tree_]++] = grown;
            return;
        }
        float* logits = s_.logits + grown * edges_;
        for (int edge = 0; edge < edges_; ++edge) logits[edge] = t_.status[grown * edges_ + edge] == kClosed ? 100.0f : 0.0f;
        this->template credit<true, true>(grown, t_.raw + 2 * grown);
        this->resolve(grown);
    }

    // `GumbelSearch._sigma`, into `sigma_`.
    CELLGAMES_INLINE_MEMBER void weigh(int64_t node) {
        const float* visits = t_.edge_visits + node * edges_;
        const float* totals = t_.edge_total + node * edges_;
        const float* logits = s_.logits + node * edges_;
        const int8_t* status = t_.status + node * edges_;
        float prior[kMostCells + 1], share[kMostCells + 1];
        for (int edge = 0; edge < edges_; ++edge) score_[edge] = status[edge] == kIllegal ? -INFINITY : logits[edge];
        const float most = highest(score_, edges_);
        for (int edge = 0; edge < edges_; ++edge) {
            const float chance = exponential(logits[edge] > most ? 0.0f : logits[edge] - most);
            prior[edge] = status[edge] == kIllegal ? 0.0f : chance;
        }
        const float all = total(prior, edges_), count = total(visits, edges_);
        for (int edge = 0; edge < edges_; ++edge) {
            const bool tried = visits[edge] > 0.0f;
            sigma_[edge] = tried ? totals[edge] / (tried ? visits[edge] : 1.0f) : 0.0f;
            share[edge] = tried ? prior[edge] / all : 0.0f;
        }
        const float shares = total(share, edges_);
        for (int edge = 0; edge < edges_; ++edge) share[edge] *= sigma_[edge];
        const float weighed = total(share, edges_) / (shares < 1e-9f ? 1e-9f : shares);
        const float mixed = (t_.raw[2 * node + t_.mover[node]] + count * weighed) / (1.0f + count);
        const float factor = (kVisits + highest(visits, edges_)) * *s_.scale * 0.5f;
        for (int edge = 0; edge < edges_; ++edge)
            sigma_[edge] = factor * ((visits[edge] > 0.0f ? sigma_[edge] : mixed) + 1.0f);
    }

    CELLGAMES_INLINE_MEMBER int choose_at_root(float planned) {
        weigh(first_);
        const float* wish = s_.wish + tree_ * edges_;
        for (int edge = 0; edge < edges_; ++edge) {
            const float score = wish[edge] + sigma_[edge];
            score_[edge] = taken(edge) == planned ? score : score - kFar;
        }
        return first_highest(score_, edges_);
    }

    CELLGAMES_INLINE_MEMBER int choose(int64_t node) {
        weigh(node);
        const float* visits = t_.edge_visits + node * edges_;
        const float* logits = s_.logits + node * edges_;
        const int8_t* status = t_.status + node * edges_;
        for (int edge = 0; edge < edges_; ++edge)
            score_[edge] = status[edge] == kIllegal ? -INFINITY : logits[edge] + sigma_[edge];
        const float most = highest(score_, edges_);
        for (int edge = 0; edge < edges_; ++edge) sigma_[edge] = exponential(score_[edge] - most);
        for (int edge = 0; edge < edges_; ++edge) sigma_[edge] = status[edge] == kIllegal ? 0.0f : sigma_[edge];
        const float all = total(sigma_, edges_), count = 1.0f + total(visits, edges_);
        for (int edge = 0; edge < edges_; ++edge)
            score_[edge] = status[edge] == kIllegal ? -INFINITY : sigma_[edge] / all - visits[edge] / count;
        return first_highest(score_, edges_);
    }
};

// Give nodes that wait for values their rows, and return how many they are.
inline int64_t hand_out(const CellgamesStoneGumbel& search) {
    int64_t row = 0;
    for (int64_t tree = 0; tree < search.trees; ++tree) {
        search.rows[tree] = row;
        for (int64_t place = 0; place < search.pending[tree]; ++place)
            search.leaves[row++] = search.waiting[tree * search.width + place];
    }
    return row;
}

}  // namespace cellgames::stones
