// Rounds of Grid Adaptation and masks of legal actions: `envs/grid_adaptation/stages.py`, `matches.py`, `legality.py`.
//
// Eight matches are played at a time, a match a lane; in memory they lie next to each other, field by field. What few
// matches have in one step, the vote, the end and the beginning of the next match, is done match by match.
#include <algorithm>
#include <cstring>

#include "bits.h"
#include "grid_adaptation_boards.h"
#include "random.h"
#include "threefry.h"

namespace {

using namespace cellgames;

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

// --- vectors of eight matches ---------------------------------------------------------------------------------------

static_assert(kLanes == 8, "a vector has eight matches");
#if defined(__GNUC__)
// `every`, of which GCC makes a lane after the other here.
CELLGAMES_INLINE Words all(uint64_t word) { return Words{word, word, word, word, word, word, word, word}; }
typedef int64_t Signed __attribute__((vector_size(8 * kLanes)));
typedef uint16_t Shorts __attribute__((vector_size(8 * kLanes)));
CELLGAMES_INLINE Words at_least(Words a, Words b) { return (Words)((Signed)a >= (Signed)b); }
CELLGAMES_INLINE Words equal(Words a, Words b) { return (Words)(a == b); }
CELLGAMES_INLINE Words if_at_least(Words a, Words b, Words yes, Words no) { return (Signed)a >= (Signed)b ? yes : no; }
CELLGAMES_INLINE Words times(Words a, Words b) { return a * b; }
CELLGAMES_INLINE Words short_times(Words a, Words b) { return (Words)((Shorts)a * (Shorts)b); }
CELLGAMES_INLINE Words left_by(Words a, Words b) { return a << b; }
CELLGAMES_INLINE Words right_by(Words a, Words b) { return a >> b; }
#else
CELLGAMES_INLINE Words all(uint64_t word) { return every(word); }
CELLGAMES_INLINE Words at_least(Words a, Words b) {
    return each(a, b, [](uint64_t x, uint64_t y) { return uint64_t{0} - (static_cast<int64_t>(x) >= static_cast<int64_t>(y)); });
}
CELLGAMES_INLINE Words equal(Words a, Words b) {
    return each(a, b, [](uint64_t x, uint64_t y) { return uint64_t{0} - (x == y); });
}
CELLGAMES_INLINE Words if_at_least(Words a, Words b, Words yes, Words no) {
    const Words flag = at_least(a, b);
    return (flag & yes) | (~flag & no);
}
CELLGAMES_INLINE Words times(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x * y; }); }
CELLGAMES_INLINE Words short_times(Words a, Words b) { return times(a, b); }
CELLGAMES_INLINE Words left_by(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x << y; }); }
CELLGAMES_INLINE Words right_by(Words a, Words b) { return each(a, b, [](uint64_t x, uint64_t y) { return x >> y; }); }
#endif

CELLGAMES_INLINE Words choose(Words flag, Words yes, Words no) { return (flag & yes) | (~flag & no); }
CELLGAMES_INLINE Words under(Words a, Words b) { return ~at_least(a, b); }

// The lowest byte of each word.
CELLGAMES_INLINE void store_bytes(int8_t* to, Words words) {
#if defined(__GNUC__)
    typedef uint8_t Bytes __attribute__((vector_size(kLanes)));
    const Bytes bytes = __builtin_convertvector(words, Bytes);
    std::memcpy(to, &bytes, sizeof bytes);
#else
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<int8_t>(words.lane[lane]);
#endif
}

// The random bits at a place and the seven after it: `sampling.cpp`.
CELLGAMES_INLINE Words spread_bits(uint64_t root, int64_t place) {
    constexpr uint64_t apart = 0x9E3779B97F4A7C15;
    const uint64_t next[kLanes] = {0, apart, 2 * apart, 3 * apart, 4 * apart, 5 * apart, 6 * apart, 7 * apart};
    return mixed(load(next) + all(root + static_cast<uint64_t>(place) * apart)) >> 33;
}

// Eight matches, or as many as are left.
struct Lanes {
    int64_t batch, first, count;

