// A proof search for Hex and Y on boards of up to 128 cells: `agents/connection/proof_search.py`.
//
// Depth-first proof-number search (Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", 2002) that
// sees virtual connections (Anshelevich, "A hierarchical approach to computer Hex", Artificial Intelligence 134, 2002):
// a *carrier* is a set of free cells by which a player connects whatever the other one does, moving second (a
// connection) or first (a half connection). All connections here lead from a group or a free cell to a side of the
// goal. The player to move must play in the carriers of all half connections by which the other one would win, and in
// those of all wins that the search has found (the must-play region of Hayward and others, "Solving 7 x 7 Hex", 2005).
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "portable.h"

namespace {

using namespace cellgames;

// A set of cells on a board of up to 64 for each of W words.
template <int W>
struct CellSet {
    uint64_t words[W] = {};

    static CellSet one(int cell) {
        CellSet made;
        made.words[W == 1 ? 0 : cell >> 6] = uint64_t{1} << (cell & 63);
        return made;
    }
    // The first so many cells, at least one.
    static CellSet first(int cells) {
        CellSet made;
        for (int i = 0; i < W; ++i) made.words[i] = low_bits(std::clamp(cells - 64 * i, 0, 64));
        return made;
    }
    explicit operator bool() const {
        uint64_t any = 0;
        for (uint64_t word : words) any |= word;
        return any != 0;
    }
    bool has(int cell) const { return words[W == 1 ? 0 : cell >> 6] >> (cell & 63) & 1; }
    int lowest() const { return W == 1 || words[0] ? lowest_bit64(words[0]) : 64 + lowest_bit64(words[W - 1]); }
    int count() const {
        int found = 0;
        for (uint64_t word : words) found += count_bits(word);
        return found;
    }
    // The lowest cell of some, which leaves them.
    int next() {
        const int cell = lowest();
        uint64_t& word = words[W == 1 ? 0 : cell >> 6];
        word &= word - 1;
        return cell;
    }
    CellSet operator~() const {
        CellSet made;
        for (int i = 0; i < W; ++i) made.words[i] = ~words[i];
        return made;
    }
    CellSet& operator&=(const CellSet& other) {
        for (int i = 0; i < W; ++i) words[i] &= other.words[i];
        return *this;
    }
    CellSet& operator|=(const CellSet& other) {
        for (int i = 0; i < W; ++i) words[i] |= other.words[i];
        return *this;
    }
    friend CellSet operator&(CellSet one, const CellSet& other) { return one &= other; }
    friend CellSet operator|(CellSet one, const CellSet& other) { return one |= other; }
    friend bool operator==(const CellSet& one, const CellSet& other) {
        return !std::memcmp(one.words, other.words, sizeof one.words);
    }
    friend bool operator!=(const CellSet& one, const CellSet& other) { return !(one == other); }
    bool meets(const CellSet& other) const { return static_cast<bool>(*this & other); }
    bool within(const CellSet& other) const { return (*this & other) == *this; }
};

// A number in which every bit of the words has a part, and `key`, for tables.
template <int W>
uint64_t mixed(const CellSet<W>& cells, uint64_t key) {
    for (uint64_t word : cells.words) {
        key += word;
        key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9;
        key = (key ^ (key >> 27)) * 0x94D049BB133111EB;
        key ^= key >> 31;
    }
    return key;
}

constexpr int kSides = 3;
constexpr int kConnections = 6, kHalves = 12, kWins = 48;  // kept of each kind
constexpr int kJoined = 4;                                 // half connections that make a connection, at most
constexpr uint8_t kFar = 20;  // the cost of a cell that cannot be reached
constexpr uint32_t kInfinite = 1u << 30;
constexpr int kBeyond = 128;  // and more: what lies beyond a side

// A solver of boards of up to 64 cells for each of W words.
template <int W>
struct Solver {
    using Set = CellSet<W>;

