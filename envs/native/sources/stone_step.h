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
    int64_t games;         // B
};

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

}  // namespace cellgames::stones
