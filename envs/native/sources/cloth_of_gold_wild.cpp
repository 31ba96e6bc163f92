// Wild options of Cloth of Gold: `envs/cloth_of_gold_wild/borders.py` and the generations of its `rounds.py`.
//
// Games are played one after the other, on boards of their own: a word of all rows stands together, with an empty row
// above and one below, so that a step up or down is a step in memory and loops over rows become vectors.
#include <cstring>

#include "cloth_of_gold.h"
#include "threefry.h"

namespace {

using namespace cellgames;
using namespace cellgames::cloth;

constexpr int kWords = 8, kRows = 256 + 2 + 8, kCluster = 4, kWays = 16, kMostBuffer = 64;
constexpr int kStages = 4, kEvery = 4, kPeriod = 16, kMoves = 8, kLattice = 1 << 12, kFar = 12, kFarGrazer = 6, kSeen = 3,
              kMargin = kFar + 1;
constexpr uint32_t kNoise = 20, kFire = 18;  // streams of random bits

inline int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

struct Plane {
    uint64_t row[kWords][kRows];  // row r of the world is row r + 1; a vector may go on beyond the last one
};

// How boards of one world are read, written and looked at.
struct World {
    const Board& board;
    int rows, cols, words, width;
    int64_t neutral_rules;

    explicit World(const Board& board_, int64_t neutral_rules_ = 0)
        : board(board_), rows(board_.rows), cols(board_.cols), words(board_.words), width(board_.width),
          neutral_rules(neutral_rules_) {}