    CELLGAMES_INLINE_MEMBER Words read(const int64_t* field, int64_t row) const {
        CELLGAMES_PREFETCH(field + row * batch + first + kLanes);  // of the matches that come next
        return load_some(reinterpret_cast<const uint64_t*>(field) + row * batch + first, count);
    }
    CELLGAMES_INLINE_MEMBER void write(int64_t* field, int64_t row, Words words) const {
        CELLGAMES_PREFETCH(field + row * batch + first + kLanes);  // of the matches that come next
        store_some(reinterpret_cast<uint64_t*>(field) + row * batch + first, words, count);
    }
    // Write a row of many matches one after the other, without looking ahead.
    CELLGAMES_INLINE_MEMBER void fill(int64_t* field, int64_t row, Words words) const {
        store_some(reinterpret_cast<uint64_t*>(field) + row * batch + first, words, count);
    }
    template <class T>
    CELLGAMES_INLINE_MEMBER void put(T* field, int64_t row, const T* values) const {
        std::memcpy(field + row * batch + first, values, static_cast<size_t>(count) * sizeof(T));
    }
    CELLGAMES_INLINE_MEMBER Words read(const Numbers& numbers, int64_t row) const {
        if (numbers.spread()) return spread_bits(static_cast<uint64_t>(*numbers.at), row * batch + first);
        if (numbers.match_stride == 1) {
            CELLGAMES_PREFETCH(numbers.at + row * numbers.row_stride + first + kLanes);
            return load_some(reinterpret_cast<const uint64_t*>(numbers.at) + row * numbers.row_stride + first, count);
        }
        uint64_t words[kLanes] = {};
        const int64_t* at = numbers.at + first * numbers.match_stride + row * numbers.row_stride;
        for (int64_t lane = 0; lane < count; ++lane) words[lane] = static_cast<uint64_t>(at[lane * numbers.match_stride]);
        return load(words);
    }
};

CELLGAMES_INLINE Lanes lanes_of(const Step& step, int64_t group) {
    return {step.batch, group * kLanes, std::min<int64_t>(kLanes, step.batch - group * kLanes)};
}

// The place of the set bit that has `rank` set bits below it.
struct Search {
    Words rank, place;

    // Go on in the upper half of the `2 * half` bits that are left if the lower one, whose bits `sums` counts, has too few.
    CELLGAMES_INLINE_MEMBER void halve(Words sums, uint64_t half) {
        const Words lower = right_by(sums, place) & all(2 * half - 1);
        place = if_at_least(rank, lower, place + all(half), place);
        rank = if_at_least(rank, lower, rank - lower, rank);
    }
};

CELLGAMES_INLINE Words bit_of_rank(Words x, Words rank) {
    const Words pairs = x - (x >> 1 & all(0x5555555555555555));
    const Words nibbles = (pairs & all(0x3333333333333333)) + (pairs >> 2 & all(0x3333333333333333));
    const Words octets = (nibbles + (nibbles >> 4)) & all(0x0F0F0F0F0F0F0F0F);
    const Words sixteens = octets + (octets >> 8);
    Search search{rank, all(0)};
    search.halve(sixteens + (sixteens >> 16), 32);
    search.halve(sixteens, 16);
    search.halve(octets, 8);
    search.halve(nibbles, 4);
    search.halve(pairs, 2);
    search.halve(x, 1);
    return search.place;
}

// A space by the word of the board that holds it and its bit there; `on` where there is one.
struct Place {
    Words on, word, bit;
};

// The spaces that can be named.
struct Free {
    Words boards[kMostWords], upto[kMostWords];  // and how many there are in a word and in those before it

