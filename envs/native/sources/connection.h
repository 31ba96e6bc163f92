// The rules of Hex and Y on one board: `envs/connection/game.py` and `filling.py`, whose words this uses.
#pragma once

#include "stone_tree.h"

// A board as Python gives it.
struct CellgamesConnectionBoard {
    int64_t cells, swap;      // `swap`: whether the action after those of all cells takes over the first stone
    int64_t goals[2];         // masks of sides, of Black and White
    const int32_t* near;      // [N][8], four slots of two neighbours
    const int32_t* sides;     // [N]
    const int32_t* mirrored;  // [N], where a swap puts the stone of a cell
};

namespace cellgames::connection {

using namespace stones;
using Board = CellgamesConnectionBoard;

struct Frames {
    int32_t a, b, c, d;
    int32_t sides() const { return (a | b | c | d) >> kMoreShift; }
};

CELLGAMES_INLINE Frames frames(const Board& board, const int32_t* codes, int cell, int colour) {
    const int32_t* near = board.near + 8 * cell;
    return {one_frame(codes[near[0]], codes[near[1]], colour), one_frame(codes[near[2]], codes[near[3]], colour),
            one_frame(codes[near[4]], codes[near[5]], colour), one_frame(codes[near[6]], codes[near[7]], colour)};
}

CELLGAMES_INLINE bool reached(const Board& board, int32_t sides, int colour) {
    const auto goal = static_cast<int32_t>(board.goals[colour - 1]);
    return (sides & goal) == goal;
}

// Whether a stone of a colour on a free cell would win.
CELLGAMES_INLINE bool wins_at(const Board& board, const int32_t* codes, int cell, int colour) {
    return reached(board, frames(board, codes, cell, colour).sides() | board.sides[cell], colour);
}

// Put a stone of a colour on a free cell; return true if it wins.
CELLGAMES_INLINE bool place(const Board& board, int32_t* codes, int cell, int colour) {
    const int cells = static_cast<int>(board.cells);
    const Frames around = frames(board, codes, cell, colour);
    const int32_t slots[4] = {around.a, around.b, around.c, around.d};
    const int32_t sides = around.sides() | board.sides[cell];
    int32_t code = colour + 4 * cell;
    for (int slot = 3; slot >= 0; --slot) code = slots[slot] ? slots[slot] : code;
    code = (code & kGroup) + sides * (1 << kMoreShift);
    for (int slot = 0; slot < 4; ++slot) {  // the group that takes the others over is in the first slot that is not 0
        const int32_t group = slots[slot] & kGroup;
        bool known = group == 0 || slots[slot] == code;
        for (int other = 0; other < slot; ++other) known |= (slots[other] & kGroup) == group;
        if (!known) move_group(codes, cells, group, code - slots[slot]);
    }
    codes[cell] = code;
    return reached(board, sides, colour);
}

// A random board and who has won on it.
class Filling : RandomBoard {
  public:
    explicit Filling(const Board& board) : board_(board), cells_(static_cast<int>(board.cells)) {}

    // Fill the free cells (`RandomBoard::fill`), and return who has won: 1 Black, 2 White.
    CELLGAMES_INLINE_MEMBER int winner(const int32_t* codes, int mover, const int32_t* lots) {
        fill(cells_, codes, mover, lots);
        for (int root = 0; root < cells_; ++root) {
            if (!black_[root] || !board_.sides[root]) continue;
            int32_t sides = 0;
            int height = 0;
            stack_[height++] = static_cast<int16_t>(root);
            black_[root] = 0;
            while (height) {
                const int cell = stack_[--height];
                sides |= board_.sides[cell];
                for (int slot = 0; slot < 8; ++slot) {
                    const int near = board_.near[8 * cell + slot];
                    if (!black_[near]) continue;
                    black_[near] = 0;
                    stack_[height++] = static_cast<int16_t>(near);
                }
            }
            if (reached(board_, sides, 1)) return 1;
        }
        return 2;
    }

  private:
    const Board& board_;
    const int cells_;
    int16_t stack_[kMostCells];
};

struct ConnectionRules {
    const Board& board;
    const int cells, actions;

    explicit ConnectionRules(const Board& given)
        : board(given), cells(static_cast<int>(given.cells)), actions(static_cast<int>(given.cells + given.swap)) {}

    CELLGAMES_INLINE_MEMBER bool legal(const CellgamesStoneTrees& t, int64_t node, int action) const {
        return action < cells ? t.codes[node * cells + action] == 0 : t.turn[node] == 1;
    }

    CELLGAMES_INLINE_MEMBER bool play(const CellgamesStoneTrees& t, int64_t from, int64_t node, int edge, int mover) const {
        const int words = (actions + kWord - 1) / kWord;
        int32_t* codes = t.codes + node * cells;
        int64_t* free = t.free + node * words;
        int cell = edge;
        if (edge < cells) {
            std::memcpy(codes, t.codes + from * cells, sizeof(int32_t) * static_cast<size_t>(cells));
            std::memcpy(free, t.free + from * words, sizeof(int64_t) * static_cast<size_t>(words));
        } else {  // a swap
            std::memset(codes, 0, sizeof(int32_t) * static_cast<size_t>(cells));
            for (int word = 0; word < words; ++word) {
                const int left = cells - word * kWord;
                free[word] = left >= kWord ? 0xFFFFFFFFll : left > 0 ? (1ll << left) - 1 : 0;
            }
            cell = board.mirrored[t.last[from]];
        }
        free[cell / kWord] &= ~(1ll << cell % kWord);
        if (board.swap) {  // legal in turn 1 alone
            int64_t& word = free[cells / kWord];
            const int64_t bit = 1ll << cells % kWord;
            word = t.turn[from] == 0 ? word | bit : word & ~bit;
        }
        t.last[node] = cell;
        return place(board, codes, cell, mover + 1);
    }

    // Mark cells that win, and those that the opponent has to be kept from; the swap keeps it from all.
    CELLGAMES_INLINE_MEMBER Threats threats(const CellgamesStoneTrees& t, int64_t node, int colour, uint8_t* won,
                                            uint8_t* lost) const {
        const int32_t* codes = t.codes + node * cells;
        Threats found{0, 0};
        for (int cell = 0; cell < cells; ++cell) {
            if (codes[cell]) continue;
            if (wins_at(board, codes, cell, colour)) found.won += won[cell] = 1;
            if (wins_at(board, codes, cell, 3 - colour)) found.lost += lost[cell] = 1;
        }
        if (found.lost && board.swap && t.turn[node] == 1) {
            if (found.lost > 1) std::memset(lost, 0, static_cast<size_t>(cells));
            lost[cells] = 1;
            found.lost = 1;
        }
        return found;
    }
};

}  // namespace cellgames::connection