    void read(const uint64_t* from, int64_t place, Plane& out) const {
        for (int word = 0; word < words; ++word) {
            out.row[word][0] = 0;
            std::fill(out.row[word] + rows + 1, out.row[word] + kRows, uint64_t{0});
            for (int row = 0; row < rows; ++row) out.row[word][row + 1] = from[board.at(row, word) + place];
        }
    }
    void write(const Plane& plane, uint64_t* to, int64_t place) const {
        for (int word = 0; word < words; ++word) {
            for (int row = 0; row < rows; ++row) to[board.at(row, word) + place] = plane.row[word][row + 1];
            to[board.at(rows, word) + place] = 0;
        }
    }
    void clear(Plane& plane) const {
        for (int word = 0; word < words; ++word) std::memset(plane.row[word], 0, sizeof plane.row[word]);
    }
    // Bits of `count` columns, at most 32, from a column on, which may lie beyond the edges; nothing is there.
    uint64_t bits(const Plane& plane, int row, int first, int count) const {
        if (row < 0 || row >= rows) return 0;
        uint64_t out = 0;
        for (int word = 0; word < words; ++word) {
            const int at = word * width - first;
            if (at >= count || at <= -width) continue;
            const uint64_t here = plane.row[word][row + 1];
            out |= at >= 0 ? here << at : here >> -at;
        }
        return out & low_bits(count);
    }
    bool at(const Plane& plane, int row, int col) const {
        return plane.row[col / width][row + 1] >> (col % width) & 1;
    }
    void set(Plane& plane, int row, int col) const { plane.row[col / width][row + 1] |= uint64_t{1} << (col % width); }
    // Set columns from `first` to `last`, both on the board.
    void fill(Plane& plane, int row, int first, int last) const {
        for (int word = first / width; word <= last / width; ++word) {
            const int from = std::max(first - word * width, 0), to = std::min(last - word * width, width - 1);
            plane.row[word][row + 1] |= low_bits(to - from + 1) << from;
        }
    }
};

// --- terrain ---------------------------------------------------------------------------------------------------------

// The first half of a map of noise, stretched to 0 to 255: `noise_map`.
CELLGAMES_DISPATCH
void make_half(int rows, int cols, int64_t seed, uint32_t purpose, std::vector<int>& total) {
    static const int octaves[3][2] = {{32, 4}, {16, 2}, {8, 1}};  // periods and weights
    const int half = (rows * cols + 1) / 2;
    std::vector<int> lattice, line, part(static_cast<size_t>(cols)), from(static_cast<size_t>(cols));
    std::fill(total.begin(), total.end(), 0);
    for (int octave = 0; octave < 3; ++octave) {
        const int period = octaves[octave][0], weight = octaves[octave][1];
        const int across = (cols - 1) / period + 2, down = (rows - 1) / period + 2;
        lattice.resize(static_cast<size_t>(across * down)), line.resize(static_cast<size_t>(across));
        for (int at = 0; at < across * down; ++at)
            lattice[at] = draw(seed, purpose, static_cast<uint32_t>(octave * kLattice + at)) & 0xFF;
        for (int col = 0; col < cols; ++col) part[col] = col % period * 256 / period, from[col] = col / period;
        for (int row = 0; row * cols < half; ++row) {
            const int low = row % period * 256 / period, *above = lattice.data() + row / period * across;
            for (int at = 0; at < across; ++at) line[at] = above[at] * (256 - low) + above[at + across] * low;
            int* out = total.data() + row * cols;
            for (int col = 0; col < cols; ++col) {
                const int left = line[from[col]], right = line[from[col] + 1];
                out[col] += weight * ((left * (256 - part[col]) + right * part[col]) >> 16);
            }
        }
    }
    int low = 255, high = 0;
    for (int at = 0; at < half; ++at) {
        total[at] /= 7;
        low = std::min(low, total[at]), high = std::max(high, total[at]);
    }
    int stretched[256];
    for (int value = low; value <= high; ++value) stretched[value - low] = (value - low) * 255 / std::max(high - low, 1);
    for (int at = 0; at < half; ++at) total[at] = stretched[total[at] - low];
}

// Find the cells of one world whose codes are among some, which are set bits.
CELLGAMES_DISPATCH
void find_codes(const Board& board, const uint8_t* ground, uint64_t codes, uint64_t* out, int64_t place) {
    for (int word = 0; word < board.words; ++word) {
        const int first = word * board.width, count = std::min(board.width, board.cols - first);
        for (int row = 0; row < board.rows; ++row) {
            const uint8_t* const code = ground + row * board.cols + first;
            uint64_t found = 0;
            for (uint64_t bit = 0; bit < static_cast<uint64_t>(count); ++bit) found |= (codes >> code[bit] & 1) << bit;
            out[board.at(row, word) + place] = found;
        }
        out[board.at(board.rows, word) + place] = 0;
    }
}

// --- borders ---------------------------------------------------------------------------------------------------------

// Spread the zones of one board of units.
void make_zones(const World& world, Plane units, int buffer, Plane& out) {
    static const int ways[kWays][2] = {{-2, -1}, {-2, 1}, {-1, -2}, {-1, -1}, {-1, 0}, {-1, 1}, {-1, 2}, {0, -1},
                                       {0, 1},   {1, -2}, {1, -1},  {1, 0},   {1, 1},  {1, 2},  {2, -1}, {2, 1}};
    int half[kMostBuffer + 1];
    for (int down = 0; down <= buffer; ++down) {
        half[down] = 0;
        while (down * down + (half[down] + 1) * (half[down] + 1) <= buffer * buffer) ++half[down];
    }
    world.clear(out);
    std::vector<std::pair<int, int>> group;
    constexpr int side = 2 * kCluster + 1;
    for (int row = 0; row < world.rows; ++row)
        for (int word = 0; word < world.words; ++word)
            while (units.row[word][row + 1]) {
                int bit = 0;
                while (!(units.row[word][row + 1] >> bit & 1)) ++bit;
                units.row[word][row + 1] &= units.row[word][row + 1] - 1;
                group.assign(1, {row, word * world.width + bit});
                for (size_t member = 0; member < group.size(); ++member) {
                    const auto [middle, col] = group[member];
                    for (int other = std::max(middle - kCluster, 0);
                         other <= std::min(middle + kCluster, world.rows - 1); ++other) {
                        uint64_t near = world.bits(units, other, col - kCluster, side);
                        for (int offset = 0; near; near >>= 1, ++offset)
                            if (near & 1) {
                                const int found = col - kCluster + offset;
                                units.row[found / world.width][other + 1] &= ~(uint64_t{1} << (found % world.width));
                                group.emplace_back(other, found);
                            }
                    }
                }
                int most[kWays], top = world.rows, bottom = -1;
                std::fill(most, most + kWays, -(1 << 20));
                for (const auto& [down, right] : group) {
                    top = std::min(top, down), bottom = std::max(bottom, down);
                    for (int way = 0; way < kWays; ++way)
                        most[way] = std::max(most[way], ways[way][0] * down + ways[way][1] * right);
                }
                for (int line = top; line <= bottom; ++line) {
                    int first = 0, last = world.cols - 1;
                    for (int way = 0; way < kWays; ++way) {
                        const int room = most[way] - ways[way][0] * line, right = ways[way][1];
                        if (right > 0) last = std::min(last, floor_div(room, right));
                        if (right < 0) first = std::max(first, -floor_div(room, -right));
                    }
                    if (first > last) continue;
                    for (int down = -buffer; down <= buffer; ++down) {
                        const int to = line + down, wide = half[down < 0 ? -down : down];
                        if (to < 0 || to >= world.rows) continue;
                        world.fill(out, to, std::max(first - wide, 0), std::min(last + wide, world.cols - 1));
                    }
                }
            }
}

// --- perks -----------------------------------------------------------------------------------------------------------

constexpr int kKinds = 7, kLargest = 8, kWard = 2;

// The forms of still lifes as 4 x 4 squares of bits, by kind, in the order of `perks.LIVES`.
struct Forms {
    std::vector<std::pair<uint16_t, int>> known;

