// The Toroidal Cup on 40 x 280 with two teams: generations that recolour survivors, with the live cells of both counted,
// and whole games with the rule that ends them.
#include "common.h"

#include <array>
#include <atomic>
#include <cmath>

using namespace limit;

namespace {

constexpr int kRows = 40, kCols = 280, kCells = kRows * kCols;
// Words overlap: each has 56 columns of its own and four of each neighbour's, so that four generations need no exchange.
constexpr int kWords = 5, kOwn = 56, kHalo = 4;
constexpr u64 kMine = ((1ull << kOwn) - 1) << kHalo;
constexpr int kRowWords = 2 * kLanes;  // live cells, and those of the first team
constexpr int kTile = kWords * kRows * kRowWords;

inline u64* row_of(u64* tile, int word, int row) { return tile + (word * kRows + row) * kRowWords; }

void exchange(u64* tile) {
    const Wide mine = all(kMine), low = all((1ull << kHalo) - 1), high = all(~0ull << (64 - kHalo));
    for (int row = 0; row < kRows; ++row)
        for (int plane = 0; plane < kRowWords; plane += kLanes) {
            Wide words[kWords];
            for (int word = 0; word < kWords; ++word) words[word] = load(row_of(tile, word, row) + plane);
            for (int word = 0; word < kWords; ++word) {
                const Wide before = words[(word + kWords - 1) % kWords], after = words[(word + 1) % kWords];
                const Wide left = (before >> kOwn) & low, right = (after << kOwn) & high;
                store(row_of(tile, word, row) + plane, either(words[word] & mine, left, right));
            }
        }
}

inline void row_sums(Wide x, Wide* sums) {
    const Wide west = x << 1, east = x >> 1;
    sums[0] = sum(west, x, east);
    sums[1] = carry(west, x, east);
}

// Generations of one word of all rows; live[2 * i], live[2 * i + 1] get its cells of both teams, and the first team's.
void advance_word(u64* rows, int generations, u64 even, Wide* live) {
    const Wide mine = all(kMine), parity[2] = {all(even), all(~even)};
    for (int i = 0; i < generations; ++i) {
        Wide above[2], here[2], below[2], first[2], team_above[2], team_here[2], team_below[2], team_first[2];
        Wide now = load(rows), team = load(rows + kLanes), next, team_next, count = {}, team_count = {};
        row_sums(load(rows + (kRows - 1) * kRowWords), above);
        row_sums(load(rows + (kRows - 1) * kRowWords + kLanes), team_above);
        row_sums(now, here);
        row_sums(team, team_here);
        std::memcpy(first, here, sizeof here);
        std::memcpy(team_first, team_here, sizeof here);
#pragma GCC unroll 2
        for (int row = 0; row < kRows; ++row) {
            if (row + 1 < kRows) {
                next = load(rows + (row + 1) * kRowWords), team_next = load(rows + (row + 1) * kRowWords + kLanes);
                row_sums(next, below);
                row_sums(team_next, team_below);
            } else {
                next = now, team_next = team;
                std::memcpy(below, first, sizeof first);
                std::memcpy(team_below, team_first, sizeof first);
            }
            const Sums cells = nine(above, here, below), own = nine(team_above, team_here, team_below);
            const Wide after = life(cells, now);
            // The team has most of two or three neighbours if it has two of them: nine less the cell itself.
            const Wide borrowed = logic(own.ones, team, team, [](auto o, auto t, auto) { return ~o & t; });
            const Wide most = sum(own.carried, own.twos, borrowed);
            // One of two is a tie: an odd number of the team's neighbours, an even one of all.
            const Wide tie = logic(own.ones ^ team, cells.ones, now, [](auto s, auto o, auto x) { return s & ~(o ^ x); });
            const Wide inherits = logic(most, tie, parity[row & 1], [](auto m, auto t, auto e) { return m | (t & e); });
            const Wide team_after = after & inherits;
            store(rows + row * kRowWords, after);
            store(rows + row * kRowWords + kLanes, team_after);
            count += bits_set(after & mine);
            team_count += bits_set(team_after & mine);
            std::memcpy(above, here, sizeof here);
            std::memcpy(here, below, sizeof here);
            std::memcpy(team_above, team_here, sizeof here);
            std::memcpy(team_here, team_below, sizeof here);
            now = next, team = team_next;
        }
        live[2 * i] += count;
        live[2 * i + 1] += team_count;
    }
}

// Bits of the columns with an even number, in a word; rows alternate.
u64 even_columns(int word) {
    u64 bits = 0;
    for (int bit = 0; bit < 64; ++bit) bits |= static_cast<u64>((word * kOwn + bit - kHalo) % 2 == 0) << bit;
    return bits;
}

void advance(u64* tile, int generations, Wide* live) {
    static const std::array<u64, kWords> even = [] {
        std::array<u64, kWords> found;
        for (int word = 0; word < kWords; ++word) found[word] = even_columns(word);
        return found;
    }();
    std::memset(live, 0, sizeof(Wide) * 2 * static_cast<size_t>(generations));
    for (int i = 0; i < generations; i += kHalo) {
        exchange(tile);
        for (int word = 0; word < kWords; ++word)
            advance_word(row_of(tile, word, 0), std::min(kHalo, generations - i), even[word], live + 2 * i);
    }
}

void put(u64* tile, int lane, const i8* board) {
    for (int word = 0; word < kWords; ++word)
        for (int row = 0; row < kRows; ++row) {
            const i8* cells = board + row * kCols + word * kOwn;
            u64 live = 0, team = 0;
            for (int col = 0; col < kOwn; ++col) {
                live |= static_cast<u64>(cells[col] != 0) << (col + kHalo);
                team |= static_cast<u64>(cells[col] == 1) << (col + kHalo);
            }
            row_of(tile, word, row)[lane] = live;
            row_of(tile, word, row)[kLanes + lane] = team;
        }
}

void get(u64* tile, int lane, i8* board) {
    for (int word = 0; word < kWords; ++word)
        for (int row = 0; row < kRows; ++row) {
            const u64 live = row_of(tile, word, row)[lane], team = row_of(tile, word, row)[kLanes + lane];
            i8* cells = board + row * kCols + word * kOwn;
            for (int col = 0; col < kOwn; ++col)
                cells[col] = static_cast<i8>((live >> (col + kHalo) & 1) * 2 - (team >> (col + kHalo) & 1));
        }
}

constexpr int kBlock = 48, kWindow = 240, kFirstEnd = 243, kHistory = 512, kMostGenerations = 10'000;
constexpr double kTolerance = 1e-12;

struct Ends {
    const i8* boards;
    i64 games;
    i32* results;  // generations, winner, score, score, truncated
    i8* final;
    std::atomic<i64> next{0};
};

// The leader's share of the live cells by generation, of one game.
struct Shares {
    double shares[kHistory];
    double at(i64 generation) const { return shares[generation & (kHistory - 1)]; }
    double change(i64 generation) const { return std::fabs(at(generation) - at(generation - kWindow)) / kWindow; }
    double mean(i64 generation) const {
        double total = 0;
        for (int i = 0; i < kWindow; ++i) total += at(generation - i);
        return total / kWindow;
    }
    // Whether the average has stopped changing in the last two generations.
    bool settled(i64 generation) const {
        const double now = change(generation), before = change(generation - 1);
        if (now > kTolerance * 100 || before > kTolerance * 100) return false;
        double means[3];
        for (int i = 0; i < 3; ++i) {
            means[i] = mean(generation - i);
            if (std::fabs(means[i] - 50) <= kTolerance * 50) return false;
        }
        return now < kTolerance * means[1] && before < kTolerance * means[2];
    }
};

void play(Ends& ends) {
    const auto tile = memory<u64>(kTile), before = memory<u64>(kTile), again = memory<u64>(kTile);
    const auto live = memory<Wide>(2 * kBlock), unused = memory<Wide>(2 * kBlock);
    const auto shares = memory<Shares>(kLanes);
    i64 game[kLanes], age[kLanes];
    int playing = 0;
    const auto enter = [&](int lane) {
        game[lane] = ends.next++;
        age[lane] = 0;
        if (game[lane] >= ends.games) return game[lane] = -1, void();
        put(tile.get(), lane, ends.boards + game[lane] * kCells);
        ++playing;
    };
    for (int lane = 0; lane < kLanes; ++lane) enter(lane);
    while (playing) {
        std::memcpy(before.get(), tile.get(), sizeof(u64) * kTile);
        advance(tile.get(), kBlock, live.get());
        for (int lane = 0; lane < kLanes; ++lane) {
            if (game[lane] < 0) continue;
            bool over = false;
            for (int i = 0; i < kBlock && !over; ++i) {
                const i64 generation = age[lane] + i + 1;
                const i32 both = static_cast<i32>(live[2 * i][lane]), first = static_cast<i32>(live[2 * i + 1][lane]);
                const i32 second = both - first, most = std::max(first, second);
                shares[lane].shares[generation & (kHistory - 1)] = static_cast<double>(most) * 100 / std::max(both, 1);
                const bool ripe = generation >= kFirstEnd && first != second;
                const bool done = ripe && (!first || !second || shares[lane].settled(generation));
                over = done || generation == kMostGenerations;
                if (!over) continue;
                i32* result = ends.results + 5 * game[lane];
                result[0] = static_cast<i32>(generation);
                result[1] = first > second ? 1 : second > first ? 2 : 0;
                result[2] = first, result[3] = second, result[4] = !done;
                std::memcpy(again.get(), before.get(), sizeof(u64) * kTile);
                advance(again.get(), i + 1, unused.get());
                get(again.get(), lane, ends.final + game[lane] * kCells);
            }
            if (over) {
                --playing;
                enter(lane);
            } else {
                age[lane] += kBlock;
            }
        }
    }
}

}  // namespace