    // The board: the number of cells and of the sides of each player's goal, the cells of these, the neighbours of each
    // cell, and those around it in their order, in which 128 stands for what lies beyond a side of player 0, 129 of
    // player 1 and 130 of both, and 255 for the end.
    struct Board {
        int cells, goals[2];
        Set all, sides[2][kSides], near[64 * W];
        const uint64_t* ring;

        explicit Board(const uint64_t* rules)
            : cells(static_cast<int>(rules[0])),
              goals{static_cast<int>(rules[1]), static_cast<int>(rules[2])},
              all(Set::first(cells)) {
            const uint64_t* from = rules + 3;
            for (auto& of_player : sides)
                for (Set& side : of_player) side = read(from);
            for (int cell = 0; cell < cells; ++cell) near[cell] = read(from);
            ring = from;
        }

        // Words of a set; `from` goes on behind them.
        static Set read(const uint64_t*& from) {
            Set made;
            for (uint64_t& word : made.words) word = *from++;
            return made;
        }

        Set around(Set cells_of) const {
            Set found;
            while (cells_of) found |= near[cells_of.next()];
            return found;
        }
    };

    // Carriers of which none holds another, the smallest ones if there are more.
    template <int kMost>
    struct Carriers {
        int count = 0;
        Set all[kMost];

        bool add(Set carrier) {
            int kept = 0;
            for (int i = 0; i < count; ++i)
                if (all[i].within(carrier)) return false;
            for (int i = 0; i < count; ++i)
                if (!carrier.within(all[i])) all[kept++] = all[i];
            count = kept;
            if (count < kMost) {
                all[count++] = carrier;
                return true;
            }
            int largest = 0;
            for (int i = 1; i < kMost; ++i)
                if (all[i].count() > all[largest].count()) largest = i;
            if (all[largest].count() <= carrier.count()) return false;
            all[largest] = carrier;
            return true;
        }
    };

    // The connections of a player to the sides of its goal.
    class Connections {
      public:
        Set win, halves;  // carriers of a win moving second, and of those moving first
        Set must;         // common to these
        Set half;         // the smallest of those moving first
        bool wins = false, wins_first = false;
        int key = 0;  // a cell that makes `half` a connection

        Connections(const Board& board, Set own, Set free, int player)
            : must(free), board_(board), free_(free), sides_(board.sides[player]), goals_(board.goals[player]) {
            find_nodes(own);
            find_links();
            connect();
            judge();
        }

      private:
        struct Node {
            Set self, near;  // its cell if it is free, and the free cells beside it
            int first, last;
        };
        struct Link {
            int to;
            Set carrier;
        };

        void find_nodes(Set own) {
            while (own) {
                Set group = Set::one(own.lowest()), front = group;
                while (front) {
                    front = board_.around(front) & own & ~group;
                    group |= front;
                }
                own &= ~group;
                stones_[count_] = group;
                nodes_[count_++] = {Set{}, board_.around(group) & free_, 0, 0};
            }
            groups_ = count_;
            for (Set left = free_; left;) {
                const int cell = left.next();
                stones_[count_] = Set::one(cell);
                nodes_[count_++] = {Set::one(cell), board_.near[cell] & free_, 0, 0};
            }
        }

        void find_links() {
            for (int from = 0; from < count_; ++from) {
                Node& node = nodes_[from];
                node.first = static_cast<int>(links_.size());
                for (int to = 0; to < count_; ++to) {
                    if (to == from) continue;
                    const Node& other = nodes_[to];
                    if (node.near.meets(other.self) || node.self.meets(other.near)) {
                        links_.push_back({to, Set{}});
                        continue;
                    }
                    Set common = node.near & other.near & ~node.self & ~other.self;
                    while (common) {  // pairs of cells that follow each other
                        const Set one = Set::one(common.next());
                        if (common) links_.push_back({to, one | Set::one(common.lowest())});
                    }
                }
                node.last = static_cast<int>(links_.size());
                for (int side = 0; side < goals_; ++side)
                    if (stones_[from].meets(sides_[side])) to_side_[from][side].add(Set{});
            }
        }