    Forms(const int64_t* squares, int64_t count) {
        for (int64_t form = 0; form < count; ++form)
            known.emplace_back(static_cast<uint16_t>(squares[2 * form]), static_cast<int>(squares[2 * form + 1]));
    }
    int kind(uint16_t square) const {
        for (const auto& [form, kind] : known)
            if (form == square) return kind;
        return -1;
    }
};

// Count the still lifes of one board: numbers [2, kinds], points [2, kinds], and wards of both players.
void count_lives(const World& world, const Forms& forms, const Plane* units, Plane live, const Plane& forest,
                 const Plane& barren, int32_t* numbers, int32_t* points, Plane* wards) {
    std::vector<std::pair<int, int>> group;
    for (int row = 0; row < world.rows; ++row)
        for (int word = 0; word < world.words; ++word)
            while (const uint64_t left = live.row[word][row + 1]) {
                int bit = 0;
                while (!(left >> bit & 1)) ++bit;
                live.row[word][row + 1] &= left - 1;
                group.assign(1, {row, word * world.width + bit});
                for (size_t member = 0; member < group.size(); ++member) {
                    const auto [middle, col] = group[member];
                    for (int other = middle - 1; other <= middle + 1; ++other)
                        for (int found = std::max(col - 1, 0); found <= std::min(col + 1, world.cols - 1); ++found)
                            if (other >= 0 && other < world.rows && world.at(live, other, found)) {
                                live.row[found / world.width][other + 1] &= ~(uint64_t{1} << (found % world.width));
                                group.emplace_back(other, found);
                            }
                }
                if (group.size() > kLargest) continue;
                int first = world.cols, owned = 0, rich = 0, last_row = row, last_col = 0;
                const int side = world.at(units[1], group[0].first, group[0].second);
                bool poor = false;
                for (const auto& [r, c] : group) {
                    first = std::min(first, c), last_row = std::max(last_row, r), last_col = std::max(last_col, c);
                    owned += world.at(units[side], r, c), rich += world.at(forest, r, c);
                    poor |= world.at(barren, r, c);
                }
                const int size = static_cast<int>(group.size());
                if (owned < size || last_row - row > 3 || last_col - first > 3) continue;
                uint16_t square = 0;
                for (const auto& [r, c] : group) square |= static_cast<uint16_t>(1 << (4 * (r - row) + c - first));
                const int kind = forms.kind(square);
                if (kind < 0) continue;
                ++numbers[side * kKinds + kind];
                if (poor) continue;
                points[side * kKinds + kind] += rich == size ? 2 : 1;
                if (kind < kKinds - 2) continue;  // tubs and ponds, the last kinds, ward
                for (const auto& [r, c] : group)
                    for (int down = std::max(r - kWard, 0); down <= std::min(r + kWard, world.rows - 1); ++down)
                        world.fill(wards[side], down, std::max(c - kWard, 0), std::min(c + kWard, world.cols - 1));
            }
}

// --- a round ---------------------------------------------------------------------------------------------------------

// Columns of three cells, the middle one among them or not, for the counts of neighbours: `Grid.neighbour_counts`.
struct Columns {
    Plane ones, column, pair;
};

// What changes in a generation: a's and b's units, neutral and killed cells.
struct Cells {
    Plane plane[4];
    int first, last;  // of the blocks of rows, each a vector's, outside of which all cells are empty
};

// Everything of one game in a round. `then` is one generation before or after `now`, or out of date.
struct Round {
    Cells boards[2];
    Cells* now = &boards[0];
    Cells* then = &boards[1];
    Plane wards[2], water, wood, stage[kStages], burnt, live;  // `live`: what a step needs
    Columns all, mine[2];
    int first_fire, last_fire;  // rows of the world outside of which nothing burns; none burns if the last is less
    bool swinging = false;  // `then` is also the next generation
    bool follows = false;   // `now` is the generation after `then`, and nothing else has changed it
};

}  // namespace