    // Return the space with `rank` free ones before it, and its number.
    CELLGAMES_INLINE_MEMBER Place at(const Rules& rules, int words, Words rank, Words choices, Words& number) const {
        const Words a_word = all(static_cast<uint64_t>(rules.rows_a_word * rules.size));
        Words board = boards[0], left = rank, word = all(0), before = all(0);
        for (int next = 1; next < words; ++next) {
            const Words from = upto[next - 1];
            board = if_at_least(rank, from, boards[next], board);
            left = if_at_least(rank, from, rank - from, left);
            before = if_at_least(rank, from, before + a_word, before);
            word = if_at_least(rank, from, all(static_cast<uint64_t>(next)), word);
        }
        const Words on = under(rank, choices), bit = bit_of_rank(board, left);
        const Words row = short_times(bit, all(static_cast<uint64_t>(4096 / rules.stride + 1))) >> 12;
        number = choose(on, before + bit - row, all(static_cast<uint64_t>(rules.spaces)));
        return {on, word, bit};
    }
};

// The place of a space by its number.
CELLGAMES_INLINE Place place_of(const Rules& rules, Words space, Words on) {
    const Words row = times(space, all(static_cast<uint64_t>((1 << 24) / rules.size + 1))) >> 24;
    const Words word = times(row, all(static_cast<uint64_t>((1 << 24) / rules.rows_a_word + 1))) >> 24;
    const Words bit = space + row - times(word, all(static_cast<uint64_t>(rules.rows_a_word * rules.stride)));
    return {on, word, bit & all(63)};
}