        void connect() {
            bool fresh[kMost][kSides], next[kMost][kSides];
            for (int node = 0; node < count_; ++node)
                for (int side = 0; side < goals_; ++side) fresh[node][side] = to_side_[node][side].count > 0;
            for (bool changed = true; changed;) {
                changed = false;
                std::memset(next, 0, sizeof next);
                for (int from = 0; from < count_; ++from) {
                    const Node& node = nodes_[from];
                    for (int side = 0; side < goals_; ++side) {
                        Carriers<kConnections>& found = to_side_[from][side];
                        if (found.count == 1 && !found.all[0]) continue;
                        bool more = false, halves = false;
                        for (int place = node.first; place < node.last; ++place) {
                            const Link& link = links_[place];
                            if (!fresh[link.to][side]) continue;
                            const Set through = nodes_[link.to].self;
                            if (link.carrier.meets(through)) continue;
                            const Carriers<kConnections> on = to_side_[link.to][side];
                            for (int i = 0; i < on.count; ++i) {
                                if (on.all[i].meets(link.carrier | node.self)) continue;
                                const Set carrier = on.all[i] | link.carrier | through;
                                if (through)
                                    halves |= half_[from][side].add(carrier);
                                else
                                    more |= found.add(carrier);
                            }
                        }
                        if (halves) {
                            const Carriers<kHalves>& parts = half_[from][side];
                            for (int i = 0; i < parts.count; ++i)
                                more |= join(parts, i, parts.all[i], parts.all[i], 1, found);
                        }
                        next[from][side] = more;
                        changed |= more;
                    }
                }
                std::memcpy(fresh, next, sizeof fresh);
            }
        }

        // Half connections that have no cell in common make a connection.
        static bool join(const Carriers<kHalves>& parts, int last, Set common, Set joined, int number,
                         Carriers<kConnections>& found) {
            bool more = false;
            for (int i = last + 1; i < parts.count; ++i) {
                const Set rest = common & parts.all[i];
                if (rest == common) continue;
                if (!rest)
                    more |= found.add(joined | parts.all[i]);
                else if (number + 1 < kJoined)
                    more |= join(parts, i, rest, joined | parts.all[i], number + 1, found);
            }
            return more;
        }

        void judge() {
            Carriers<kWins> ways;
            for (int node = 0; node < count_ && !wins; ++node) combine(node, 0, nodes_[node].self, ways);
            if (wins) {
                wins_first = false;
                return;
            }
            // Those that make the common part what it is, the smaller ones first.
            std::sort(ways.all, ways.all + ways.count,
                      [](const Set& one, const Set& other) { return one.count() < other.count(); });
            for (int i = 0; i < ways.count; ++i)
                if (!must.within(ways.all[i])) must &= ways.all[i], halves |= ways.all[i];
            if (wins_first && !must) wins = true, win = halves;
        }

        // Join carriers to all sides, of which no two share a cell.
        void combine(int node, int side, Set carrier, Carriers<kWins>& ways) {
            if (side == goals_) {
                const Set self = nodes_[node].self;
                if (!self) {
                    if (!wins || carrier.count() < win.count()) wins = true, win = carrier;
                } else {
                    ways.add(carrier);
                    if (!wins_first || carrier.count() < half.count()) half = carrier, key = self.lowest();
                    wins_first = true;
                }
                return;
            }
            const Carriers<kConnections>& found = to_side_[node][side];
            for (int i = 0; i < found.count; ++i)
                if (!found.all[i].meets(carrier)) combine(node, side + 1, carrier | found.all[i], ways);
        }

        static constexpr int kMost = 64 * W;
        const Board& board_;
        Set free_;
        const Set* sides_;
        int goals_, count_ = 0, groups_ = 0;
        Node nodes_[kMost];
        Set stones_[kMost];
        std::vector<Link> links_;
        Carriers<kConnections> to_side_[kMost][kSides];
        Carriers<kHalves> half_[kMost][kSides];
    };

    // Cells that need no search, as if stones stood there: dead ones, of which the colour has no effect however the game
    // goes on, and pairs that a player has captured, since it answers a stone on one by the other, which makes the first
    // dead.
    class Inferior {
      public:
        Set dead, captured[2];

