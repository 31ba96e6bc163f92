// Games of Cloth of Gold on 32 x 32 by the rules of `cloth-of-gold-small-v0`, a row in each 32-bit word: random actions, rounds of
// 24 generations, masks and what the player to move sees.
#include "common.h"

using namespace limit;

namespace {

constexpr int kSide = 32, kCells = kSide * kSide, kGenerations = 24, kUnits = 10, kRounds = 20, kVerdict = 2, kReach = 7;
constexpr int kWidths[kReach + 1] = {7, 7, 7, 7, 6, 6, 5, 3};  // columns of a disk of radius 8 on each side, by rows from its middle

// Rows of cells, with empty ones above and below.
struct Field {
    u32 above[kReach], row[kSide], below[kReach];
};

struct Game {
    Field units[2], territory[2], killed, placed;
    i32 live[2], score, left, acts, player, round;
};

inline u32 wider(u32 x, int by) {  // by less than the bits that are set together, or one
    return x | x << by | x >> by;
}

void spread(const Field& units, Field& territory) {
    Field by[4] = {};  // widths 7, 6, 5, 3
    for (int r = 0; r < kSide; ++r) {
        const u32 one = wider(units.row[r], 1), three = wider(one, 2), five = wider(three, 2), six = wider(five, 1);
        by[3].row[r] = three, by[2].row[r] = five, by[1].row[r] = six, by[0].row[r] = wider(six, 1);
    }
    constexpr int kinds[kReach + 1] = {0, 0, 0, 0, 1, 1, 2, 3};
    for (int r = 0; r < kSide; ++r) {
        u32 near = by[0].row[r];
        for (int down = 1; down <= kReach; ++down) near |= by[kinds[down]].row[r - down] | by[kinds[down]].row[r + down];
        territory.row[r] = near;
    }
}

void disk(Field& territory, int row, int col) {
    for (int down = -kReach; down <= kReach; ++down) {
        const int width = kWidths[std::abs(down)];
        const u64 cells = ((1ull << (2 * width + 1)) - 1) << 32 >> (width + 32 - col);
        if (row + down >= 0 && row + down < kSide) territory.row[row + down] |= static_cast<u32>(cells);
    }
}

// Ones and twos of the neighbours of all cells of a row, counted up to three; `some`: whether they are two or three.
struct Near {
    u32 ones, twos, some;
};
inline Near near(const u32* row) {
    const auto across = [](u32 x, u32& ones, u32& twos) {
        const u32 west = x << 1, east = x >> 1;
        ones = west ^ x ^ east, twos = (west & x) | (east & (west ^ x));
    };
    u32 u1, u2, d1, d2;
    across(row[-1], u1, u2), across(row[1], d1, d2);
    const u32 west = row[0] << 1, east = row[0] >> 1, h1 = west ^ east, h2 = west & east;
    const u32 carried = (u1 & h1) | (d1 & (u1 ^ h1));
    const u32 odd = u2 ^ h2 ^ d2 ^ carried;
    return {u1 ^ h1 ^ d1, u2 | h2 | d2 | carried, odd & ~((u2 & h2) | (d2 & carried))};
}

void generations(Game& game) {
    Field a = game.units[0], b = game.units[1], live = {}, next_a = {}, next_b = {};
    for (int generation = 0; generation < kGenerations; ++generation) {
        for (int r = 0; r < kSide; ++r) live.row[r] = a.row[r] | b.row[r];
        for (int r = 0; r < kSide; ++r) {
            const Near all = near(live.row + r), of_a = near(a.row + r), of_b = near(b.row + r);
            const u32 born = all.some & all.ones & ~(live.row[r] | game.killed.row[r]);
            next_a.row[r] = (born & of_a.twos) | (all.some & a.row[r] & ~of_b.twos);
            next_b.row[r] = (born & of_b.twos) | (all.some & b.row[r] & ~of_a.twos);
            game.killed.row[r] = all.some & ((a.row[r] & of_b.twos) | (b.row[r] & of_a.twos));
        }
        std::swap(a, next_a), std::swap(b, next_b);
    }
    game.units[0] = a, game.units[1] = b;
    for (int player = 0; player < 2; ++player) {
        spread(game.units[player], game.territory[player]);
        game.live[player] = 0;
        for (u32 row : game.units[player].row) game.live[player] += ones(row);
    }
}

void begin(Game& game) {
    game = {};
    game.left = kUnits;
}

// The cells of actions by rows; returns whether the turn may end.
bool legal(const Game& game, Field& cells) {
    const int player = game.player;
    const Field &own = game.units[player], &other = game.units[1 - player];
    const u32 homeless = game.live[player] ? 0 : ~0u;
    u32 any = 0;
    for (int r = 0; r < kSide; ++r) {
        const u32* x = other.row + r;
        const u32 home = homeless | (game.territory[player].row[r] & ~game.territory[1 - player].row[r]);
        any |= cells.row[r] = home & ~(own.row[r] | game.killed.row[r] | wider(*x, 1) | x[-1] | x[1]);
    }
    const bool rested = game.acts < 2 * kUnits, place = game.left > 0 && (rested || game.left == kUnits);
    for (int r = 0; r < kSide; ++r) cells.row[r] = (place ? cells.row[r] : 0) | (rested ? game.placed.row[r] : 0);
    return game.left < kUnits || !any;
}

i64 choose(const Game& game, Random& random) {
    Field cells;
    u32 count = legal(game, cells);
    for (u32 row : cells.row) count += ones(row);
    u32 rank = random.below(count);
    for (int r = 0; r < kSide; ++r) {
        const u32 here = ones(cells.row[r]);
        if (rank < here) return r * kSide + lowest(ranked(cells.row[r], rank));
        rank -= here;
    }
    return kCells;
}

// Returns whether the game is over.
bool act(Game& game, i64 action) {
    const int player = game.player;
    if (action < kCells) {
        const int row = static_cast<int>(action / kSide), col = static_cast<int>(action % kSide);
        const u32 bit = 1u << col;
        const bool back = game.placed.row[row] & bit;
        game.units[player].row[row] ^= bit, game.placed.row[row] ^= bit;
        back ? spread(game.units[player], game.territory[player]) : disk(game.territory[player], row, col);
        game.live[player] += back ? -1 : 1, game.left += back ? 1 : -1, ++game.acts;
        return false;
    }
    game.placed = {}, game.left = kUnits, game.acts = 0, game.player = 1 - player;
    if (player == 0) return false;
    if (game.round) generations(game);
    const i32 lead = game.live[0] - game.live[1], before = game.score, number = game.round++;
    game.score = lead;
    return number == kRounds || (number >= kVerdict && (lead == 0 || (lead > 0 ? before >= lead : before <= lead)));
}

void write(const Game& game, u8* mask, i16* seen) {
    Field cells;
    mask[kCells] = legal(game, cells);
    for (int r = 0; r < kSide; ++r)
        for (int c = 0; c < kSide; ++c) mask[r * kSide + c] = cells.row[r] >> c & 1;
    const int player = game.player;
    static const Field none = {};
    const Field* planes[] = {&game.units[player], &game.units[1 - player], &none, &game.killed, &game.placed,
                             &game.territory[player], &game.territory[1 - player]};
    for (const Field* plane : planes)
        for (u32 row : plane->row)
            for (int c = 0; c < kSide; ++c) *seen++ = row >> c & 1;
    const int numbers[] = {game.left, game.round, player ? -game.score : game.score, 1 - player};
    for (int number : numbers) std::fill(seen, seen + kCells, static_cast<i16>(number)), seen += kCells;
}

}  // namespace