#define CELLGAMES_BODY "cloth_of_gold_wild.h"
#include "each_target.h"

namespace {

// Empty the 3 x 3 around a cell, and light unburnt forest in it.
void strike(const World& world, Round& game, int row, int col) {
    game.swinging = game.follows = false;
    game.first_fire = std::max(std::min(game.first_fire, row - 1), 0);
    game.last_fire = std::min(std::max(game.last_fire, row + 1), world.rows - 1);
    for (int r = std::max(row - 1, 0); r <= std::min(row + 1, world.rows - 1); ++r)
        for (int c = std::max(col - 1, 0); c <= std::min(col + 1, world.cols - 1); ++c) {
            const int word = c / world.width;
            const uint64_t bit = uint64_t{1} << (c % world.width);
            for (Plane& plane : game.now->plane) plane.row[word][r + 1] &= ~bit;
            bool burning = false;
            for (const Plane& stage : game.stage) burning |= (stage.row[word][r + 1] & bit) != 0;
            if (!burning && game.wood.row[word][r + 1] & ~game.water.row[word][r + 1] & ~game.burnt.row[word][r + 1] & bit)
                game.stage[kStages - 1].row[word][r + 1] |= bit;
        }
}

// Find the rows in which something burns, among those that may; false if there is none.
bool find_fire(const World& world, Round& game) {
    const int first = game.first_fire, last = game.last_fire;
    game.first_fire = world.rows, game.last_fire = -1;
    for (int row = first; row <= last; ++row) {
        uint64_t all = 0;
        for (const Plane& stage : game.stage)
            for (int word = 0; word < world.words; ++word) all |= stage.row[word][row + 1];
        if (all) game.first_fire = std::min(game.first_fire, row), game.last_fire = row;
    }
    return game.last_fire >= 0;
}

// A generation of fire; false if nothing burns.
bool burn(const World& world, Round& game, Plane& burning, Plane& caught, int64_t seed, int number, uint32_t below) {
    if (!find_fire(world, game)) return false;
    // Fire reaches one row further; words of `Plane`, in which row r of the world is row r + 1.
    const int first = std::max(game.first_fire, 1), last = std::min(game.last_fire + 2, world.rows);
    for (int word = 0; word < world.words; ++word) {
        for (int row = first - 1; row <= last + 1; ++row) {
            uint64_t all = 0;
            for (const Plane& stage : game.stage) all |= stage.row[word][row];
            burning.row[word][row] = all;
        }
        std::fill(caught.row[word] + first, caught.row[word] + last + 1, uint64_t{0});
    }
    for (int word = 0; word < world.words; ++word)
        for (int row = first; row <= last; ++row) {
            const uint64_t here = burning.row[word][row];
            uint64_t beside = burning.row[word][row - 1] | burning.row[word][row + 1] | here << 1 | here >> 1;
            if (word) beside |= burning.row[word - 1][row] >> (world.width - 1);
            if (word + 1 < world.words) beside |= burning.row[word + 1][row] << (world.width - 1);
            beside &= game.wood.row[word][row] & ~game.water.row[word][row] & ~game.burnt.row[word][row] &
                      ~burning.row[word][row];
            for (int bit = 0; beside; beside >>= 1, ++bit) {
                const int cell = (row - 1) * world.cols + word * world.width + bit;
                const int64_t counter = int64_t{number} * world.rows * world.cols + cell;
                if ((beside & 1) && (draw(seed, kFire, static_cast<uint32_t>(counter)) & 0xFF) < below)
                    caught.row[word][row] |= uint64_t{1} << bit;
            }
        }
    game.first_fire = first - 1, game.last_fire = last - 1;
    for (int word = 0; word < world.words; ++word)
        for (int row = first; row <= last; ++row) {
            game.burnt.row[word][row] |= game.stage[0].row[word][row];
            for (int stage = 0; stage + 1 < kStages; ++stage)
                game.stage[stage].row[word][row] = game.stage[stage + 1].row[word][row];
            game.stage[kStages - 1].row[word][row] = caught.row[word][row];
            const uint64_t hot = burning.row[word][row] | caught.row[word][row];
            uint64_t killed = game.now->plane[2].row[word][row] & hot;
            game.now->plane[2].row[word][row] ^= killed;
            for (int side = 0; side < 2; ++side) {
                uint64_t& units = game.now->plane[side].row[word][row];
                killed |= units & hot & ~game.wards[side].row[word][row];
                units &= ~hot | game.wards[side].row[word][row];
            }
            if (killed) game.swinging = game.follows = false;
        }
    return true;
}

// Animals of one game: `Wildlife`.
struct Animals {
    int numbers[3];  // of each kind
    int32_t* place;
    int32_t tamed[2];
    int64_t seed, move, known;  // known: whose noise the lattice has
    int across;
    std::vector<uint8_t> lattice;