// boards: int8 [tiles * lanes, 40, 280] of team numbers, into tiles or out of them.
LIMIT_EXPORT i64 limit_cup_tile() { return kTile; }
LIMIT_EXPORT void limit_cup_put(i64 boards, u64* tiles, const i8* cells) {
    for (i64 board = 0; board < boards; ++board) put(tiles + board / kLanes * kTile, board % kLanes, cells + board * kCells);
}
LIMIT_EXPORT void limit_cup_get(i64 boards, u64* tiles, i8* cells) {
    for (i64 board = 0; board < boards; ++board) get(tiles + board / kLanes * kTile, board % kLanes, cells + board * kCells);
}

// counts: [boards / lanes, generations, 2, lanes], the cells of both teams and those of the first.
LIMIT_EXPORT void limit_cup_advance(i64 boards, i64 generations, i64 threads, u64* tiles, u64* counts) {
    in_parts(boards / kLanes, 1, threads, [&](i64 from, i64 to, i64) {
        for (i64 tile = from; tile < to; ++tile)
            advance(tiles + tile * kTile, static_cast<int>(generations),
                    reinterpret_cast<Wide*>(counts + tile * generations * 2 * kLanes));
    });
}

LIMIT_EXPORT void limit_cup_games(i64 games, i64 threads, const i8* boards, i32* results, i8* final) {
    Ends ends{boards, games, results, final};
    on_threads(threads, [&](i64) { play(ends); });
}

