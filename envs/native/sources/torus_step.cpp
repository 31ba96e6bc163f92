// Steps of many games of Torus, on the tensors of `TorusState`: `envs/torus/game.py`, and the restarts of `Vector`.
#include "stone_step.h"
#include "torus.h"

namespace {

using namespace cellgames;
using namespace cellgames::torus;

constexpr int64_t kNearCells = 1 << 20;  // cells of so many games about fill the caches near a core

// What a stone says to its neighbours, game by game.
struct Stones {
    Block frame[4], group[4], shift[4], code, cycle;
};

CELLGAMES_INLINE void join(const Block (&around)[8], const Block& cell, const Block& colour, Stones& stones) {
    for (int part = 0; part < kParts; ++part) {
        const Ints own = colour.lanes[part];
        Ints f[4], g[4], code = own + (cell.lanes[part] << 2), cycle = every(0);
        for (int slot = 0; slot < 4; ++slot) {
            const Ints octagon = around[2 * slot].lanes[part], square = around[2 * slot + 1].lanes[part];
            f[slot] = pick((octagon & kColour) == own, octagon, pick((square & kColour) == own, square, every(0)));
            g[slot] = f[slot] & kGroup;
        }
        for (int slot = 3; slot >= 0; --slot) code = pick(f[slot] != 0, f[slot], code);
        for (int slot = 1; slot < 4; ++slot) {
            Flags known = g[slot] == 0;
            for (int other = 0; other < slot; ++other) {
                const Flags same = g[slot] == g[other];
                known = known | same;
                cycle = cycle | pick(same, f[slot] ^ f[other], every(0));
            }
            stones.shift[slot].lanes[part] = pick(known, every(0), code - f[slot]);
            stones.group[slot].lanes[part] = g[slot];
        }
        for (int slot = 0; slot < 4; ++slot) stones.frame[slot].lanes[part] = f[slot];
        stones.code.lanes[part] = code;
        stones.cycle.lanes[part] = cycle;
    }
}

template <int kCells>  // 0: any number
CELLGAMES_INLINE void step_block(const Geometry& board, const Batch& batch, int64_t first, int count, bool random) {
    const int cells = kCells ? kCells : board.cells, words = (cells + kWord - 1) / kWord;
    Block cell = {}, colour = {}, around[8] = {};
    if (random) {
        draw_actions(batch, first, count, words, cell);
    } else {
        for (int i = 0; i < count; ++i) cell.of[i] = static_cast<uint32_t>(batch.given[first + i]);
    }
    for (Ints& part : cell.lanes)  // an unchecked action off the board plays somewhere, but writes nowhere else
        part = pick(part < static_cast<uint32_t>(cells), part, every(0));
    for (int i = 0; i < count; ++i) colour.of[i] = static_cast<uint32_t>(batch.player[first + i]) + 1;
    for (int i = 0; i < count; ++i) {
        const int32_t* codes = batch.codes + (first + i) * cells;
        const int16_t* near = board.near[cell.of[i]];
        const int32_t* shift = board.shift[cell.of[i]];
        for (int slot = 0; slot < 8; ++slot) around[slot].of[i] = static_cast<uint32_t>(codes[near[slot]] + shift[slot]);
    }
    Stones stones;
    join(around, cell, colour, stones);
    for (int slot = 1; slot < 4; ++slot)
        move_groups(batch, first, count, cells, stones.group[slot], stones.shift[slot]);
    for (int i = 0; i < count; ++i) {
        const int64_t game = first + i;
        const uint32_t at = cell.of[i];
        batch.codes[game * cells + at] = static_cast<int32_t>(stones.code.of[i]);
        batch.mask[game * cells + at] = 0;
        batch.free[at / kWord * batch.games + game] &= ~(1ll << at % kWord);
    }
    if (random) {
        int64_t* __restrict actions = batch.actions + first;
        for (int i = 0; i < count; ++i) actions[i] = cell.of[i];
    }
    int32_t* __restrict last = batch.last + first;
    for (int i = 0; i < count; ++i) last[i] = static_cast<int32_t>(cell.of[i]);
    int32_t* __restrict turn = batch.turn + first;
    for (int i = 0; i < count; ++i) turn[i] += 1;
    int64_t* __restrict player = batch.player + first;
    for (int i = 0; i < count; ++i) player[i] = 1 - player[i];
    const Chosen closed(stones.cycle, count);  // few moves close a path around the torus
    for (int each = 0; each < closed.count; ++each) {
        const int i = closed.game[each], owner = static_cast<int>(colour.of[i]);
        const int64_t game = first + i;
        const auto frame = [&](int slot) { return static_cast<int32_t>(stones.frame[slot].of[i]); };
        const Cycles cycles = Frames{frame(0), frame(1), frame(2), frame(3)}.closed();
        const bool won = cycles.win(batch.losing[game], owner);
        batch.losing[game] = cycles.kept(batch.losing[game]);
        if (won) finish(batch, game, owner, cells, cells);
    }
}

CELLGAMES_DISPATCH
void step(const Geometry& board, const Batch& batch, int64_t from, int64_t to, bool random) {
    begin(batch, from, to);
    const bool far = (to - from) * board.cells > kNearCells;
    for (int64_t first = from; first < to; first += kBlock) {
        const int count = static_cast<int>(to - first < kBlock ? to - first : kBlock);
        if (far && to - first >= 2 * kBlock) fetch(batch, first + kBlock, kBlock, board.cells, board.cells);
        if (board.cells == 128) {
            step_block<128>(board, batch, first, count, random);
        } else {
            step_block<0>(board, batch, first, count, random);
        }
    }
}

CELLGAMES_DISPATCH
void put_stones(const Geometry& board, int64_t games, int64_t from, int64_t to, const int64_t* cell,
                const int64_t* player, int32_t* codes, int64_t* free, int32_t* losing, uint8_t* won) {
    const auto cells = static_cast<uint64_t>(board.cells);
    for (int64_t game = from; game < to; ++game) {
        const int at = static_cast<int>(static_cast<uint64_t>(cell[game]) < cells ? cell[game] : 0);
        won[game] = place(board, codes + game * board.cells, losing[game], at, static_cast<int>(player[game]) + 1);
        free[at / kWord * games + game] &= ~(1ll << at % kWord);
    }
}

CELLGAMES_DISPATCH
void winning(const Geometry& board, int64_t from, int64_t to, const int32_t* codes, const int32_t* losing,
             const int64_t* player, uint8_t* won) {
    for (int64_t game = from; game < to; ++game) {
        const int32_t* code = codes + game * board.cells;
        const int colour = static_cast<int>(player[game]) + 1;
        int stones = 0;
        for (int cell = 0; cell < board.cells; ++cell) stones += (code[cell] & kColour) == colour;
        std::memset(won + game * board.cells, 0, static_cast<size_t>(board.cells));
        if (stones < board.size - 1) continue;  // a path around the torus has a cell in every row
        for (int cell = 0; cell < board.cells; ++cell)
            if (code[cell] == 0) won[game * board.cells + cell] = wins_at(board, code, losing[game], cell, colour);
    }
}

}  // namespace

