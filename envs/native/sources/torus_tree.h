// The rules of Torus for search trees.
#pragma once

#include "stone_tree.h"
#include "torus.h"

namespace cellgames::torus {

struct TorusRules {
    const Geometry& board;
    const int cells, actions;

    explicit TorusRules(const Geometry& geometry) : board(geometry), cells(geometry.cells), actions(geometry.cells) {}

    CELLGAMES_INLINE_MEMBER bool legal(const CellgamesStoneTrees& t, int64_t node, int action) const {
        return t.codes[node * cells + action] == 0;
    }

    CELLGAMES_INLINE_MEMBER bool play(const CellgamesStoneTrees& t, int64_t from, int64_t node, int edge, int mover) const {
        const int words = (cells + kWord - 1) / kWord;
        int32_t* codes = t.codes + node * cells;
        std::memcpy(codes, t.codes + from * cells, sizeof(int32_t) * static_cast<size_t>(cells));
        std::memcpy(t.free + node * words, t.free + from * words, sizeof(int64_t) * static_cast<size_t>(words));
        t.free[node * words + edge / kWord] &= ~(int64_t{1} << (edge % kWord));
        t.losing[node] = t.losing[from];
        t.last[node] = edge;
        return place(board, codes, t.losing[node], edge, mover + 1);
    }

    CELLGAMES_INLINE_MEMBER Threats threats(const CellgamesStoneTrees& t, int64_t node, int colour, uint8_t* won,
                                            uint8_t* lost) const {
        const int32_t* codes = t.codes + node * cells;
        const int32_t losing = t.losing[node];
        int own = 0, other = 0;
        for (int cell = 0; cell < cells; ++cell) {
            own += (codes[cell] & kColour) == colour;
            other += (codes[cell] & kColour) == 3 - colour;
        }
        const int least = board.size - 1;  // a path around the torus has a cell in every row
        Threats found{0, 0};
        if (own < least && other < least) return found;
        for (int cell = 0; cell < cells; ++cell) {
            if (codes[cell]) continue;
            if (wins_at(board, codes, losing, cell, colour)) found.won += won[cell] = 1;
            if (wins_at(board, codes, losing, cell, 3 - colour)) found.lost += lost[cell] = 1;
        }
        return found;
    }
};

}  // namespace cellgames::torus
