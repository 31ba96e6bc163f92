// Random play of Torus n = 8 in many games: draw, place, judge, start over, write actions, rewards, ends, masks, and what
// the player to move sees.
#include "torus.h"

using namespace limit;

// Games, and what a step writes, in the order of `_Games` in torus.py.
struct LimitTorus {
    i64 games;
    u16* codes;         // [games, 128]
    u64* free;          // [games, 2]
    u8 *losing, *turn;  // [games]
    i64* actions;       // [games]
    float* rewards;     // [games, 2]
    u8* terminated;     // [games]
    u8* mask;           // [games, 128]
    u8* seen;           // [games, 320], own stones, the opponent's, 1 for Black: what the player to move sees; or null
    u32* random;        // [threads, 16], not zero
};

namespace {

constexpr int kBlock = 64;

void start(const LimitTorus& t, i64 game) {
    std::memset(t.codes + game * kCells, 0, sizeof(u16) * kCells);
    t.free[2 * game] = t.free[2 * game + 1] = ~0ull;
    t.losing[game] = t.turn[game] = 0;
}

void end(const LimitTorus& t, i64 game, int winner) {
    start(t, game);
    t.terminated[game] = 1;
    t.rewards[2 * game] = winner == 1 ? 1.0f : -1.0f;
    t.rewards[2 * game + 1] = winner == 1 ? -1.0f : 1.0f;
}

// Draw a free cell of each of 64 games by numbers of 32 bits and take it.
inline void draw(const LimitTorus& t, i64 first, const u32* numbers, u8* cells) {
    u64* free = t.free + 2 * first;
    for (int i = 0; i < kBlock; ++i) {
        const u64 octagons = free[2 * i], squares = free[2 * i + 1];
        u32 rank = static_cast<u32>((static_cast<u64>(numbers[i]) * static_cast<u64>(kCells - t.turn[first + i])) >> 32);
        const u32 before = static_cast<u32>(ones(octagons));
        const bool square = rank >= before;
        const u64 word = square ? squares : octagons, bit = ranked(word, rank - (square ? before : 0));
        free[2 * i + square] = word ^ bit;
        cells[i] = static_cast<u8>(lowest(bit) | square << 6);
    }
}

#if defined(__AVX512VBMI__) && defined(__AVX512BW__)

inline void look(const LimitTorus& t, i64 game) {
    const __m512i* codes = reinterpret_cast<const __m512i*>(t.codes + game * kCells);
    __m512i* out = reinterpret_cast<__m512i*>(t.seen + game * 320);
    const bool black = (t.turn[game] & 1) == 0;
    for (int half = 0; half < 2; ++half) {
        const __m256i low = _mm512_cvtepi16_epi8(_mm512_loadu_si512(codes + 2 * half));
        const __m256i high = _mm512_cvtepi16_epi8(_mm512_loadu_si512(codes + 2 * half + 1));
        const __m512i colours = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        const __mmask64 blacks = _mm512_test_epi8_mask(colours, _mm512_set1_epi8(1));
        const __mmask64 whites = _mm512_test_epi8_mask(colours, _mm512_set1_epi8(2));
        _mm512_storeu_si512(out + half, _mm512_maskz_set1_epi8(black ? blacks : whites, 1));
        _mm512_storeu_si512(out + 2 + half, _mm512_maskz_set1_epi8(black ? whites : blacks, 1));
    }
    _mm512_storeu_si512(out + 4, _mm512_set1_epi8(black));
}

typedef __m512i Vector;

inline Vector random_numbers(Vector& state) {  // xorshift32 (Marsaglia, 2003) in 16 lanes
    state = _mm512_xor_si512(state, _mm512_slli_epi32(state, 13));
    state = _mm512_xor_si512(state, _mm512_srli_epi32(state, 17));
    state = _mm512_xor_si512(state, _mm512_slli_epi32(state, 5));
    return _mm512_mullo_epi32(state, _mm512_set1_epi32(static_cast<int>(0x9E3779B1)));
}

inline Vector bytes(const u8* from) {
    return _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}

inline void relabel_wide(u16* codes, u32 group, u32 more) {
    const Vector wanted = _mm512_set1_epi16(static_cast<short>(group)), low = _mm512_set1_epi16(kGroup);
    const Vector added = _mm512_set1_epi16(static_cast<short>(more));
    for (int i = 0; i < 4; ++i) {
        const Vector part = _mm512_loadu_si512(codes + 32 * i);
        const __mmask32 here = _mm512_cmpeq_epi16_mask(_mm512_and_si512(part, low), wanted);
        _mm512_storeu_si512(codes + 32 * i, _mm512_mask_add_epi16(part, here, part, added));
    }
}

// What there is to do for some of the games: groups that join others.
struct Joins {
    int count = 0;
    alignas(64) u32 game[3 * kBlock + 16], group[3 * kBlock + 16], more[3 * kBlock + 16];
    void add(__mmask16 which, Vector games, Vector groups, Vector shifts) {
        _mm512_storeu_si512(game + count, _mm512_maskz_compress_epi32(which, games));
        _mm512_storeu_si512(group + count, _mm512_maskz_compress_epi32(which, groups));
        _mm512_storeu_si512(more + count, _mm512_maskz_compress_epi32(which, shifts));
        count += __builtin_popcount(which);
    }
};

// A step of 64 games, 16 in a vector; joins, and paths that close, one game after the other.
void step(const LimitTorus& t, i64 first, Vector& random) {
    alignas(64) u32 numbers[kBlock];
    alignas(64) u8 cells[kBlock], near[kSlots][kBlock], windings[kSlots][kBlock];
    for (int i = 0; i < 4; ++i) _mm512_store_si512(numbers + 16 * i, random_numbers(random));
    draw(t, first, numbers, cells);
    const Vector cell = _mm512_load_si512(cells);
    const auto looked_up = [&](const u8* table) {
        return _mm512_permutex2var_epi8(_mm512_loadu_si512(table), cell, _mm512_loadu_si512(table + 64));
    };
    for (int slot = 0; slot < kSlots; ++slot) {
        _mm512_store_si512(near[slot], looked_up(kBoard.neighbour[slot]));
        _mm512_store_si512(windings[slot], looked_up(kBoard.winding[slot]));
    }
    u16* codes = t.codes + first * kCells;
    u8* turn = t.turn + first;
    alignas(64) u32 placed[kBlock], seen[4][kBlock];
    Joins joins;
    u64 closing = 0;
    const Vector lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const Vector low = _mm512_set1_epi32(0xFFFF), one = _mm512_set1_epi32(1), group = _mm512_set1_epi32(kGroup);
    for (int part = 0; part < kBlock; part += 16) {
        const Vector game = _mm512_add_epi32(lane, _mm512_set1_epi32(part));
        const Vector turns = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(turn + part)));
        const Vector colour = _mm512_add_epi32(_mm512_and_si512(turns, one), one);
        Vector f[4], g[4];
        __mmask16 there[4];
        for (int slot = 0; slot < 4; ++slot) {
            Vector code[2];
            for (int half = 0; half < 2; ++half) {
                const Vector place = _mm512_add_epi32(_mm512_slli_epi32(game, 7), bytes(near[2 * slot + half] + part));
                const Vector winding = _mm512_slli_epi32(bytes(windings[2 * slot + half] + part), kWinding);
                code[half] = _mm512_add_epi32(_mm512_i32gather_epi32(place, codes, 2), winding);
            }
            const __mmask16 octagon = _mm512_test_epi32_mask(code[0], colour);
            there[slot] = octagon | _mm512_test_epi32_mask(code[1], colour);
            f[slot] = _mm512_maskz_and_epi32(there[slot], _mm512_mask_mov_epi32(code[1], octagon, code[0]), low);
            g[slot] = _mm512_and_si512(f[slot], group);
        }
        Vector stone = _mm512_or_si512(colour, _mm512_slli_epi32(_mm512_srli_epi32(turns, 1), 2));
        for (int slot = 3; slot >= 0; --slot) stone = _mm512_mask_mov_epi32(stone, there[slot], f[slot]);
        __mmask16 known = there[0], cycle = 0;
        for (int i = 1; i < 4; ++i) {
            __mmask16 same = 0;
            for (int j = 0; j < i; ++j) {
                const __mmask16 here = _mm512_mask_cmpeq_epi32_mask(there[i], g[i], g[j]);
                cycle |= _mm512_mask_cmpneq_epi32_mask(here, f[i], f[j]);
                same |= here;
            }
            joins.add(there[i] & known & ~same, game, g[i], _mm512_sub_epi32(stone, f[i]));
            known |= there[i];
        }
        _mm512_store_si512(placed + part, stone);
        if (__builtin_expect(cycle, 0)) {
            for (int slot = 0; slot < 4; ++slot) _mm512_store_si512(seen[slot] + part, f[slot]);
            closing |= static_cast<u64>(cycle) << part;
        }
    }
    for (int i = 0; i < joins.count; ++i) relabel_wide(codes + joins.game[i] * kCells, joins.group[i], joins.more[i]);
    for (int i = 0; i < kBlock; ++i) codes[i * kCells + cells[i]] = static_cast<u16>(placed[i]);
    for (int i = 0; i < kBlock; i += 8) {
        const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(cells + i));
        _mm512_storeu_si512(t.actions + first + i, _mm512_cvtepu8_epi64(eight));
    }
    std::memset(t.rewards + 2 * first, 0, sizeof(float) * 2 * kBlock);
    std::memset(t.terminated + first, 0, kBlock);
    _mm512_storeu_si512(turn, _mm512_add_epi8(_mm512_loadu_si512(turn), _mm512_set1_epi8(1)));
    for (; closing; closing &= closing - 1) {
        const int i = lowest(closing), colour = 2 - (turn[i] & 1);
        u16 f[4];
        for (int slot = 0; slot < 4; ++slot) f[slot] = static_cast<u16>(seen[slot][i]);
        if (const int winner = judge(f, t.losing[first + i], colour)) end(t, first + i, winner);
    }
    for (int i = 0; i < 2 * kBlock; ++i) {
        const Vector legal = _mm512_maskz_set1_epi8(t.free[2 * first + i], 1);
        _mm512_stream_si512(reinterpret_cast<Vector*>(t.mask + 2 * first * 64 + i * 64), legal);
    }
}