        Inferior(const Board& board, const Set stones[2]) : board_(board), stones_{stones[0], stones[1]} {
            for (bool changed = true; changed;) {
                changed = false;
                for (Set left = free(); left;) {
                    const int cell = left.next();
                    if (is_dead(cell)) {
                        dead |= Set::one(cell), changed = true;
                        continue;
                    }
                    for (int player = 0; player < 2 && free().has(cell); ++player) {
                        for (Set others = board_.near[cell] & free(); others;) {
                            const int other = others.next();
                            if (other > cell && dies(cell, other, player) && dies(other, cell, player)) {
                                const Set pair = Set::one(cell) | Set::one(other);
                                captured[player] |= pair, stones_[player] |= pair, changed = true;
                                break;
                            }
                        }
                    }
                }
            }
        }

      private:
        Set free() const { return board_.all & ~(stones_[0] | stones_[1] | dead); }

        bool dies(int cell, int answer, int player) {
            stones_[player] |= Set::one(answer);
            const bool found = is_dead(cell);
            stones_[player] &= ~Set::one(answer);
            return found;
        }

        // Whether no path of either player needs the cell: those of a player that pass it could go along its stones around.
        bool is_dead(int cell) const { return needless(cell, 0) && needless(cell, 1); }

        bool needless(int cell, int player) const {
            const uint64_t* ring = board_.ring + 8 * cell;
            int length = 0, arcs = 0, kind[8];  // 0: the opponent's, 1: may become the player's, 2: the player's
            for (; length < 8 && ring[length] != 255; ++length) {
                const int at = static_cast<int>(ring[length]);
                if (at >= kBeyond)
                    kind[length] = at == kBeyond + 2 ? 1 : at == kBeyond + player ? 2 : 0;
                else
                    kind[length] = stones_[player].has(at) ? 2 : stones_[1 - player].has(at) || dead.has(at) ? 0 : 1;
            }
            int first = -1;
            for (int i = 0; i < length; ++i)
                if (kind[i] && !kind[(i + length - 1) % length]) ++arcs, first = i;
            if (arcs > 1) return false;
            if (arcs == 0) return kind[0] == 0 || all_own(kind, length, 0, length);
            int count = 0;
            while (count < length && kind[(first + count) % length]) ++count;
            return all_own(kind, length, first + 1, count - 2);
        }

        static bool all_own(const int* kind, int length, int first, int count) {
            for (int i = 0; i < count; ++i)
                if (kind[(first + i) % length] != 2) return false;
            return true;
        }

        const Board& board_;
        Set stones_[2];
    };

    // A position that has been looked at. `must`: the moves that may win; `carrier`: the cells that the winner needs, or
    // those by which the player to move would lose outside of `must`.
    struct Entry {
        Set own, other, must, carrier;
        uint32_t phi, delta, work;
        int8_t value;  // 1: the player to move wins, -1: it loses
        uint8_t seat, move, used;
    };
    static_assert(sizeof(Entry) == 16 + 32 * W, "Python makes room for the table");

    struct Position {
        using Cells = Set;
        Set own, other;
        int seat;
        Position after(int cell) const { return {other, own | Set::one(cell), 1 - seat}; }
        static Position read(const uint64_t* from, int64_t seat) {
            const Set own = Board::read(from);
            return {own, Board::read(from), static_cast<int>(seat)};
        }
    };

    class Search {
      public:
        int64_t nodes = 0;

        Search(const Board& board, Entry* table, int64_t entries, int64_t most)
            : board_(board), table_(table), mask_(static_cast<uint64_t>(entries - 1) & ~uint64_t{3}), most_(most) {}

        // Search until the position is solved or the nodes are spent.
        Entry solve(const Position& at) {
            explore(at, kInfinite, kInfinite);
            return look(at);
        }

