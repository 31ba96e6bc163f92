// Torus of size 8: the board, a move with its win, by relabelling the smaller codes of 16 bits.
#pragma once

#include "common.h"

namespace limit {

constexpr int kSize = 8, kOctagons = 64, kCells = 128, kSlots = 8;

// A stone's code: its colour (1 or 2), the number of its group's root among the stones of its colour, and the winding of
// the way from the root, right + 16 * down modulo 256. A closed path of 64 stones winds fewer than 8 times.
constexpr int kColour = 3, kGroup = 255, kWinding = 8;

struct Board {
    u8 neighbour[kSlots][kCells];  // by slot: an octagon, then the square beside it, four times; a square has octagons only
    u8 winding[kSlots][kCells];    // to be added to the neighbour's code to see it from the cell
    Board() {
        constexpr int octagon[kSlots][2] = {{0, 1}, {0, 0}, {1, 0}, {0, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 0}};
        constexpr int square[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
        for (int cell = 0; cell < kCells; ++cell)
            for (int slot = 0; slot < kSlots; ++slot) {
                const bool is_square = cell >= kOctagons;
                const int* step = is_square ? square[slot / 2] : octagon[slot];
                const int row = cell % kOctagons / kSize + step[0], col = cell % kSize + step[1];
                const int down = (row >= kSize) - (row < 0), right = (col >= kSize) - (col < 0);
                const int place = (row & (kSize - 1)) * kSize + (col & (kSize - 1));
                neighbour[slot][cell] = static_cast<u8>(place + (!is_square && slot % 2 ? kOctagons : 0));
                winding[slot][cell] = static_cast<u8>(-(right + 16 * down));
            }
    }
};
static const Board kBoard;

// How often a closed path winds.
struct Turns {
    int right, down;
    explicit Turns(int code) {
        const int whole = static_cast<i8>(code);
        right = ((whole + 8) & 15) - 8;
        down = (whole - right) >> 4;
    }
    // Black wins by rings and right helices, White by bracelets and left ones.
    bool is_goal(int colour) const {
        return (colour == 1 ? down : right) != 0 && (3 - 2 * colour) * right * down >= 0;
    }
};
static inline bool wins(int cycle, int kept, int colour) {
    const Turns now(cycle), before(kept);
    return now.is_goal(colour) || now.right * before.down != now.down * before.right;
}

// Codes of the neighbours that a stone of a colour on a cell joins, as seen from it; 0 where none is.
static inline void frames(const u16* codes, int cell, int colour, u16* out) {
    for (int slot = 0; slot < 4; ++slot) {
        const auto seen = [&](int at) {
            return static_cast<u16>(codes[kBoard.neighbour[at][cell]] + (kBoard.winding[at][cell] << kWinding));
        };
        const u16 first = seen(2 * slot), second = seen(2 * slot + 1);
        out[slot] = first & colour ? first : second & colour ? second : 0;
    }
}

// Whether a slot shows a group that an earlier one shows with another winding: a path closes.
static inline bool closes(const u16* f) {
    bool found = false;
    for (int i = 1; i < 4; ++i)
        for (int j = 0; j < i; ++j) found |= f[i] && (f[i] & kGroup) == (f[j] & kGroup) && f[i] != f[j];
    return found;
}

// The winner by the paths that a move closes, or 0; `losing` keeps the game's first path.
static inline int judge(const u16* f, u8& losing, int colour) {
    int cycles[3] = {};
    for (int i = 1; i < 4; ++i)
        for (int j = 0; j < i && f[i]; ++j)
            if ((f[i] & kGroup) == (f[j] & kGroup)) {
                cycles[i - 1] = static_cast<u8>((f[j] - f[i]) >> kWinding);
                break;
            }
    if (!losing) losing = static_cast<u8>(cycles[0] ? cycles[0] : cycles[1] ? cycles[1] : cycles[2]);
    for (const int cycle : cycles)
        if (cycle && wins(cycle, losing, colour)) return colour;
    return 0;
}

// Add to all codes of a group; the compiler makes vectors of it.
static inline void relabel(u16* codes, int group, u16 more) {
    for (int cell = 0; cell < kCells; ++cell)
        codes[cell] = static_cast<u16>(codes[cell] + ((codes[cell] & kGroup) == group ? more : 0));
}

// Put a stone, the `turn`-th of the game, and return the winner's colour or 0.
static inline int place(u16* codes, u8& losing, int turn, int cell) {
    const int colour = 1 + (turn & 1);
    u16 f[4];
    frames(codes, cell, colour, f);
    u16 code = static_cast<u16>(colour | (turn >> 1) << 2);
    for (int slot = 3; slot >= 0; --slot) code = f[slot] ? f[slot] : code;
    codes[cell] = code;
    for (int i = 1; i < 4; ++i) {
        bool joins = f[i] != 0 && (f[i] & kGroup) != (code & kGroup);
        for (int j = 0; j < i; ++j) joins &= (f[i] & kGroup) != (f[j] & kGroup);
        if (joins) relabel(codes, f[i] & kGroup, static_cast<u16>(code - f[i]));
    }
    return closes(f) ? judge(f, losing, colour) : 0;
}

}  // namespace limit
