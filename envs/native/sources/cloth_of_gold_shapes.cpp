// Random turns of shapes: `random_turns` of `agents/cloth_of_gold/turns.py`, which has the meaning of each number.
#include "cloth_of_gold.h"
#include "threefry.h"

namespace cellgames::cloth {
namespace {

constexpr int64_t kCells = 9;  // of the largest shape
enum Draws { kKind, kForm, kMore, kPlace };

// Boards of one game, [rows, words], and how many of their cells lie in the rows before each.
struct Cells {
    std::vector<uint64_t> words;
    std::vector<int> before;

    // Take the cells of `from`, bitboards as in `Board`, without those of `but`.
    void read(const Board& board, const uint64_t* from, const uint64_t* but, int64_t game) {
        words.resize(static_cast<size_t>(board.rows) * board.words);
        before.resize(static_cast<size_t>(board.rows) + 1);
        for (int row = 0; row < board.rows; ++row) {
            int count = 0;
            for (int word = 0; word < board.words; ++word) {
                const int64_t at = board.at(row, word) + game;
                const uint64_t bits = words[static_cast<size_t>(row) * board.words + word] = from[at] & ~(but ? but[at] : 0);
                count += count_bits(bits);
            }
            before[row + 1] = before[row] + count;
        }
    }

    int count() const { return before.back(); }
    bool has(const Board& board, int row, int col) const {
        return words[static_cast<size_t>(row) * board.words + col / board.width] >> (col % board.width) & 1;
    }

    // The cell that so many others stand before.
    int64_t cell(const Board& board, int rank) const {
        const int row = static_cast<int>(std::upper_bound(before.begin() + 1, before.end(), rank) - before.begin()) - 1;
        rank -= before[row];
        for (int word = 0;; ++word) {
            uint64_t bits = words[static_cast<size_t>(row) * board.words + word];
            const int count = count_bits(bits);
            if (rank >= count) {
                rank -= count;
                continue;
            }
            while (rank--) bits &= bits - 1;
            return int64_t{row} * board.cols + word * board.width + lowest_bit64(bits);
        }
    }
};

// The forms of all shapes: cells [forms, 9, 2] and sizes [forms]; of each shape the first form, and how many.
struct Catalogue {
    int64_t shapes;
    const int64_t *cells, *sizes, *first, *forms;
};

// What is the same for all turns of a game.
struct Ground {
    const Board& board;
    const Catalogue& catalogue;
    int64_t tries, near, first_reach;
    Cells legal, open, edge;  // where a unit may be placed, where that is not contested, and of that the border
    bool homeless;
    int64_t seed, room;
};

// A turn in the making.
struct Turn {
    const Ground& ground;
    int64_t counter, step;  // of the first draw, and from one to the next
    int64_t* plan;          // [most_units]
    int64_t used = 0;

    uint64_t bits(int64_t shape, int64_t number) const {
        const int64_t draws = kPlace + ground.tries;
        return draw_63(ground.seed, 16, static_cast<uint32_t>(counter + step * (shape * draws + number)));
    }

    // A random one of the cells for a shape's try; -1 where there is none.
    int64_t anywhere(const Cells& cells, int64_t shape, int64_t attempt) const {
        if (!cells.count()) return -1;
        const auto drawn = static_cast<uint32_t>(bits(shape, kPlace + attempt));
        return cells.cell(ground.board, static_cast<int>(uniform_int(drawn, static_cast<uint32_t>(cells.count()))));
    }

    // A cell around the first of the turn; -1 off the board.
    int64_t nearby(int64_t shape, int64_t attempt) const {
        if (!used) return -1;
        const Board& board = ground.board;
        const uint64_t drawn = bits(shape, kPlace + attempt);
        const auto places = static_cast<uint32_t>(2 * ground.near + 1);
        const int64_t row = plan[0] / board.cols + uniform_int(static_cast<uint32_t>(drawn), places) - ground.near;
        const int64_t col = plan[0] % board.cols + uniform_int(static_cast<uint32_t>(drawn >> 31), places) - ground.near;
        return row < 0 || row >= board.rows || col < 0 || col >= board.cols ? -1 : row * board.cols + col;
    }