      private:
        Entry* bucket(const Position& at) const {
            return table_ + (mixed(at.own, mixed(at.other, static_cast<uint64_t>(at.seat))) & mask_);
        }
        static bool same(const Entry& entry, const Position& at) {
            return entry.used && entry.own == at.own && entry.other == at.other && entry.seat == at.seat;
        }
        const Entry* known(const Position& at) const {
            const Entry* place = bucket(at);
            for (int i = 0; i < 4; ++i)
                if (same(place[i], at)) return place + i;
            return nullptr;
        }
        void keep(const Entry& entry) {
            const Position at{entry.own, entry.other, entry.seat};
            Entry *place = bucket(at), *least = place;
            for (int i = 0; i < 4; ++i) {
                if (!place[i].used || same(place[i], at)) {
                    least = place + i;
                    break;
                }
                if (place[i].work < least->work) least = place + i;
            }
            // A process that is killed leaves an entry complete or unused.
            least->used = 0;
            std::atomic_signal_fence(std::memory_order_seq_cst);
            Entry unused = entry;
            unused.used = 0;
            *least = unused;
            std::atomic_signal_fence(std::memory_order_seq_cst);
            least->used = 1;
        }

        // The entry of a position; a new one is judged by its connections.
        Entry look(const Position& at) {
            if (const Entry* found = known(at)) return *found;
            ++nodes;
            Entry entry{at.own, at.other, Set{}, Set{}, 1, 1, 0, 0, static_cast<uint8_t>(at.seat), 0, 1};
            const Set stones[2] = {at.seat ? at.other : at.own, at.seat ? at.own : at.other};
            const Inferior inferior(board_, stones);
            const Set own = inferior.captured[at.seat], other = inferior.captured[1 - at.seat];
            const Set free = board_.all & ~(at.own | at.other | own | other | inferior.dead);
            const Connections mine(board_, at.own | own | inferior.dead, free, at.seat);
            if (mine.wins || mine.wins_first) {
                const Set carrier = mine.wins_first ? mine.half : mine.win;
                settle(entry, 1, carrier | own);
                entry.move = static_cast<uint8_t>(mine.wins_first ? mine.key : any_of(carrier | own));
            } else {
                const Connections theirs(board_, at.other | other | inferior.dead, free, 1 - at.seat);
                entry.must = theirs.must, entry.carrier = theirs.halves | other;
                entry.delta = static_cast<uint32_t>(entry.must.count());
                if (theirs.wins) settle(entry, -1, theirs.win | other);
            }
            keep(entry);
            return entry;
        }

        // A player that wins moving second may move anywhere.
        static int any_of(const Set& cells) { return cells ? cells.lowest() : 64 * W - 1; }

        static void settle(Entry& entry, int value, const Set& carrier) {
            entry.value = static_cast<int8_t>(value), entry.carrier = carrier;
            entry.phi = value > 0 ? 0 : kInfinite, entry.delta = value > 0 ? kInfinite : 0;
        }

        // For each cell the free cells that both players need to connect all sides through it.
        void costs(const Position& at, uint8_t* total) const {
            std::memset(total, 0, 64 * W);
            const Set free = board_.all & ~(at.own | at.other);
            for (int who = 0; who < 2; ++who) {
                const Set own = who ? at.other : at.own;
                const int player = who ? 1 - at.seat : at.seat;
                for (int side = 0; side < board_.goals[player]; ++side) {
                    Set seen, front = board_.sides[player][side] & (own | free);
                    for (uint8_t cost = 0; front; ++cost) {
                        Set stones = front & own, grown = stones;
                        while (grown) grown = board_.around(stones) & own & ~stones & ~seen, stones |= grown;
                        seen |= stones;
                        const Set cells = (front | board_.around(stones)) & free & ~seen;
                        for (Set left = cells; left;) total[left.next()] += cost;
                        seen |= cells;
                        front = board_.around(cells) & (own | free) & ~seen;
                    }
                    for (Set left = free & ~seen; left;) total[left.next()] += kFar;
                }
            }
        }