// fields: those of the state. `random`: `given` holds random bits, 0 to 2^31 - 1, else actions; the rest is written.
CELLGAMES_EXPORT void cellgames_torus_step(const int64_t* size, const stones::Fields* fields, int64_t games,
                                           int64_t threads, int64_t random, const int64_t* given, uint8_t* mask,
                                           int64_t* actions, float* rewards, uint8_t* terminated, uint8_t* truncated) {
    const Geometry& board = geometry(*size);
    stones::step_all(*fields, fields->losing, games, threads, given, mask, actions, rewards, terminated, truncated,
                     [&](const Batch& batch, int64_t from, int64_t to) { step(board, batch, from, to, random != 0); });
}

// cell, player int64 [B]; codes int32 [B][N], free int64 [W][B], losing int32 [B], changed; won [B], written.
CELLGAMES_EXPORT void cellgames_torus_put_stones(int64_t size, int64_t games, int64_t threads, const int64_t* cell,
                                                 const int64_t* player, int32_t* codes, int64_t* free, int32_t* losing,
                                                 uint8_t* won) {
    const Geometry& board = geometry(size);
    in_parallel(games, threads, [&](int64_t from, int64_t to) {
        put_stones(board, games, from, to, cell, player, codes, free, losing, won);
    });
}

// codes int32 [B][N], losing int32 [B], player int64 [B]; won [B][N], written: where each player would win.
CELLGAMES_EXPORT void cellgames_torus_winning(int64_t size, int64_t games, int64_t threads, const int32_t* codes,
                                              const int32_t* losing, const int64_t* player, uint8_t* won) {
    const Geometry& board = geometry(size);
    in_parallel(games, threads, [&](int64_t from, int64_t to) { winning(board, from, to, codes, losing, player, won); });
}
