// Cloth of Gold on 100 x 100, a world in each lane of a wide word: generations of worlds without neutral cells, and the territory
// and legal cells of both players. What comes in and goes out is packed as the project packs it: [101, 2, worlds] words
// of 51 columns, the last row and column empty.
#include "common.h"

using namespace limit;

namespace {

constexpr int kSide = 100, kPacked = 51;
// Two words a row, of columns 0 to 63 and 36 to 99. Each has 50 columns of its own and 14 of the other's, so that 14
// generations need no exchange.
constexpr int kOwn = 50, kHalo = 14, kShift = 36;
constexpr int kPlanes = 3;  // live, of a, killed
constexpr int kRowWords = kPlanes * kLanes;
constexpr int kWord = kSide * kRowWords, kTile = 2 * kWord;

inline void row_sums(Wide x, Wide* sums) {
    const Wide west = x << 1, east = x >> 1;
    sums[0] = sum(west, x, east);
    sums[1] = carry(west, x, east);
}

void generation(u64* rows) {
    Wide above[2] = {}, a_above[2] = {}, here[2], a_here[2], below[2], a_below[2];
    Wide live = load(rows), a = load(rows + kLanes);
    row_sums(live, here);
    row_sums(a, a_here);
    for (int row = 0; row < kSide; ++row, rows += kRowWords) {
        Wide next = {}, a_next = {};
        if (row + 1 < kSide) next = load(rows + kRowWords), a_next = load(rows + kRowWords + kLanes);
        row_sums(next, below);
        row_sums(a_next, a_below);
        const Wide killed = load(rows + 2 * kLanes);
        const Sums all = nine(above, here, below), own = nine(a_above, a_here, a_below);
        const Wide odd = all.carried ^ all.twos, ones = all.ones;
        const Wide three = logic(ones, odd, all.fours, [](auto o, auto m, auto f) { return o & m & ~f; });
        const Wide four = logic(ones, odd, all.fours ^ all.carried, [](auto o, auto m, auto f) { return ~o & ~m & f; });
        // Most neighbours are a's if two of two or three are: the twos of nine less the cell itself.
        const Wide borrowed = logic(own.ones, a, a, [](auto o, auto a, auto) { return ~o & a; });
        const Wide most = sum(own.carried, own.twos, borrowed);
        // A unit of a with one neighbour of each side.
        const Wide tie = logic(three, own.ones, a, [](auto t, auto o, auto a) { return t & ~o & a; });
        const Wide born = logic(three, live, killed, [](auto t, auto x, auto k) { return t & ~x & ~k; });
        const Wide lives = three | four;  // if it lives now
        const Wide of_a = logic(born, a, lives, [](auto n, auto a, auto l) { return n | (a & l); });
        const Wide b = live & ~a;
        const Wide of_b = logic(born, b, lives, [](auto n, auto b, auto l) { return n | (b & l); });
        const Wide a_after = logic(most, of_a, tie, [](auto m, auto u, auto t) { return (m & u) | t; });
        const Wide after = logic(a_after, of_b, most, [](auto a, auto v, auto m) { return a | (v & ~m); });
        const Wide minor = logic(a, most, live, [](auto a, auto m, auto x) { return (a & ~m) | (~a & m & x); });
        store(rows, after);
        store(rows + kLanes, a_after);
        store(rows + 2 * kLanes, logic(minor, lives, tie, [](auto z, auto l, auto t) { return z & l & ~t; }));
        std::memcpy(above, here, sizeof here);
        std::memcpy(here, below, sizeof here);
        std::memcpy(a_above, a_here, sizeof here);
        std::memcpy(a_here, a_below, sizeof here);
        live = next, a = a_next;
    }
}

void exchange(u64* tile) {
    const Wide low = all((1ull << kOwn) - 1), halo = all((1ull << kHalo) - 1);
    for (int at = 0; at < kWord; at += kLanes) {
        const Wide left = load(tile + at), right = load(tile + kWord + at);
        store(tile + at, (left & low) | ((right >> kHalo) << kOwn));
        store(tile + kWord + at, (right & ~halo) | ((left >> kShift) & halo));
    }
}

// Two packed words of a row as overlapping ones, and back.
inline void overlapped(Wide p, Wide q, Wide& left, Wide& right) {
    left = p | (q << kPacked);
    right = (p >> kShift) | (q << (kPacked - kShift));
}
inline void packed(Wide left, Wide right, Wide& p, Wide& q) {
    p = ((left & all((1ull << kOwn) - 1)) | ((right >> kHalo) << kOwn)) & all((1ull << kPacked) - 1);
    q = right >> (kPacked - kShift);
}

void advance(i64 worlds, i64 at, i64 generations, const u64* given, u64* out, u64* tile) {
    const i64 plane = (kSide + 1) * 2 * worlds;
    for (int row = 0; row < kSide; ++row) {
        Wide words[kPlanes][2];
        for (int half = 0; half < 2; ++half) {
            const u64* from = given + (row * 2 + half) * worlds + at;
            words[1][half] = load(from);
            words[0][half] = words[1][half] | load(from + plane);
            words[2][half] = load(from + 3 * plane);
        }
        for (int i = 0; i < kPlanes; ++i) {
            Wide left, right;
            overlapped(words[i][0], words[i][1], left, right);
            store(tile + row * kRowWords + i * kLanes, left);
            store(tile + kWord + row * kRowWords + i * kLanes, right);
        }
    }
    for (i64 done = 0; done < generations; done += kHalo) {
        if (done) exchange(tile);
        for (int half = 0; half < 2; ++half)
            for (i64 i = done; i < std::min(done + kHalo, generations); ++i) generation(tile + half * kWord);
    }
    exchange(tile);
    for (int row = 0; row < kSide; ++row) {
        Wide words[kPlanes][2];
        for (int i = 0; i < kPlanes; ++i) {
            const u64* from = tile + row * kRowWords + i * kLanes;
            packed(load(from), load(from + kWord), words[i][0], words[i][1]);
        }
        for (int half = 0; half < 2; ++half) {
            u64* to = out + (row * 2 + half) * worlds + at;
            store(to, words[1][half]);
            store(to + plane, words[0][half] & ~words[1][half]);
            store(to + 3 * plane, words[2][half]);
        }
    }
}

// Cells within `columns` of those of a row, and in 7 rows above and below: a disk of radius 8 has rows of 15 cells, three
// times 15 on each side, then 13, 13, 11 and 7.
constexpr int kReach = 7, kPadded = kSide + 2 * kReach;

void spread(const u64* units, u64* territory, u64* spans) {  // spans: [4, kPadded, lanes], empty beyond the board
    const auto span = [&](int kind, int row) { return spans + (kind * kPadded + row + kReach) * kLanes; };
    const auto wider = [](Wide x, int by) { return either(x, x << by, x >> by); };
    for (int row = 0; row < kSide; ++row) {
        const Wide one = wider(load(units + row * kLanes), 1), three = wider(one, 2), five = wider(three, 2);
        const Wide six = wider(five, 1), seven = wider(six, 1);
        store(span(0, row), seven), store(span(1, row), six), store(span(2, row), five), store(span(3, row), three);
    }
    constexpr int kinds[kReach + 1] = {0, 0, 0, 0, 1, 1, 2, 3};
    for (int row = 0; row < kSide; ++row) {
        Wide near = load(span(0, row));
#pragma GCC unroll 8
        for (int by = 1; by <= kReach; ++by)
            near = either(near, load(span(kinds[by], row - by)), load(span(kinds[by], row + by)));
        store(territory + row * kLanes, near);
    }
}

void ground(i64 worlds, i64 at, const u64* units, const u64* homeless, u64* territory, u64* legal, u64* room) {
    const i64 plane = (kSide + 1) * 2 * worlds;
    constexpr int kBoard = (kSide + 2) * kLanes;  // with a row above and one below
    u64 *own = room + kLanes, *reach = room + 4 * kBoard, *spans = room + 8 * kBoard;
    for (int player = 0; player < 2; ++player) {
        for (int row = 0; row < kSide; ++row) {
            const u64* from = units + player * plane + row * 2 * worlds + at;
            Wide left, right;
            overlapped(load(from), load(from + worlds), left, right);
            store(own + 2 * player * kBoard + row * kLanes, left);
            store(own + (2 * player + 1) * kBoard + row * kLanes, right);
        }
        for (int half = 0; half < 2; ++half)
            spread(own + (2 * player + half) * kBoard, reach + (2 * player + half) * kBoard, spans);
    }
    for (int player = 0; player < 2; ++player) {
        const Wide free = load(homeless + player * worlds + at);
        for (int row = 0; row <= kSide; ++row) {
            Wide words[2] = {}, cells[2] = {};
            if (row < kSide) {
                for (int half = 0; half < 2; ++half) {
                    const u64* theirs = own + (2 * (1 - player) + half) * kBoard + row * kLanes;
                    const Wide x = load(theirs), mine = load(own + (2 * player + half) * kBoard + row * kLanes);
                    const Wide beside = either(either(x, x << 1, x >> 1), load(theirs - kLanes), load(theirs + kLanes));
                    const Wide here = load(reach + (2 * player + half) * kBoard + row * kLanes);
                    const Wide there = load(reach + (2 * (1 - player) + half) * kBoard + row * kLanes);
                    const Wide home = logic(free, here, there, [](auto f, auto h, auto t) { return f | (h & ~t); });
                    words[half] = here;
                    cells[half] = logic(home, beside, mine, [](auto h, auto b, auto m) { return h & ~(b | m); });
                }
                packed(words[0], words[1], words[0], words[1]);
                packed(cells[0], cells[1], cells[0], cells[1]);
            }
            for (int half = 0; half < 2; ++half) {
                const i64 to = player * plane + (row * 2 + half) * worlds + at;
                store(territory + to, words[half]);
                store(legal + to, cells[half]);
            }
        }
    }
}

}  // namespace

// given, out: [4, 101, 2, worlds] words of a's, b's, neutral (none) and killed cells.
LIMIT_EXPORT void limit_cloth(i64 worlds, i64 generations, i64 threads, const u64* given, u64* out) {
    in_parts(worlds, kLanes, threads, [&](i64 from, i64 to, i64) {
        const auto tile = memory<u64>(kTile);
        for (i64 at = from; at < to; at += kLanes) advance(worlds, at, generations, given, out, tile.get());
    });
}

// units, territory, legal: [2, 101, 2, worlds] words of both players; homeless: [2, worlds], all bits for no unit.
LIMIT_EXPORT void limit_ground(i64 worlds, i64 threads, const u64* units, const u64* homeless, u64* territory, u64* legal) {
    in_parts(worlds, kLanes, threads, [&](i64 from, i64 to, i64) {
        const auto room = memory<u64>(8 * (kSide + 2) * kLanes + 4 * kPadded * kLanes + kLanes);
        for (i64 at = from; at < to; at += kLanes) ground(worlds, at, units, homeless, territory, legal, room.get());
    });
}
