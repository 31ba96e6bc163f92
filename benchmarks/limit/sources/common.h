// What all programs share: wide words, logic of three operands, random numbers, bits of a mask, threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#if defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__BMI2__) || defined(__SSE2__)
#include <x86intrin.h>
#endif

#define LIMIT_EXPORT extern "C" __attribute__((visibility("default")))

namespace limit {

using u8 = uint8_t;
using i8 = int8_t;
using u16 = uint16_t;
using i16 = int16_t;
using i32 = int32_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

// As many words as the processor works on together.
#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif
typedef u64 Wide __attribute__((vector_size(8 * kLanes)));

static inline Wide all(u64 word) { return Wide{} + word; }
static inline Wide load(const u64* from) {
    Wide wide;
    std::memcpy(&wide, from, sizeof wide);
    return wide;
}
static inline void store(u64* to, Wide wide) { std::memcpy(to, &wide, sizeof wide); }

// Any function of three bits, on every bit of three wide words: one instruction where there is AVX-512. The function is
// called with its truth table's columns then, else with the words.
template <class Function>
static inline Wide logic(Wide a, Wide b, Wide c, Function function) {
#if defined(__AVX512F__)
    constexpr int table = function(0xF0, 0xCC, 0xAA) & 0xFF;
    return (Wide)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, table);
#else
    return function(a, b, c);
#endif
}
static inline Wide sum(Wide a, Wide b, Wide c) {
    return logic(a, b, c, [](auto a, auto b, auto c) { return a ^ b ^ c; });
}
static inline Wide carry(Wide a, Wide b, Wide c) {
    return logic(a, b, c, [](auto a, auto b, auto c) { return (a & b) | (c & (a ^ b)); });
}
static inline Wide either(Wide a, Wide b, Wide c) {
    return logic(a, b, c, [](auto a, auto b, auto c) { return a | b | c; });
}

static inline Wide bits_set(Wide x) {
#if defined(__AVX512VPOPCNTDQ__)
    return (Wide)_mm512_popcnt_epi64((__m512i)x);
#else
    x = x - ((x >> 1) & all(0x5555555555555555));
    x = (x & all(0x3333333333333333)) + ((x >> 2) & all(0x3333333333333333));
    x = (x + (x >> 4)) & all(0x0F0F0F0F0F0F0F0F);
    return (x * all(0x0101010101010101)) >> 56;
#endif
}

// The generation after this one where a cell lives with two or three live neighbours and is born with three, from the
// sums of rows of three cells: their ones and twos in the row above, the cell's own and the row below.
struct Sums {
    Wide ones, carried, twos, fours;  // of nine cells: ones + 2 * (carried + twos) + 4 * fours
};
static inline Sums nine(const Wide* above, const Wide* here, const Wide* below) {
    return {sum(above[0], here[0], below[0]), carry(above[0], here[0], below[0]), sum(above[1], here[1], below[1]),
            carry(above[1], here[1], below[1])};
}
static inline Wide life(const Sums& s, Wide alive) {
    const Wide odd = s.carried ^ s.twos;
    const Wide four = logic(s.fours, s.carried, alive, [](auto f, auto c, auto x) { return x & (f ^ c); });
    const Wide some = logic(odd, s.ones, four, [](auto m, auto o, auto e) { return (m & o) | (~m & ~o & e); });
    return logic(some, odd, s.fours, [](auto u, auto m, auto f) { return u & ~(m & f); });
}

// Random numbers: wyrand (Wang Yi, 2019).
struct Random {
    u64 state;
    u64 next() {
        state += 0x9E3779B97F4A7C15;
        const auto product = static_cast<unsigned __int128>(state) * (state ^ 0xE7037ED1A0B428DB);
        return static_cast<u64>(product >> 64) ^ static_cast<u64>(product);
    }
    u32 below(u32 limit) { return static_cast<u32>(((next() >> 32) * limit) >> 32); }
};

static inline int ones(u64 word) { return __builtin_popcountll(word); }
static inline int lowest(u64 word) { return __builtin_ctzll(word); }

// The bit of a word with `rank` set bits below it, as a mask.
static inline u64 ranked(u64 word, u32 rank) {
#if defined(__BMI2__) || defined(__SSE2__)
    return _pdep_u64(1ull << rank, word);
#else
    while (rank--) word &= word - 1;
    return word & -word;
#endif
}

// Memory for vectors, set to zero.
struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Memory = std::unique_ptr<T[], Free>;
template <class T>
static Memory<T> memory(size_t count) {
    const size_t bytes = (count * sizeof(T) + 127) / 64 * 64;
    void* made = std::aligned_alloc(64, bytes);
    std::memset(made, 0, bytes);
    return Memory<T>(static_cast<T*>(made));
}

// body(thread) on some threads, the caller's among them.
template <class Body>
static void on_threads(i64 threads, Body body) {
    std::vector<std::thread> others;
    for (i64 thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
    body(i64{0});
    for (auto& other : others) other.join();
}

// body(from, to, thread) on parts of [0, count), whose ends are multiples of `step`.
template <class Body>
static void in_parts(i64 count, i64 step, i64 threads, Body body) {
    const i64 pieces = (count + step - 1) / step;
    on_threads(threads, [&](i64 thread) {
        const i64 from = pieces * thread / threads * step, to = std::min(count, pieces * (thread + 1) / threads * step);
        if (from < to) body(from, to, thread);
    });
}

}  // namespace limit
