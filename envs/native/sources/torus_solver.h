// Depth-first proof-number search for small boards of Torus: who wins a position with best play.
// No `pragma once`: each_target.h includes this once for each instruction set.
//
// A position is seen through the winning sets that can still be completed, each as the cells that it misses, in buckets
// by their number. From those of one and two cells follow threats and the cells where a player must move to stop them.
// A solved position has a carrier: the free cells that the winner's strategy needs. When a move is refuted, all moves
// outside of the refutation's carrier are refuted too (Hayward's must-play regions in Hex).
//
// A square is dead, of no use to either side, if two octagons beside it that touch have one colour, or two across from
// each other have both: every path through it has a way around it that winds the same. A move to a square is not
// tried if a stone on an octagon beside it would kill it: that stone is worth at least as much as both.
//
// The table knows a position up to all symmetries, with full keys: the sets of both sides' stones as the mover sees
// them, dead squares in both. It may lie in a file that is mapped into memory: an entry is complete or empty whenever
// the process ends.
//
// A search may be bounded: one side, the attacker, must win with a number of stones, else it has lost. A refutation that
// only holds because the stones run out needs all free cells. Keys of such positions have the bound in unused bits.

namespace CELLGAMES_NAMESPACE {

namespace torus {

using namespace cellgames::torus;

constexpr uint32_t kInfinite = 1u << 28;
constexpr int kSymmetries = 4 * kMostSolved * kMostSolved;
constexpr int kScored = 14;  // longer sets do not count for the order of moves

CELLGAMES_INLINE int ones_in(uint64_t x) {
#if defined(__GNUC__) && defined(__x86_64__) && (CELLGAMES_LANES >= 4)
    return static_cast<int>(__builtin_popcountll(x));
#else
    return count_bits(x);
#endif
}

template <int W>
CELLGAMES_INLINE int size_of(const Cells<W>& set) {
    int ones = 0;
    for (int w = 0; w < W; ++w) ones += ones_in(set.word[w]);
    return ones;
}

// Append the sets that have no cell of `barred` to `to`, and return how many they are.
template <int W>
CELLGAMES_INLINE int keep(const Cells<W>* from, int count, const Cells<W>& barred, Cells<W>* to) {
    int kept = 0, i = 0;
#if CELLGAMES_AVX512
    if (W == 1) {
        const __m512i bits = _mm512_set1_epi64(static_cast<int64_t>(barred.word[0]));
        for (; i + 8 <= count; i += 8) {
            const __m512i sets = _mm512_loadu_si512(from + i);
            const __mmask8 open = _mm512_testn_epi64_mask(sets, bits);
            _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi64(open, sets));
            kept += ones_in(open);
        }
    }
#endif
    for (; i < count; ++i) {
        to[kept] = from[i];
        kept += !(from[i] & barred).any();
    }
    return kept;
}

// The same for sets that have a cell, without it.
template <int W>
CELLGAMES_INLINE int shorten(const Cells<W>* from, int count, const Cells<W>& cell, const Cells<W>& barred, Cells<W>* to) {
    int kept = 0, i = 0;
#if CELLGAMES_AVX512
    if (W == 1) {
        const __m512i bit = _mm512_set1_epi64(static_cast<int64_t>(cell.word[0]));
        const __m512i bits = _mm512_set1_epi64(static_cast<int64_t>(barred.word[0]));
        for (; i + 8 <= count; i += 8) {
            const __m512i sets = _mm512_loadu_si512(from + i);
            const __mmask8 open = _mm512_mask_testn_epi64_mask(_mm512_test_epi64_mask(sets, bit), sets, bits);
            _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi64(open, _mm512_xor_si512(sets, bit)));
            kept += ones_in(open);
        }
    }
#endif
    for (; i < count; ++i) {
        to[kept] = from[i] ^ cell;
        kept += (from[i] & cell).any() && !(from[i] & barred).any();
    }
    return kept;
}

// The sets of one or two missing cells of a side.
template <int W>
struct Threats {
    Cells<W> one;                     // cells that win at once
    Cells<W> paired;                  // cells of sets of two
    Cells<W> with[kMostSolvedCells];  // the other cells of these sets
};

// A position's name in the table, and the symmetry that leads to it.
template <int W>
struct Key {
    Cells<W> own, other;
    int symmetry;
    uint64_t hash;
};

template <int W>
struct Entry {
    Cells<W> own, other, carrier;
    // Proof and disproof numbers of a win of the mover's. Once one of them is 0, the other one tells the work in
    // nodes and, for a win, the move: work * 128 + cell. They are one word, so that it is written at once.
    uint64_t numbers;

    uint32_t proof() const { return static_cast<uint32_t>(numbers >> 32); }
    uint32_t disproof() const { return static_cast<uint32_t>(numbers); }
    static uint64_t joined(uint32_t proof, uint32_t disproof) { return uint64_t{proof} << 32 | disproof; }
};

template <int W>
class Solver final : public SmallSolver {
  public:
    // The table is `memory`, or new memory if that is null.
    Solver(int size, int longest, int64_t entries, void* memory)
        : b_(size), cells_(b_.cells), symmetries_(4 * b_.octagons), own_half_(b_.octagons) {
        for (const Cells<W>& set : WinningSets<W>(b_, longest).sets) {
            sets_[0].push_back(set);
            sets_[1].push_back(b_.turned(set));
        }
        make_symmetries();
        for (slots_ = 2; slots_ * 2 <= entries; slots_ *= 2) {
        }
        if (!memory) owned_.resize(static_cast<size_t>(slots_));
        table_ = memory ? static_cast<Entry<W>*>(memory) : owned_.data();
        double weight = 4e5;
        for (int count = 0; count < kScored + 2; ++count) {
            weights_[count] = static_cast<int>(weight) + 1;
            if (count >= 2) weight /= 4;
        }
    }