    void renew(const World& world) {
        if (known == move / kMoves) return;
        known = move / kMoves;
        across = (world.cols - 1) / kPeriod + 2;
        lattice.resize(static_cast<size_t>(across * ((world.rows - 1) / kPeriod + 2)));
        for (size_t at = 0; at < lattice.size(); ++at)
            lattice[at] = static_cast<uint8_t>(draw(seed, kNoise, static_cast<uint32_t>(known * kLattice + at)));
    }
    int noise(int row, int col) const {
        const int down = row % kPeriod * 256 / kPeriod, right = col % kPeriod * 256 / kPeriod;
        const uint8_t* at = lattice.data() + row / kPeriod * across + col / kPeriod;
        const int upper = at[0] * (256 - right) + at[1] * right;
        const int lower = at[across] * (256 - right) + at[across + 1] * right;
        return (upper * (256 - down) + lower * down) >> 16;
    }
};

void act(const World& world, Round& game, Animals& animals, bool fire) {
    animals.renew(world);
    ++animals.move;
    const int count = animals.numbers[0] + animals.numbers[1] + animals.numbers[2];
    for (int word = 0; word < world.words; ++word)
        for (int row = 1; row <= world.rows; ++row)
            game.live.row[word][row] = game.now->plane[0].row[word][row] | game.now->plane[1].row[word][row];
    for (int number = 0; number < count; ++number) {
        if (animals.place[number] < 0) continue;
        const int kind = number < animals.numbers[0] ? 0 : number < animals.numbers[0] + animals.numbers[1] ? 1 : 2;
        const int row = animals.place[number] / world.cols, col = animals.place[number] % world.cols;
        bool woken = kind == 1;
        for (int down = -kSeen; kind == 2 && down <= kSeen; ++down)
            woken |= world.bits(game.live, row + down, col - kSeen, 2 * kSeen + 1) != 0;
        const int limit = kind == 0 ? kFarGrazer : woken ? kFar : 0;  // distances from here on are alike
        uint64_t seen[2 * kMargin + 1], any = 0;                      // units around, by rows
        for (int down = -limit; limit && down <= limit; ++down)
            any |= seen[down + kMargin] = world.bits(game.live, row + down, col - kMargin, 2 * kMargin + 1);
        int far_off[3][3];  // the distance of each cell around to the nearest unit
        for (int down = -1; down <= 1; ++down) {
            int* const off = far_off[down + 1];
            off[0] = off[1] = off[2] = limit;
            uint64_t all = 0;
            for (int far = 0, left = 3; any && left && far < limit; ++far) {
                all |= seen[kMargin + down - far] | seen[kMargin + down + far];
                for (int right = 0; right < 3; ++right)
                    if (off[right] == limit && all & low_bits(2 * far + 1) << (kMargin - 1 + right - far))
                        off[right] = far, --left;
            }
        }
        int best = -1, best_worth = 0;
        for (int down = -1; down <= 1; ++down)
            for (int right = -1; right <= 1; ++right) {
                const int r = row + down, c = col + right, cell = r * world.cols + c;
                if (r < 0 || r >= world.rows || c < 0 || c >= world.cols || world.at(game.water, r, c)) continue;
                bool free = true;
                for (int stage = 0; fire && stage < kStages; ++stage) free &= !world.at(game.stage[stage], r, c);
                for (int other = 0; other < count; ++other) free &= other == number || animals.place[other] != cell;
                if (!free) continue;
                int worth = animals.noise(r, c);
                if (kind == 0) worth += 64 * far_off[down + 1][right + 1];
                if (woken) worth -= 64 * far_off[down + 1][right + 1];
                if (best < 0 || worth > best_worth) best = cell, best_worth = worth;
            }
        if (best >= 0) animals.place[number] = best;
        const int at_row = animals.place[number] / world.cols, at_col = animals.place[number] % world.cols;
        int around[2] = {0, 0};
        for (int side = 0; side < 2; ++side)
            for (int down = -1; down <= 1; ++down)
                for (uint64_t left = world.bits(game.now->plane[side], at_row + down, at_col - 1, 3); left; left &= left - 1)
                    ++around[side];
        if (kind == 0) {
            for (int side = 0; side < 2; ++side)
                if (around[side] >= 2 && !around[1 - side]) ++animals.tamed[side], animals.place[number] = -1;
        } else if (woken && around[0] + around[1] >= 4) {
            animals.place[number] = -1;
        } else if (woken && around[0] + around[1] > 0) {
            game.swinging = game.follows = false;
            for (int r = std::max(at_row - 1, 0); r <= std::min(at_row + 1, world.rows - 1); ++r)
                for (int c = std::max(at_col - 1, 0); c <= std::min(at_col + 1, world.cols - 1); ++c)
                    for (Plane* plane : {&game.now->plane[0], &game.now->plane[1], &game.live})
                        plane->row[c / world.width][r + 1] &= ~(uint64_t{1} << (c % world.width));
        }
    }
}

}  // namespace