    // Find where a form's cells would lie, its first one at a cell; false if one of them may not be filled.
    bool fits(const int64_t* form, int64_t size, int64_t cell, int64_t* places) const {
        const Board& board = ground.board;
        const int64_t home = used ? plan[0] : cell;
        for (int64_t i = 0; i < size; ++i) {
            const int64_t row = cell / board.cols + form[2 * i], col = cell % board.cols + form[2 * i + 1];
            if (row < 0 || row >= board.rows || col < 0 || col >= board.cols) return false;
            if (!ground.open.has(board, static_cast<int>(row), static_cast<int>(col))) return false;
            places[i] = row * board.cols + col;
            if (std::find(plan, plan + used, places[i]) != plan + used) return false;
            const int64_t down = row - home / board.cols, right = col - home % board.cols;
            if (ground.homeless && down * down + right * right >= ground.first_reach) return false;
        }
        return true;
    }

    // Add a shape at the first of the tried cells where it may stand.
    template <class Place>
    void add(int64_t shape, const Place& place) {
        if (shape && !(bits(shape, kMore) & 1)) return;
        const Catalogue& all = ground.catalogue;
        const int64_t kind = uniform_int(static_cast<uint32_t>(bits(shape, kKind)), static_cast<uint32_t>(all.shapes));
        const auto forms = static_cast<uint32_t>(all.forms[kind]);
        const int64_t form = all.first[kind] + uniform_int(static_cast<uint32_t>(bits(shape, kForm)), forms);
        const int64_t size = all.sizes[form];
        if (used + size > ground.room) return;
        int64_t places[kCells];
        for (int64_t attempt = 0; attempt < ground.tries; ++attempt) {
            const int64_t cell = place(attempt);
            if (cell < 0 || !fits(all.cells + form * 2 * kCells, size, cell, places)) continue;
            std::copy(places, places + size, plan + used);
            used += size;
            return;
        }
    }
};

}  // namespace
}  // namespace cellgames::cloth

using namespace cellgames;
using namespace cellgames::cloth;

// Draw `count` turns of each game. legal, foreign, edge: int64 [rows + 1, words, worlds], where a unit may be placed, the
// opponent's territory, and null or the border; homeless: bool [worlds]; room, seeds: int64 [worlds]; the catalogue's
// tensors; plans: int64 [worlds, count, most_units], written.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_shapes(int64_t rows, int64_t cols, int64_t worlds, int64_t count,
                                                     int64_t most_units, int64_t tries, int64_t near,
                                                     int64_t first_reach, int64_t most_shapes, int64_t shapes,
                                                     int64_t threads, const uint64_t* legal, const uint64_t* foreign,
                                                     const uint64_t* edge, const bool* homeless, const int64_t* room,
                                                     const int64_t* seeds, const int64_t* cells, const int64_t* sizes,
                                                     const int64_t* first, const int64_t* forms, int64_t* plans) {
    const Board board(rows, cols, worlds);
    const Catalogue catalogue{shapes, cells, sizes, first, forms};
    in_parallel(worlds, std::min(threads, worlds * count / 256 + 1), [&](int64_t from, int64_t to) {
        Ground ground{board, catalogue, tries, near, first_reach, {}, {}, {}, false, 0, 0};
        for (int64_t game = from; game < to; ++game) {
            ground.legal.read(board, legal, nullptr, game);
            ground.open.read(board, legal, foreign, game);
            if (edge) ground.edge.read(board, edge, nullptr, game);
            ground.homeless = homeless[game], ground.seed = seeds[game], ground.room = room[game];
            for (int64_t number = 0; number < count; ++number) {
                int64_t* plan = plans + (game * count + number) * most_units;
                std::fill(plan, plan + most_units, -1);
                Turn turn{ground, number, count, plan};
                const bool at_edge = edge && number % 2 && ground.edge.count();
                for (int64_t shape = 0; shape < most_shapes; ++shape)
                    turn.add(shape, [&](int64_t attempt) {
                        if (shape % 2) return turn.nearby(shape, attempt);
                        return turn.anywhere(!shape && at_edge ? ground.edge : ground.open, shape, attempt);
                    });
                if (!turn.used && ground.room > 0 && ground.legal.count()) plan[0] = turn.anywhere(ground.legal, 0, 0);
            }
        }
    });
}