    int words() const override { return W; }
    int64_t nodes() const override { return nodes_; }

    void search(const int8_t* colours, int64_t player, int64_t nodes, int64_t* out, uint64_t* carrier) override {
        const int64_t before = nodes_;
        limit_ = nodes_ + nodes;
        stopped_ = false;
        Value value = set_up(colours, static_cast<int>(player));
        if (!value.decided()) {
            Key<W> key;
            name(hashes_[0], plies_[0], key);
            const Entry<W>* entry = find(key);
            if (entry && solved(*entry)) recall(*entry, key.symmetry, value);
            else if (attacker_ >= 0 || !borrowed(value)) value = prove(0, key, kInfinite, kInfinite);
        }
        const bool won = value.proof == 0, lost = value.disproof == 0;
        out[0] = won ? 1 : lost ? -1 : 0;
        out[1] = lost ? -1 : value.move;
        out[2] = nodes_ - before;
        out[3] = value.proof;
        out[4] = value.disproof;
        if (carrier)
            for (int w = 0; w < W; ++w) carrier[w] = value.carrier.word[w];
    }

    // Judge all moves: 1 wins, -1 loses, 0 is open, also where there is none. What lies outside of the carrier of a
    // refutation loses like the move that is refuted.
    void judge_moves(const int8_t* colours, int64_t player, int64_t nodes, int8_t* out) override {
        int8_t after[kMostSolvedCells];
        std::copy(colours, colours + cells_, after);
        std::fill(out, out + cells_, int8_t{0});
        const int given = stones_left_;
        if (player == attacker_) --stones_left_;
        for (int cell = 0; cell < cells_; ++cell) {
            if (colours[cell] || out[cell]) continue;
            int64_t found[5];
            uint64_t carrier[W];
            after[cell] = static_cast<int8_t>(player + 1);
            search(after, player ^ 1, nodes, found, carrier);
            after[cell] = 0;
            out[cell] = static_cast<int8_t>(-found[0]);
            if (found[0] <= 0) continue;
            Cells<W> needed;
            for (int w = 0; w < W; ++w) needed.word[w] = carrier[w];
            for (int other = 0; other < cells_; ++other)
                if (!colours[other] && !b_.has(needed, other)) out[other] = -1;
        }
        stones_left_ = given;
    }

    void bound(int64_t attacker, int64_t stones) override {
        attacker_ = static_cast<int>(attacker);
        stones_left_ = static_cast<int>(stones);
    }

    // Write the winner's moves in a proof, see `lab/solving/proof_checker.py`; return how many there are, or -1.
    int64_t write_proof(const int8_t* colours, int64_t player, int64_t shared, const volatile int32_t* stop, int64_t most,
                        uint8_t* out) override {
        limit_ = INT64_MAX;
        stopped_ = false;
        stop_ = stop;
        Proof proof{out, most, 0, static_cast<int>(shared), {}};
        Value value = set_up(colours, static_cast<int>(player));
        if (!value.decided()) {
            Cells<W> carrier;
            const bool wins = answer(0, proof, carrier);
            if (!wins && !stopped_) refute(0, proof);
        }
        stop_ = nullptr;
        return stopped_ ? -1 : proof.count;
    }

    // Solved positions with at least so much work in them: own, other, carrier, and both numbers.
    int64_t entries(int64_t least, int64_t most, uint64_t* out) const override {
        int64_t count = 0;
        for (int64_t slot = 0; slot < slots_; ++slot) {
            const Entry<W>& entry = table_[slot];
            if (!solved(entry) || work_of(entry) < least) continue;
            if (out && count < most) {
                uint64_t* row = out + count * (3 * W + 1);
                for (int w = 0; w < W; ++w)
                    row[w] = entry.own.word[w], row[W + w] = entry.other.word[w], row[2 * W + w] = entry.carrier.word[w];
                row[3 * W] = entry.numbers;
            }
            ++count;
        }
        return count;
    }

    void add_entries(int64_t count, const uint64_t* rows) override {
        for (int64_t i = 0; i < count; ++i) {
            const uint64_t* row = rows + i * (3 * W + 1);
            Key<W> key{};
            Cells<W> carrier;
            for (int w = 0; w < W; ++w) key.own.word[w] = row[w], key.other.word[w] = row[W + w], carrier.word[w] = row[2 * W + w];
            key.hash = hash_of(key);
            const uint32_t proof = static_cast<uint32_t>(row[3 * W] >> 32), disproof = static_cast<uint32_t>(row[3 * W]);
            if (proof == 0 || disproof == 0) keep_entry(key, carrier, proof, disproof);
        }
    }

    void clear() override { std::fill(table_, table_ + slots_, Entry<W>{}); }

  private:
    // What is known of a position for the player to move.
    struct Value {
        uint32_t proof = 1, disproof = 1;
        Cells<W> carrier{};
        int move = -1;
        int64_t work = 1;

        bool decided() const { return proof == 0 || disproof == 0; }
    };