        void explore(const Position& at, uint32_t phi_limit, uint32_t delta_limit) {
            Entry entry = look(at);
            if (entry.value || entry.phi >= phi_limit || entry.delta >= delta_limit || nodes >= most_) return;
            const int64_t before = nodes;
            uint8_t cost[64 * W], order[64 * W];
            costs(at, cost);
            int count = 0;
            for (Set left = entry.must; left;) order[count++] = static_cast<uint8_t>(left.next());
            std::stable_sort(order, order + count, [&](uint8_t one, uint8_t other) { return cost[one] < cost[other]; });
            for (int i = 0; i < count && !entry.work; ++i) {  // judge all moves once
                if (!entry.must.has(order[i])) continue;
                const Entry child = look(at.after(order[i]));
                if (child.value < 0) break;
                if (child.value > 0) entry.must &= child.carrier, entry.carrier |= child.carrier;
            }
            while (true) {
                uint32_t phi = kInfinite, second = kInfinite, of_best = 0;
                uint64_t delta = 0;
                int best = -1;
                for (int i = 0; i < count; ++i) {
                    const int cell = order[i];
                    if (!entry.must.has(cell)) continue;
                    const Entry* child = known(at.after(cell));
                    if (child && child->value < 0) {
                        settle(entry, 1, child->carrier | Set::one(cell));
                        entry.move = static_cast<uint8_t>(cell);
                        return finish(entry, before);
                    }
                    if (child && child->value > 0) {
                        entry.must &= child->carrier, entry.carrier |= child->carrier;
                        i = -1, phi = second = kInfinite, delta = 0, best = -1;  // once more: fewer moves are left
                        continue;
                    }
                    const uint32_t child_phi = child ? child->phi : 1, child_delta = child ? child->delta : 1;
                    if (child_delta < phi)
                        second = phi, phi = child_delta, best = cell, of_best = child_phi;
                    else if (child_delta < second)
                        second = child_delta;
                    delta += child_phi;
                }
                if (best < 0) {
                    settle(entry, -1, entry.carrier);
                    return finish(entry, before);
                }
                entry.phi = phi, entry.delta = static_cast<uint32_t>(std::min<uint64_t>(delta, kInfinite - 1));
                entry.move = static_cast<uint8_t>(best);
                if (phi >= phi_limit || entry.delta >= delta_limit || nodes >= most_) return finish(entry, before);
                const uint32_t rest = delta_limit >= kInfinite ? kInfinite : delta_limit - entry.delta + of_best;
                const uint32_t next = second >= kInfinite ? kInfinite : second + 1 + second / 4;
                explore(at.after(best), rest, std::min(phi_limit, next));
            }
        }

        void finish(Entry& entry, int64_t before) {
            entry.work += static_cast<uint32_t>(std::min<int64_t>(nodes - before, kInfinite));
            keep(entry);
        }

        const Board& board_;
        Entry* table_;
        uint64_t mask_;
        int64_t most_;
    };

    // A proof that the player to move wins or loses: the winner's moves, in the order in which `lab/solving/proof_checker.py`
    // asks for them.
    class Prover {
      public:
        Prover(const Board& board, Search& search, const int32_t* stop, int64_t most, uint8_t* out)
            : board_(board), search_(search), stop_(stop), most_(most), out_(out) {}

        // The number of moves, or -1 once the caller wants it to stop.
        int64_t write(const Position& at, bool wins) {
            wins ? answer(at) : refute(at);
            return *stop_ ? -1 : count_;
        }

      private:
        Set answer(const Position& at) {
            if (*stop_) return Set{};
            const int move = search_.solve(at).move;
            if (count_ < most_) out_[count_] = static_cast<uint8_t>(move);
            ++count_;
            const bool over = connected(at.own | Set::one(move), move, at.seat);
            return Set::one(move) | (over ? Set{} : refute(at.after(move)));
        }

        Set refute(const Position& at) {
            if (const auto found = known_.find({at.own, at.other}); found != known_.end()) return found->second;
            Set region = board_.all & ~(at.own | at.other), united;
            while (region && !*stop_) {
                const Set carrier = answer(at.after(region.lowest()));
                region &= carrier, united |= carrier;
            }
            return known_[{at.own, at.other}] = united;
        }

