// Words of some boards side by side, and counts of neighbours on them: `envs/boards/bitboards.py`.
// No `pragma once`: each_target.h includes this once for each instruction set.
#include <cstring>

#include "portable.h"

namespace CELLGAMES_NAMESPACE {

constexpr int kLanes = CELLGAMES_LANES;

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
CELLGAMES_INLINE Words operator+(Words a, uint64_t b) { return each(a, a, [b](uint64_t x, uint64_t) { return x + b; }); }
CELLGAMES_INLINE Words operator*(Words a, uint64_t b) { return each(a, a, [b](uint64_t x, uint64_t) { return x * b; }); }
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

// Room for words where vectors of them may lie.
class Room {
  public:
    explicit Room(int64_t words) : memory_(static_cast<size_t>(words * kLanes + 8)) {}
    Words* begin() { return reinterpret_cast<Words*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64); }

  private:
    std::vector<uint64_t> memory_;
};

#if CELLGAMES_AVX512
// A bit of the result is the bit of `table` that bits of a, b and c name, as a number with a's bit first.
template <int table>
CELLGAMES_INLINE Words looked_up(Words a, Words b, Words c) {
    return reinterpret_cast<Words>(_mm512_ternarylogic_epi64(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                                             reinterpret_cast<__m512i>(c), table));
}
CELLGAMES_INLINE Words odd(Words a, Words b, Words c) { return looked_up<0x96>(a, b, c); }
CELLGAMES_INLINE Words two_of(Words a, Words b, Words c) { return looked_up<0xE8>(a, b, c); }
CELLGAMES_INLINE Words turned(Words a, int left) {
    // Not `_mm512_rolv_epi64`, of which GCC 12 warns.
    return reinterpret_cast<Words>(_mm512_maskz_rolv_epi64(0xFF, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(left)));
}
#else
CELLGAMES_INLINE Words odd(Words a, Words b, Words c) { return a ^ b ^ c; }
CELLGAMES_INLINE Words two_of(Words a, Words b, Words c) { return a ^ ((a ^ b) & (a ^ c)); }  // two instructions
CELLGAMES_INLINE Words turned(Words a, int left) { return a << left | a >> ((64 - left) & 63); }
#endif

// The number of bits set in each word (Hacker's Delight, section 5-1).
CELLGAMES_INLINE Words ones_of(Words x) {
#if CELLGAMES_POPCNT
    return reinterpret_cast<Words>(_mm512_popcnt_epi64(reinterpret_cast<__m512i>(x)));
#endif
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
    // The next generation: three, or four with a live cell in the middle.
    CELLGAMES_INLINE_MEMBER Words next(Words live) const {
#if CELLGAMES_AVX512
        const Words four_or_none = looked_up<0x28>(fours, carry, live);
        return looked_up<0x70>(looked_up<0xC2>(odd_twos, ones, four_or_none), odd_twos, fours);
#else
        return three() | (four() & live);
#endif
    }
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

// The boards of a vector of those that stand side by side in memory, or as many as are left; the others are empty.
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

// Which of up to 64 bytes equal a value, as bits, the first byte lowest; bytes and value are from 0 to 127.
CELLGAMES_INLINE uint64_t equal_bytes(const int8_t* bytes, int count, int value) {
#if CELLGAMES_AVX512
    return _mm512_mask_cmpeq_epi8_mask(low_bits(count), _mm512_maskz_loadu_epi8(low_bits(count), bytes),
                                       _mm512_set1_epi8(static_cast<char>(value)));
#else
    constexpr uint64_t each = 0x0101010101010101;
    uint64_t found = 0;
    for (int at = 0; at < count; at += 8) {
        uint64_t eight = 0;
        std::memcpy(&eight, bytes + at, static_cast<size_t>(count - at < 8 ? count - at : 8));
        const uint64_t other = ((eight ^ each * static_cast<uint64_t>(value)) + each * 0x7F) >> 7 & each;
        found |= (other ^ each) * 0x0102040810204080 >> 56 << at;
    }
    return found & low_bits(count);
#endif
}

// Set up to 64 bytes: 0 where no bit of the first plane is set, `last` where no other plane's is, else that plane's
// number, from 1. Bits of other planes are the first one's too, and each other's never.
CELLGAMES_INLINE void put_bytes(int8_t* bytes, int count, const uint64_t* planes, int last) {
#if CELLGAMES_AVX512
    __m512i all = _mm512_maskz_set1_epi8(planes[0], static_cast<char>(last));
    for (int plane = 1; plane < last; ++plane)
        all = _mm512_mask_mov_epi8(all, planes[plane], _mm512_set1_epi8(static_cast<char>(plane)));
    _mm512_mask_storeu_epi8(bytes, low_bits(count), all);
#else
    constexpr uint64_t each = 0x0101010101010101;
    for (int at = 0; at < count; at += 8) {
        uint64_t eight = 0;
        for (int plane = 0; plane < last; ++plane) {
            const uint64_t apart = (planes[plane] >> at & 0xFF) * each & 0x8040201008040201;  // bit i in byte i
            const uint64_t set = (((apart & each * 0x7F) + each * 0x7F) | apart) >> 7 & each;
            eight = plane ? eight - set * static_cast<uint64_t>(last - plane) : set * static_cast<uint64_t>(last);
        }
        std::memcpy(bytes + at, &eight, static_cast<size_t>(count - at < 8 ? count - at : 8));
    }
#endif
}

}  // namespace CELLGAMES_NAMESPACE