// --- placements, masks and observations of two teams with bands of 140 columns and a position every 4 cells --------------

namespace {

constexpr int kTeams = 2, kBand = 140, kStride = 4, kDown = 10, kAcross = 35, kTurns = 8, kActions = kDown * kAcross * kTurns;

struct LimitShapes {
    i64 cells, queue, queues;  // of the largest stamp, of the longest queue, and how many queues there are
    const i64* footprints;     // [stamps, 8, cells, 2], rows and columns from the centre
    const float* sizes;        // [stamps]
    const u8* fits;            // [stamps, actions]
    const i8* dealt;           // [queues, 2, queue], -1 beyond the last
};

struct LimitTeam {
    u64 own[40][kStride];        // its cells: bit k of [row][r] is column 4 k + r of its band
    u64 legal[kDown * kTurns];   // positions of the next shape, by lattice row and orientation
};

struct LimitGame {
    LimitTeam teams[kTeams];
    i64 dealt, placed;
    i8 board[kCells];
};

void allow(const LimitShapes& shapes, LimitTeam& team, i64 stamp) {
    for (int turn = 0; turn < kTurns; ++turn) {
        u64 fit = 0;
        for (int col = 0; col < kAcross; ++col) fit |= u64{shapes.fits[stamp * kActions + col * kTurns + turn]} << col;
        for (int row = 0; row < kDown; ++row) {
            const i64* cell = shapes.footprints + (stamp * kTurns + turn) * shapes.cells * 2;
            u64 met = 0;
            for (i64 i = 0; i < static_cast<i64>(shapes.sizes[stamp]); ++i, cell += 2) {
                const int at = static_cast<int>(kStride / 2 + cell[1] + kStride * 16), by = at / kStride - 16;
                const u64 here = team.own[(kStride / 2 + row * kStride + cell[0] + 40) % 40][at % kStride];
                met |= by >= 0 ? here >> by : here << -by;
            }
            team.legal[row * kTurns + turn] = fit & ~met;
        }
    }
}

void begin(const LimitShapes& shapes, LimitGame& game, Random& random) {
    game = LimitGame{};
    game.dealt = random.below(static_cast<u32>(shapes.queues)) * kTeams * shapes.queue;
}

void choose(const LimitShapes& shapes, LimitGame& game, Random& random, i64* actions) {
    for (int seat = 0; seat < kTeams; ++seat) {
        LimitTeam& team = game.teams[seat];
        u32 total = 0;
        for (int word = 0; word < kDown * kTurns; ++word) total += ones(team.legal[word]);
        u32 rank = random.below(total);
        int word = 0;
        for (; rank >= static_cast<u32>(ones(team.legal[word])); ++word) rank -= ones(team.legal[word]);
        const int col = lowest(ranked(team.legal[word], rank)), row = word / kTurns, turn = word % kTurns;
        actions[seat] = (row * kAcross + col) * kTurns + turn;
        const i64 stamp = shapes.dealt[game.dealt + seat * shapes.queue + game.placed];
        const i64* cell = shapes.footprints + (stamp * kTurns + turn) * shapes.cells * 2;
        for (i64 i = 0; i < static_cast<i64>(shapes.sizes[stamp]); ++i, cell += 2) {
            const i64 down = (kStride / 2 + row * kStride + cell[0] + 40) % 40, right = kStride / 2 + col * kStride + cell[1];
            game.board[down * 280 + seat * kBand + right] = static_cast<i8>(seat + 1);
            team.own[down][right % kStride] |= 1ull << right / kStride;
        }
    }
    ++game.placed;
}

void show(const LimitShapes& shapes, LimitGame& game, u8* mask, i8* seen) {
    for (int seat = 0; seat < kTeams; ++seat) {
        const i8* queue = shapes.dealt + game.dealt + seat * shapes.queue;
        allow(shapes, game.teams[seat], queue[game.placed]);
        for (int row = 0; row < kDown; ++row)
            for (int col = 0; col < kAcross; ++col, mask += kTurns)
                for (int turn = 0; turn < kTurns; ++turn) mask[turn] = game.teams[seat].legal[row * kTurns + turn] >> col & 1;
        for (int plane = 0; plane < kTeams; ++plane) {
            const i8 owner = static_cast<i8>((seat + plane) % kTeams + 1);
            for (int row = 0; row < 40; ++row)
                for (int half = 0; half < 2; ++half, seen += kBand) {
                    const i8* from = game.board + row * 280 + (seat + half) % 2 * kBand;
                    for (int col = 0; col < kBand; ++col) seen[col] = from[col] == owner;
                }
        }
        std::memset(seen, 0, kCells);
        const i64* cell = shapes.footprints + queue[game.placed] * kTurns * shapes.cells * 2;
        for (i64 i = 0; i < static_cast<i64>(shapes.sizes[queue[game.placed]]); ++i, cell += 2)
            seen[(20 + cell[0]) * 280 + kBand / 2 + cell[1]] = 1;
        i8 left = 0;
        for (i64 at = game.placed; at < shapes.queue; ++at) left += queue[at] >= 0;
        std::memset(seen + kCells, left, kCells);
        seen += 2 * kCells;
    }
}

}  // namespace