    // A position on the way that is searched.
    struct Ply {
        Cells<W> stones[2], dead;
        int player, left;                     // stones of the attacker's that are left
        int64_t start[2];                     // of the lists in `lists_`
        int counts[2][kMostSolvedCells + 1];  // of sets by missing cells
        Threats<W> threats[2];
    };

    struct Child {
        int move, score;
        uint32_t proof, disproof;
        Key<W> key;
    };

    SolvedBoard<W> b_;
    int cells_, symmetries_, own_half_;
    std::vector<Cells<W>> sets_[2];
    std::vector<uint64_t> codes_;  // [3, cells, symmetries]: Black's stone, White's and a dead square; exclusive or
    std::vector<Cells<W>> quarter_;  // [4, bytes, 256]: what turns make of eight cells
    std::vector<Entry<W>> owned_;
    Entry<W>* table_;
    int attacker_ = -1, stones_left_ = 0;
    int64_t slots_ = 0, nodes_ = 0, limit_ = 0;
    bool stopped_ = false;
    const volatile int32_t* stop_ = nullptr;  // set by who waits for a proof
    int weights_[kScored + 2];
    Ply plies_[kMostSolvedCells + 2];
    alignas(64) uint64_t hashes_[kMostSolvedCells + 2][kSymmetries];
    std::vector<Cells<W>> lists_[2];

    // ---- symmetries

    static constexpr int kBytes = (W == 1 ? 7 : 10);

    void make_symmetries() {
        quarter_.assign(static_cast<size_t>(4 * kBytes * 256), Cells<W>{});
        int turned[4][kMostSolvedCells];
        for (int cell = 0; cell < cells_; ++cell)
            for (int turn = 0, at = cell; turn < 4; ++turn, at = b_.turned(at)) turned[turn][cell] = at;
        for (int turn = 0; turn < 4; ++turn)
            for (int cell = 0; cell < cells_; ++cell) {
                const int place = W == 1 || cell < b_.octagons ? cell : 40 + cell - b_.octagons;
                for (int byte = 0; byte < 256; ++byte)
                    if (byte >> place % 8 & 1) {
                        Cells<W>& part = quarter_[static_cast<size_t>((turn * kBytes + place / 8) * 256 + byte)];
                        part = part | b_.bit(turned[turn][cell]);
                    }
            }
        uint64_t seed = 0;
        std::vector<uint64_t> code(static_cast<size_t>(3 * cells_));
        for (uint64_t& one : code) one = mixed(seed += 0x9E3779B97F4A7C15);
        codes_.resize(static_cast<size_t>(3 * cells_ * symmetries_));
        for (int kind = 0; kind < 3; ++kind)
            for (int cell = 0; cell < cells_; ++cell)
                for (int symmetry = 0; symmetry < symmetries_; ++symmetry) {
                    const int turn = symmetry / b_.octagons, shift = symmetry % b_.octagons;
                    const int square = turned[turn][cell] / b_.octagons, at = turned[turn][cell] % b_.octagons;
                    const int row = (at / b_.size + shift / b_.size) % b_.size;
                    const int column = (at % b_.size + shift % b_.size) % b_.size;
                    const int seen = kind == 2 ? 2 : kind ^ (turn & 1);
                    codes_[static_cast<size_t>((kind * cells_ + cell) * symmetries_ + symmetry)] =
                        code[static_cast<size_t>(seen * cells_ + square * b_.octagons + row * b_.size + column)];
                }
    }

    const uint64_t* code(int kind, int cell) const {
        return codes_.data() + static_cast<size_t>((kind * cells_ + cell) * symmetries_);
    }

    Cells<W> turned(const Cells<W>& set, int turn) const {
        const Cells<W>* part = quarter_.data() + static_cast<size_t>(turn * kBytes * 256);
        Cells<W> out{};
        for (int w = 0; w < W; ++w)
            for (int byte = 0; byte < (W == 1 ? 7 : 5); ++byte, part += 256) out = out | part[set.word[w] >> 8 * byte & 255];
        return out;
    }
    Cells<W> seen(const Cells<W>& set, int symmetry) const {
        const int shift = symmetry % b_.octagons;
        return b_.moved(turned(set, symmetry / b_.octagons), shift / b_.size, shift % b_.size);
    }
    Cells<W> unseen(const Cells<W>& set, int symmetry) const {
        const int shift = symmetry % b_.octagons, n = b_.size;
        return turned(b_.moved(set, (n - shift / n) % n, (n - shift % n) % n), (4 - symmetry / b_.octagons) % 4);
    }

    // Name a position: of the symmetries by which the mover becomes Black the one with the least hash.
    CELLGAMES_INLINE_MEMBER void name(const uint64_t* hashes, const Ply& ply, Key<W>& key) const {
        const int half = b_.octagons, first = ply.player * half, second = first + 2 * half;
        uint64_t least = ~uint64_t{0};
        for (int i = 0; i < half; ++i) least = std::min(least, std::min(hashes[first + i], hashes[second + i]));
        int symmetry = first;
        while (hashes[symmetry] != least) symmetry = symmetry + 1 == first + half ? second : symmetry + 1;
        key.symmetry = symmetry;
        key.hash = least;
        key.own = seen(ply.stones[ply.player] | ply.dead, symmetry);
        key.other = seen(ply.stones[ply.player ^ 1] | ply.dead, symmetry);
        if (attacker_ < 0) return;
        const uint64_t bound = static_cast<uint64_t>(2 * ply.left + 2 + (ply.player == attacker_));
        key.own.word[0] |= bound << kBound;
        key.hash ^= mixed(bound);
    }