// Make the ground of new worlds: codes, uint8 [worlds, rows, cols], of seeds, int64 [worlds].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_ground(int64_t rows, int64_t cols, int64_t worlds, int64_t threads,
                                                     const int64_t* seeds, uint8_t* out) {
    constexpr uint32_t kHeights = 17, kMoisture = 18;
    constexpr int lowest = 48, band_height = 8, bands = 7, rock_height = 208, forest_moisture = 140, rock = 15;
    const int height = static_cast<int>(rows), width = static_cast<int>(cols), cells = height * width;
    uint8_t codes[2][256];  // without and with forest, by height
    for (int high = 0; high < 256; ++high) {
        const int band = high < lowest ? 0 : std::min((high - lowest) / band_height + 1, bands);
        for (int forest = 0; forest < 2; ++forest)
            codes[forest][high] = static_cast<uint8_t>(high >= rock_height ? rock : band ? 2 * band - 1 + forest : 0);
    }
    in_parallel(worlds, std::min(threads, worlds), [&](int64_t from, int64_t to) {
        std::vector<int> heights(static_cast<size_t>(cells)), moisture(static_cast<size_t>(cells));
        for (int64_t place = from; place < to; ++place) {
            make_half(height, width, seeds[place], kHeights, heights);
            make_half(height, width, seeds[place], kMoisture, moisture);
            uint8_t* ground = out + place * cells;
            for (int at = 0; at < (cells + 1) / 2; ++at)
                ground[at] = ground[cells - 1 - at] = codes[moisture[at] >= forest_moisture][heights[at]];
        }
    });
}