CELLGAMES_INLINE void name(Words* board, int words, const Place& place) {
    const Words cell = place.on & left_by(all(1), place.bit);
    for (int word = 0; word < words; ++word) board[word] = board[word] | (cell & equal(place.word, all(static_cast<uint64_t>(word))));
}

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

    void draw_votes(int64_t first_bits, const uint64_t (*bits)[kLanes]) const {
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

// --- a step of eight matches ----------------------------------------------------------------------------------------

// Return if the next step of a match is a talk step.
CELLGAMES_INLINE bool talks_next(const Step& step, int64_t env) {
    return step.talk && step.talk->talks[env] < std::min(step.fields.round[env], step.rules.rounds) * step.talk->steps;
}

// The matches of a group that talk in this step; the others play.
struct Talkers {
    bool talks[kLanes] = {};
    int64_t count = 0;
    Words mask = {};

    void look(const Step& step, const Lanes& lanes) {
        uint64_t bits[kLanes] = {};
        for (int64_t lane = 0; lane < lanes.count; ++lane) {
            talks[lane] = talks_next(step, lanes.first + lane);
            count += talks[lane];
            bits[lane] = talks[lane] ? ~uint64_t{0} : 0;
        }
        mask = load(bits);
    }
};

// Play a round or the vote. Those who talk place, change and earn nothing, as those who vote, and their round goes on.
template <bool kRandom, int kWords>
CELLGAMES_INLINE void play_lanes(const Step& step, const Lanes& lanes, const Talkers& talkers) {
    const Rules& rules = step.rules;
    const Fields& fields = step.fields;
    const int words = kWords ? kWords : rules.words;
    const int64_t players = rules.players;
    const Words none = all(0), one = all(1), spaces = all(static_cast<uint64_t>(rules.spaces));
    const Words round = lanes.read(fields.round, 0);
    const Words acting = ~talkers.mask, playing = at_least(all(static_cast<uint64_t>(rules.rounds)), round) & acting;
    const Words first = equal(round, one) & acting;
    Words flips = none;
    for (int64_t number = 0; number < rules.num_flips; ++number)
        flips = flips | (equal(round, all(static_cast<uint64_t>(rules.flip_rounds[number]))) & acting);
    uint64_t rounds[kLanes];
    store(rounds, round);
    bool any_first = false, any_last = false;
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
        any_first |= rounds[lane] == 1 && !talkers.talks[lane];
        any_last |= static_cast<int64_t>(rounds[lane]) >= rules.rounds && !talkers.talks[lane];
    }

    Words tiles[kMostWords];
    Free free;
    Words total = none;
    for (int word = 0; word < words; ++word) {
        tiles[word] = lanes.read(fields.planes, word);
        free.boards[word] = ~tiles[word] & all(rules.cells[word]);
        if (kRandom) free.upto[word] = total = total + (ones_of(free.boards[word]) & playing);
    }

    // What players submit.
    Words named[kMostPlayers][kMostWords], sequence[kMostPlayers], somebody[kMostWords], several[kMostWords];
    uint64_t vote_bits[kMostPlayers][kLanes];
    for (int word = 0; word < words; ++word) somebody[word] = several[word] = none;
    for (int64_t seat = 0; seat < players; ++seat) {
        const int64_t row = seat * step.components;
        const Words reserves = lanes.read(fields.reserves, seat), bought = lanes.read(fields.bought, seat);
        const Words garnets = lanes.read(fields.garnets, seat), price = left_by(all(2), bought);
        const Words pays = playing & at_least(garnets, price), holds = ~equal(reserves, none);
        for (int word = 0; word < words; ++word) named[seat][word] = none;

        Words flip, buy;
        Place reserve;
        if (kRandom) {
            for (int64_t slot = 0; slot < kTiles; ++slot) {
                Words number = spaces;
                if (slot == 0 || (any_first && slot < rules.first_tiles)) {
                    const Words choices = slot ? total & first : total;
                    const Words rank = times(lanes.read(step.given, row + slot), choices) >> 31;
                    name(named[seat], words, free.at(rules, words, rank, choices, number));
                }
                lanes.write(step.out.actions, row + slot, number);
            }
            Words number;
            const Words choices = (holds | pays) & total;
            const Words rank = times(lanes.read(step.given, row + kReserve), choices + one) >> 31;
            reserve = free.at(rules, words, rank, choices, number);
            flip = flips & (lanes.read(step.given, row + kFlip) >> 29);
            buy = pays & (lanes.read(step.given, row + kBuy) >> 30);
            lanes.write(step.out.actions, row + kReserve, number);
            lanes.write(step.out.actions, row + kFlip, flip);
            lanes.write(step.out.actions, row + kBuy, buy);
            lanes.write(step.out.actions, row + kVote, all(static_cast<uint64_t>(players)));
            if (any_last) store(vote_bits[seat], lanes.read(step.given, row + kVote));
        } else {
            for (int64_t slot = 0; slot < rules.first_tiles; ++slot) {
                const Words space = lanes.read(step.given, row + slot);
                const Words on = under(space, spaces) & (slot ? first : playing);
                name(named[seat], words, place_of(rules, space, on));
            }
            const Words space = lanes.read(step.given, row + kReserve);
            reserve = place_of(rules, space, under(space, spaces) & playing);
            flip = flips & lanes.read(step.given, row + kFlip);
            buy = lanes.read(step.given, row + kBuy);
        }
        const Words before = lanes.read(fields.sequence, seat);
        sequence[seat] = before ^ (left_by(one, flip & all(3)) >> 1);
        // A reserve tile that a player does not hold is bought.
        const Words buys = pays & choose(reserve.on & ~holds, one, buy), held = reserves + buys;
        reserve.on = reserve.on & ~equal(held, none);
        name(named[seat], words, reserve);
        lanes.write(fields.sequence, seat, sequence[seat]);
        lanes.write(fields.reserves, seat, held - (reserve.on & one));
        lanes.write(fields.bought, seat, bought + buys);
        lanes.write(fields.garnets, seat, garnets - (price & (none - buys)));
        for (int word = 0; word < words; ++word) {
            several[word] = several[word] | (somebody[word] & named[seat][word]);
            somebody[word] = somebody[word] | named[seat][word];
        }
    }

    // Tiles land where one player alone has named a free space, and a generation runs.
    Words digits[3][kMostWords], counts[4] = {none, none, none, none};
    for (int word = 0; word < words; ++word) {
        const Words placed = free.boards[word] & somebody[word] & ~several[word];
        lanes.write(fields.placed, word, placed);
        tiles[word] = tiles[word] | placed;
        for (int digit = 0; digit < 3; ++digit) {
            Words board = lanes.read(fields.planes, (1 + digit) * words + word);
            for (int64_t seat = 0; seat < players; ++seat)
                board = board | (named[seat][word] & placed & (none - ((sequence[seat] >> (2 - digit)) & one)));
            digits[digit][word] = board;
        }
    }
    for (int word = 0; word < words; ++word) {
        const Nine near = nine_of(rules, tiles, words, word);
        const Words three = near.three() & all(rules.cells[word]), four = near.four() & all(rules.cells[word]);
        const Words stays = choose(playing, tiles[word] & (three | four), tiles[word]);
        const Words born = playing & three & ~tiles[word];
        const Words after[4] = {stays | born, (digits[0][word] & stays) | (nine_of(rules, digits[0], words, word).odd_twos & born),
                                (digits[1][word] & stays) | (nine_of(rules, digits[1], words, word).odd_twos & born),
                                (digits[2][word] & stays) | (nine_of(rules, digits[2], words, word).odd_twos & born)};
        for (int plane = 0; plane < 4; ++plane) {
            lanes.write(fields.planes, plane * words + word, after[plane]);
            counts[plane] = counts[plane] + ones_of(after[plane]);
        }
    }

    // Points.
    for (uint64_t number = 0; number < kSequences; ++number) {
        Words earned = none;
        for (int digit = 0; digit < 3; ++digit)
            earned = earned + (number >> (2 - digit) & 1 ? counts[1 + digit] : counts[0] - counts[1 + digit]);
        lanes.write(fields.shown, static_cast<int64_t>(number), choose(playing, earned, lanes.read(fields.shown, static_cast<int64_t>(number))));
    }
    float points[kMostPlayers][kLanes], sum[kLanes] = {};
    for (int64_t seat = 0; seat < players; ++seat) {
        Words gained = none;
        for (int digit = 0; digit < 3; ++digit) {
            const Words has = none - ((sequence[seat] >> (2 - digit)) & one);
            gained = gained + choose(has, counts[1 + digit], counts[0] - counts[1 + digit]);
        }
        uint64_t whole[kLanes];
        store(whole, gained & playing);
        for (int lane = 0; lane < kLanes; ++lane) {
            points[seat][lane] = static_cast<float>(static_cast<int32_t>(whole[lane]));
            sum[lane] += points[seat][lane];
        }
    }
    const float others = static_cast<float>(players - 1);
    uint64_t stood[kLanes];
    store(stood, counts[0] & playing);
    float mean[kLanes];  // of the eight sequences: half of the digits of every tile match
    for (int64_t lane = 0; lane < kLanes; ++lane) mean[lane] = 1.5f * static_cast<float>(static_cast<int32_t>(stood[lane]));
    for (int64_t seat = 0; seat < players; ++seat) {
        const int64_t at = seat * lanes.batch + lanes.first;
        const size_t bytes = static_cast<size_t>(lanes.count) * sizeof(float);
        float scores[kLanes] = {}, rewards[kLanes] = {};
        std::memcpy(scores, fields.scores + at, bytes);
        for (int lane = 0; lane < kLanes; ++lane) scores[lane] += points[seat][lane];
        if (rules.by_public)
            for (int lane = 0; lane < kLanes; ++lane) rewards[lane] = points[seat][lane] - mean[lane];
        else if (!rules.by_outcome)
            for (int lane = 0; lane < kLanes; ++lane)
                rewards[lane] = points[seat][lane] - (sum[lane] - points[seat][lane]) / others;
        lanes.put(fields.scores, seat, scores);
        lanes.put(fields.rewards, seat, rewards);
        lanes.put(step.out.rewards, seat, rewards);
    }
    lanes.write(fields.round, 0, round + (one & acting));
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
        const int64_t env = lanes.first + lane;
        ++fields.turn[env];
        fields.terminated[env] = step.out.terminated[env] = step.out.truncated[env] = 0;
    }
    if (!any_last) return;
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
        const int64_t number = static_cast<int64_t>(rounds[lane]);
        if (number < rules.rounds || talkers.talks[lane]) continue;
        const Match match{step, lanes.first + lane};
        if (kRandom && number > rules.rounds) match.draw_votes(lane, vote_bits);
        if (match.end(number) && step.renew) match.begin();
    }
}

