// Steps of many games of connected stones on the tensors of their states: `envs/stones`, and the restarts of `Vector`.
#pragma once

#include "stones.h"

namespace cellgames::stones {

// The arrays of a batch of B games with N cells and A actions in W words of 32, in the layouts of `StoneState`; and what
// a step gives. `losing` is of Torus alone, else null.
struct Batch {
    int32_t* codes;        // [B][N]
    int64_t* free;         // [W][B]
    int32_t* losing;       // [B]
    int32_t* last;         // [B]
    int32_t* turn;         // [B]
    int64_t* player;       // [B]
    int64_t* seed;         // [B]
    float* scores;         // [2][B]
    uint8_t* mask;         // [B][A], 1 where an action is legal
    const int64_t* given;  // [B], actions or random bits
    int64_t* actions;      // [B], written if they are drawn; the rest always
    float* rewards;        // [2][B]
    uint8_t* terminated;   // [B]
    uint8_t* truncated;    // [B], never: a full board has a winner
    int64_t games;         // B
};

// The addresses of a state's fields, in the order of `StoneState`; `losing` is there for Torus alone.
struct Fields {
    int64_t* seed;
    int32_t* turn;
    int64_t* player;
    float *rewards, *scores;
    uint8_t *terminated, *truncated;
    int32_t* codes;
    int64_t* free;
    int32_t *last, *losing;
};

constexpr int64_t kGamesAThread = 1024;  // starting a thread takes as long as some hundreds of games

// Step all games in parts: step(batch, from, to).
template <class Step>
void step_all(const Fields& f, int32_t* losing, int64_t games, int64_t threads, const int64_t* given, uint8_t* mask,
              int64_t* actions, float* rewards, uint8_t* terminated, uint8_t* truncated, const Step& step) {
    const Batch batch{f.codes, f.free, losing,  f.last,  f.turn,     f.player,  f.seed, f.scores,
                      mask,    given,  actions, rewards, terminated, truncated, games};
    const int64_t most = 1 + games / kGamesAThread;
    in_parallel(games, threads < most ? threads : most, [&](int64_t from, int64_t to) { step(batch, from, to); });
}

// What a step gives games that go on: no reward, no end, and as score the larger of what it was and 0.
CELLGAMES_INLINE void begin(const Batch& batch, int64_t from, int64_t to) {
    std::memset(batch.terminated + from, 0, static_cast<size_t>(to - from));
    std::memset(batch.truncated + from, 0, static_cast<size_t>(to - from));
    for (int64_t seat = 0; seat < 2; ++seat) {
        std::memset(batch.rewards + seat * batch.games + from, 0, sizeof(float) * static_cast<size_t>(to - from));
        float* __restrict scores = batch.scores + seat * batch.games;
        for (int64_t game = from; game < to; ++game) scores[game] = scores[game] < 0.0f ? 0.0f : scores[game];
    }
}

// Make all cells free and legal, and no other action.
CELLGAMES_INLINE void clear(const Batch& batch, int64_t game, int cells, int actions) {
    std::memset(batch.codes + game * cells, 0, sizeof(int32_t) * static_cast<size_t>(cells));
    std::memset(batch.mask + game * actions, 1, static_cast<size_t>(cells));
    for (int action = cells; action < actions; ++action) batch.mask[game * actions + action] = 0;
    for (int word = 0; word * kWord < actions; ++word) {
        const int left = cells - word * kWord;
        batch.free[word * batch.games + game] = left >= kWord ? 0xFFFFFFFFll : left > 0 ? (1ll << left) - 1 : 0;
    }
}

// Begin the next game of an env.
CELLGAMES_INLINE void restart(const Batch& batch, int64_t game, int cells, int actions) {
    clear(batch, game, cells, actions);
    if (batch.losing) batch.losing[game] = 0;
    batch.last[game] = -1;
    batch.turn[game] = 0;
    batch.player[game] = 0;
    batch.seed[game] = (batch.seed[game] & ((1ll << 61) - 1)) + 0x1E3779B97F4A7C15ll;  // `chance.next_seed`
    batch.scores[game] = batch.scores[batch.games + game] = 0.0f;
}

// End a game that a colour has won, and begin the next.
CELLGAMES_INLINE void finish(const Batch& batch, int64_t game, int colour, int cells, int actions) {
    batch.terminated[game] = 1;
    batch.rewards[game] = colour == 1 ? 1.0f : -1.0f;
    batch.rewards[batch.games + game] = colour == 1 ? -1.0f : 1.0f;
    restart(batch, game, cells, actions);
}

constexpr int kParts = 8, kBlock = kParts * kInts;  // games that are worked on at the same time
constexpr int kMostWords = kMostCells / kWord + 1;

// Numbers of a block of games.
union Block {
    Ints lanes[kParts];
    uint32_t of[kBlock];
};

// Bring games into the cache that are stepped next. Processors do that by themselves only where all of it is read.
CELLGAMES_INLINE void fetch(const Batch& batch, int64_t first, int64_t count, int cells, int actions) {
    const auto lines = [](const void* from, int64_t bytes) {
        for (int64_t at = 0; at < bytes; at += 64) CELLGAMES_PREFETCH(static_cast<const char*>(from) + at);
    };
    lines(batch.codes + first * cells, int64_t{4} * count * cells);
    lines(batch.mask + first * actions, count * actions);
}

// Bits set in the pairs, nibbles and octets of words.
struct Sums {
    Ints pairs, nibbles, octets;
    CELLGAMES_INLINE_MEMBER explicit Sums(Ints words) {
        pairs = words - ((words >> 1) & 0x55555555u);
        nibbles = (pairs & 0x33333333u) + ((pairs >> 2) & 0x33333333u);
        octets = (nibbles + (nibbles >> 4)) & 0x0F0F0F0Fu;
    }
    CELLGAMES_INLINE_MEMBER Ints halves() const { return octets + (octets >> 8); }
    CELLGAMES_INLINE_MEMBER Ints all() const { return (halves() + (halves() >> 16)) & 63; }
};

// Where the set bits stand that have so many set bits below them.
CELLGAMES_INLINE Ints bits_of_rank(Ints words, Ints rank) {
    const Sums sums(words);
    Ints place = every(0);
    const auto halve = [&](Ints lower, uint32_t width) {
        const Flags later = rank >= lower;
        rank = pick(later, rank - lower, rank);
        place = pick(later, place + width, place);
    };
    halve(sums.halves() & 31, 16);
    halve(sums.octets >> place & 15, 8);
    halve(sums.nibbles >> place & 15, 4);
    halve(sums.pairs >> place & 3, 2);
    halve(words >> place & 1, 1);
    return place;
}

// A legal action of each game: `sampling.random_legal`.
CELLGAMES_INLINE void draw_actions(const Batch& batch, int64_t first, int count, int words, Block& action) {
    Block word[kMostWords], lots = {};
    for (int w = 0; w < words; ++w) {
        word[w] = {};
        const int64_t* __restrict free = batch.free + w * batch.games + first;
        for (int i = 0; i < count; ++i) word[w].of[i] = static_cast<uint32_t>(free[i]);
    }
    const int64_t* __restrict given = batch.given + first;
    for (int i = 0; i < count; ++i) lots.of[i] = static_cast<uint32_t>(given[i]);
    for (int part = 0; part < kParts; ++part) {
        Ints upto[kMostWords + 1];
        upto[0] = every(0);
        for (int w = 0; w < words; ++w) upto[w + 1] = upto[w] + Sums(word[w].lanes[part]).all();
        const Ints total = upto[words], lot = lots.lanes[part];
        Ints rank = ((lot >> 16) * total + ((lot & 0xFFFF) * total >> 16)) >> 15;  // lot * total >> 31
        Ints chosen = word[0].lanes[part], start = every(0), before = every(0);
        for (int w = 1; w < words; ++w) {
            const Flags later = rank >= upto[w];
            chosen = pick(later, word[w].lanes[part], chosen);
            before = pick(later, upto[w], before);
            start = pick(later, every(static_cast<uint32_t>(w * kWord)), start);
        }
        action.lanes[part] = pick(total == 0, every(0), start + bits_of_rank(chosen, rank - before));
    }
}

// Those of a block's games whose number is not 0.
struct Chosen {
    int32_t game[kBlock + 1], count = 0;
    CELLGAMES_INLINE_MEMBER Chosen(const Block& numbers, int games) {
        for (int i = 0; i < games; ++i) {
            game[count] = i;
            count += numbers.of[i] != 0;
        }
    }
};

// Move the groups of a block that join others: those whose shift is not 0.
CELLGAMES_INLINE void move_groups(const Batch& batch, int64_t first, int count, int cells, const Block& group,
                                  const Block& shift) {
    const Chosen joining(shift, count);
    for (int each = 0; each < joining.count; ++each) {
        const int i = joining.game[each];
        move_group(batch.codes + (first + i) * cells, cells, static_cast<int32_t>(group.of[i]),
                   static_cast<int32_t>(shift.of[i]));
    }
}

}  // namespace cellgames::stones
