// UCT on Torus n = 8 with one random playout a simulation: nodes by the order in which they are made, a board in each.
// Positions whose result is certain are closed, as in the project's search: wins in one, replies that are forced.
#include <cmath>

#include "torus.h"

using namespace limit;

namespace {

constexpr float kExploration = 0.45f;

// Whether right, down and the diagonals of octagons connect, and whose a full board is.
class Filled {
  public:
    // The winner's colour of Black's octagons and squares; the other cells are White's.
    int winner(u64 octagons, u64 squares) {
        for (int i = 0; i < kOctagons; ++i) parent_[i] = static_cast<u8>(i);
        first_ = 0;
        second_ = 0;
        const u64 right = ~(octagons ^ east(octagons)), down = ~(octagons ^ south(octagons));
        // A diagonal leads through a square, where no octagon beside it does.
        const u64 falling = ~(octagons ^ east(south(octagons))) & ~(octagons ^ squares) & ~right & ~down;
        const u64 rising = ~(octagons ^ west(south(octagons))) & ~(octagons ^ west(squares)) & ~west(right) & ~down;
        link_all(right, octagons, 0, 1);
        link_all(down, octagons, 1, 0);
        link_all(falling, octagons, 1, 1);
        link_all(rising, octagons, 1, -1);
        if (second_) return second_;
        return first_ && Turns(first_).is_goal(colour_) ? colour_ : 3 - colour_;
    }

  private:
    u8 parent_[kOctagons], winding_[kOctagons];
    int first_ = 0, second_ = 0, colour_ = 0;

    static u64 east(u64 x) { return (x >> 1 & 0x7F7F7F7F7F7F7F7F) | (x << 7 & 0x8080808080808080); }
    static u64 west(u64 x) { return (x << 1 & 0xFEFEFEFEFEFEFEFE) | (x >> 7 & 0x0101010101010101); }
    static u64 south(u64 x) { return x >> 8 | x << 56; }

    int root(int at, u8& winding) {
        u8 total = 0;
        while (parent_[at] != at) {
            const int up = parent_[at], top = parent_[up];
            if (top != up) {  // halve the way
                winding_[at] = static_cast<u8>(winding_[at] + winding_[up]);
                parent_[at] = static_cast<u8>(top);
            }
            total = static_cast<u8>(total + winding_[at]);
            at = parent_[at];
        }
        winding = total;
        return at;
    }

    void link_all(u64 links, u64 octagons, int down, int right) {
        for (; links && !second_; links &= links - 1) {
            const int from = lowest(links), row = from / kSize + down, col = from % kSize + right;
            const int seam = (col >= kSize) - (col < 0) + 16 * (row >= kSize);
            const int to = (row & (kSize - 1)) * kSize + (col & (kSize - 1));
            u8 here, there;
            const int a = root(from, here), b = root(to, there);
            const u8 shift = static_cast<u8>(here - there + seam);
            if (a != b) {
                parent_[b] = static_cast<u8>(a);
                winding_[b] = shift;
            } else if (shift) {
                const int owner = octagons >> from & 1 ? 1 : 2;
                if (!first_) {
                    first_ = shift, colour_ = owner;
                } else {
                    const Turns one(first_), other(shift);
                    if (one.right * other.down != one.down * other.right) second_ = owner;
                }
            }
        }
    }
};

struct Set {
    u64 words[2];
    int count() const { return ones(words[0]) + ones(words[1]); }
    bool any() const { return words[0] | words[1]; }
    bool has(int cell) const { return words[cell >> 6] >> (cell & 63) & 1; }
    void add(int cell) { words[cell >> 6] |= 1ull << (cell & 63); }
    void drop(int cell) { words[cell >> 6] &= ~(1ull << (cell & 63)); }
    int at(u32 rank) const {
        const u32 before = static_cast<u32>(ones(words[0]));
        return rank < before ? lowest(ranked(words[0], rank)) : 64 + lowest(ranked(words[1], rank - before));
    }
};

// Values are Black's.
struct alignas(64) Node {
    float visits[kCells], total[kCells];
    u16 codes[kCells], child[kCells];
    Set black, free, legal, untried, open;
    float count, value;
    int parent;
    u8 edge, turn, losing;
    bool resolved;
    int mover() const { return 1 + (turn & 1); }
    float sign() const { return turn & 1 ? -1.0f : 1.0f; }
};

class Tree {
  public:
    Tree(int simulations, u64 seed) : nodes_(memory<Node>(simulations + 1)), random_{seed} {
        for (int count = 1; count < simulations + 3; ++count)
            weights_.push_back(kExploration * kExploration * std::log(static_cast<float>(count)));
        weights_.insert(weights_.begin(), 0.0f);
    }

