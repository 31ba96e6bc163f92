// Sets of cells of a small board of Torus, and the least sets that win: what a solver looks at.
#pragma once

#include <algorithm>
#include <vector>

#include "torus.h"

namespace cellgames::torus {

constexpr int kMostSolved = 6, kMostSolvedCells = 2 * kMostSolved * kMostSolved;

// A set of cells: bit i of the first word is octagon i, and squares follow, or fill the second word (W = 2).
template <int W>
struct Cells {
    uint64_t word[W];

    bool any() const {
        uint64_t all = word[0];
        for (int w = 1; w < W; ++w) all |= word[w];
        return all != 0;
    }
    // Two cells or more.
    bool several() const {
        if (W == 1) return (word[0] & (word[0] - 1)) != 0;
        return (word[0] & (word[0] - 1)) || (word[W - 1] & (word[W - 1] - 1)) || (word[0] && word[W - 1]);
    }
    bool operator==(const Cells& other) const { return !(*this ^ other).any(); }
    bool operator<(const Cells& other) const {
        for (int w = W - 1; w > 0; --w)
            if (word[w] != other.word[w]) return word[w] < other.word[w];
        return word[0] < other.word[0];
    }
    Cells operator&(const Cells& other) const { return each(other, [](uint64_t a, uint64_t b) { return a & b; }); }
    Cells operator|(const Cells& other) const { return each(other, [](uint64_t a, uint64_t b) { return a | b; }); }
    Cells operator^(const Cells& other) const { return each(other, [](uint64_t a, uint64_t b) { return a ^ b; }); }
    Cells without(const Cells& other) const { return each(other, [](uint64_t a, uint64_t b) { return a & ~b; }); }

  private:
    template <class Operation>
    Cells each(const Cells& other, Operation operation) const {
        Cells out;
        for (int w = 0; w < W; ++w) out.word[w] = operation(word[w], other.word[w]);
        return out;
    }
};

// A board of a size from 2 to 6 as sets.
template <int W>
struct SolvedBoard {
    int size, octagons, cells;
    uint64_t plane;         // the bits of all octagons, or of all squares shifted down
    uint64_t left[kMostSolved];  // of a plane: the columns below a number
    Cells<W> all;
    Cells<W> around[kMostSolvedCells];

    explicit SolvedBoard(int n) : size(n), octagons(n * n), cells(2 * n * n), plane((uint64_t{1} << n * n) - 1) {
        for (int column = 0; column < n; ++column) {
            left[column] = 0;
            for (int row = 0; row < n; ++row) left[column] |= ((uint64_t{1} << column) - 1) << row * n;
        }
        all = joined(plane, plane);
        for (int cell = 0; cell < cells; ++cell) {
            around[cell] = {};
            for (int slot = 0; slot < 8; ++slot) around[cell] = around[cell] | bit(geometry(n).near[cell][slot]);
        }
    }

    Cells<W> joined(uint64_t octagon, uint64_t square) const {
        Cells<W> out{};
        out.word[0] = W == 1 ? octagon | square << octagons : octagon;
        if (W > 1) out.word[W - 1] = square;
        return out;
    }
    uint64_t octagons_of(const Cells<W>& set) const { return set.word[0] & plane; }
    uint64_t squares_of(const Cells<W>& set) const { return W == 1 ? set.word[0] >> octagons : set.word[W - 1]; }
    Cells<W> bit(int cell) const {
        return cell < octagons ? joined(uint64_t{1} << cell, 0) : joined(0, uint64_t{1} << (cell - octagons));
    }
    bool has(const Cells<W>& set, int cell) const { return (set & bit(cell)).any(); }
    int first(const Cells<W>& set) const {
        return W == 1 || set.word[0] ? lowest_bit64(set.word[0]) : octagons + lowest_bit64(set.word[W - 1]);
    }
    int count(Cells<W> set) const {
        int ones = 0;
        for (int w = 0; w < W; ++w)
            for (uint64_t left = set.word[w]; left; left &= left - 1) ++ones;
        return ones;
    }

    // The octagons of a plane moved down and to the right.
    uint64_t shifted(uint64_t bits, int down, int right) const {
        const uint64_t rows = down ? (bits << down * size | bits >> (octagons - down * size)) & plane : bits;
        return right ? (rows << right & plane & ~left[right]) | (rows >> (size - right) & left[right]) : rows;
    }
    Cells<W> moved(const Cells<W>& set, int down, int right) const {
        return joined(shifted(octagons_of(set), down, right), shifted(squares_of(set), down, right));
    }
    // A quarter turn, which swaps the sides' goals.
    int turned(int cell) const {
        const bool square = cell >= octagons;
        const int row = cell % octagons / size, column = cell % size;
        return square ? octagons + column * size + (2 * size - 2 - row) % size : column * size + size - 1 - row;
    }
    Cells<W> turned(const Cells<W>& set) const {
        Cells<W> out{};
        for (int cell = 0; cell < cells; ++cell)
            if (has(set, cell)) out = out | bit(turned(cell));
        return out;
    }