// Find the cells whose codes are among those of their world. ground: uint8 [worlds, rows, cols]; codes: int64 [worlds], a
// bit for each code; out: int64 [rows + 1, words, worlds].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_codes(int64_t rows, int64_t cols, int64_t worlds, int64_t threads,
                                                    const uint8_t* ground, const uint64_t* codes, uint64_t* out) {
    const Board board(rows, cols, worlds);
    in_parallel(worlds, std::min(threads, worlds / 16 + 1), [&](int64_t from, int64_t to) {
        for (int64_t place = from; place < to; ++place)
            find_codes(board, ground + place * rows * cols, codes[place], out, place);
    });
}

// Find the zones of boards of one side's units: int64 [rows + 1, words, worlds] both; buffer: int32 [worlds].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_zones(int64_t rows, int64_t cols, int64_t worlds, int64_t threads,
                                                    const uint64_t* units, const int32_t* buffer, uint64_t* out) {
    const Board board(rows, cols, worlds);
    in_parallel(worlds, std::min(threads, worlds / 16 + 1), [&](int64_t from, int64_t to) {
        const World world(board);
        std::vector<Plane> planes(2);
        for (int64_t place = from; place < to; ++place) {
            world.read(units, place, planes[0]);
            make_zones(world, planes[0], buffer[place], planes[1]);
            world.write(planes[1], out, place);
        }
    });
}

// Count still lifes. boards: int64 [5, rows + 1, words, worlds], a's and b's units, neutral cells, forest, barren
// ground; forms: int64 [count, 2], squares of bits and kinds; numbers, points: int32 [worlds, 2, 7] of zeros; wards:
// int64 [2, rows + 1, words, worlds].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_lives(int64_t rows, int64_t cols, int64_t worlds, int64_t count,
                                                    int64_t threads, const uint64_t* boards, const int64_t* forms,
                                                    int32_t* numbers, int32_t* points, uint64_t* wards) {
    const Board board(rows, cols, worlds);
    const Forms known(forms, count);
    in_parallel(worlds, std::min(threads, worlds / 16 + 1), [&](int64_t from, int64_t to) {
        const World world(board);
        std::vector<Plane> planes(8);
        for (int64_t place = from; place < to; ++place) {
            for (int at = 0; at < 5; ++at) world.read(boards + at * board.plane(), place, planes[at]);
            Plane& live = planes[5];
            for (int word = 0; word < world.words; ++word)
                for (int row = 0; row < kRows; ++row)
                    live.row[word][row] = planes[0].row[word][row] | planes[1].row[word][row] | planes[2].row[word][row];
            for (int side = 0; side < 2; ++side) world.clear(planes[6 + side]);
            const int64_t at = place * 2 * kKinds;
            count_lives(world, known, &planes[0], live, planes[3], planes[4], numbers + at, points + at, &planes[6]);
            for (int side = 0; side < 2; ++side) world.write(planes[6 + side], wards + side * board.plane(), place);
        }
    });
}