LIMIT_EXPORT i64 limit_cloth_game() { return sizeof(Game); }

LIMIT_EXPORT void limit_cloth_begin(i64 games, Game* state, u8* mask, i16* seen) {
    for (i64 i = 0; i < games; ++i) {
        begin(state[i]);
        write(state[i], mask + i * (kCells + 1), seen + i * 11 * kCells);
    }
}

// A step of all games: actions [games], rewards [games, 2], ends [games], masks [games, 1025], seen int16 [games, 11, 32, 32].
LIMIT_EXPORT void limit_cloth_step(i64 games, i64 threads, u64* seed, Game* state, i64* actions, float* rewards, u8* ended,
                                   u8* mask, i16* seen) {
    const u64 start = ++*seed << 20;
    in_parts(games, 1, threads, [&](i64 from, i64 to, i64) {
        Random random{start + static_cast<u64>(from)};
        for (i64 i = from; i < to; ++i) {
            Game& game = state[i];
            actions[i] = choose(game, random);
            ended[i] = act(game, actions[i]);
            rewards[2 * i] = !ended[i] ? 0.0f : game.score > 0 ? 1.0f : -1.0f;
            rewards[2 * i + 1] = !ended[i] ? 0.0f : game.score < 0 ? 1.0f : -1.0f;
            if (ended[i]) begin(game);
            write(game, mask + i * (kCells + 1), seen + i * 11 * kCells);
        }
    });
}