    static constexpr int kBound = 56;  // the bits of a word from here on are not cells'

    // The hash of a position that is named already.
    uint64_t hash_of(const Key<W>& key) const {
        const Cells<W> dead = key.own & key.other;
        const uint64_t bound = key.own.word[0] >> kBound;
        uint64_t hash = bound ? mixed(bound) : 0;
        for (int cell = 0; cell < cells_; ++cell) {
            if (b_.has(dead, cell)) hash ^= code(2, cell)[0];
            else if (b_.has(key.own, cell)) hash ^= code(0, cell)[0];
            else if (b_.has(key.other, cell)) hash ^= code(1, cell)[0];
        }
        return hash;
    }

    // ---- the table

    static bool solved(const Entry<W>& entry) { return (entry.proof() == 0) != (entry.disproof() == 0); }
    static int64_t work_of(const Entry<W>& entry) { return (entry.proof() | entry.disproof()) >> 7; }  // one is 0

    Entry<W>* cluster(uint64_t hash) { return table_ + (hash >> 8 & static_cast<uint64_t>(slots_ - 1) & ~uint64_t{1}); }

    CELLGAMES_INLINE_MEMBER Entry<W>* find(const Key<W>& key) {
        Entry<W>* two = cluster(key.hash);
        for (int i = 0; i < 2; ++i)
            if (two[i].own == key.own && two[i].other == key.other && two[i].numbers) return two + i;
        return nullptr;
    }

    CELLGAMES_INLINE_MEMBER void keep_entry(const Key<W>& key, const Cells<W>& carrier, uint32_t proof, uint32_t disproof) {
        Entry<W>* entry = find(key);
        if (!entry) {
            Entry<W>* two = cluster(key.hash);
            const auto worth = [](const Entry<W>& e) -> int64_t {
                if (!e.numbers) return -1;
                return solved(e) ? 8 * work_of(e) : int64_t{e.proof()} + e.disproof();
            };
            entry = worth(two[0]) <= worth(two[1]) ? two : two + 1;
        }
        entry->numbers = 0;  // a process that is killed in between leaves an empty entry
        std::atomic_signal_fence(std::memory_order_seq_cst);
        entry->own = key.own, entry->other = key.other, entry->carrier = carrier;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        entry->numbers = Entry<W>::joined(proof, disproof);
    }

    void store(const Key<W>& key, const Value& value) {
        const uint32_t work = static_cast<uint32_t>(std::min<int64_t>(value.work, (1 << 24) - 1)) << 7;
        if (value.proof == 0)
            keep_entry(key, seen(value.carrier, key.symmetry), 0, work | static_cast<uint32_t>(image(value.move, key.symmetry)));
        else if (value.disproof == 0)
            keep_entry(key, seen(value.carrier, key.symmetry), work, 0);
        else
            keep_entry(key, {}, value.proof, value.disproof);
    }
    static constexpr int kNoMove = 127;
    int image(int cell, int symmetry) const {
        return cell < 0 ? kNoMove : b_.first(seen(b_.bit(cell), symmetry));
    }

    void recall(const Entry<W>& entry, int symmetry, Value& value) const {
        value.proof = entry.proof(), value.disproof = entry.disproof();
        if (!solved(entry)) return;
        value.carrier = unseen(entry.carrier, symmetry);
        value.work = 1;
        if (entry.proof() == 0) {
            value.disproof = kInfinite;
            const int move = static_cast<int>(entry.disproof() & 127);
            value.move = move == kNoMove ? -1 : b_.first(unseen(b_.bit(move), symmetry));
        } else {
            value.proof = kInfinite;
        }
    }

    // ---- squares without use

    // What stands on the octagons beside each square, in a circle.
    struct Corners {
        uint64_t at[4];
        CELLGAMES_INLINE_MEMBER Corners(const SolvedBoard<W>& b, const Cells<W>& set) {
            const uint64_t octagons = b.octagons_of(set);
            at[0] = octagons;
            at[1] = b.shifted(octagons, 0, b.size - 1);
            at[2] = b.shifted(at[1], b.size - 1, 0);
            at[3] = b.shifted(octagons, b.size - 1, 0);
        }
    };

    CELLGAMES_INLINE_MEMBER Cells<W> dead_squares(const Cells<W>& black, const Cells<W>& white) const {
        const Corners x(b_, black), o(b_, white);
        uint64_t dead = 0;
        for (int i = 0; i < 4; ++i)
            dead |= (x.at[i] & x.at[(i + 1) & 3]) | (o.at[i] & o.at[(i + 1) & 3]) | (x.at[i] & o.at[i ^ 2]);
        return b_.joined(0, dead);
    }

    // Squares that a stone of the mover's on an octagon beside them would kill.
    CELLGAMES_INLINE_MEMBER Cells<W> inferior_squares(const Cells<W>& own, const Cells<W>& other) const {
        const Corners x(b_, own), o(b_, other), open(b_, b_.all.without(own | other));
        uint64_t worse = 0;
        for (int i = 0; i < 4; ++i) worse |= open.at[i] & (x.at[(i + 1) & 3] | x.at[(i + 3) & 3] | o.at[i ^ 2]);
        return b_.joined(0, worse);
    }

    // ---- moves

    Cells<W>* list(int ply, int side) { return lists_[side].data() + plies_[ply].start[side]; }