        bool connected(Set own, int last, int player) const {
            Set group = Set::one(last), front = group;
            while (front) front = board_.around(front) & own & ~group, group |= front;
            for (int side = 0; side < board_.goals[player]; ++side)
                if (!group.meets(board_.sides[player][side])) return false;
            return true;
        }

        struct Hash {
            size_t operator()(const std::pair<Set, Set>& at) const {
                return static_cast<size_t>(mixed(at.first, mixed(at.second, 0)));
            }
        };

        const Board& board_;
        Search& search_;
        const int32_t* stop_;
        int64_t most_, count_ = 0;
        uint8_t* out_;
        std::unordered_map<std::pair<Set, Set>, Set, Hash> known_;
    };
};

// Call with a solver of the words that the board of `rules` takes.
template <class Call>
auto solved(const uint64_t* rules, Call call) {
    return rules[0] > 64 ? call(Solver<2>{}) : call(Solver<1>{});
}

}  // namespace

// Search a position of an unfinished game. table: 48 bytes an entry, or 80 for more than 64 cells, zeros at first, a power
// of two of at least 4. position: the sets of the mover's and of the other's stones, of one word or two.
// found: value (1 the player to move wins, -1 it loses, 0 open), move or the best one, nodes, proof and disproof number.
CELLGAMES_EXPORT void cellgames_connection_solve(const uint64_t* rules, void* table, int64_t entries,
                                                 const uint64_t* position, int64_t seat, int64_t nodes, int64_t* found) {
    solved(rules, [&](auto solver) {
        using Solver = decltype(solver);
        const typename Solver::Board board(rules);
        typename Solver::Search search(board, static_cast<typename Solver::Entry*>(table), entries, nodes);
        const auto entry = search.solve(Solver::Position::read(position, seat));
        const int64_t all[5] = {entry.value, entry.move, search.nodes, entry.phi, entry.delta};
        std::memcpy(found, all, sizeof all);
    });
}

// Look once at each of many positions, without a table: the results, moves that win or -1, and for each cell 0 where a
// stone loses or does not matter, in positions that are open.
CELLGAMES_EXPORT void cellgames_connection_looks(const uint64_t* rules, int64_t count, int64_t threads,
                                                 const uint64_t* positions, const int64_t* seats, int64_t* results,
                                                 int64_t* moves, uint8_t* worth) {
    solved(rules, [&](auto solver) {
        using Solver = decltype(solver);
        const typename Solver::Board board(rules);
        constexpr int64_t kWords = sizeof(typename Solver::Position::Cells) / sizeof(uint64_t);
        in_parallel(count, threads, [&](int64_t from, int64_t to) {
            for (int64_t i = from; i < to; ++i) {
                typename Solver::Entry table[4] = {};
                typename Solver::Search search(board, table, 4, 1);
                const auto entry = search.solve(Solver::Position::read(positions + 2 * kWords * i, seats[i]));
                results[i] = entry.value;
                moves[i] = entry.value > 0 ? entry.move : -1;
                for (int cell = 0; cell < board.cells; ++cell)
                    worth[i * board.cells + cell] = entry.value || entry.must.has(cell);
            }
        });
    });
}

// Write a proof of who wins a position, up to `most` moves; return how many it has, or -1 once `stop` is not 0.
CELLGAMES_EXPORT int64_t cellgames_connection_proof(const uint64_t* rules, void* table, int64_t entries,
                                                    const uint64_t* position, int64_t seat, const int32_t* stop,
                                                    int64_t most, uint8_t* out) {
    return solved(rules, [&](auto solver) {
        using Solver = decltype(solver);
        const typename Solver::Board board(rules);
        typename Solver::Search search(board, static_cast<typename Solver::Entry*>(table), entries, INT64_MAX);
        const auto at = Solver::Position::read(position, seat);
        return typename Solver::Prover(board, search, stop, most, out).write(at, search.solve(at).value > 0);
    });
}