    // A search from the position after some moves, -1 for none; returns the simulations done.
    int search(const i16* moves, i64 count, int simulations) {
        size_ = 0;
        Node& root = nodes_[0];
        clear(root);
        root.black = {};
        root.free = {{~0ull, ~0ull}};
        root.turn = root.losing = 0;
        std::memset(root.codes, 0, sizeof root.codes);
        for (i64 i = 0; i < count && moves[i] >= 0; ++i) move(root, moves[i]);
        evaluate(root, 0);
        size_ = 1;
        int done = 0;
        for (; done < simulations && !root.resolved; ++done) simulate();
        return done;
    }

    const Node& root() const { return nodes_[0]; }

  private:
    Memory<Node> nodes_;
    Random random_;
    std::vector<float> weights_;
    Filled filled_;
    int size_ = 0;

    void clear(Node& node) {
        std::memset(node.visits, 0, sizeof node.visits + sizeof node.total);
        std::memset(node.child, 0, sizeof node.child);
        node.count = 1;
        node.resolved = false;
    }

    int move(Node& node, int cell) {
        if (node.mover() == 1) node.black.add(cell);
        node.free.drop(cell);
        return place(node.codes, node.losing, node.turn++, cell);
    }

    Set winning(const Node& node, int colour) const {
        Set found = {};
        for (int half = 0; half < 2; ++half)
            for (u64 left = node.free.words[half]; left; left &= left - 1) {
                const int cell = lowest(left) + 64 * half;
                u16 f[4];
                frames(node.codes, cell, colour, f);
                u8 losing = node.losing;
                if (closes(f) && judge(f, losing, colour)) found.add(cell);
            }
        return found;
    }

    int playout(const Node& node) {
        const Set& free = node.free;
        const int all = free.count(), wanted = (all + 1) / 2;
        Set mine = {{random_.next() & free.words[0], random_.next() & free.words[1]}};
        int count = mine.count();
        for (; count > wanted; --count) mine.drop(mine.at(random_.below(static_cast<u32>(count))));
        for (; count < wanted; ++count) {
            const Set others = {{free.words[0] & ~mine.words[0], free.words[1] & ~mine.words[1]}};
            mine.add(others.at(random_.below(static_cast<u32>(all - count))));
        }
        u64 black[2];
        for (int half = 0; half < 2; ++half) {
            const u64 stones = node.mover() == 1 ? mine.words[half] : free.words[half] & ~mine.words[half];
            black[half] = node.black.words[half] | stones;
        }
        return filled_.winner(black[0], black[1]);
    }

    void evaluate(Node& node, int winner) {
        node.legal = node.free;
        if (winner) {
            node.resolved = true;
            node.value = winner == 1 ? 1.0f : -1.0f;
        } else {
            if (node.turn >= 2 * (kSize - 1) - 1) {  // a path around the torus has 8 stones
                const bool wins_now = winning(node, node.mover()).any();
                const Set threats = wins_now ? Set{} : winning(node, 3 - node.mover());
                if (threats.any()) node.legal = threats;
                node.resolved = wins_now || threats.count() > 1;
                node.value = wins_now ? node.sign() : -node.sign();
            }
            if (!node.resolved) node.value = playout(node) == 1 ? 1.0f : -1.0f;
        }
        node.untried = node.open = node.legal;
    }