    // Add to the threats those of sets of one and two cells.
    CELLGAMES_INLINE_MEMBER void add_threats(const Cells<W>* sets, int ones, int twos, Threats<W>& threats) const {
        for (int i = 0; i < ones; ++i) threats.one = threats.one | sets[i];
        for (int i = ones; i < ones + twos; ++i) {
            const int cell = b_.first(sets[i]);
            const Cells<W> here = b_.bit(cell), there = sets[i] ^ here;
            const int other = b_.first(there);
            if (!(threats.paired & here).any()) threats.with[cell] = {};
            if (!(threats.paired & there).any()) threats.with[other] = {};
            threats.with[cell] = threats.with[cell] | there;
            threats.with[other] = threats.with[other] | here;
            threats.paired = threats.paired | sets[i];
        }
    }

    void find_threats(int at) {
        Ply& ply = plies_[at];
        for (int side = 0; side < 2; ++side) {
            ply.threats[side].one = ply.threats[side].paired = {};
            add_threats(list(at, side), ply.counts[side][1], ply.counts[side][2], ply.threats[side]);
        }
    }

    void put(const Ply& ply, int cell, Ply& next) const {
        next.stones[ply.player] = ply.stones[ply.player] | b_.bit(cell);
        next.stones[ply.player ^ 1] = ply.stones[ply.player ^ 1];
        next.player = ply.player ^ 1;
        next.left = ply.left - (ply.player == attacker_);
        next.dead = dead_squares(next.stones[0], next.stones[1]);
    }

    CELLGAMES_INLINE_MEMBER void hash_move(const Ply& ply, int cell, const Ply& next, const uint64_t* from, uint64_t* to, int first,
                                           int count) const {
        const uint64_t* stone = code(ply.player, cell);
        const uint64_t counts = b_.has(ply.dead, cell) ? 0 : ~uint64_t{0};
        for (int i = first; i < first + count; ++i) to[i] = from[i] ^ (stone[i] & counts);
        for (uint64_t fresh = b_.squares_of(next.dead) & ~b_.squares_of(ply.dead); fresh; fresh &= fresh - 1) {
            const int square = b_.octagons + lowest_bit64(fresh);
            const uint64_t* dead = code(2, square);
            for (int i = first; i < first + count; ++i) to[i] ^= dead[i];
            for (int side = 0; side < 2; ++side)
                if (b_.has(ply.stones[side], square)) {
                    const uint64_t* old = code(side, square);
                    for (int i = first; i < first + count; ++i) to[i] ^= old[i];
                }
        }
    }

    // Play a move at a ply whose next one `put` has filled in, as far as lists, threats and hashes go.
    void descend(int at, int cell) {
        Ply &ply = plies_[at], &next = plies_[at + 1];
        const Cells<W> barred = next.dead.without(ply.dead), stone = b_.bit(cell);
        for (int side = 0; side < 2; ++side) {
            int64_t total = 0;
            for (int count = 1; count <= cells_; ++count) total += ply.counts[side][count];
            next.start[side] = ply.start[side] + total + 8;
            const size_t needed = static_cast<size_t>(next.start[side] + total + 16);
            if (lists_[side].size() < needed) lists_[side].resize(needed + needed / 4);
            const Cells<W>* from = list(at, side);
            Cells<W>* to = list(at + 1, side);
            next.counts[side][0] = 0;
            for (int count = 1; count <= cells_; ++count) {
                const int here = ply.counts[side][count], above = count < cells_ ? ply.counts[side][count + 1] : 0;
                int kept = here ? keep(from, here, barred | stone, to) : 0;
                if (side == ply.player && above) kept += shorten(from + here, above, stone, barred, to + kept);
                next.counts[side][count] = kept;
                from += here;
                to += kept;
            }
        }
        hash_move(ply, cell, next, hashes_[at], hashes_[at + 1], 0, symmetries_);
        find_threats(at + 1);
    }

    // Fill in the first ply; return what is known at once.
    Value set_up(const int8_t* colours, int player) {
        Ply& ply = plies_[0];
        ply = {};
        ply.player = player;
        ply.left = stones_left_;
        for (int cell = 0; cell < cells_; ++cell)
            if (colours[cell]) ply.stones[colours[cell] - 1] = ply.stones[colours[cell] - 1] | b_.bit(cell);
        ply.dead = dead_squares(ply.stones[0], ply.stones[1]);
        Value value;
        for (int side = 0; side < 2; ++side)
            if (b_.won(ply.stones[side], side + 1)) {
                value.proof = side == player ? 0 : kInfinite;
                value.disproof = side == player ? kInfinite : 0;
                return value;
            }
        for (int side = 0; side < 2; ++side) {
            const int all = static_cast<int>(sets_[side].size());
            if (lists_[side].size() < sets_[side].size() + 16) lists_[side].resize(sets_[side].size() + 16);
            Cells<W>* open = lists_[side].data();
            const int kept = keep(sets_[side].data(), all, ply.stones[side ^ 1] | ply.dead, open);
            int starts[kMostSolvedCells + 2] = {};
            for (int i = 0; i < kept; ++i) ++starts[size_of(open[i] = open[i].without(ply.stones[side])) + 1];
            for (int count = 0; count <= cells_; ++count) starts[count + 1] += starts[count];
            std::vector<Cells<W>> left(static_cast<size_t>(kept));
            int places[kMostSolvedCells + 2];
            std::copy(starts, starts + kMostSolvedCells + 2, places);
            for (int i = 0; i < kept; ++i) left[static_cast<size_t>(places[size_of(open[i])]++)] = open[i];
            for (int count = 1; count <= cells_; ++count) {
                const auto from = left.begin() + starts[count], to = left.begin() + starts[count + 1];
                std::sort(from, to);
                const auto end = std::unique(from, to);
                ply.counts[side][count] = static_cast<int>(end - from);
                open = std::copy(from, end, open);
            }
        }
        hash(ply, hashes_[0]);
        find_threats(0);
        return value;
    }