    // Return true if stones of a colour (1 Black, 2 White) on a set of cells have won.
    bool won(const Cells<W>& set, int colour) const {
        const Geometry& board = geometry(size);
        int at[kMostSolvedCells], stack[kMostSolvedCells];
        Cells<W> seen{};
        for (int root = 0; root < cells; ++root) {
            if (!has(set, root) || has(seen, root)) continue;
            int height = 0, kept = 0;
            stack[height++] = root, at[root] = 0, seen = seen | bit(root);
            while (height) {
                const int cell = stack[--height];
                for (int slot = 0; slot < (cell < octagons ? 8 : 4); ++slot) {
                    const int place = cell < octagons ? slot : 2 * slot, other = board.near[cell][place];
                    if (!has(set, other)) continue;
                    const int there = at[cell] - board.shift[cell][place] / (1 << kOffsetShift);
                    if (!has(seen, other)) {
                        seen = seen | bit(other), at[other] = there, stack[height++] = other;
                    } else if (const int cycle = there - at[other]) {
                        if (wins(cycle, kept ? kept : cycle, colour)) return true;
                        kept = cycle;
                    }
                }
            }
        }
        return false;
    }
};

// The least sets with which Black wins, those up to a number of cells. Boards up to size 4 also have those in which a
// path crosses itself, where two losing cycles meet; on larger ones they are left out.
template <int W>
class WinningSets {
  public:
    WinningSets(const SolvedBoard<W>& board, int longest) : b_(board), longest_(longest), crossing_(board.size <= 4) {
        path_[0] = 0, at_[0] = 0;
        grow(1, b_.bit(0));
        unique(found_);
        std::vector<Cells<W>> least;
        for (const Cells<W>& set : found_)
            if (is_least(set)) least.push_back(set);
        for (const Cells<W>& set : least)
            for (int down = 0; down < b_.size; ++down)
                for (int right = 0; right < b_.size; ++right) sets.push_back(b_.moved(set, down, right));
        unique(sets);
    }

    std::vector<Cells<W>> sets;

  private:
    const SolvedBoard<W>& b_;
    int longest_;
    bool crossing_;
    int path_[kMostSolvedCells], at_[kMostSolvedCells];  // the cells of a path from octagon 0, and their windings
    std::vector<Cells<W>> found_;

    static void unique(std::vector<Cells<W>>& all) {
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
    }

    bool is_least(const Cells<W>& set) const {
        for (int cell = 0; cell < b_.cells; ++cell)
            if (b_.has(set, cell) && b_.won(set.without(b_.bit(cell)), 1)) return false;
        return true;
    }

    // A bound of the steps from a cell back to octagon 0 so that the path has wound as Black wants it.
    int way_back(int cell, int offset) const {
        const int half = cell >= b_.octagons, n = b_.size;
        const int y = 2 * (cell % b_.octagons / n + n * down_of(offset)) + half;
        const int x = 2 * (cell % n + n * right_of(offset)) + half;
        int least = INT_MAX;
        for (int v = -3; v <= 3; ++v)
            for (int h = -3; h <= 3; ++h)
                if (goal(h, v, 1)) least = std::min(least, std::abs(2 * n * v - y) + std::abs(2 * n * h - x));
        return least / 2;  // a step between octagons goes two halves, one to a square a half each way
    }

    void grow(int length, const Cells<W>& set) {
        const Geometry& board = geometry(b_.size);
        const int cell = path_[length - 1];
        for (int slot = 0; slot < (cell < b_.octagons ? 8 : 4); ++slot) {
            const int place = cell < b_.octagons ? slot : 2 * slot, other = board.near[cell][place];
            const int there = at_[length - 1] - board.shift[cell][place] / (1 << kOffsetShift);
            if (other == 0 && length >= 3 && goal(right_of(there), down_of(there), 1)) {
                found_.push_back(set);
                continue;
            }
            const bool again = b_.has(set, other);
            if ((again && !crossing_) || length >= longest_ || length + way_back(other, there) > longest_) continue;
            if (touches(other, there, length - 1)) continue;  // a shorter way leads there
            const Cells<W> longer = set | b_.bit(other);
            if (crossing_ && !again && (b_.around[other] & set).several() && b_.won(longer, 1)) {
                found_.push_back(longer);
                continue;
            }
            path_[length] = other, at_[length] = there;
            grow(length + 1, longer);
        }
    }

    bool touches(int cell, int offset, int length) const {
        const Geometry& board = geometry(b_.size);
        for (int slot = 0; slot < (cell < b_.octagons ? 8 : 4); ++slot) {
            const int place = cell < b_.octagons ? slot : 2 * slot, other = board.near[cell][place];
            const int there = offset - board.shift[cell][place] / (1 << kOffsetShift);
            for (int i = 0; i < length; ++i)
                if (path_[i] == other && at_[i] == there) return true;
        }
        return false;
    }
};

}  // namespace cellgames::torus
