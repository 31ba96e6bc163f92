// What a player sees of games of connected stones: `envs/stones/stone_tensors.py`.
#include "stones.h"

namespace {

using namespace cellgames::stones;

constexpr int kOff = 3;  // the colour of a place that is no cell

constexpr int kWide = 8;  // bytes that are copied at a time

// Cells whose numbers and places both follow each other: rows of the board.
struct Runs {
    int16_t cell[kMostCells], place[kMostCells], length[kMostCells];
    int count = 0;

    Runs() = default;
    Runs(const int64_t* places, int cells, int number) {
        for (int i = 0; i < number; ++i) {
            if (places[i] == cells) continue;
            const bool next = i > 0 && places[i] == places[i - 1] + 1 && places[i - 1] != cells;
            if (!next) {
                cell[count] = static_cast<int16_t>(places[i]);
                place[count] = static_cast<int16_t>(i);
                length[count++] = 0;
            }
            ++length[count - 1];
        }
    }
    CELLGAMES_INLINE_MEMBER void copy(int run, const uint8_t* from, uint8_t* to) const {
        from += cell[run];
        to += place[run];
        int left = length[run];
        for (; left >= kWide; left -= kWide, from += kWide, to += kWide) std::memcpy(to, from, kWide);
        for (; left > 0; --left) *to++ = *from++;
    }
};

// A plane for each of the mover's, the opponent's and, if asked for, the free cells: `places` cells in all; then `square`
// places that are 1 for Black.
template <class Number>
CELLGAMES_INLINE void planes(int cells, int places, int square, bool free, const int64_t* __restrict place,
                             const int32_t* __restrict codes, const int64_t* __restrict player, Number* __restrict seen,
                             int64_t from, int64_t to) {
    constexpr int kBlock = 64;
    uint8_t colours[kMostCells + kBlock] = {}, at[kMostCells + kBlock];
    Runs runs;
    if (place) runs = Runs(place, cells, places);
    for (int64_t game = from; game < to; ++game) {
        const int32_t* __restrict code = codes + game * cells;
        in_blocks<kBlock>(cells, [&](int first, int wide) {
            for (int i = first; i < first + wide; ++i) colours[i] = static_cast<uint8_t>(code[i] & kColour);
        });
        const uint8_t* __restrict colour = colours;
        if (place) {
            std::memset(at, kOff, static_cast<size_t>(places));
            for (int run = 0; run < runs.count; ++run) runs.copy(run, colours, at);
            colour = at;
        }
        Number* __restrict out = seen + game * ((free ? 3 : 2) * places + square);
        const auto mine = static_cast<uint8_t>(player[game] + 1), theirs = static_cast<uint8_t>(3 - mine);
        for (int plane = 0; plane < (free ? 3 : 2); ++plane, out += places) {
            const uint8_t wanted = plane == 0 ? mine : plane == 1 ? theirs : 0;
            in_blocks<kBlock>(places, [&](int first, int wide) {
                for (int i = first; i < first + wide; ++i) out[i] = static_cast<Number>(colour[i] == wanted);
            });
        }
        const auto black = static_cast<Number>(mine == 1);
        in_blocks<kBlock>(square, [&](int first, int wide) {
            for (int i = first; i < first + wide; ++i) out[i] = black;
        });
    }
}

CELLGAMES_DISPATCH
void planes_of(int cells, int places, int square, bool free, const int64_t* place, const int32_t* codes,
               const int64_t* player, void* seen, bool floats, int64_t from, int64_t to) {
    if (floats) {
        planes(cells, places, square, free, place, codes, player, static_cast<float*>(seen), from, to);
    } else {
        planes(cells, places, square, free, place, codes, player, static_cast<uint8_t*>(seen), from, to);
    }
}

}  // namespace

// place int64 [places], the cell at each place or N, or null if cells are numbered by place; codes int32 [B][N]; player
// int64 [B]; seen int8 or, for `floats`, float [B][...], written.
CELLGAMES_EXPORT void cellgames_stone_planes(int64_t games, int64_t threads, int64_t cells, int64_t places,
                                             int64_t square, int64_t free, int64_t floats, const int64_t* place,
                                             const int32_t* codes, const int64_t* player, void* seen) {
    cellgames::in_parallel(games, threads, [&](int64_t from, int64_t to) {
        planes_of(static_cast<int>(cells), static_cast<int>(places), static_cast<int>(square), free != 0, place, codes,
                  player, seen, floats != 0, from, to);
    });
}
