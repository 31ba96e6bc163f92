// Steps of matches of Grid Adaptation, in code for one instruction set: see grid_adaptation.cpp.
#include "bits.h"
#include "grid_adaptation_boards.h"

namespace CELLGAMES_NAMESPACE {
namespace {

using namespace grid;

// --- vectors of matches ----------------------------------------------------------------------------------------------

CELLGAMES_INLINE Words all(uint64_t word) { return every(word); }
#if defined(__GNUC__)
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

// The random bits at a place and those after it: `sampling.cpp`.
CELLGAMES_INLINE Words spread_bits(uint64_t root, int64_t place) {
    constexpr uint64_t apart = 0x9E3779B97F4A7C15;
    uint64_t next[kLanes];
    for (uint64_t lane = 0; lane < kLanes; ++lane) next[lane] = lane * apart;
    return mixed(load(next) + all(root + static_cast<uint64_t>(place) * apart)) >> 33;
}

// The matches of a vector, or as many as are left.
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

// --- a step ----------------------------------------------------------------------------------------------------------

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

// Play a step of the matches from one to another; the first is a multiple of the lanes.
void play(const Step& step, int64_t first, int64_t last) {
    const int64_t to = (last + kLanes - 1) / kLanes;
    for (int64_t from = first / kLanes; from < to; from += kGroups) {
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

}  // namespace
}  // namespace CELLGAMES_NAMESPACE
