// The rules of Torus on one board: `envs/torus/rules.py`, `geometry.py` and `filling.py`, whose words this uses.
#pragma once

#include "stones.h"

namespace cellgames::torus {

using namespace stones;

constexpr int kMostSize = 16;
constexpr int kOffsetShift = kMoreShift;
static_assert(2 * kMostSize * kMostSize <= kMostCells);

struct Geometry {
    int size, cells, octagons;
    int16_t near[kMostCells][8];   // eight neighbours: four slots of an octagon and the square beside it
    int32_t shift[kMostCells][8];  // what to add to their codes to see them in this cell's frame

    explicit Geometry(int n) : size(n), cells(2 * n * n), octagons(n * n) {
        constexpr int octagon_ring[8][2] = {{0, 1}, {0, 0}, {1, 0}, {0, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 0}};
        constexpr int square_ring[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
        for (int cell = 0; cell < cells; ++cell) {
            const bool square = cell >= octagons;
            const int row = cell % octagons / n, column = cell % n;
            for (int slot = 0; slot < 8; ++slot) {
                const int* step = square ? square_ring[slot / 2] : octagon_ring[slot];
                const int kind = square ? 0 : slot % 2;
                const int r = row + step[0], c = column + step[1];
                near[cell][slot] = static_cast<int16_t>(kind * octagons + index(r, c));
                shift[cell][slot] = -(winding(r, c) * (1 << kOffsetShift));
            }
        }
    }

  private:
    int index(int r, int c) const { return (r + size) % size * size + (c + size) % size; }
    int winding(int r, int c) const {
        const int down = r < 0 ? -1 : r >= size, right = c < 0 ? -1 : c >= size;
        return right + 256 * down;
    }
};

// The geometry of a size from 2 to 16; made once.
inline const Geometry& geometry(int64_t size) {
    static const std::vector<Geometry> all = [] {
        std::vector<Geometry> made;
        for (int n = 2; n <= kMostSize; ++n) made.emplace_back(n);
        return made;
    }();
    return all[static_cast<size_t>(size - 2)];
}

CELLGAMES_INLINE int right_of(int offset) { return ((offset + 128) & 255) - 128; }
CELLGAMES_INLINE int down_of(int offset) { return (offset - right_of(offset)) >> 8; }

CELLGAMES_INLINE bool goal(int right, int down, int colour) {
    return (colour == 1 ? down : right) != 0 && (3 - 2 * colour) * right * down >= 0;
}

CELLGAMES_INLINE bool parallel(int one, int other) {
    return right_of(one) * down_of(other) == down_of(one) * right_of(other);
}

CELLGAMES_INLINE bool wins(int cycle, int kept, int colour) {
    return goal(right_of(cycle), down_of(cycle), colour) || !parallel(cycle, kept);
}

// Three cycles that a stone closes among its neighbours; offsets, 0 where none.
struct Cycles {
    int32_t first, second, third;
    bool any() const { return (first | second | third) != 0; }
    int32_t kept(int32_t losing) const { return losing ? losing : first ? first : second ? second : third; }
    bool win(int32_t losing, int colour) const {
        const int32_t class_kept = kept(losing);
        return (first && wins(first, class_kept, colour)) || (second && wins(second, class_kept, colour)) ||
               (third && wins(third, class_kept, colour));
    }
};

// What the four slots around a cell say to a stone of a colour.
struct Frames {
    int32_t a, b, c, d;

    Cycles closed() const {
        const int32_t g0 = a & kGroup, g1 = b & kGroup, g2 = c & kGroup, g3 = d & kGroup;
        const int32_t one = g1 == g0 ? a - b : 0;
        const int32_t two = g2 == g0 ? a - c : g2 == g1 ? b - c : 0;
        const int32_t three = g3 == g0 ? a - d : g3 == g1 ? b - d : g3 == g2 ? c - d : 0;
        return {one >> kOffsetShift, two >> kOffsetShift, three >> kOffsetShift};
    }
};

CELLGAMES_INLINE Frames frames(const Geometry& board, const int32_t* codes, int cell, int colour) {
    const int16_t* near = board.near[cell];
    const int32_t* shift = board.shift[cell];
    int32_t around[8];
    for (int slot = 0; slot < 8; ++slot) around[slot] = codes[near[slot]] + shift[slot];
    return {one_frame(around[0], around[1], colour), one_frame(around[2], around[3], colour),
            one_frame(around[4], around[5], colour), one_frame(around[6], around[7], colour)};
}

// Put a stone of a colour on a free cell; return true if it wins.
CELLGAMES_INLINE bool place(const Geometry& board, int32_t* codes, int32_t& losing, int cell, int colour) {
    const auto [a, b, c, d] = frames(board, codes, cell, colour);
    const Cycles cycles = Frames{a, b, c, d}.closed();
    const int32_t code = a ? a : b ? b : c ? c : d ? d : colour + 4 * cell;
    const int32_t g0 = a & kGroup, g1 = b & kGroup, g2 = c & kGroup, g3 = d & kGroup;
    codes[cell] = code;
    if (g1 && g1 != g0 && code != b) move_group(codes, board.cells, g1, code - b);
    if (g2 && g2 != g0 && g2 != g1 && code != c) move_group(codes, board.cells, g2, code - c);
    if (g3 && g3 != g0 && g3 != g1 && g3 != g2 && code != d) move_group(codes, board.cells, g3, code - d);
    if (!cycles.any()) return false;
    const bool won = cycles.win(losing, colour);
    losing = cycles.kept(losing);
    return won;
}

// Whether a stone of a colour on a free cell would win.
CELLGAMES_INLINE bool wins_at(const Geometry& board, const int32_t* codes, int32_t losing, int cell, int colour) {
    const Cycles cycles = frames(board, codes, cell, colour).closed();
    return cycles.any() && cycles.win(losing, colour);
}

// Eight bytes of 0 or 1 as bits, the first one lowest; processors with another order of bytes are not built for.
CELLGAMES_INLINE uint32_t eight_bits(const uint8_t* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return static_cast<uint32_t>(word * 0x0102040810204080ull >> 56);
}

// A random board and who has won on it.
class Filling : RandomBoard {
  public:
    explicit Filling(const Geometry& geometry) : board_(geometry) {}

