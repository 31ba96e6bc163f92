// Worlds of Cloth of Gold in memory, and what its native functions share.
#pragma once

#include <algorithm>

#include "bits.h"

namespace cellgames::cloth {

// A finite board whose rows are words of equally many columns, `boards.bitboards.Grid`; a row and at least one column
// more are stored, which are empty. A word of all worlds of a batch stands together: [rows + 1, words, worlds].
struct Board {
    int rows, cols, words, width;
    int64_t worlds;

    Board(int64_t rows_, int64_t cols_, int64_t worlds_)
        : rows(static_cast<int>(rows_)), cols(static_cast<int>(cols_)), words(cols / 64 + 1),
          width((cols + words) / words), worlds(worlds_) {}
    int64_t at(int row, int word) const { return (int64_t{row} * words + word) * worlds; }
    int64_t plane() const { return at(rows + 1, 0); }
    int64_t cells() const { return int64_t{rows} * cols; }
    uint64_t own(int word) const { return low_bits(word == words - 1 ? cols - width * word : width); }
};

// Up to eight worlds of a batch, by their places in it.
struct Some {
    int64_t place[kLanes];  // -1: none
    int64_t together;       // how many, if they are so many first lanes and stand next to each other, else 0

    Some() : together(0) { std::fill(place, place + kLanes, int64_t{-1}); }
    // Of a list, or without one of the batch.
    Some(const int64_t* list, int64_t first, int64_t end) : Some() {
        const int64_t count = std::min<int64_t>(kLanes, end - first);
        for (int64_t lane = 0; lane < count; ++lane) place[lane] = list ? list[first + lane] : first + lane;
        join();
    }
    void join() {
        together = 0;
        while (together < kLanes && place[0] >= 0 && place[together] == place[0] + together) ++together;
        for (int64_t lane = together; lane < kLanes; ++lane)
            if (place[lane] >= 0) together = 0;
    }
    CELLGAMES_INLINE_MEMBER Words load(const uint64_t* words) const {
        if (together) return load_some(words + place[0], together);
        uint64_t all[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) all[lane] = place[lane] < 0 ? 0 : words[place[lane]];
        return cellgames::load(all);
    }
    CELLGAMES_INLINE_MEMBER void store(uint64_t* words, Words some) const {
        if (together) return store_some(words + place[0], some, together);
        uint64_t all[kLanes];
        cellgames::store(all, some);
        for (int lane = 0; lane < kLanes; ++lane)
            if (place[lane] >= 0) words[place[lane]] = all[lane];
    }
    // All bits of the worlds for which the function of a place returns true.
    template <class Condition>
    CELLGAMES_INLINE_MEMBER Words where(const Condition& condition) const {
        uint64_t all[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) all[lane] = place[lane] >= 0 && condition(place[lane]) ? ~uint64_t{0} : 0;
        return cellgames::load(all);
    }
};

// A thread for each share of the work that is worth one.
inline int64_t threads_for(int64_t threads, int64_t tiles, const Board& board, int64_t least = 40000) {
    return std::min(threads, tiles * board.rows * board.words / least + 1);
}

inline int64_t tiles_of(int64_t worlds) { return (worlds + kLanes - 1) / kLanes; }

// The planes of a's, b's, neutral and killed cells, each [rows + 1, words, worlds].
template <class Word>
struct Planes {
    Word* plane[4];
};

// The bits of `neutral_rules`, as `rules.py` has them.
constexpr int64_t kBirths = 1, kHold = 2, kAttack = 4;

// Play generations of the worlds from one place of a list to another (see `Some`); `after` may be `given`. Worlds that
// come back to themselves within 24 generations are not played on if `settle`.
void play_worlds(const Board& board, const Planes<const uint64_t>& given, const Planes<uint64_t>& after,
                 const int64_t* list, int64_t generations, int64_t neutral_rules, bool settle, int64_t from,
                 int64_t to);

}  // namespace cellgames::cloth