CELLGAMES_INLINE void play_group(const Step& step, const Lanes& lanes, const Talkers& talkers) {
    if (step.rules.words == 4) {
        if (step.random) play_lanes<true, 4>(step, lanes, talkers);
        else play_lanes<false, 4>(step, lanes, talkers);
    } else {
        if (step.random) play_lanes<true, 0>(step, lanes, talkers);
        else play_lanes<false, 0>(step, lanes, talkers);
    }
}

// --- talk -----------------------------------------------------------------------------------------------------------

// Write what a round would give to matches of which all talk: nothing is done.
CELLGAMES_INLINE void pass(const Step& step, const Lanes& lanes) {
    const Words none = all(0), spaces = all(static_cast<uint64_t>(step.rules.spaces));
    const Words nothing[kComponents] = {spaces, spaces, spaces, spaces, none, none, all(static_cast<uint64_t>(step.rules.players))};
    const float zeros[kLanes] = {};
    for (int64_t seat = 0; seat < step.rules.players; ++seat) {
        for (int64_t part = 0; step.random && part < kComponents; ++part)
            lanes.write(step.out.actions, seat * step.components + part, nothing[part]);
        lanes.put(step.fields.rewards, seat, zeros);
        lanes.put(step.out.rewards, seat, zeros);
    }
    for (int64_t word = 0; word < step.rules.words; ++word) lanes.write(step.fields.placed, word, none);
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
        const int64_t env = lanes.first + lane;
        ++step.fields.turn[env];
        step.out.terminated[env] = step.out.truncated[env] = 0;
    }
}

