// Rounds of Grid Adaptation and masks of legal actions: `envs/grid_adaptation/matches.py`, `legality.py`.
//
// Some matches are played at a time, a match a lane; in memory they lie next to each other, field by field. What few
// matches have in one step, the vote, the end and the beginning of the next match, is done match by match.
#include <algorithm>
#include <cstring>

#include "grid_adaptation.h"
#include "random.h"
#include "threefry.h"

namespace cellgames::grid {
namespace {

constexpr int kMostPlayers = 8, kMostSpaces = 31 * 31;
constexpr int kTiles = 3, kReserve = 3, kFlip = 4, kBuy = 5, kVote = 6, kComponents = 7;
constexpr int kSequences = 8, kOrders = 40320;
constexpr uint32_t kDeal = 16, kLot = 17;  // purposes of draws

// A game's rules, by the numbers of `native_rounds.settings`.
struct Rules : Packing {
    int64_t size, players, rounds, first_tiles, garnets, reserves, num_flips;
    bool by_outcome, by_public;
    float garnet_value;
    const int64_t* flip_rounds;
    int64_t spaces;

    Rules(const int64_t* numbers, int64_t count)
        : Packing(numbers[0]), size(numbers[0]), players(numbers[1]), rounds(numbers[2]), first_tiles(numbers[3]),
          garnets(numbers[4]), reserves(numbers[5]), num_flips(count - 8), by_outcome(numbers[6] == 1), by_public(numbers[6] == 2),
          flip_rounds(numbers + 8), spaces(size * size) {
        const int32_t value = static_cast<int32_t>(numbers[7]);
        std::memcpy(&garnet_value, &value, sizeof value);
    }
    int64_t choices() const { return (kTiles + 1) * (spaces + 1) + 4 + 2 + players + 1; }
    bool flips_now(int64_t round) const {
        return std::find(flip_rounds, flip_rounds + num_flips, round) != flip_rounds + num_flips;
    }
};

// The fields of `GridState` in their order; flags are bytes.
struct Fields {
    int64_t* seed;
    int32_t* turn;
    int64_t* current_player;
    float *rewards, *scores;
    uint8_t *terminated, *truncated;
    int64_t *planes, *placed, *sequence, *reserves, *bought, *garnets, *shown, *round;
    uint8_t* tied;
    int64_t *tokens, *candidate;
};

// What a step gives beside the state; actions are given or drawn.
struct Results {
    int64_t* actions;
    float* rewards;
    uint8_t *terminated, *truncated;
};

// Numbers for the components of actions, by the strides of matches and of rows: a player times `Step::components` and a
// component. Where both strides are 0, they are random bits that are spread out of the one number there, as by
// `sampling.random_bits`.
struct Numbers {
    const int64_t* at;
    int64_t match_stride, row_stride;

    bool spread() const { return match_stride == 0 && row_stride == 0; }
};

// The words of matches with talk: `places` in an action, after the other components, each from 0 to `words`. A match has
// `total` talk steps, `steps` before each round. talks: [batch], those played. said: bytes [batch, total, player, place].
struct Talk {
    int64_t places, words, steps, total;
    int64_t* talks;
    int8_t* said;
};

struct Step {
    Rules rules;
    Fields fields;
    Results out;
    Numbers given;
    int64_t batch;
    bool random, renew;
    const Talk* talk = nullptr;
    int64_t components = kComponents;
};

// --- what single matches have in a step -----------------------------------------------------------------------------

// One match of the batch, whose fields stand in memory as they are after a round, but for the end.
struct Match {
    const Step& step;
    int64_t env;

    template <class T>
    T& of(T* field, int64_t row) const {
        return field[row * step.batch + env];
    }
    int64_t players() const { return step.rules.players; }

    uint32_t tied() const {
        uint32_t seats = 0;
        for (int64_t seat = 0; seat < players(); ++seat) seats |= uint32_t{of(step.fields.tied, seat) != 0} << seat;
        return seats;
    }
    // For whom a player may vote: the tied, oneself only if nobody else is; nobody without a Token.
    uint32_t ballot(uint32_t tied, int64_t seat) const {
        if (of(step.fields.tokens, seat) <= 0) return 0;
        const uint32_t others = tied & ~(1u << seat);
        return others ? others : tied;
    }
    // The seat with `rank` seats of the set before it.
    int64_t seat_of(uint32_t seats, int64_t rank) const {
        for (int64_t seat = 0; seat < players(); ++seat)
            if (seats >> seat & 1 && rank-- == 0) return seat;
        return players();
    }
    static int64_t size_of(uint32_t seats) {
        int64_t size = 0;
        for (; seats; seats &= seats - 1) ++size;
        return size;
    }
    int64_t by_lot(uint32_t seats) const {
        const int64_t size = size_of(seats);
        return seat_of(seats, size > 1 ? uniform_int(draw(step.fields.seed[env], kLot), static_cast<uint32_t>(size)) : 0);
    }

