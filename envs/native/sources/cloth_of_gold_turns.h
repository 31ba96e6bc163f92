// Turns of Cloth of Gold and what may be done in them, in code for one instruction set: see cloth_of_gold_turns.cpp.
#include "cloth_of_gold_lanes.h"

namespace CELLGAMES_NAMESPACE {
namespace {

using namespace cloth;

// --- territory -------------------------------------------------------------------------------------------------------

// The territory of some worlds' units. Spans of columns are spread first, in rows, then rows over each other.
// `known`: the words of a row if the code is for so many, else 0.
template <int known>
class Territory {
  public:
    Territory(const Board& board, const Disk& disk)
        : board_(board), disk_(disk), words_(known ? known : board.words),
          size_((board.rows + 2 * (disk.radius - 1)) * words_), room_(int64_t{size_} * disk.spans + 4) {}

    CELLGAMES_INLINE_MEMBER void make(const uint64_t* units, uint64_t* fields, const Some& some) {
        const int beyond = disk_.radius - 1, last = board_.rows * words_;
        for (int row = 0; row < board_.rows; ++row) {
            Words now[known ? known : kMostWords];
            for (int word = 0; word < words_; ++word) now[word] = some.load(units + board_.at(row, word));
            Words* out = room_.begin() + (row + beyond) * words_;
            int reach = 0;
            for (int span = 0; span < disk_.spans; ++span, out += size_) {
                while (reach < disk_.width[span]) {
                    const int by = std::min(reach + 1, disk_.width[span] - reach);  // more would leave gaps at edges
                    spread(now, by);
                    reach += by;
                }
                for (int word = 0; word < words_; ++word) out[word] = now[word];
            }
        }
        // Above each other, rows of one span lie next to each other.
        Words* middle = room_.begin() + int64_t{disk_.span[0]} * size_ + beyond * words_;
        for (int index = 0; index < last; index += 4) {
            const int count = std::min(last - index, 4);
            Words all[4];
            for (int other = 0; other < 4; ++other) all[other] = other < count ? middle[index + other] : every(0);
            for (int down = 1; down <= beyond; ++down) {
                const Words* span = room_.begin() + int64_t{disk_.span[down]} * size_ + beyond * words_ + index;
                const Words *above = span - down * words_, *below = span + down * words_;
                for (int other = 0; other < 4; ++other) all[other] = all[other] | above[other] | below[other];
            }
            for (int other = 0; other < count; ++other) {
                const int row = (index + other) / words_, word = (index + other) % words_;
                some.store(fields + board_.at(row, word), all[other] & every(board_.own(word)));
            }
        }
        for (int word = 0; word < words_; ++word) some.store(fields + board_.at(board_.rows, word), every(0));
    }

  private:
    // Spread a row to both sides. What goes beyond a word's columns is in its neighbour as well, and wiped off at last.
    CELLGAMES_INLINE_MEMBER void spread(Words* row, int by) const {
        Words before = every(0);
        for (int word = 0; word < words_; ++word) {
            const Words here = row[word];
            Words wide = here | here << by | here >> by;
            if (word) wide = wide | before >> (board_.width - by);
            if (word + 1 < words_) wide = wide | row[word + 1] << (board_.width - by);
            row[word] = wide;
            before = here;
        }
    }