constexpr int kGroups = 16;  // that say their words together, so that rows are written in longer pieces

// Say the words of the matches that talk; the others are silent.
CELLGAMES_INLINE void say(const Step& step, int64_t from, int64_t groups, const Talkers* talkers) {
    const Talk& talk = *step.talk;
    const Words more = all(static_cast<uint64_t>(talk.words + 1));
    const int64_t letters = step.rules.players * talk.places;
    int8_t words[kMostPlayers * (kMostPlayers - 1)][kGroups * kLanes];
    for (int64_t seat = 0; seat < step.rules.players; ++seat)
        for (int64_t place = 0; place < talk.places; ++place)
            for (int64_t group = 0; group < groups; ++group) {
                const Lanes lanes = lanes_of(step, from + group);
                const int64_t row = seat * step.components + kComponents + place;
                Words word = all(0);
                if (talkers[group].count) {
                    word = lanes.read(step.given, row);
                    if (step.random) word = times(word, more) >> 31;
                    store_bytes(words[seat * talk.places + place] + group * kLanes, word);
                }
                if (step.random) lanes.fill(step.out.actions, row, word & talkers[group].mask);
            }
    const int64_t last = std::min(step.batch, (from + groups) * kLanes);
    for (int64_t env = from * kLanes, at = 0; env < last; ++env, ++at) {
        int8_t* const said = talk.said + env * talk.total * letters;
        if (talkers[at / kLanes].talks[at % kLanes]) {
            int8_t* const now = said + talk.talks[env]++ * letters;
            for (int64_t letter = 0; letter < letters; ++letter) now[letter] = words[letter][at];
        } else if (step.renew && step.out.terminated[env]) {  // the match that has begun has no words yet
            talk.talks[env] = 0;
            std::memset(said, -1, static_cast<size_t>(talk.total * letters));
        }
    }
}

CELLGAMES_DISPATCH void play(const Step& step, int64_t from, int64_t to) {
    for (; from < to; from += kGroups) {
        const int64_t groups = std::min<int64_t>(kGroups, to - from);
        Talkers talkers[kGroups];
        for (int64_t group = 0; group < groups; ++group) {
            const Lanes lanes = lanes_of(step, from + group);
            if (step.talk) talkers[group].look(step, lanes);
            if (talkers[group].count < lanes.count) play_group(step, lanes, talkers[group]);
            else pass(step, lanes);
        }
        if (step.talk) say(step, from, groups, talkers);
    }
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
    in_parallel((batch + kLanes - 1) / kLanes, threads, [&](int64_t from, int64_t to) { play(step, from, to); });
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
    in_parallel((batch + kLanes - 1) / kLanes, threads, [&](int64_t from, int64_t to) { play(step, from, to); });
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