    // Fill the free cells (`RandomBoard::fill`), and return who has won: 1 Black, 2 White.
    CELLGAMES_INLINE_MEMBER int winner(const int32_t* codes, int mover, const int32_t* lots) {
        fill(board_.cells, codes, mover, lots);
        return judge();
    }

  private:
    const Geometry& board_;
    int16_t parent_[kMostCells / 2], offset_[kMostCells / 2];
    int seen_ = 0, owner_ = 0;  // the class of a cycle, and an octagon on it

    CELLGAMES_INLINE_MEMBER int find(int octagon, int& offset) {
        int total = 0;
        while (parent_[octagon] != octagon) {
            const int up = parent_[octagon];
            offset_[octagon] = static_cast<int16_t>(offset_[octagon] + offset_[up]);  // a root's own is 0
            parent_[octagon] = parent_[up];
            total += offset_[octagon];
            octagon = parent_[octagon];
        }
        offset = total;
        return octagon;
    }

    // A row of n cells as bits, 1 where Black is.
    CELLGAMES_INLINE_MEMBER uint32_t row(const uint8_t* cells) const {
        uint32_t bits = eight_bits(cells);
        if (board_.size > 8) bits |= eight_bits(cells + 8) << 8;
        return bits & ((1u << board_.size) - 1);
    }

    // Join two octagons that a link connects; return true if the one who has both has every class of cycles.
    CELLGAMES_INLINE_MEMBER bool join(int from, int to, int turn) {
        int here, there;
        const int root = find(from, here), other = find(to, there);
        const int cycle = here - there - turn;
        if (root != other) {
            parent_[other] = static_cast<int16_t>(root);
            offset_[other] = static_cast<int16_t>(cycle);
            return false;
        }
        if (cycle == 0) return false;
        owner_ = from;
        if (seen_ && !parallel(seen_, cycle)) return true;
        seen_ = cycle;
        return false;
    }

    // The winner of the full board. Any two of its cycles are parallel, unless one side has all.
    CELLGAMES_INLINE_MEMBER int judge() {
        const int n = board_.size, end = n - 1;
        const uint32_t all = (1u << n) - 1;
        const auto east = [&](uint32_t x) { return x >> 1 | (x & 1) << end; };  // at each place what is to the right
        const auto west = [&](uint32_t x) { return (x << 1 & all) | x >> end; };
        uint32_t rows[kMostSize + 1], squares[kMostSize], right[kMostSize + 1];
        for (int r = 0; r < n; ++r) {
            rows[r] = row(black_ + r * n);
            squares[r] = row(black_ + board_.octagons + r * n);
            right[r] = all & ~(rows[r] ^ east(rows[r]));
            const uint32_t starts = ~(right[r] << 1) | 1;  // a run of one colour is a group by its first octagon
            for (int c = 0; c < n; ++c) {
                parent_[r * n + c] = static_cast<int16_t>(r * n + highest_bit(starts & ((2u << c) - 1)));
                offset_[r * n + c] = 0;
            }
        }
        rows[n] = rows[0];
        right[n] = right[0];
        seen_ = 0;
        for (int r = 0; r < n; ++r) {
            const int at = r * n, below = r == end ? 0 : at + n, fall = r == end ? -256 : 0;
            const uint32_t down = all & ~(rows[r] ^ rows[r + 1]);
            // Links that say nothing new are left out: beside a link down along two runs, and across a square where
            // an octagon beside it has the same colour.
            const uint32_t known = (down & right[r] & right[r + 1]) << 1;
            const uint32_t slant = ~(rows[r] ^ east(rows[r + 1])) & ~(rows[r] ^ squares[r]) & ~right[r] & ~down & all;
            const uint32_t other = ~(rows[r] ^ west(rows[r + 1])) & ~(rows[r] ^ west(squares[r])) & ~west(right[r]) &
                                   ~down & all;
            bool decided = false;
            if (right[r] >> end & 1) decided = join(at + end, at, -1);
            for (uint32_t left = down & ~known; left; left &= left - 1) {
                const int c = lowest_bit(left);
                decided |= join(at + c, below + c, fall);
            }
            for (uint32_t left = slant; left; left &= left - 1) {
                const int c = lowest_bit(left);
                decided |= join(at + c, below + (c == end ? 0 : c + 1), fall - (c == end));
            }
            for (uint32_t left = other; left; left &= left - 1) {
                const int c = lowest_bit(left);
                decided |= join(at + c, below + (c == 0 ? end : c - 1), fall + (c == 0));
            }
            if (decided) return black_[owner_] ? 1 : 2;
        }
        const int colour = black_[owner_] ? 1 : 2;
        return goal(right_of(seen_), down_of(seen_), colour) ? colour : 3 - colour;
    }
};

}  // namespace cellgames::torus
