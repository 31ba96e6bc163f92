// Grid Adaptation as it is by default: random rounds of eight players on 15 x 15, new matches, free spaces or all masks.
// A board is 16 rows of 16 bits, of which the last row and column stay empty, and is worked on at once.
#include "common.h"

using namespace limit;

namespace {

constexpr int kPlayers = 8, kSide = 15, kSpaces = kSide * kSide, kRounds = 8, kTiles = 3, kParts = 7, kWords = 4;
constexpr int kSlotChoices = kSpaces + 1, kMask = 4 * kSlotChoices + 4 + 2 + kPlayers + 1;
constexpr u64 kRow = 0x7FFF, kFour = kRow * 0x0001000100010001;
constexpr u64 kBoard[kWords] = {kFour, kFour, kFour, kFour >> 16};

typedef u16 Rows __attribute__((vector_size(32)));

inline Rows rows(const u64* words) {
    Rows loaded;
    std::memcpy(&loaded, words, sizeof loaded);
    return loaded;
}
inline void put(u64* words, Rows from) { std::memcpy(words, &from, sizeof from); }
// Each row from the one above or below; the empty row comes in at the top, and what it gets is never looked at.
inline Rows from_above(Rows x) {
    return __builtin_shuffle(x, Rows{15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
}
inline Rows from_below(Rows x) {
    return __builtin_shuffle(x, Rows{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0});
}
struct Neighbours {
    Rows ones, twos, fours;
};
inline Neighbours neighbours(Rows x) {
    const Rows up = from_above(x), down = from_below(x), beside = up ^ down, both = up & down;
    const Rows column = beside ^ x, pair = both | (beside & x);
    const Rows left = column << 1, right = column >> 1, left_pair = pair << 1, right_pair = pair >> 1;
    const Rows carried = (left & right) | (beside & (left ^ right));
    const Rows twos = left_pair ^ right_pair ^ both;
    const Rows fours = (left_pair & right_pair) | (both & (left_pair ^ right_pair));
    return {static_cast<Rows>(left ^ right ^ beside), static_cast<Rows>(twos ^ carried),
            static_cast<Rows>(fours ^ (twos & carried))};
}

}  // namespace

// A match, in the order of `_MATCH` in grid.py.
struct alignas(64) LimitMatch {
    u64 planes[4][kWords], placed[kWords];  // tiles, and those with each digit; tiles of the last step
    i32 scores[kPlayers], garnets[kPlayers], shown[8];
    float rewards[kPlayers];
    u8 sequence[kPlayers], reserves[kPlayers], bought[kPlayers], tokens[kPlayers];
    u8 round, tied, over;
    i8 candidate;
};

namespace {

void start(LimitMatch& m, Random& random) {
    m = LimitMatch{};
    for (int player = 0; player < kPlayers; ++player) {
        m.sequence[player] = static_cast<u8>(player);
        m.reserves[player] = 3;
        m.garnets[player] = 2;
    }
    for (u32 player = kPlayers - 1; player; --player) std::swap(m.sequence[player], m.sequence[random.below(player + 1)]);
    m.round = 1;
    m.candidate = -1;
}

inline bool flips(const LimitMatch& m) { return m.round == 4 || m.round == 7; }
inline bool pays(const LimitMatch& m, int player) {
    return m.round <= kRounds && m.garnets[player] >= 2 << m.bought[player];
}
inline u8 ballot(const LimitMatch& m, int player) {
    const u8 others = static_cast<u8>(m.tied & ~(1 << player));
    return others ? others : m.tied;
}
inline int one_of(u32 set, Random& random) {
    return lowest(ranked(set, random.below(static_cast<u32>(ones(set)))));
}

struct Free {
    u64 words[kWords];
    u32 counts[kWords], total = 0;
    explicit Free(const LimitMatch& m) {
        for (int word = 0; word < kWords; ++word) {
            words[word] = m.round > kRounds ? 0 : kBoard[word] & ~m.planes[0][word];
            counts[word] = static_cast<u32>(ones(words[word]));
            total += counts[word];
        }
    }
    // Name the free space of a rank; the bit is set in `named`, the number of the space returned.
    i64 name(u32 rank, u64* named) const {
        int word = 0;
        for (; rank >= counts[word]; ++word) rank -= counts[word];
        const u64 bit = ranked(words[word], rank);
        named[word] |= bit;
        const int place = word * 64 + lowest(bit);
        return place - place / 16;
    }
};

// Random actions [8, 7], and the spaces that each player names; reserves, garnets and sequences are settled.
void draw(LimitMatch& m, Random& random, i64* actions, u64 (*named)[kWords]) {
    const Free free(m);
    const bool voting = m.round > kRounds, flipping = flips(m);
    const int tiles = !free.total ? 0 : m.round == 1 ? kTiles : 1;
    for (int player = 0; player < kPlayers; ++player, actions += kParts) {
        for (int slot = 0; slot < 4; ++slot) actions[slot] = kSpaces;
        for (int slot = 0; slot < tiles; ++slot) actions[slot] = free.name(random.below(free.total), named[player]);
        const u64 lots = random.next();
        const bool can_pay = pays(m, player), has = m.reserves[player] > 0;
        bool lays = false;
        if (!voting && (has || can_pay)) {
            const u32 rank = static_cast<u32>((static_cast<u64>(static_cast<u32>(lots)) * (free.total + 1)) >> 32);
            lays = rank < free.total;
            if (lays) actions[3] = free.name(rank, named[player]);
        }
        const int flip = flipping ? lots >> 40 & 3 : 0, buy = can_pay ? lots >> 48 & 1 : 0;
        actions[4] = flip, actions[5] = buy, actions[6] = kPlayers;
        const int buys = can_pay ? (lays && !has ? 1 : buy) : 0;
        m.sequence[player] ^= static_cast<u8>((1 << flip) >> 1);
        m.garnets[player] -= buys * (2 << m.bought[player]);
        m.reserves[player] = static_cast<u8>(m.reserves[player] + buys - lays);
        m.bought[player] = static_cast<u8>(m.bought[player] + buys);
        if (voting && m.tied && m.tokens[player]) actions[6] = one_of(ballot(m, player), random);
    }
}

void grow(LimitMatch& m, const u64 (*named)[kWords]) {
    Rows once = {}, twice = {}, own[kPlayers];
    for (int player = 0; player < kPlayers; ++player) {
        own[player] = rows(named[player]);
        twice |= once & own[player];
        once |= own[player];
    }
    const Rows placed = once & ~twice & ~rows(m.planes[0]);
    Rows tiles = rows(m.planes[0]) | placed, digits[3];
    put(m.placed, placed);
    for (int digit = 0; digit < 3; ++digit) {
        digits[digit] = rows(m.planes[1 + digit]);
        for (int player = 0; player < kPlayers; ++player) {
            const u16 has = static_cast<u16>(-(m.sequence[player] >> (2 - digit) & 1));
            digits[digit] |= own[player] & placed & (Rows{} + has);
        }
    }
    if (m.round <= kRounds) {
        const Neighbours count = neighbours(tiles);
        const Rows enough = count.twos & ~count.fours & rows(kBoard);
        const Rows stays = tiles & enough, born = enough & count.ones & ~tiles;
        for (Rows& digit : digits) digit = (stays & digit) | (born & neighbours(digit).twos);
        tiles = stays | born;
    }
    put(m.planes[0], tiles);
    for (int digit = 0; digit < 3; ++digit) put(m.planes[1 + digit], digits[digit]);
}

void score(LimitMatch& m) {
    i32 counts[4] = {}, gained[kPlayers], total = 0;
    for (int plane = 0; plane < 4; ++plane)
        for (int word = 0; word < kWords; ++word) counts[plane] += ones(m.planes[plane][word]);
    for (int sequence = 0; sequence < 8; ++sequence) {
        m.shown[sequence] = 0;
        for (int digit = 0; digit < 3; ++digit)
            m.shown[sequence] += sequence >> (2 - digit) & 1 ? counts[1 + digit] : counts[0] - counts[1 + digit];
    }
    for (int player = 0; player < kPlayers; ++player) total += gained[player] = m.shown[m.sequence[player]];
    for (int player = 0; player < kPlayers; ++player) {
        m.scores[player] += gained[player];
        m.rewards[player] = static_cast<float>(gained[player]) - static_cast<float>(total - gained[player]) / (kPlayers - 1);
    }
}

void count_up(LimitMatch& m, Random& random) {  // after the last round
    const i32 top = *std::max_element(m.scores, m.scores + kPlayers), low = *std::min_element(m.scores, m.scores + kPlayers);
    int winners = 0, won = 0;
    u8 least = 0;
    for (int player = 0; player < kPlayers; ++player) {
        winners += m.scores[player] == top;
        least |= static_cast<u8>((m.scores[player] == low) << player);
    }
    for (int player = 0; player < kPlayers; ++player) {
        m.tokens[player] = m.scores[player] != top ? 0 : winners == 1 ? 2 : winners <= 3 ? 1 : 0;
        won += m.tokens[player];
        if (m.scores[player] >= 200) m.garnets[player] += 1 + (m.scores[player] - 200) / 50;
    }
    if (ones(least) > 1 && won) {
        m.tied = least;
        ++m.round;
        return;
    }
    m.candidate = static_cast<i8>(one_of(least, random));
    m.over = 1;
}

void vote(LimitMatch& m, const i64* actions, Random& random) {
    i32 votes[kPlayers] = {}, weight[kPlayers] = {};
    for (int player = 0; player < kPlayers; ++player)
        if (m.tokens[player]) {
            const i64 choice = actions[kParts * player + 6];
            ++votes[choice];
            weight[choice] += m.garnets[player];
        }
    std::pair<i32, i32> most{-1, -1};
    u8 among = 0;
    for (int player = 0; player < kPlayers; ++player) {
        const std::pair<i32, i32> here{votes[player], weight[player]};
        if (!(m.tied >> player & 1) || here < most) continue;
        among = static_cast<u8>((here == most ? among : 0) | 1 << player);
        most = here;
    }
    m.candidate = static_cast<i8>(one_of(among, random));
    m.over = 1;
}

void play(LimitMatch& m, Random& random, i64* actions) {
    alignas(64) u64 named[kPlayers][kWords] = {};
    draw(m, random, actions, named);
    grow(m, named);
    if (m.round > kRounds) {
        std::memset(m.rewards, 0, sizeof m.rewards);
        return vote(m, actions, random);
    }
    score(m);
    if (m.round < kRounds)
        ++m.round;
    else
        count_up(m, random);
}

// Bits of a board without its empty column: 225, in four words.
inline void squeezed(const LimitMatch& m, u64* out) {
    u64 four[kWords];
    for (int word = 0; word < kWords; ++word) {
        const u64 free = m.round > kRounds ? 0 : kBoard[word] & ~m.planes[0][word];
        four[word] = (free & kRow) | (free >> 16 & kRow) << 15 | (free >> 32 & kRow) << 30 | (free >> 48 & kRow) << 45;
    }
    out[0] = four[0] | four[1] << 60;
    out[1] = four[1] >> 4 | four[2] << 56;
    out[2] = four[2] >> 8 | four[3] << 52;
    out[3] = four[3] >> 12;
}

inline void spread(const u64* bits, bool wanted, u8* out) {
#if defined(__AVX512BW__)
    const __mmask64 here = wanted ? ~0ull : 0;
    for (int word = 0; word < 3; ++word) _mm512_storeu_si512(out + 64 * word, _mm512_maskz_set1_epi8(bits[word] & here, 1));
    _mm512_mask_storeu_epi8(out + 192, (1ull << (kSpaces - 192)) - 1, _mm512_maskz_set1_epi8(bits[3] & here, 1));
#else
    for (int space = 0; space < kSpaces; ++space) out[space] = wanted && (bits[space / 64] >> (space % 64) & 1);
#endif
}

void write_masks(const LimitMatch& m, u8* out) {
    u64 free[kWords];
    squeezed(m, free);
    const bool full = !(free[0] | free[1] | free[2] | free[3]), flipping = flips(m), voting = m.round > kRounds;
    for (int player = 0; player < kPlayers; ++player, out += kMask) {
        const bool can_pay = pays(m, player);
        for (int slot = 0; slot < 4; ++slot) {
            const bool tile = slot == 0 || (slot < kTiles && m.round == 1);
            const bool reserve = slot == 3 && (m.reserves[player] || can_pay);
            spread(free, tile || reserve, out + slot * kSlotChoices);
            out[slot * kSlotChoices + kSpaces] = tile ? full : true;
        }
        u8* rest = out + 4 * kSlotChoices;
        rest[0] = 1;
        rest[1] = rest[2] = rest[3] = flipping;
        rest[4] = 1;
        rest[5] = can_pay;
        const u8 allowed = voting && m.tied && m.tokens[player] ? ballot(m, player) : 0;
        for (int other = 0; other < kPlayers; ++other) rest[6 + other] = allowed >> other & 1;
        rest[6 + kPlayers] = !allowed;
    }
}

}  // namespace

LIMIT_EXPORT i64 limit_grid_match() { return sizeof(LimitMatch); }

LIMIT_EXPORT void limit_grid_start(i64 matches, u64 seed, LimitMatch* all) {
    Random random{seed};
    for (i64 match = 0; match < matches; ++match) start(all[match], random);
}

// Rounds of all matches; masks: [matches, 225] of free spaces, or if `full` [matches, 8, 919]. Matches that end stay over
// until the next round if `keep`, so that their ends can be looked at, else new ones start at once.
LIMIT_EXPORT void limit_grid_rounds(i64 matches, i64 rounds, i64 threads, u64* seeds, LimitMatch* all, i64* actions,
                                    float* rewards, u8* terminated, u8* masks, i64 full, i64 keep) {
    in_parts(matches, 1, threads, [&](i64 from, i64 to, i64 thread) {
        Random random{seeds[thread]};
        for (i64 round = 0; round < rounds; ++round)
            for (i64 match = from; match < to; ++match) {
                LimitMatch& m = all[match];
                if (m.over) start(m, random);
                play(m, random, actions + match * kPlayers * kParts);
                std::memcpy(rewards + match * kPlayers, m.rewards, sizeof m.rewards);
                terminated[match] = m.over;
                if (m.over && !keep) start(m, random);
                if (full) {
                    write_masks(m, masks + match * kPlayers * kMask);
                } else {
                    u64 free[kWords];
                    squeezed(m, free);
                    spread(free, true, masks + match * kSpaces);
                }
            }
        seeds[thread] = random.state;
    });
}

namespace {

constexpr int kSeen = 4 + 3 + 7 + 8 + 2 * kPlayers;  // planes of an observation

// What the eight players of a match see: boards, then numbers that are the same everywhere.
void see(const LimitMatch& m, i16* out) {
    for (int plane = 0; plane < 4; ++plane)
        for (int row = 0; row < kSide; ++row) {
            const u64 bits = m.planes[plane][row / 4] >> (row % 4 * 16);
            for (int col = 0; col < kSide; ++col) out[plane * kSpaces + row * kSide + col] = bits >> col & 1;
        }
    const bool voting = m.round > kRounds && !m.over;
    for (int player = 0; player < kPlayers; ++player) {
        i16* to = out + player * kSeen * kSpaces;
        if (player) std::memcpy(to, out, 4 * kSpaces * sizeof(i16));
        to += 4 * kSpaces;
        const auto put = [&](i32 number) {
            std::fill(to, to + kSpaces, static_cast<i16>(std::min(number, 32767)));
            to += kSpaces;
        };
        for (int digit : {4, 2, 1}) put((m.sequence[player] & digit) != 0);
        put(m.reserves[player]), put(m.garnets[player]), put(2 << m.bought[player]), put(m.scores[player]);
        put(m.round), put(flips(m) && !m.over), put(voting);
        for (i32 number : m.shown) put(number);
        const bool counted = m.over || (voting && m.tied && m.tokens[player]);
        for (i32 score : m.scores) put(counted ? score : 0);
        for (int other = 0; other < kPlayers; ++other) put(counted && m.tied >> other & 1);
    }
}

}  // namespace

// out: int16 [matches, 8, 38, 15, 15], whole lines of which go past the caches.
LIMIT_EXPORT void limit_grid_seen(i64 matches, i64 threads, const LimitMatch* all, i16* out) {
    constexpr i64 kSize = i64{kPlayers} * kSeen * kSpaces;
    in_parts(matches, 1, threads, [&](i64 from, i64 to, i64) {
        const auto seen = memory<i16>(kSize);
        for (i64 match = from; match < to; ++match) {
            see(all[match], seen.get());
#if defined(__SSE2__)
            auto* target = reinterpret_cast<__m128i*>(out + match * kSize);
            const auto* source = reinterpret_cast<const __m128i*>(seen.get());
            for (i64 at = 0; at < kSize / 8; ++at) _mm_stream_si128(target + at, _mm_load_si128(source + at));
#else
            std::memcpy(out + match * kSize, seen.get(), kSize * sizeof(i16));
#endif
        }
    });
}
