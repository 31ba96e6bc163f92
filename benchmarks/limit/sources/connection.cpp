// Random play of Hex and Y in many games: draw, place, join, judge, start over; actions, rewards, ends, masks, and what
// the player to move sees.
#include "common.h"

using namespace limit;

// Games, and what a step writes, in the order of `_Boards` in stone_rows.py.
struct LimitConnection {
    i64 games, cells, square, goals[2];
    const u8* near;    // [cells, 6], the cell itself where there is no neighbour
    const u8* sides;   // [cells]
    const u8* places;  // [square], the cell at each place of a plane, or 255
    u8 *colours, *parents, *reached;  // [games, kRow]
    u64* free;                        // [games, kWords]
    u8* turn;                         // [games]
    i64* actions;                     // [games]
    float* rewards;                   // [games, 2]
    u8* terminated;                   // [games]
    u8* mask;                         // [games, cells]
    u8* seen;                         // [games, 4, square], and 64 bytes more; or null
    u64* random;                      // [threads]
};

namespace {

constexpr int kRow = 256, kWords = 4, kEdges = 6;

void start(const LimitConnection& t, i64 game) {
    std::memset(t.colours + game * kRow, 0, kRow);
    std::memset(t.mask + game * t.cells, 1, t.cells);
    for (int word = 0; word < kWords; ++word) {
        const i64 left = t.cells - 64 * word;
        t.free[game * kWords + word] = left >= 64 ? ~0ull : left > 0 ? (1ull << left) - 1 : 0;
    }
    t.turn[game] = 0;
}

inline int root(u8* parents, int cell) {
    while (parents[cell] != cell) cell = parents[cell] = parents[parents[cell]];
    return cell;
}

inline void play(const LimitConnection& t, i64 game, Random& random) {
    u64* free = t.free + game * kWords;
    u32 rank = random.below(static_cast<u32>(t.cells - t.turn[game]));
    int word = 0;
    for (u32 here; rank >= (here = static_cast<u32>(ones(free[word]))); ++word) rank -= here;
    const u64 bit = ranked(free[word], rank);
    const int cell = 64 * word + lowest(bit), colour = 1 + (t.turn[game]++ & 1);
    free[word] ^= bit;
    u8 *colours = t.colours + game * kRow, *parents = t.parents + game * kRow, *reached = t.reached + game * kRow;
    colours[cell] = static_cast<u8>(colour);
    parents[cell] = static_cast<u8>(cell);
    u8 sides = t.sides[cell];
    for (int edge = 0; edge < kEdges; ++edge) {
        const int near = t.near[kEdges * cell + edge];
        if (colours[near] != colour) continue;
        const int top = root(parents, near);
        if (top != cell) sides |= reached[top];
        parents[top] = static_cast<u8>(cell);
    }
    reached[cell] = sides;
    t.mask[game * t.cells + cell] = 0;
    t.actions[game] = cell;
    const bool won = (sides & t.goals[colour - 1]) == t.goals[colour - 1];
    t.terminated[game] = won;
    t.rewards[2 * game] = won ? static_cast<float>(3 - 2 * colour) : 0.0f;
    t.rewards[2 * game + 1] = won ? static_cast<float>(2 * colour - 3) : 0.0f;
    if (won) start(t, game);
}

// Planes are written 64 places at a time; the next one overwrites what is too much.
inline void look(const LimitConnection& t, i64 game) {
    const u8* colours = t.colours + game * kRow;
    u8 at[kRow];
    if (t.places) {
        for (i64 place = 0; place < t.square; ++place) at[place] = t.places[place] == 255 ? 3 : colours[t.places[place]];
        colours = at;
    }
    const u8 mine = 1 + (t.turn[game] & 1), wanted[3] = {mine, static_cast<u8>(3 - mine), 0};
    u8* out = t.seen + game * 4 * t.square;
    for (const u8 colour : wanted) {
        for (i64 first = 0; first < t.square; first += 64)
            for (i64 i = first; i < first + 64; ++i) out[i] = colours[i] == colour;
        out += t.square;
    }
    std::memset(out, mine == 1, t.square);
}

}  // namespace

LIMIT_EXPORT void limit_connection_start(const LimitConnection* games) {
    for (i64 game = 0; game < games->games; ++game) start(*games, game);
}

LIMIT_EXPORT void limit_connection_steps(const LimitConnection* games, i64 count, i64 threads) {
    in_parts(games->games, 64, threads, [&](i64 from, i64 to, i64 thread) {
        Random random{games->random[thread]};
        for (i64 i = 0; i < count; ++i)
            for (i64 game = from; game < to; ++game) {
                play(*games, game, random);
                if (games->seen) look(*games, game);
            }
        games->random[thread] = random.state;
    });
}