LIMIT_EXPORT i64 limit_cup_game() { return sizeof(LimitGame); }
LIMIT_EXPORT i64 limit_cup_dealt() { return offsetof(LimitGame, dealt); }

LIMIT_EXPORT void limit_cup_begin(const LimitShapes* shapes, i64 games, u64 seed, LimitGame* all, u8* masks, i8* seen) {
    Random random{seed};
    for (i64 game = 0; game < games; ++game) {
        begin(*shapes, all[game], random);
        show(*shapes, all[game], masks + game * kTeams * kActions, seen + game * kTeams * 4 * kCells);
    }
}

// A step of all games: actions [games, 2], rewards of the first team [games], masks [games, 2, 2800], seen int8
// [games, 2, 4, 40, 280].
LIMIT_EXPORT void limit_cup_step(const LimitShapes* shapes, i64 games, i64 threads, u64* seed, LimitGame* all, i64* actions,
                                 float* rewards, u8* ended, u8* masks, i8* seen) {
    Random random{*seed};
    std::vector<i64> over;
    for (i64 game = 0; game < games; ++game) {
        choose(*shapes, all[game], random, actions + game * kTeams);
        rewards[game] = 0;
        ended[game] = all[game].placed == shapes->queue || shapes->dealt[all[game].dealt + all[game].placed] < 0;
        if (ended[game]) over.push_back(game);
    }
    if (!over.empty()) {
        const auto boards = memory<i8>(over.size() * kCells), final = memory<i8>(over.size() * kCells);
        const auto results = memory<i32>(5 * over.size());
        for (size_t at = 0; at < over.size(); ++at) std::memcpy(boards.get() + at * kCells, all[over[at]].board, kCells);
        Ends ends{boards.get(), static_cast<i64>(over.size()), results.get(), final.get()};
        on_threads(threads, [&](i64) { play(ends); });
        for (size_t at = 0; at < over.size(); ++at) {
            const i32 winner = results[5 * at + 1];
            rewards[over[at]] = winner == 0 ? 0 : winner == 1 ? 1 : -1;
            begin(*shapes, all[over[at]], random);
        }
    }
    in_parts(games, 1, threads, [&](i64 from, i64 to, i64) {
        for (i64 game = from; game < to; ++game)
            show(*shapes, all[game], masks + game * kTeams * kActions, seen + game * kTeams * 4 * kCells);
    });
    *seed = random.state;
}
