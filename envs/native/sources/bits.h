// Words of eight boards side by side, and counts of neighbours on them: `envs/boards/bitboards.py`.
#pragma once

#include <cstring>

#include "portable.h"

namespace cellgames {

constexpr int kLanes = 8;

#if defined(__GNUC__)
typedef uint64_t Words __attribute__((vector_size(8 * kLanes)));
typedef uint64_t LooseWords __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));
CELLGAMES_INLINE Words load(const uint64_t* from) { return *reinterpret_cast<const LooseWords*>(from); }
CELLGAMES_INLINE void store(uint64_t* to, Words words) { *reinterpret_cast<LooseWords*>(to) = words; }
CELLGAMES_INLINE Words every(uint64_t word) { return word - Words{}; }
#else
struct Words {
    uint64_t lane[kLanes];
};
template <class Operation>
CELLGAMES_INLINE Words each(Words a, Words b, Operation operation) {
    Words out;
    for (int i = 0; i < kLanes; ++i) out.lane[i] = operation(a.lane[i], b.lane[i]);
    return out;
}
CELLGAMES_INLINE Words operator&(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x & y; }); }
CELLGAMES_INLINE Words operator|(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x | y; }); }
CELLGAMES_INLINE Words operator^(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x ^ y; }); }
CELLGAMES_INLINE Words operator~(Words a) { return each(a, a, [](uint64_t x, uint64_t) { return ~x; }); }
CELLGAMES_INLINE Words operator<<(Words a, int n) { return each(a, a, [n](uint64_t x, uint64_t) { return x << n; }); }
CELLGAMES_INLINE Words operator>>(Words a, int n) { return each(a, a, [n](uint64_t x, uint64_t) { return x >> n; }); }
CELLGAMES_INLINE Words operator+(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x + y; }); }
CELLGAMES_INLINE Words operator-(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x - y; }); }
CELLGAMES_INLINE Words load(const uint64_t* from) {
    Words words;
    std::memcpy(&words, from, sizeof words);
    return words;
}
CELLGAMES_INLINE void store(uint64_t* to, Words words) { std::memcpy(to, &words, sizeof words); }
CELLGAMES_INLINE Words every(uint64_t word) {
    Words words;
    for (int i = 0; i < kLanes; ++i) words.lane[i] = word;
    return words;
}
#endif

// A word with its lowest bits set, 0 to 64 of them.
CELLGAMES_INLINE uint64_t low_bits(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// Room for words where vectors of them may lie.
class Room {
  public:
    explicit Room(int64_t words) : memory_(static_cast<size_t>((words + 1) * kLanes)) {}
    Words* begin() { return reinterpret_cast<Words*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64); }

  private:
    std::vector<uint64_t> memory_;
};

CELLGAMES_INLINE Words odd(Words a, Words b, Words c) { return a ^ b ^ c; }
CELLGAMES_INLINE Words two_of(Words a, Words b, Words c) { return a ^ ((a ^ b) & (a ^ c)); }  // two instructions

// The number of bits set in each word (Hacker's Delight, section 5-1).
CELLGAMES_INLINE Words ones_of(Words x) {
    x = x - (x >> 1 & every(0x5555555555555555));
    x = (x & every(0x3333333333333333)) + (x >> 2 & every(0x3333333333333333));
    x = (x + (x >> 4)) & every(0x0F0F0F0F0F0F0F0F);
    x = x + (x >> 8);
    x = x + (x >> 16);
    return (x + (x >> 32)) & every(0x7F);
}

// Sums of bits that are counted at last, eight words at a time (Harley and Seal: Hacker's Delight, section 5-1).
struct Counter {
    Words ones, twos, fours, eights;
    CELLGAMES_INLINE_MEMBER void add(const Words (&x)[8]) {
        const Words two[4] = {pair(ones, x[0], x[1]), pair(ones, x[2], x[3]), pair(ones, x[4], x[5]),
                              pair(ones, x[6], x[7])};
        const Words four[2] = {pair(twos, two[0], two[1]), pair(twos, two[2], two[3])};
        eights = eights + ones_of(pair(fours, four[0], four[1]));
    }
    CELLGAMES_INLINE_MEMBER Words total() const {
        return ones_of(ones) + (ones_of(twos) << 1) + (ones_of(fours) << 2) + (eights << 3);
    }

  private:
    CELLGAMES_INLINE_MEMBER static Words pair(Words& sum, Words a, Words b) {
        const Words carry = two_of(sum, a, b);
        sum = odd(sum, a, b);
        return carry;
    }
};

// The number of live cells among three of a row, the middle one being the cell itself: ones and twos.
struct Across {
    Words ones, twos;
};

CELLGAMES_INLINE Across across(Words row) {
    const Words left = row + row, right = row >> 1;
    return {odd(left, row, right), two_of(left, row, right)};
}

// The cells of one plane in three rows, by columns of three: above a row, in it and below.
struct Rows {
    Across above, here, below;
    CELLGAMES_INLINE_MEMBER void next() { above = here, here = below; }
};

// Live cells of nine, the cell with its neighbours, as far as rules ask.
struct Nine {
    Words ones, odd_twos, fours, carry;
    CELLGAMES_INLINE_MEMBER explicit Nine(const Rows& rows)
        : ones(odd(rows.above.ones, rows.here.ones, rows.below.ones)),
          fours(two_of(rows.above.twos, rows.here.twos, rows.below.twos)),
          carry(two_of(rows.above.ones, rows.here.ones, rows.below.ones)) {
        odd_twos = carry ^ odd(rows.above.twos, rows.here.twos, rows.below.twos);
    }
    CELLGAMES_INLINE_MEMBER Words two() const { return ~ones & odd_twos & ~fours; }
    CELLGAMES_INLINE_MEMBER Words three() const { return ones & odd_twos & ~fours; }
    CELLGAMES_INLINE_MEMBER Words four() const { return ~(ones | odd_twos) & (fours ^ carry); }
};

// Neighbours without the cell itself, modulo 4: `Grid.neighbour_counts` with two planes.
struct Neighbours {
    Words ones, twos;
    CELLGAMES_INLINE_MEMBER Neighbours(const Rows& rows, Words cell) {
        const Nine nine(rows);
        ones = nine.ones ^ cell;
        twos = nine.odd_twos ^ (cell & ~nine.ones);
    }
};

// Eight boards of those that stand side by side in memory, or as many as are left; the others are empty.
CELLGAMES_INLINE Words load_some(const uint64_t* from, int64_t lanes) {
    if (lanes == kLanes) return load(from);
    uint64_t words[kLanes] = {};
    for (int64_t lane = 0; lane < lanes; ++lane) words[lane] = from[lane];
    return load(words);
}

CELLGAMES_INLINE void store_some(uint64_t* to, Words words, int64_t lanes) {
    if (lanes == kLanes) return store(to, words);
    uint64_t all[kLanes];
    store(all, words);
    for (int64_t lane = 0; lane < lanes; ++lane) to[lane] = all[lane];
}

}  // namespace cellgames