    int choose(Node& node) {
        if (const int left = node.untried.count()) {
            const int edge = node.untried.at(random_.below(static_cast<u32>(left)));
            node.untried.drop(edge);
            return edge;
        }
        const Set& among = node.open.any() ? node.open : node.legal;
        const float weight = weights_[static_cast<size_t>(node.count)], sign = node.sign();
        float score[kCells];
        for (int edge = 0; edge < kCells; ++edge) {
            const float inverse = 1.0f / node.visits[edge];
            const float bound = sign * node.total[edge] * inverse + std::sqrt(weight * inverse);
            score[edge] = among.words[edge / 64] >> (edge % 64) & 1 ? bound : -1e9f;
        }
        float best = score[0];
        for (int edge = 1; edge < kCells; ++edge) best = score[edge] > best ? score[edge] : best;
        int edge = 0;
        while (score[edge] != best) ++edge;
        return edge;
    }

    void simulate() {
        int path[kCells + 1], edges[kCells + 1], depth = 0, at = 0;
        float value;
        for (;;) {
            Node& node = nodes_[at];
            const int edge = choose(node);
            path[depth] = at, edges[depth++] = edge;
            if (!node.child[edge]) {
                Node& grown = nodes_[size_];
                clear(grown);
                std::memcpy(grown.codes, node.codes, sizeof node.codes);
                grown.black = node.black, grown.free = node.free;
                grown.turn = node.turn, grown.losing = node.losing;
                grown.parent = at, grown.edge = static_cast<u8>(edge);
                evaluate(grown, move(grown, edge));
                node.child[edge] = static_cast<u16>(size_);
                value = grown.value;
                break;
            }
            at = node.child[edge];
            if (nodes_[at].resolved) {
                nodes_[at].count += 1;
                value = nodes_[at].value;
                break;
            }
        }
        for (int i = 0; i < depth; ++i) {
            Node& node = nodes_[path[i]];
            node.count += 1;
            node.visits[edges[i]] += 1;
            node.total[edges[i]] += value;
        }
        const int made = nodes_[path[depth - 1]].child[edges[depth - 1]];
        if (made == size_) {
            ++size_;
            if (nodes_[made].resolved) resolve(made);
        }
    }

    // Close the edge to a node whose result is certain, and its parent if that is certain now.
    void resolve(int at) {
        while (at) {
            const Node& node = nodes_[at];
            Node& parent = nodes_[node.parent];
            parent.open.drop(node.edge);
            parent.untried.drop(node.edge);
            const bool won = node.value * parent.sign() >= 1;
            if (parent.resolved || !(won || !parent.open.any())) return;
            parent.resolved = true;
            parent.value = won ? parent.sign() : -parent.sign();
            at = node.parent;
        }
    }
};

}  // namespace

// Searches of many positions, given by the moves to them, int16 [games, length], -1 after the last. done: simulations of
// each; value: the mean of them for Black, or the result; visits: [games, 128].
LIMIT_EXPORT void limit_uct(i64 games, i64 length, const i16* moves, i64 simulations, i64 threads, u64 seed, i64* done,
                            float* value, float* visits) {
    in_parts(games, 1, threads, [&](i64 from, i64 to, i64 thread) {
        Tree tree(static_cast<int>(simulations), seed + static_cast<u64>(thread));
        for (i64 game = from; game < to; ++game) {
            done[game] = tree.search(moves + game * length, length, static_cast<int>(simulations));
            const Node& root = tree.root();
            float total = 0;
            for (int edge = 0; edge < kCells; ++edge) total += root.total[edge];
            value[game] = root.resolved ? root.value : total / std::max<float>(1, static_cast<float>(done[game]));
            std::memcpy(visits + game * kCells, root.visits, sizeof root.visits);
        }
    });
}

// Winners of full boards, by the octagons and the squares that are Black's.
LIMIT_EXPORT void limit_filled(i64 boards, const u64* octagons, const u64* squares, i64* winners) {
    Filled filled;
    for (i64 board = 0; board < boards; ++board) winners[board] = filled.winner(octagons[board], squares[board]);
}
