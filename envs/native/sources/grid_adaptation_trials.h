// Boards of Grid Adaptation on which tiles are tried out, in code for one instruction set: see each_target.h.
#include <algorithm>
#include <vector>

#include "bits.h"
#include "grid_adaptation_boards.h"

namespace CELLGAMES_NAMESPACE {

// Tiles of `candidates` kinds on each of `guesses` boards in each of `rows` games: `lookahead.tried`.
struct Trials {
    Packing packing;
    int64_t rows, own_rows, guesses, candidates, generations;
    const uint64_t* bases;  // [5, words, rows, guesses]: tiles, three boards of matches, spaces that are barred
    const uint64_t* own;    // [words, own_rows, candidates]
    int32_t* out;           // [generations, 3, rows, candidates]
};

constexpr int kMatches = 3;

// Boards that stand in the lanes of vectors: tiles and where each digit matches.
template <int kWords>
struct Planes {
    Words planes[1 + kMatches][kWords];

    CELLGAMES_INLINE_MEMBER void live(const Packing& packing, int words) {
        Words after[1 + kMatches][kWords];
        for (int word = 0; word < words; ++word) {
            const Nine near = nine_of(packing, planes[0], words, word);
            const Words cells = every(packing.cells[word]), tiles = planes[0][word];
            const Words stays = tiles & cells & (near.three() | near.four()), born = near.three() & cells & ~tiles;
            after[0][word] = stays | born;
            for (int digit = 1; digit <= kMatches; ++digit)
                after[digit][word] = (planes[digit][word] & stays) |
                                     (nine_of(packing, planes[digit], words, word).odd_twos & born);
        }
        for (int plane = 0; plane <= kMatches; ++plane)
            for (int word = 0; word < words; ++word) planes[plane][word] = after[plane][word];
    }
    CELLGAMES_INLINE_MEMBER Words count(int plane, int words) const {
        Words total = ones_of(planes[plane][0]);
        for (int word = 1; word < words; ++word) total = total + ones_of(planes[plane][word]);
        return total;
    }
};

template <int kWords>
CELLGAMES_INLINE void try_row(const Trials& trials, int64_t row, int words, Words* sums) {
    const int64_t rows = trials.rows, guesses = trials.guesses, candidates = trials.candidates;
    const int64_t own_row = trials.own_rows == 1 ? 0 : row;
    for (int64_t first = 0; first < candidates; first += kLanes) {
        const int64_t lanes = std::min<int64_t>(kLanes, candidates - first);
        Words own[kWords];
        for (int word = 0; word < words; ++word)
            own[word] = load_some(trials.own + (word * trials.own_rows + own_row) * candidates + first, lanes);
        for (int64_t at = 0; at < trials.generations * kMatches; ++at) sums[at] = every(0);
        for (int64_t guess = 0; guess < guesses; ++guess) {
            const auto base = [&](int plane, int word) {
                return every(trials.bases[((plane * words + word) * rows + row) * guesses + guess]);
            };
            Planes<kWords> board;
            for (int word = 0; word < words; ++word) {
                const Words mine = own[word] & ~base(1 + kMatches, word);
                const Words tiles = board.planes[0][word] = base(0, word) ^ mine;  // both lose what another has named
                for (int digit = 1; digit <= kMatches; ++digit)
                    board.planes[digit][word] = (base(digit, word) | mine) & tiles;
            }
            for (int64_t later = 0; later < trials.generations; ++later) {
                board.live(trials.packing, words);
                const Words tiles = board.count(0, words);
                for (int digit = 0; digit < kMatches; ++digit) {
                    const Words matching = board.count(1 + digit, words);
                    sums[later * kMatches + digit] = sums[later * kMatches + digit] + (matching + matching - tiles);
                }
            }
        }
        for (int64_t at = 0; at < trials.generations * kMatches; ++at) {
            uint64_t found[kLanes];
            store(found, sums[at]);
            int32_t* out = trials.out + (at * rows + row) * candidates + first;
            for (int64_t lane = 0; lane < lanes; ++lane) out[lane] = static_cast<int32_t>(found[lane]);
        }
    }
}

inline void try_rows(const Trials& trials, int64_t from, int64_t to) {
    Room room(trials.generations * kMatches);
    Words* sums = room.begin();
    for (int64_t row = from; row < to; ++row) {
        if (trials.packing.words == 4) try_row<4>(trials, row, 4, sums);
        else if (trials.packing.words == 2) try_row<2>(trials, row, 2, sums);
        else try_row<kMostWords>(trials, row, trials.packing.words, sums);
    }
}

inline void try_out(const int64_t* numbers, const uint64_t* bases, const uint64_t* own, int32_t* out) {
    const Trials trials{Packing(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], bases, own, out};
    in_parallel(trials.rows, numbers[6], [&](int64_t from, int64_t to) { try_rows(trials, from, to); });
}

}  // namespace CELLGAMES_NAMESPACE