    // Look for a won position where a stone of the opponent's lies elsewhere, outside of the carrier.
    bool borrowed(Value& value) {
        const Ply& ply = plies_[0];
        Ply& other = plies_[1];
        uint64_t* hashes = hashes_[1];
        const Cells<W> theirs = ply.stones[ply.player ^ 1], free = b_.all.without(ply.stones[0] | ply.stones[1]);
        if (size_of(theirs) > kMostBorrowed) return false;
        for (Cells<W> stones = theirs; stones.any(); stones = stones ^ b_.bit(b_.first(stones)))
            for (Cells<W> places = free; places.any(); places = places ^ b_.bit(b_.first(places))) {
                const Cells<W> stone = b_.bit(b_.first(stones));
                other.player = ply.player;
                other.stones[ply.player] = ply.stones[ply.player];
                other.stones[ply.player ^ 1] = (theirs ^ stone) | b_.bit(b_.first(places));
                other.dead = dead_squares(other.stones[0], other.stones[1]);
                hash(other, hashes);
                Key<W> key;
                name(hashes, other, key);
                const Entry<W>* entry = find(key);
                if (!entry || entry->proof() != 0) continue;
                recall(*entry, key.symmetry, value);
                if (!(value.carrier & stone).any() && value.move >= 0) return true;
                value = {};
            }
        return false;
    }

    static constexpr int kMostBorrowed = 8;

    void hash(const Ply& ply, uint64_t* hashes) const {
        std::fill(hashes, hashes + symmetries_, 0);
        for (Cells<W> left = ply.stones[0] | ply.stones[1] | ply.dead; left.any();) {
            const int cell = b_.first(left);
            left = left ^ b_.bit(cell);
            const uint64_t* more = code(b_.has(ply.dead, cell) ? 2 : b_.has(ply.stones[1], cell), cell);
            for (int i = 0; i < symmetries_; ++i) hashes[i] ^= more[i];
        }
    }

    // ---- positions without search

    // Decide a position by threats, or leave the cells where its player must move and the carrier of that.
    CELLGAMES_INLINE_MEMBER void judge(const Ply& ply, const Threats<W>& own, const Threats<W>& other, Value& value,
                                       Cells<W>& open) const {
        const auto won = [&](const Cells<W>& carrier, int move) {
            value.proof = 0, value.disproof = kInfinite, value.carrier = carrier, value.move = move;
        };
        const auto lost = [&](const Cells<W>& carrier) {
            value.proof = kInfinite, value.disproof = 0, value.carrier = carrier;
        };
        if (own.one.any()) {
            const int cell = b_.first(own.one);
            return won(b_.bit(cell), cell);
        }
        const Cells<W> forced = other.one;
        const bool bounded = attacker_ >= 0, attacks = ply.player == attacker_;
        if (bounded) {
            const Cells<W> whole = b_.all.without(ply.stones[0] | ply.stones[1]);
            if (attacks && ply.left <= 1) return lost(whole);
            if (!attacks && (ply.left <= 0 || (ply.left == 1 && !forced.several())))
                return won(whole, forced.any() ? b_.first(forced) : -1);
        }
        if (forced.several()) {
            const Cells<W> cell = b_.bit(b_.first(forced)), rest = forced ^ cell;
            return lost(cell | b_.bit(b_.first(rest)));
        }
        for (Cells<W> left = forced.any() ? own.paired & forced : own.paired; left.any();) {
            const int cell = b_.first(left);
            left = left ^ b_.bit(cell);
            const Cells<W> ends = own.with[cell];
            if (ends.several()) {
                const Cells<W> end = b_.bit(b_.first(ends));
                return won(b_.bit(cell) | end | b_.bit(b_.first(ends ^ end)), cell);
            }
        }
        const Cells<W>& mine = ply.stones[ply.player];
        const Cells<W>& theirs = ply.stones[ply.player ^ 1];
        if (bounded && attacks && ply.left <= 2) return lost(b_.all.without(mine | theirs));
        const Cells<W> free = b_.all.without(mine | theirs | ply.dead);
        if (!free.any()) {  // all that is left is dead
            const Cells<W> dead = b_.all.without(mine | theirs);
            const bool mover = b_.won(b_.all.without(theirs), ply.player + 1);
            return mover ? won({}, dead.any() ? b_.first(dead) : -1) : lost({});
        }
        open = free.without(inferior_squares(mine, theirs));
        value.carrier = {};
        if (forced.any()) {
            open = open & forced;
            value.carrier = forced;
        }
        for (Cells<W> left = other.paired; left.any() && open.any();) {
            const int cell = b_.first(left);
            const Cells<W> here = b_.bit(cell);
            left = left ^ here;
            Cells<W> ends = other.with[cell];
            if (!ends.several()) continue;
            const Cells<W> first = b_.bit(b_.first(ends));
            ends = ends ^ first;
            const Cells<W> second = b_.bit(b_.first(ends));
            ends = ends ^ second;
            limit_to(here | first | second, open, value.carrier);
            if (ends.any()) {
                const Cells<W> third = b_.bit(b_.first(ends));
                limit_to(here | first | third, open, value.carrier);
                limit_to(here | second | third, open, value.carrier);
            }
        }
        if (!open.any()) return lost(value.carrier);
    }