void steps(const LimitTorus& t, i64 count, i64 from, i64 to, i64 thread) {
    Vector random = _mm512_loadu_si512(t.random + 16 * thread);
    for (i64 i = 0; i < count; ++i)
        for (i64 first = from; first < to; first += kBlock) {
            step(t, first, random);
            if (t.seen)
                for (i64 game = first; game < first + kBlock; ++game) look(t, game);
        }
    _mm512_storeu_si512(t.random + 16 * thread, random);
}

#else

inline void look(const LimitTorus& t, i64 game) {
    const int mine = 1 + (t.turn[game] & 1);
    u8* out = t.seen + game * 320;
    for (int i = 0; i < kCells; ++i) out[i] = (t.codes[game * kCells + i] & 3) == mine;
    for (int i = 0; i < kCells; ++i) out[kCells + i] = (t.codes[game * kCells + i] & 3) == 3 - mine;
    std::memset(out + 2 * kCells, mine == 1, 64);
}

void steps(const LimitTorus& t, i64 count, i64 from, i64 to, i64 thread) {
    Random random{t.random[16 * thread]};
    for (i64 i = 0; i < count; ++i)
        for (i64 first = from; first < to; first += kBlock) {
            u32 numbers[kBlock];
            u8 cells[kBlock];
            for (u32& number : numbers) number = static_cast<u32>(random.next());
            draw(t, first, numbers, cells);
            for (i64 game = first; game < first + kBlock; ++game) {
                const int cell = cells[game - first];
                t.actions[game] = cell;
                t.rewards[2 * game] = t.rewards[2 * game + 1] = 0.0f;
                t.terminated[game] = 0;
                const int winner = place(t.codes + game * kCells, t.losing[game], t.turn[game]++, cell);
                if (winner) end(t, game, winner);
                for (int i = 0; i < kCells; ++i) t.mask[game * kCells + i] = t.free[2 * game + i / 64] >> (i % 64) & 1;
                if (t.seen) look(t, game);
            }
        }
    t.random[16 * thread] = static_cast<u32>(random.next()) | 1;
}

#endif

}  // namespace

LIMIT_EXPORT void limit_torus_start(const LimitTorus* games) {
    for (i64 game = 0; game < games->games; ++game) start(*games, game);
    std::memset(games->mask, 1, static_cast<size_t>(games->games * kCells));
}

// The number of games is a multiple of 64, and the mask starts at a multiple of 64 bytes.
LIMIT_EXPORT void limit_torus_steps(const LimitTorus* games, i64 count, i64 threads) {
    in_parts(games->games, kBlock, threads,
             [&](i64 from, i64 to, i64 thread) { steps(*games, count, from, to, thread); });
}
