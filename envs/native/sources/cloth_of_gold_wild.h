// Generations of wild Cloth of Gold in code for one instruction set: see cloth_of_gold_wild.cpp.
#include "bits.h"

namespace CELLGAMES_NAMESPACE {
namespace {

CELLGAMES_INLINE void add_up(int words, int first, int last, const Plane& plane, Columns& out) {
    for (int word = 0; word < words; ++word)
        for (int row = first * kLanes + 1; row <= (last + 1) * kLanes; row += kLanes) {
            const uint64_t* at = plane.row[word] + row;
            const Words above = load(at - 1), here = load(at), below = load(at + 1), one = above ^ below;
            store(out.ones.row[word] + row, one);
            store(out.column.row[word] + row, one ^ here);
            store(out.pair.row[word] + row, (one & here) | (above & below));
        }
}

struct Counts {
    Words ones, twos, fours;
};

CELLGAMES_INLINE Words from_west(const Plane& plane, int word, int row, int width) {
    const Words moved = load(plane.row[word] + row) << 1;
    return word ? moved | load(plane.row[word - 1] + row) >> (width - 1) : moved;
}

CELLGAMES_INLINE Words from_east(const Plane& plane, int word, int row, int width, int words) {
    const Words moved = load(plane.row[word] + row) >> 1;
    return word + 1 < words ? moved | load(plane.row[word + 1] + row) << (width - 1) : moved;
}

CELLGAMES_INLINE Counts counted(const Columns& columns, const Plane& plane, int word, int row, int width, int words) {
    const Words two = load(plane.row[word] + row - 1) & load(plane.row[word] + row + 1);
    const Words a = from_west(columns.column, word, row, width), one = load(columns.ones.row[word] + row);
    const Words b = from_east(columns.column, word, row, width, words);
    const Words low = odd(a, b, one), carry = two_of(a, b, one);
    const Words left = from_west(columns.pair, word, row, width);
    const Words right = from_east(columns.pair, word, row, width, words);
    const Words sides = left ^ right, middle = two ^ carry;
    return {low, sides ^ middle, (left & right) ^ (two & carry) ^ (sides & middle)};
}

CELLGAMES_INLINE bool some_bits(Words words) {
    uint64_t lanes[kLanes], some = 0;
    store(lanes, words);
    for (uint64_t lane : lanes) some |= lane;
    return some != 0;
}

// `rules.generation`, with wards, and water; `holding`: with kHold, and perhaps kAttack. Rows beyond the last one stay
// empty.
template <bool holding>
CELLGAMES_INLINE void live_with(const World& world, Round& game) {
    const int rows = world.rows, words = world.words, width = world.width;
    const Plane *units = game.now->plane, &neutral = game.now->plane[2], &killed = game.now->plane[3];
    Plane* next = game.then->plane;  // a generation earlier until it is overwritten
    const int blocks = (rows + kLanes - 1) / kLanes;
    const int first = std::max(std::min(game.now->first - 1, game.then->first), 0);
    const int last = std::min(std::max(game.now->last + 1, game.then->last), blocks - 1);
    for (int word = 0; word < words; ++word) {
        const int end = std::min((last + 1) * kLanes + 1, rows + 1);
        for (int row = first * kLanes; row <= end; row += kLanes)
            store(game.live.row[word] + row, load(units[0].row[word] + row) | load(units[1].row[word] + row) |
                                                 load(neutral.row[word] + row));
    }
    add_up(words, first, last, game.live, game.all);
    for (int side = 0; side < 2; ++side) add_up(words, first, last, units[side], game.mine[side]);
    Words changed = every(0);
    game.then->first = blocks, game.then->last = -1;
    for (int word = 0; word < words; ++word) {
        const Words own = every(world.board.own(word));
        for (int block = first; block <= last; ++block) {
            const int row = block * kLanes + 1;
            const Words a = load(units[0].row[word] + row), b = load(units[1].row[word] + row);
            const Words c = load(neutral.row[word] + row), d = load(killed.row[word] + row);
            const Counts n = counted(game.all, game.live, word, row, width, words);
            const Counts na = counted(game.mine[0], units[0], word, row, width, words);
            const Counts nb = counted(game.mine[1], units[1], word, row, width, words);
            const Words middle = n.twos & ~n.fours & own & ~load(game.water.row[word] + row);
            const Words some_a = na.ones | na.twos, some_b = nb.ones | nb.twos;
            const Words more_a = na.twos | (na.ones & ~some_b), more_b = nb.twos | (nb.ones & ~some_a);
            const Words born = middle & n.ones & ~(a | b | c | d), nobodys = ~(some_a | some_b);
            Words turning = born | (middle & c), free = middle & c & ~(more_a | more_b);
            Words beats_a = more_b, beats_b = more_a;
            if (world.neutral_rules & kBirths) free = free | (born & nobodys);
            if (holding) {
                turning = born;
                free = free | (middle & c);
            }
            if (holding && world.neutral_rules & kAttack) {  // two or three neutral ones of two or three, and they hold, too
                const Words more = nobodys | (n.ones & ~(na.twos | nb.twos | (na.ones & nb.ones)));
                beats_a = beats_a | more;
                beats_b = beats_b | more;
                free = free | (born & more);
                turning = born & ~more;
            }
            const Words dying_a = middle & a & beats_a, dying_b = middle & b & beats_b;
            const Words saved_a = dying_a & load(game.wards[0].row[word] + row);
            const Words saved_b = dying_b & load(game.wards[1].row[word] + row);
            Words after[4];
            after[0] = (turning & more_a) | (middle & a & ~beats_a) | saved_a;
            after[1] = (turning & more_b) | (middle & b & ~beats_b) | saved_b;
            after[2] = free;
            after[3] = (dying_a & ~saved_a) | (dying_b & ~saved_b) | (middle & d & nobodys);
            Words any = every(0);
            for (int kind = 0; kind < 4; ++kind) {
                uint64_t* to = next[kind].row[word] + row;
                if (row + kLanes > rows + 1) {  // of the last rows some lie beyond the board
                    uint64_t inside[kLanes];
                    store(inside, after[kind]);
                    for (int lane = rows + 1 - row; lane < kLanes; ++lane) inside[lane] = 0;
                    after[kind] = load(inside);
                }
                changed = changed | (after[kind] ^ load(to));
                any = any | after[kind];
                store(to, after[kind]);
            }
            if (some_bits(any)) {
                game.then->first = std::min(game.then->first, block);
                game.then->last = std::max(game.then->last, block);
            }
        }
    }
    game.swinging = game.follows && !some_bits(changed);  // the next generation is that before this one
    game.follows = true;
    std::swap(game.now, game.then);
}

void live_on(const World& world, Round& game) {
    world.neutral_rules & kHold ? live_with<true>(world, game) : live_with<false>(world, game);
}

}  // namespace
}  // namespace CELLGAMES_NAMESPACE