    static CELLGAMES_INLINE_MEMBER void limit_to(const Cells<W>& carrier, Cells<W>& open, Cells<W>& united) {
        if (!open.without(carrier).any()) return;
        open = open & carrier;
        united = united | carrier;
    }

    // Look a move up in the table, or judge the position after it by threats alone.
    void look(int at, Child& child, Value& value) {
        const Ply& ply = plies_[at];
        Ply& next = plies_[at + 1];
        put(ply, child.move, next);
        alignas(64) uint64_t hashes[kSymmetries];
        const int half = b_.octagons;
        hash_move(ply, child.move, next, hashes_[at], hashes, next.player * half, half);
        hash_move(ply, child.move, next, hashes_[at], hashes, (next.player + 2) * half, half);
        name(hashes, next, child.key);
        if (const Entry<W>* entry = find(child.key)) return recall(*entry, child.key.symmetry, value);
        const int side = ply.player;
        const Cells<W> stone = b_.bit(child.move);
        Threats<W>& own = next.threats[side];  // of who has moved
        Threats<W>& other = next.threats[side ^ 1];
        trim(ply.threats[side], stone, own);
        trim(ply.threats[side ^ 1], stone, other);
        if ((ply.threats[side].paired & stone).any()) own.one = ply.threats[side].with[child.move];
        const Cells<W>* threes = list(at, side) + ply.counts[side][1] + ply.counts[side][2];
        for (int i = 0; i < ply.counts[side][3]; ++i) {
            if (!(threes[i] & stone).any()) continue;
            const Cells<W> pair = threes[i] ^ stone;
            add_threats(&pair, 0, 1, own);
        }
        Cells<W> open{};
        judge(next, other, own, value, open);
        if (value.decided()) return;
        value.proof = 1;
        value.disproof = static_cast<uint32_t>(size_of(open));
    }

    // The threats without a cell, as far as they have two cells.
    CELLGAMES_INLINE_MEMBER void trim(const Threats<W>& from, const Cells<W>& stone, Threats<W>& to) const {
        to.one = {};
        to.paired = {};
        for (Cells<W> left = from.paired.without(stone); left.any();) {
            const int cell = b_.first(left);
            const Cells<W> here = b_.bit(cell);
            left = left ^ here;
            to.with[cell] = from.with[cell].without(stone);
            if (to.with[cell].any()) to.paired = to.paired | here;
        }
    }

    // ---- the search

    void score_moves(int at, const Cells<W>& open, int* scores) {
        const Ply& ply = plies_[at];
        std::fill(scores, scores + cells_, 0);
        if (!open.several()) return;
        for (int side = 0; side < 2; ++side) {
            const Cells<W>* set = list(at, side) + ply.counts[side][1];
            for (int count = 2, seen = 0; count <= std::min(kScored, cells_) && (seen < kMostScored || count < 4); ++count) {
                const int here = ply.counts[side][count];
                for (int i = 0; i < here; ++i, ++set)
                    for (Cells<W> left = *set & open; left.any();) {
                        const int cell = b_.first(left);
                        scores[cell] += weights_[count];
                        left = left ^ b_.bit(cell);
                    }
                seen += here;
            }
        }
    }

    // ---- proofs

    struct Proof {
        uint8_t* moves;
        int64_t most, count;
        int shared;  // positions with up to so many stones are known again in all symmetries, others as they are
        std::map<std::pair<Cells<W>, Cells<W>>, Cells<W>> carriers;

        void add(int move) {
            if (count < most) moves[count] = static_cast<uint8_t>(move);
            ++count;
        }
    };

    // Write a winning move of the player to move and what follows; return false if there is none.
    bool answer(int at, Proof& proof, Cells<W>& carrier) {
        Key<W> key;
        name(hashes_[at], plies_[at], key);
        Value value;
        const Entry<W>* entry = find(key);
        if (entry && solved(*entry)) recall(*entry, key.symmetry, value);
        else value = prove(at, key, kInfinite, kInfinite);
        if (value.proof != 0) return false;
        const Ply& ply = plies_[at];
        if (value.move < 0) value.move = b_.first(b_.all.without(ply.stones[0] | ply.stones[1]));
        const Cells<W> stone = b_.bit(value.move);
        proof.add(value.move);
        carrier = stone;
        if (b_.won(ply.stones[ply.player] | stone, ply.player + 1)) return true;
        put(ply, value.move, plies_[at + 1]);
        descend(at, value.move);
        carrier = carrier | refute(at + 1, proof);
        return true;
    }