// Play the generations of a round. boards: int64 [13, rows + 1, words, worlds], changed in place: a's and b's units,
// neutral and killed cells, wards of both, water, forest, burning cells by generations left (4), burnt cells.
// seeds: int64 [3, worlds]: of the rounds, of the games, and the number of the round's first move; below: int32
// [worlds], in 256ths; strikes: int64 [2, worlds, 6], generations and cells; animals: int32 [worlds, count], changed in
// place; kinds: int64 [3], how many of each; tamed: int64 [worlds, 2], written.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_wild(int64_t rows, int64_t cols, int64_t worlds, int64_t generations,
                                                   int64_t neutral_rules, int64_t threads, uint64_t* boards,
                                                   const int64_t* seeds, const int32_t* below, const int64_t* strikes,
                                                   int32_t* animals, const int64_t* kinds, int64_t* tamed) {
    constexpr int count = 9 + kStages, kStrikes = 6;
    const Board board(rows, cols, worlds);
    const int64_t plane = board.plane();
    in_parallel(worlds, std::min(threads, worlds), [&](int64_t from, int64_t to) {
        const World world(board, neutral_rules);
        std::vector<Round> one(1);
        std::vector<Plane> fires(2);
        Round& game = one[0];
        Plane* const given[count - 4] = {&game.wards[0], &game.wards[1], &game.water,    &game.wood, &game.stage[0],
                                         &game.stage[1], &game.stage[2], &game.stage[3], &game.burnt};
        Animals wildlife;
        int64_t number_of_animals = 0;
        for (int kind = 0; kind < 3; ++kind) {
            wildlife.numbers[kind] = static_cast<int>(kinds[kind]);
            number_of_animals += kinds[kind];
        }
        for (int64_t place = from; place < to; ++place) {
            for (int at = 0; at < 4; ++at) {
                world.read(boards + at * plane, place, game.now->plane[at]);
                world.clear(game.then->plane[at]);
            }
            game.now->first = game.then->last = 0, game.then->first = 0;
            game.now->last = world.rows;  // at least that of the last block
            for (int at = 4; at < count; ++at) world.read(boards + at * plane, place, *given[at - 4]);
            game.swinging = game.follows = false;
            wildlife.place = animals + place * number_of_animals;
            wildlife.seed = seeds[worlds + place], wildlife.move = seeds[2 * worlds + place], wildlife.known = -1;
            wildlife.tamed[0] = wildlife.tamed[1] = 0;
            game.first_fire = 0, game.last_fire = world.rows - 1;
            bool fire = find_fire(world, game);
            const int64_t *when = strikes + place * kStrikes, *where = when + worlds * kStrikes;
            for (int number = 1; number <= generations; ++number) {
                if (game.swinging)
                    std::swap(game.now, game.then);  // both are known
                else
                    CELLGAMES_CHOSEN(live_on)(world, game);
                // All cells that lightning hits in a generation are emptied, and lit, at once: the order plays no part.
                for (int bolt = 0; bolt < kStrikes; ++bolt)
                    if (when[bolt] == number) {
                        strike(world, game, static_cast<int>(where[bolt] / cols), static_cast<int>(where[bolt] % cols));
                        fire = true;
                    }
                if (fire)
                    fire = burn(world, game, fires[0], fires[1], seeds[place], number,
                                static_cast<uint32_t>(below[place]));
                if (number_of_animals && number % kEvery == 0) act(world, game, wildlife, fire);
            }
            for (int at = 0; at < 4; ++at) world.write(game.now->plane[at], boards + at * plane, place);
            for (int at = 8; at < count; ++at) world.write(*given[at - 4], boards + at * plane, place);
            for (int side = 0; side < 2; ++side) tamed[2 * place + side] = wildlife.tamed[side];
        }
    });
}
