// Games of the Toroidal Cup from their starts to the end: `envs/toroidal_cup/simulator.py`, many at a time.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "portable.h"

namespace cellgames::cup {

constexpr int kMostTeams = 8;
constexpr int kMostColumns = 62;  // of a word, which has halos beside them

// How the columns of a torus are shared out among words with halos.
struct Torus {
    struct Part {
        int word, turn;  // another word turned to the left by so many bits
        uint64_t mask;   // has these bits of a word
    };
    struct Column {
        int first, width;         // columns of the board
        uint64_t own, even;       // bits: its columns without the halo; columns of even number, halos included
        std::vector<Part> parts;  // three, or six and so on
    };
    int rows, cols, halo;
    std::vector<Column> columns;

    Torus(int rows_, int cols_) : rows(rows_), cols(cols_) {
        const int count = (cols + kMostColumns - 1) / kMostColumns;
        halo = (64 - (cols + count - 1) / count) / 2;
        const auto first = [&](int word) { return word * cols / count; };
        std::vector<int> word_of(static_cast<size_t>(cols));
        for (int word = 0; word < count; ++word)
            std::fill(word_of.begin() + first(word), word_of.begin() + first(word + 1), word);
        for (int word = 0; word < count; ++word) {
            Column column{first(word), first(word + 1) - first(word), 0, 0, {}};
            for (int bit = 0; bit < 64; ++bit) {
                const int at = ((column.first + bit - halo) % cols + cols) % cols, from = word_of[static_cast<size_t>(at)];
                const int turn = (bit - (at - first(from) + halo) + 64) % 64;
                auto part = column.parts.begin();
                while (part != column.parts.end() && (part->word != from || part->turn != turn)) ++part;
                if (part == column.parts.end()) part = column.parts.insert(part, {from, turn, 0});
                part->mask |= uint64_t{1} << bit;
                column.even |= uint64_t{at % 2 == 0} << bit;
                column.own |= uint64_t{bit >= halo && bit < halo + column.width} << bit;
            }
            while (column.parts.size() % 3) column.parts.push_back({word, 0, 0});
            columns.push_back(column);
        }
    }
    int words() const { return static_cast<int>(columns.size()); }
    int64_t cells() const { return int64_t{rows} * cols; }
};

// Games to be played and their results, see `cellgames_toroidal_cup`.
struct Games {
    int teams;
    bool keep_colour;
    int64_t count, cells, most, kept, longest;
    double tolerance;
    const int64_t* keep;
    const int8_t* boards;
    int64_t *scores, *generations;
    uint8_t* truncated;
    int8_t *final, *photos;
    int32_t* trajectory;
    std::atomic<int64_t> next{0};  // of the games that wait

    int8_t* photo(int64_t at, int64_t game) const { return photos + (at * count + game) * cells; }
    int32_t* counts_at(int64_t game, int64_t generation) const {
        return trajectory + (game * (longest + 1) + generation) * teams;
    }
};

}  // namespace cellgames::cup

#define CELLGAMES_BODY "toroidal_cup_games.h"
#include "each_target.h"

// Play games to their ends; see `simulator.Result` for what they are.
//
// most: generations after which a game is truncated. boards: int8 [games, rows, cols], 0 empty, else a team's number.
// scores: int64 [games, teams]. generations: int64 [games]. truncated: bool [games]. final: as boards.
// photos: int8 [kept, games, rows, cols], gets the boards of the generations in keep, int64 [kept], ascending.
// trajectory: int32 [games, longest + 1, teams], zeros, or null: gets the live cells of all generations.
CELLGAMES_EXPORT void cellgames_toroidal_cup(int64_t games, int64_t rows, int64_t cols, int64_t teams,
                                             int64_t keep_colour, int64_t most, int64_t kept, int64_t longest,
                                             int64_t threads, double tolerance, const int64_t* keep,
                                             const int8_t* boards, int64_t* scores, int64_t* generations,
                                             uint8_t* truncated, int8_t* final, int8_t* photos, int32_t* trajectory) {
    const cellgames::cup::Torus torus(static_cast<int>(rows), static_cast<int>(cols));
    cellgames::cup::Games all{static_cast<int>(teams), keep_colour != 0, games, rows * cols, most, kept, longest,
                              tolerance, keep, boards, scores, generations, truncated, final, photos, trajectory};
    CELLGAMES_CHOSEN(play)(all, torus, threads);
}