    // Write answers to the moves of the player to move, who loses; return the carrier of them all.
    Cells<W> refute(int at, Proof& proof) {
        const Ply& ply = plies_[at];
        const int stones = size_of(ply.stones[0] | ply.stones[1]);
        std::pair<Cells<W>, Cells<W>> name{ply.stones[0], ply.stones[1]};
        int symmetry = 0;
        if (stones <= proof.shared)
            for (int i = 0; i < symmetries_; ++i) {
                if (i / b_.octagons & 1) continue;
                const std::pair<Cells<W>, Cells<W>> image{seen(ply.stones[0], i), seen(ply.stones[1], i)};
                if (image < name) name = image, symmetry = i;
            }
        if (const auto known = proof.carriers.find(name); known != proof.carriers.end()) return unseen(known->second, symmetry);
        Cells<W> united{}, region = b_.all.without(ply.stones[0] | ply.stones[1]);
        while (region.any() && !stopped_) {
            const int move = b_.first(region);
            put(ply, move, plies_[at + 1]);
            descend(at, move);
            Cells<W> carrier{};
            if (!answer(at + 1, proof, carrier)) stopped_ = true;
            region = region & carrier;
            united = united | carrier;
        }
        proof.carriers.emplace(name, seen(united, symmetry));
        return united;
    }

    static constexpr int kMostScored = 400, kFirst = 2;
    static constexpr double kWidening = 0.15;

    // Decide a bounded search where the attacker has no winning set within its stones.
    void judge_sets(const Ply& ply, Value& value) const {
        for (int count = 1; count <= std::min(ply.left, cells_); ++count)
            if (ply.counts[attacker_][count]) return;
        const bool attacks = ply.player == attacker_;
        value.proof = attacks ? kInfinite : 0;
        value.disproof = attacks ? 0 : kInfinite;
        value.carrier = b_.all.without(ply.stones[0] | ply.stones[1]);
        value.move = -1;
    }

    Value prove(int at, const Key<W>& key, uint32_t most_proof, uint32_t most_disproof) {
        const Ply& ply = plies_[at];
        const int64_t began = nodes_++;
        stopped_ = stopped_ || nodes_ >= limit_ || (stop_ && *stop_);
        Value value;
        Cells<W> open{};
        judge(ply, ply.threats[ply.player], ply.threats[ply.player ^ 1], value, open);
        if (attacker_ >= 0 && !value.decided()) judge_sets(ply, value);
        if (value.decided()) {
            store(key, value);
            return value;
        }
        Cells<W> united = value.carrier;
        int scores[kMostSolvedCells], count = 0, seen = 0;
        Child children[kMostSolvedCells];
        score_moves(at, open, scores);
        for (Cells<W> left = open; left.any();) {
            const int cell = b_.first(left);
            left = left ^ b_.bit(cell);
            int place = count++;
            for (; place && children[place - 1].score < scores[cell]; --place) {
                children[place].move = children[place - 1].move;
                children[place].score = children[place - 1].score;
            }
            children[place].move = cell, children[place].score = scores[cell];
        }
        const auto win = [&](const Value& found, int move) {
            value.proof = 0, value.disproof = kInfinite, value.move = move;
            value.carrier = found.carrier | b_.bit(move);
            value.work = nodes_ - began;
            store(key, value);
        };
        const auto refuted = [&](const Value& found, int move) {
            united = united | found.carrier;
            open = (open & found.carrier).without(b_.bit(move));
            int kept = 0, known = 0;
            for (int i = 0; i < count; ++i)
                if (b_.has(open, children[i].move)) {
                    known += i < seen;
                    if (kept != i) children[kept] = children[i];
                    ++kept;
                }
            count = kept, seen = known;
        };
        for (;;) {
            for (;;) {
                if (count == 0) {
                    value.proof = kInfinite, value.disproof = 0, value.carrier = united;
                    value.work = nodes_ - began;
                    store(key, value);
                    return value;
                }
                if (seen >= std::min(count, kFirst + static_cast<int>(kWidening * count))) break;
                Child& child = children[seen];
                Value found;
                look(at, child, found);
                child.proof = found.proof, child.disproof = found.disproof;
                ++seen;
                if (found.disproof == 0) {
                    win(found, child.move);
                    return value;
                }
                if (found.proof == 0) refuted(found, child.move);
            }
            uint32_t least = kInfinite, second = kInfinite;
            uint64_t sum = 0;
            int best = 0;
            for (int i = 0; i < seen; ++i) {
                const uint32_t here = children[i].disproof;
                if (here < least) {
                    second = least, least = here, best = i;
                } else if (here < second) {
                    second = here;
                }
                sum += children[i].proof;
            }
            value.proof = least;
            value.disproof = static_cast<uint32_t>(std::min<uint64_t>(kInfinite - 1, sum + static_cast<uint64_t>(count - seen)));
            value.move = children[best].move;
            if (value.proof >= most_proof || value.disproof >= most_disproof || stopped_) {
                store(key, value);
                return value;
            }
            Child& child = children[best];
            const uint32_t proof_left = most_disproof - (value.disproof - child.proof);
            const uint32_t disproof_left = std::min<uint32_t>(most_proof, second + 1 + second / 4);
            put(ply, child.move, plies_[at + 1]);
            descend(at, child.move);
            const Key<W> next = child.key;
            const Value found = prove(at + 1, next, proof_left, disproof_left);
            child.proof = found.proof, child.disproof = found.disproof;
            if (found.disproof == 0) {
                win(found, child.move);
                return value;
            }
            if (found.proof == 0) refuted(found, child.move);
        }
    }
};

inline SmallSolver* make_solver(int size, int longest, int64_t entries, void* memory) {
    if (size <= 5) return new Solver<1>(size, longest, entries, memory);
    return new Solver<2>(size, longest, entries, memory);
}

}  // namespace torus

}  // namespace CELLGAMES_NAMESPACE