    const Board& board_;
    const Disk& disk_;
    int words_, size_;
    Room room_;
};

template <int known>
CELLGAMES_INLINE void make_all(const Board& board, const Disk& disk, const uint64_t* units, uint64_t* fields,
                               const int64_t* list, int64_t from, int64_t to) {
    Territory<known> territory(board, disk);
    for (int64_t first = from; first < to; first += kLanes) territory.make(units, fields, Some(list, first, to));
}

// Call `function` with the words of a row, if there is code for so many, else with 0.
template <class Function>
CELLGAMES_INLINE void by_words(const Board& board, const Function& function) {
    if (board.words == 1)
        function(std::integral_constant<int, 1>());
    else if (board.words == 2)
        function(std::integral_constant<int, 2>());
    else
        function(std::integral_constant<int, 0>());
}

void make_territory(const Board& board, const Disk& disk, const uint64_t* units, uint64_t* fields, const int64_t* list,
                    int64_t from, int64_t to) {
    by_words(board, [&](auto known) { make_all<known()>(board, disk, units, fields, list, from, to); });
}

// --- what may be done ------------------------------------------------------------------------------------------------

// Cells of one row of the games.
template <int known>
struct Row {
    Words taken[known ? known : kMostWords], other[known ? known : kMostWords];  // by units, by those of the opponent
};

template <int known>
CELLGAMES_INLINE void read_row(const Board& board, const Games& games, const Some& some, Words second, int row,
                               Row<known>& out) {
    for (int word = 0; word < (known ? known : board.words); ++word) {
        if (row == board.rows) {
            out.taken[word] = out.other[word] = every(0);
            continue;
        }
        const uint64_t* at = games.units + board.at(row, word);
        const Words a = some.load(at), b = some.load(at + board.plane());
        out.taken[word] = a | b;
        out.other[word] = (a & second) | (b & ~second);
    }
}

// Find the cells where the movers may place a unit (`rules.placeable`), a word of a row at a time, for `take`; return
// those of any row.
template <int known, class Take>
CELLGAMES_INLINE Words find_cells(const Board& board, const Games& games, const Some& some, const Take& take) {
    const int words = known ? known : board.words;
    const Words second = some.where([&](int64_t game) { return games.player[game] == 1; });
    const Words homeless = some.where([&](int64_t game) { return games.live[2 * game + games.player[game]] == 0; });
    Row<known> rows[3];
    Row<known> *above = rows, *here = rows + 1, *below = rows + 2;
    read_row<known>(board, games, some, second, board.rows, *above);
    read_row<known>(board, games, some, second, 0, *here);
    Words any = every(0);
    for (int row = 0; row < board.rows; ++row) {
        read_row<known>(board, games, some, second, row + 1, *below);
        for (int word = 0; word < words; ++word) {
            const int64_t at = board.at(row, word);
            const Words other = here->other[word];
            Words near = other << 1 | other >> 1 | above->other[word] | below->other[word] | here->taken[word];
            if (word) near = near | here->other[word - 1] >> (board.width - 1);
            if (word + 1 < words) near = near | here->other[word + 1] << (board.width - 1);
            Words taken = near | some.load(games.neutral + at) | some.load(games.killed + at);
            if (games.water) taken = taken | some.load(games.water + at);
            const Words a = some.load(games.territory + at), b = some.load(games.territory + board.plane() + at);
            const Words home = homeless | (((second & b) | (~second & a)) & ~((second & a) | (~second & b)));
            const Words legal = home & ~taken & every(board.own(word));
            take(at, legal);
            any = any | legal;
        }
        Row<known>* free = above;
        above = here, here = below, below = free;
    }
    return any;
}

// The bytes, 0 or 1, of each octet of bits.
struct Octets {
    uint64_t bytes[256];
    Octets() {
        for (uint64_t octet = 0; octet < 256; ++octet) {
            const uint64_t apart = (octet | octet << 28) & 0x0000000F0000000F;
            const uint64_t pairs = (apart | apart << 14) & 0x0003000300030003;
            bytes[octet] = (pairs | pairs << 7) & 0x0101010101010101;
        }
    }
    // Write as many bits as bytes and up to seven more, which are 0.
    CELLGAMES_INLINE_MEMBER void write(uint64_t bits, int count, uint8_t* out) const {
        for (int bit = 0; bit < count; bit += 8) std::memcpy(out + bit, &bytes[bits >> bit & 0xFF], sizeof(uint64_t));
    }
};

// All legal actions (`rules.choices`) of some games as bytes.
template <int known>
CELLGAMES_INLINE void write_actions(const Board& board, const Games& games, const Some& some, int max_units,
                                    uint64_t* cells, uint8_t* out) {
    static const Octets octets;
    const int words = known ? known : board.words, last = board.cols - board.width * (words - 1);
    const int64_t count = board.cells(), bolts = games.spells ? count : 0;  // bolts stand behind the cells
    const auto whole = [&](int64_t game) { return allowance(games, game, max_units); };
    const auto rested = [&](int64_t game) { return games.acts[game] < 2 * whole(game); };
    const Words placing = some.where([&](int64_t game) {
        return games.left[game] > 0 && (rested(game) || games.left[game] == whole(game));
    });
    const Words taking = some.where(rested);
    uint64_t any[kLanes], *next = cells;
    store(any, find_cells<known>(board, games, some, [&](int64_t at, Words legal) {
              store(next, (legal & placing) | (some.load(games.placed + at) & taking));
              next += kLanes;
          }));
    for (int lane = 0; lane < some.together; ++lane) {
        const int64_t game = some.place[lane];
        uint8_t* target = out + game * (count + bolts + 1);
        const uint64_t* from = cells + lane;
        const auto write_row = [&](uint8_t* to) {
            for (int word = 0; word < words; ++word, from += kLanes)
                octets.write(*from, word + 1 < words ? board.width : last, to + word * board.width);
        };
        for (int row = 0; row + 1 < board.rows; ++row, target += board.cols) write_row(target);
        uint8_t rest[64 * kMostWords + 8];  // of the last row, behind which another game stands
        write_row(rest);
        std::memcpy(target, rest, static_cast<size_t>(board.cols));
        target += board.cols;
        if (bolts) std::memset(target, games.spells[2 * game + games.player[game]] > 0 && rested(game), static_cast<size_t>(bolts));
        target[bolts] = games.left[game] < whole(game) || !any[lane];
    }
}

template <int known>
void write_all(const Board& board, const Games& games, int max_units, Form form, void* out, int64_t from, int64_t to) {
    std::vector<uint64_t> cells(static_cast<size_t>(board.rows) * board.words * kLanes);
    for (int64_t first = from; first < to; first += kLanes) {
        const Some some(nullptr, first, to);
        if (form == kBytes) {
            write_actions<known>(board, games, some, max_units, cells.data(), static_cast<uint8_t*>(out));
            continue;
        }
        uint64_t* boards = static_cast<uint64_t*>(out);
        find_cells<known>(board, games, some, [&](int64_t at, Words legal) { some.store(boards + at, legal); });
        for (int word = 0; word < board.words; ++word) some.store(boards + board.at(board.rows, word), every(0));
    }
}

void write_legal(const Board& board, const Games& games, int max_units, Form form, void* out, int64_t from,
                 int64_t to) {
    by_words(board, [&](auto known) { write_all<known()>(board, games, max_units, form, out, from, to); });
}

// --- turns and rounds ------------------------------------------------------------------------------------------------

void play_turns(const Board& board, const Disk& disk, const Turns& turns, int count, int max_units, int64_t from,
                int64_t to) {
    const int64_t plane = board.plane();
    std::vector<int64_t> smaller[2];  // games in which a player has taken a unit back
    for (int64_t game = from; game < to; ++game) {
        const int64_t player = turns.player[game];
        bool back = false;
        for (int index = 0; index < count; ++index) {
            const int64_t cell = turns.cells[game * count + index];
            if (cell < 0 || cell >= board.cells()) continue;
            const int row = static_cast<int>(cell / board.cols), col = static_cast<int>(cell % board.cols);
            const uint64_t bit = uint64_t{1} << (col % board.width);
            const int64_t at = board.at(row, col / board.width) + game;
            const int change = turns.placed[at] & bit ? -1 : 1;
            turns.units[player * plane + at] ^= bit;
            turns.placed[at] ^= bit;
            turns.live[2 * game + player] += change;
            turns.left[game] -= change;
            ++turns.acts[game];
            back |= change < 0;
            if (change > 0) add_disk(board, disk, turns.territory + player * plane + game, row, col);
        }
        if (back) smaller[player].push_back(game);
        if (!turns.ending[game]) continue;
        for (int row = 0; row < board.rows; ++row)
            for (int word = 0; word < board.words; ++word) turns.placed[board.at(row, word) + game] = 0;
        turns.left[game] = max_units;
        turns.acts[game] = 0;
    }
    for (int player = 0; player < 2; ++player)
        make_territory(board, disk, turns.units + player * plane, turns.territory + player * plane,
                       smaller[player].data(), 0, static_cast<int64_t>(smaller[player].size()));
}

// The live cells of each of some worlds.
void count_cells(const Board& board, const uint64_t* boards, const uint64_t* others, const Some& some,
                 int32_t (&counts)[kLanes]) {
    Words total = every(0);
    for (int row = 0; row < board.rows; ++row)
        for (int word = 0; word < board.words; ++word) {
            const int64_t at = board.at(row, word);
            total = total + ones_of(some.load(boards + at) & (others ? some.load(others + at) : every(~uint64_t{0})));
        }
    uint64_t all[kLanes];
    store(all, total);
    for (int lane = 0; lane < kLanes; ++lane) counts[lane] = static_cast<int32_t>(all[lane]);
}

// Play the generations of a round in the games of a list, and make their territory and count their units anew.
void play_round(const Board& board, const Disk& disk, const Planes<uint64_t>& planes, uint64_t* territory,
                int32_t* live, int64_t generations, int64_t neutral_rules, const int64_t* games, int64_t from,
                int64_t to) {
    const Planes<const uint64_t> given{{planes.plane[0], planes.plane[1], planes.plane[2], planes.plane[3]}};
    play_worlds(board, given, planes, games, generations, neutral_rules, true, from, to);
    for (int player = 0; player < 2; ++player) {
        const uint64_t* own = planes.plane[player];
        make_territory(board, disk, own, territory + player * board.plane(), games, from, to);
        for (int64_t first = from; first < to; first += kLanes) {
            const Some some(games, first, to);
            int32_t counts[kLanes];
            count_cells(board, own, nullptr, some, counts);
            for (int lane = 0; lane < kLanes; ++lane)
                if (some.place[lane] >= 0) live[2 * some.place[lane] + player] = counts[lane];
        }
    }
}

// Count cells of some games: both players' territory, what is in both, and killed cells.
void tally(const Board& board, const uint64_t* territory, const uint64_t* killed, const Some& some,
           int32_t (&counts)[4][kLanes]) {
    const uint64_t* second = territory + board.plane();
    count_cells(board, territory, nullptr, some, counts[0]);
    count_cells(board, second, nullptr, some, counts[1]);
    count_cells(board, territory, second, some, counts[2]);
    count_cells(board, killed, nullptr, some, counts[3]);
}

// Count cells of the games from one place of a list to another, int32 [4] of each.
void tally_all(const Board& board, const uint64_t* territory, const uint64_t* killed, const int64_t* games, int32_t* out,
               int64_t from, int64_t to) {
    for (int64_t first = from; first < to; first += kLanes) {
        const Some some(games, first, to);
        int32_t counts[4][kLanes];
        tally(board, territory, killed, some, counts);
        for (int lane = 0; lane < kLanes; ++lane)
            for (int kind = 0; kind < 4 && some.place[lane] >= 0; ++kind) out[(first + lane) * 4 + kind] = counts[kind][lane];
    }
}

// --- whole steps -----------------------------------------------------------------------------------------------------

// Score the rounds that have been played and decide games: `rounds._closed`, `ClothOfGold.ends`.
void close_rounds(const Board& board, const Rules& rules, const State& state, const Given& step,
                  const std::vector<int64_t>& games) {
    const auto count = static_cast<int64_t>(games.size());
    for (int64_t first = 0; first < count; first += kLanes) {
        const Some some(games.data(), first, count);
        int32_t counts[4][kLanes];
        tally(board, state.territory, state.killed, some, counts);
        for (int lane = 0; lane < kLanes && some.place[lane] >= 0; ++lane) {
            const int64_t game = some.place[lane];
            const int32_t a = state.live[2 * game], b = state.live[2 * game + 1], lead = a - b;
            const int32_t number = state.round[game], before = static_cast<int32_t>(state.scores[game]);
            int32_t* row = state.rounds + (game * (rules.max_rounds + 1) + number) * 6;
            row[0] = a, row[1] = b;
            for (int kind = 0; kind < 4; ++kind) row[2 + kind] = counts[kind][lane];
            bool over;
            if (rules.extinction)
                over = number >= 1 && (a == 0 || b == 0);
            else
                over = number >= rules.first_verdict && (lead == 0 || (lead > 0 ? before >= lead : before <= lead));
            step.terminated[game] = over;
            step.truncated[game] = !over && number == rules.max_rounds;
            state.scores[game] = static_cast<float>(lead);
            state.scores[board.worlds + game] = static_cast<float>(-lead);
            if (over || step.truncated[game]) {
                step.rewards[game] = lead > 0 ? 1.0f : -1.0f;
                step.rewards[board.worlds + game] = lead < 0 ? 1.0f : -1.0f;
            } else {
                state.round[game] = number + 1;
                begin_round(rules, state, game);
            }
        }
    }
}

// Make the territory or the zones of some sides anew, by twice the game and the player: `rounds.widened`. `cells`: where
// a unit of each is new, and nothing else; none if empty.
void widen(const Board& board, const WildRules& rules, const WildState& state, const std::vector<int64_t>& sides,
           const std::vector<int64_t>& cells = {}) {
    const int64_t plane = board.plane();
    const auto reach = [&](int64_t side) { return rules.perks ? state.reach[side] : 0; };
    for (size_t at = 0; rules.hull && at < sides.size(); ++at)
        find_zones(board, state.units + sides[at] % 2 * plane, rules.buffer + reach(sides[at]),
                   state.territory + sides[at] % 2 * plane, sides[at] / 2, cells.empty() ? -1 : cells[at]);
    std::vector<int64_t> games;
    for (int64_t player = 0; player < 2 && !rules.hull; ++player)
        for (int32_t more = 0; more <= kMostReach; ++more) {
            games.clear();
            for (const int64_t side : sides)
                if (side % 2 == player && reach(side) == more) games.push_back(side / 2);
            if (games.empty()) continue;
            make_territory(board, Disk(rules.radius + more), state.units + player * plane,
                           state.territory + player * plane, games.data(), 0, static_cast<int64_t>(games.size()));
        }
}

// What follows when the movers have placed units, `count` cells a game.
void follow(const Board&, const Rules&, const State&, const int64_t*, int, int64_t, int64_t) {}

// Bolts, which stand among the cells, and wider territory.
void follow(const Board& board, const WildRules& rules, const WildState& state, const int64_t* cells, int count,
            int64_t from, int64_t to) {
    const int64_t first = board.cells(), end = end_of_turn(board, rules);
    std::vector<int64_t> sides, added;
    for (int64_t game = from; game < to; ++game) {
        const int64_t player = state.player[game], *own = cells + game * count;
        bool placed = false, struck = false;
        const bool one = count == 1 && own[0] >= 0 && own[0] < first && holds(board, state.placed, game, own[0]);
        for (int index = 0; index < count; ++index) {
            placed |= own[index] >= 0 && own[index] < first;
            if (own[index] < first || own[index] >= end) continue;
            strike(board, state, game, own[index] - first);
            struck = true;
        }
        placed &= rules.hull || (rules.perks && state.reach[2 * game + player] > 0);
        for (int64_t side = 0; side < 2; ++side)
            if (struck || (placed && side == player)) sides.push_back(2 * game + side), added.push_back(one ? own[0] : -1);
    }
    widen(board, rules, state, sides, added);
}

// Play the rounds of some games.
void live(const Board& board, const Disk& disk, const Rules& rules, const State& state,
          const std::vector<int64_t>& games) {
    const Planes<uint64_t> planes{{state.units, state.units + board.plane(), state.neutral, state.killed}};
    play_round(board, disk, planes, state.territory, state.live, rules.generations, rules.neutral_rules, games.data(), 0,
               static_cast<int64_t>(games.size()));
}

void live(const Board& board, const Disk&, const WildRules& rules, const WildState& state,
          const std::vector<int64_t>& games) {
    play_wild_rounds(board, rules, state, games);
    std::vector<int64_t> sides;
    for (const int64_t game : games) sides.push_back(2 * game), sides.push_back(2 * game + 1);
    widen(board, rules, state, sides);
}

// Place the movers' units, `count` cells a game, and end turns and rounds: `ClothOfGold._played` and `_shaped`. ending:
// one for each of these games. Return the games whose round has ended.
template <class Options, class Fields>
std::vector<int64_t> play_on(const Board& board, const Disk& disk, const Options& rules, const Fields& state,
                             const Given& step, const int64_t* cells, int count, const std::vector<uint8_t>& ending,
                             int64_t from, int64_t to) {
    const int64_t worlds = board.worlds;
    std::vector<int64_t> closing, playing;
    std::vector<int32_t> before;
    if (rules.shaping != 0.0) before.assign(state.live + 2 * from, state.live + 2 * to);
    const Turns turns{state.units, state.placed, state.territory, state.live,           state.left,
                      state.acts,  state.player, cells,           ending.data() - from};
    play_turns(board, disk, turns, count, static_cast<int>(rules.max_units), from, to);
    follow(board, rules, state, cells, count, from, to);
    for (int64_t game = from; game < to; ++game) {
        step.rewards[game] = step.rewards[worlds + game] = 0.0f;
        if (!ending[static_cast<size_t>(game - from)]) continue;
        if (state.player[game] != state.first[game]) {
            closing.push_back(game);
            if (state.round[game] > 0) playing.push_back(game);
        }
        state.player[game] = 1 - state.player[game];
    }
    if (!playing.empty()) live(board, disk, rules, state, playing);
    close_rounds(board, rules, state, step, closing);
    for (const int64_t game : closing) {
        if (step.terminated[game] || step.truncated[game])
            state.player[game] = 1 - state.player[game];
        else
            begin_weather(rules, state, game);
    }
    for (int64_t game = from; game < to; ++game) {
        if (ending[static_cast<size_t>(game - from)])
            state.left[game] = allowance(games_of(rules, state), game, static_cast<int>(rules.max_units));
        float *a = step.rewards + game, *b = a + worlds;
        if (rules.shaping != 0.0) {
            const size_t at = static_cast<size_t>(2 * (game - from));
            const double more_a = (state.live[2 * game] - before[at]) * rules.shaping;
            const double more_b = (state.live[2 * game + 1] - before[at + 1]) * rules.shaping;
            *a = static_cast<float>(*a + more_a - more_b);
            *b = static_cast<float>(*b + more_b - more_a);
        }
        state.rewards[game] = *a;
        state.rewards[worlds + game] = *b;
    }
    return closing;
}

// A step of some games (see `NativeStep`).
template <class Options, class Fields>
void play(const Board& board, const Disk& disk, const Options& rules, const Fields& state, const Given& step,
          int64_t from, int64_t to) {
    const int64_t end = end_of_turn(board, rules);
    const int64_t* chosen = step.random ? step.actions : step.given;
    std::vector<uint8_t> ending(static_cast<size_t>(to - from));
    if (step.random) draw_actions(step, end + 1, from, to);
    for (int64_t game = from; game < to; ++game) {
        ending[static_cast<size_t>(game - from)] = chosen[game] == end;
        step.terminated[game] = step.truncated[game] = false;
        ++state.turn[game];
    }
    for (int64_t game : play_on(board, disk, rules, state, step, chosen, 1, ending, from, to))
        if (step.terminated[game] || step.truncated[game]) restart(board, rules, state, game);
    write_legal(board, games_of(rules, state), static_cast<int>(rules.max_units), kBytes, step.mask, from, to);
}

// Units of some games, `count` cells each, and the ends of turns: `native_step.played`.
template <class Options, class Fields>
void play_cells(const Board& board, const Disk& disk, const Options& rules, const Fields& state, const Given& step,
                const uint8_t* ends, int count, int64_t from, int64_t to) {
    const std::vector<uint8_t> ending(ends + from, ends + to);
    for (int64_t game = from; game < to; ++game) {
        const int64_t* cells = step.given + game * count;
        const auto units = std::count_if(cells, cells + count, [](int64_t cell) { return cell >= 0; });
        state.turn[game] += ends[game] + static_cast<int32_t>(units);
    }
    play_on(board, disk, rules, state, step, step.given, count, ending, from, to);
}

void play_step(const Board& board, const Disk& disk, const Rules& rules, const State& state, const Given& step,
               int64_t from, int64_t to) {
    play(board, disk, rules, state, step, from, to);
}

void play_wild_step(const Board& board, const Disk& disk, const WildRules& rules, const WildState& state,
                    const Given& step, int64_t from, int64_t to) {
    play(board, disk, rules, state, step, from, to);
}

void play_units(const Board& board, const Disk& disk, const Rules& rules, const State& state, const Given& step,
                const uint8_t* ends, int count, int64_t from, int64_t to) {
    play_cells(board, disk, rules, state, step, ends, count, from, to);
}

void play_wild_units(const Board& board, const Disk& disk, const WildRules& rules, const WildState& state,
                     const Given& step, const uint8_t* ends, int count, int64_t from, int64_t to) {
    play_cells(board, disk, rules, state, step, ends, count, from, to);
}

}  // namespace
}  // namespace CELLGAMES_NAMESPACE