    template <size_t lanes>
    void draw_votes(int64_t first_bits, const uint64_t (*bits)[lanes]) const {
        const uint32_t all = tied();
        for (int64_t seat = 0; seat < players(); ++seat) {
            const uint32_t allowed = ballot(all, seat);
            const int64_t rank = static_cast<int64_t>(bits[seat][first_bits]) * size_of(allowed) >> 31;
            of(step.out.actions, seat * step.components + kVote) = allowed ? seat_of(allowed, rank) : players();
        }
    }
    int64_t vote(int64_t seat) const {
        if (step.random) return of(step.out.actions, seat * step.components + kVote);
        const Numbers& given = step.given;
        return given.at[env * given.match_stride + (seat * step.components + kVote) * given.row_stride];
    }

    // Return who of the tied most voted for; of several, those whose voters hold most garnets.
    uint32_t most_voted() const {
        const uint32_t all = tied();
        int64_t number[kMostPlayers] = {}, weight[kMostPlayers] = {};
        for (int64_t seat = 0; seat < players(); ++seat) {
            const int64_t chosen = vote(seat);
            if (chosen < 0 || chosen >= players() || !(ballot(all, seat) >> chosen & 1)) continue;
            ++number[chosen];
            weight[chosen] += of(step.fields.garnets, seat);
        }
        return highest(weight, highest(number, all));
    }
    uint32_t highest(const int64_t* values, uint32_t seats) const {
        int64_t best = -1;
        for (int64_t seat = 0; seat < players(); ++seat)
            if (seats >> seat & 1) best = std::max(best, values[seat]);
        uint32_t found = 0;
        for (int64_t seat = 0; seat < players(); ++seat) found |= (seats >> seat & uint32_t{values[seat] == best}) << seat;
        return found;
    }

    // Finish a match after its last round or the vote; return false if the vote comes next.
    bool end(int64_t round) const {
        const Fields& fields = step.fields;
        int64_t candidate = -1;
        if (round > step.rules.rounds) {
            candidate = by_lot(most_voted());
        } else {
            float top = of(fields.scores, 0), low = top;
            for (int64_t seat = 1; seat < players(); ++seat) {
                top = std::max(top, of(fields.scores, seat));
                low = std::min(low, of(fields.scores, seat));
            }
            uint32_t first = 0, least = 0;
            for (int64_t seat = 0; seat < players(); ++seat) {
                const float points = of(fields.scores, seat);
                first |= uint32_t{points == top} << seat;
                least |= uint32_t{points == low} << seat;
                const int64_t above = static_cast<int64_t>(points) - 200;
                if (above >= 0) of(fields.garnets, seat) += 1 + (above * ((1 << 24) / 50 + 1) >> 24);
            }
            const int64_t winners = size_of(first), losers = size_of(least);
            const int64_t tokens = winners == 1 ? 2 : winners <= 3 ? 1 : 0;
            const bool votes = losers > 1 && tokens > 0;
            for (int64_t seat = 0; seat < players(); ++seat) {
                of(fields.tokens, seat) = first >> seat & 1 ? tokens : 0;
                of(fields.tied, seat) = votes && (least >> seat & 1);
            }
            fields.candidate[env] = -1;
            if (votes) return false;
            candidate = losers == 1 ? seat_of(least, 0) : by_lot(least);
        }
        fields.candidate[env] = candidate;
        fields.round[env] = round;
        fields.terminated[env] = step.out.terminated[env] = 1;
        if (step.rules.by_outcome)
            for (int64_t seat = 0; seat < players(); ++seat) {
                const float gained = static_cast<float>(of(fields.garnets, seat) - step.rules.garnets);
                const int64_t won = of(fields.tokens, seat) - (seat == candidate);
                const float worth = static_cast<float>(won) + step.rules.garnet_value * gained;
                of(fields.rewards, seat) = of(step.out.rewards, seat) = worth;
            }
        return true;
    }

    // Begin the match of the seed that follows.
    void begin() const {
        const Fields& fields = step.fields;
        fields.seed[env] = next_seed(fields.seed[env]);
        fields.turn[env] = 0;
        fields.current_player[env] = 0;
        fields.terminated[env] = 0;
        for (int64_t row = 0; row < 4 * step.rules.words; ++row) of(fields.planes, row) = 0;
        for (int64_t row = 0; row < step.rules.words; ++row) of(fields.placed, row) = 0;
        for (int64_t row = 0; row < kSequences; ++row) of(fields.shown, row) = 0;
        // One of the orders of all sequences, as `itertools.permutations` numbers them.
        int64_t order = uniform_int(draw(fields.seed[env], kDeal), kOrders), orders = kOrders;
        uint32_t left = (1u << kSequences) - 1;
        for (int64_t seat = 0; seat < players(); ++seat) {
            orders /= kSequences - seat;
            int64_t sequence = 0;
            for (int64_t rank = order / orders;; ++sequence)
                if (left >> sequence & 1 && rank-- == 0) break;
            order %= orders;
            left &= ~(1u << sequence);
            of(fields.sequence, seat) = sequence;
            of(fields.rewards, seat) = of(fields.scores, seat) = 0;
            of(fields.reserves, seat) = step.rules.reserves;
            of(fields.bought, seat) = 0;
            of(fields.garnets, seat) = step.rules.garnets;
            of(fields.tied, seat) = 0;
            of(fields.tokens, seat) = 0;
        }
        fields.round[env] = 1;
        fields.candidate[env] = -1;
    }
};

// Return if the next step of a match is a talk step.
CELLGAMES_INLINE bool talks_next(const Step& step, int64_t env) {
    return step.talk && step.talk->talks[env] < std::min(step.fields.round[env], step.rules.rounds) * step.talk->steps;
}

// --- what may be done next ------------------------------------------------------------------------------------------

// Eight flags as bytes, by the number that they make.
struct Spread {
    uint64_t bytes[256];
    Spread() {
        for (uint64_t number = 0; number < 256; ++number) {
            bytes[number] = 0;
            for (int bit = 0; bit < 8; ++bit) bytes[number] |= (number >> bit & 1) << 8 * bit;
        }
    }
};
const Spread kSpread;

// Write the free spaces of one match as bytes, of which up to seven follow that mean nothing; return if there is one.
CELLGAMES_INLINE bool spread(const Step& step, int64_t env, uint8_t* out) {
    const Rules& rules = step.rules;
    if (step.fields.round[env] > rules.rounds || talks_next(step, env)) {
        std::memset(out, 0, static_cast<size_t>(rules.spaces));
        return false;
    }
    uint64_t any = 0;
    for (int64_t row = 0; row < rules.size;) {
        const int64_t word = row / rules.rows_a_word;
        uint64_t free = ~static_cast<uint64_t>(step.fields.planes[word * step.batch + env]) & rules.cells[word];
        any |= free;
        for (const int64_t last = std::min(rules.size, row + rules.rows_a_word); row < last; ++row, free >>= rules.stride)
            for (int64_t column = 0; column < rules.size; column += 8)
                std::memcpy(out + row * rules.size + column, &kSpread.bytes[free >> column & 255], 8);
    }
    return any != 0;
}

// Write every player's mask: the tiles of a round, the reserve tile, the flip, the purchase and the vote.
CELLGAMES_INLINE void mask(const Step& step, int64_t env, uint8_t* out) {
    const Rules& rules = step.rules;
    const Fields& fields = step.fields;
    const Match match{step, env};
    const int64_t slot = rules.spaces + 1, reserve = kTiles * slot, flip = reserve + slot, choices = rules.choices();
    const size_t spaces = static_cast<size_t>(rules.spaces);
    const int64_t round = fields.round[env];
    uint8_t free[kMostSpaces + 8], rows[2][(kTiles + 1) * (kMostSpaces + 1) + 4 + 2 + kMostPlayers + 1];
    const bool any = spread(step, env, free), flips = rules.flips_now(round);
    // Players' masks differ in little, so that two rows, without and with a reserve tile, serve as patterns.
    uint8_t* row = rows[0];
    for (int64_t tile = 0; tile < kTiles; ++tile, row += slot) {
        const bool placed = tile == 0 || (round == 1 && tile < rules.first_tiles);
        if (placed) std::memcpy(row, free, spaces);
        else std::memset(row, 0, spaces);
        row[spaces] = !placed || !any;
    }
    std::memset(row, 0, spaces);
    row[spaces] = 1;
    row += slot;
    const uint8_t tail[6] = {1, flips, flips, flips, 1, 0};
    std::memcpy(row, tail, sizeof tail);
    std::memset(row + sizeof tail, 0, static_cast<size_t>(rules.players));
    row[6 + rules.players] = 1;
    std::memcpy(rows[1], rows[0], static_cast<size_t>(choices));
    std::memcpy(rows[1] + reserve, free, spaces);
    const uint32_t tied = round > rules.rounds ? match.tied() : 0;
    for (int64_t seat = 0; seat < rules.players; ++seat, out += choices) {
        const bool pays = round <= rules.rounds && match.of(fields.garnets, seat) >= int64_t{2} << match.of(fields.bought, seat);
        std::memcpy(out, rows[pays || match.of(fields.reserves, seat) > 0], static_cast<size_t>(choices));
        out[flip + 5] = pays;
        if (const uint32_t ballot = tied ? match.ballot(tied, seat) : 0) {
            for (int64_t other = 0; other < rules.players; ++other) out[flip + 6 + other] = ballot >> other & 1;
            out[flip + 6 + rules.players] = 0;
        }
    }
}

Fields fields_at(void* const* at) {
    Fields fields;
    static_assert(sizeof fields == 18 * sizeof *at, "the fields are addresses");
    std::memcpy(&fields, at, sizeof fields);
    return fields;
}

}  // namespace
}  // namespace cellgames::grid

#define CELLGAMES_BODY "grid_adaptation_steps.h"
#include "each_target.h"

namespace {

using namespace cellgames;
using namespace cellgames::grid;

void play_all(const Step& step, int64_t threads) {
    constexpr int64_t kTile = 8;  // matches that a thread plays, at least: a multiple of every vector's lanes
    in_parallel((step.batch + kTile - 1) / kTile, threads, [&](int64_t from, int64_t to) {
        CELLGAMES_CHOSEN(play)(step, from * kTile, std::min(to * kTile, step.batch));
    });
}

}  // namespace

// Play a round or the vote in every match. numbers: the rules, `native_rounds.settings`, so many as `count` says.
// fields: the addresses of the state's fields in their order, each [..., batch] in memory, overwritten. Where `renew` is
// not 0, matches that end are replaced by new ones. Actions, int64 by the strides of match and row (player times seven and
// component), are at `given`; or they are drawn of random bits there and written to `actions`, int64 [players, 7, batch],
// if that is not null. rewards: float [players, batch]; terminated, truncated: bytes [batch].
CELLGAMES_EXPORT void cellgames_grid_adaptation_step(const int64_t* numbers, int64_t count, int64_t batch, int64_t threads,
                                                     int64_t renew, void* const* fields, const int64_t* given,
                                                     int64_t match_stride, int64_t row_stride, int64_t* actions,
                                                     float* rewards, uint8_t* terminated, uint8_t* truncated) {
    const Step step{Rules(numbers, count),
                    fields_at(fields),
                    {actions, rewards, terminated, truncated},
                    {given, match_stride, row_stride},
                    batch,
                    actions != nullptr,
                    renew != 0};
    play_all(step, threads);
}

// Play a talk step, a round or the vote in every match with talk. `talk` holds what stands first in `Talk`, and the two
// addresses follow; an action has `places` more components. The rest is as in `cellgames_grid_adaptation_step`.
CELLGAMES_EXPORT void cellgames_grid_adaptation_talk_step(const int64_t* numbers, int64_t count, int64_t batch,
                                                          int64_t threads, int64_t renew, void* const* fields,
                                                          const int64_t* given, int64_t match_stride, int64_t row_stride,
                                                          int64_t* actions, float* rewards, uint8_t* terminated,
                                                          uint8_t* truncated, const int64_t* talk, int64_t* talks,
                                                          int8_t* said) {
    const Talk words{talk[0], talk[1], talk[2], talk[3], talks, said};
    const Step step{Rules(numbers, count),
                    fields_at(fields),
                    {actions, rewards, terminated, truncated},
                    {given, match_stride, row_stride},
                    batch,
                    actions != nullptr,
                    renew != 0,
                    &words,
                    kComponents + words.places};
    play_all(step, threads);
}

// Write what may be done next: masks, bytes [batch, players, choices], or the free spaces alone, bytes [batch, spaces].
CELLGAMES_EXPORT void cellgames_grid_adaptation_legal(const int64_t* numbers, int64_t count, int64_t batch, int64_t threads,
                                                      void* const* fields, uint8_t* masks, uint8_t* spaces) {
    const Step step{Rules(numbers, count), fields_at(fields), {}, {}, batch, false, false};
    const int64_t width = step.rules.players * step.rules.choices();
    in_parallel(batch, threads, [&](int64_t from, int64_t to) {
        for (int64_t env = from; env < to; ++env) {
            if (masks) mask(step, env, masks + env * width);
            if (!spaces) continue;
            uint8_t free[kMostSpaces + 8];
            spread(step, env, free);
            std::memcpy(spaces + env * step.rules.spaces, free, static_cast<size_t>(step.rules.spaces));
        }
    });
}
