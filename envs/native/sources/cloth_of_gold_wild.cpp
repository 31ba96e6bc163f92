// Wild options of Cloth of Gold: `envs/cloth_of_gold_wild/borders.py`, `rounds.py` and what these call.
//
// Games are played one after the other, on boards of their own: a word of all rows stands together, with an empty row
// above and one below, so that a step up or down is a step in memory and loops over rows become vectors.
#include <array>
#include <cstring>
#include <memory>

#include "cloth_of_gold.h"
#include "threefry.h"

namespace {

using namespace cellgames;
using namespace cellgames::cloth;

constexpr int kWords = 8, kRows = 256 + 2 + 8, kCluster = 4, kWays = 16;
constexpr int kStages = 4, kOthers = 5 + kStages, kEvery = 4, kPeriod = 16, kMovesLog = 3, kLattice = 1 << 12;
constexpr int kFar = 12, kFarGrazer = 6, kSeen = 3,
              kMargin = kFar + 1;
constexpr uint32_t kHeights = 17, kMoisture = 18, kAnimals = 19, kNoise = 20, kRounds = 21;  // streams of a game's seed
constexpr uint32_t kWeather = 16, kStrikes = 17, kFire = 18, kRegrowth = 19;                 // of a round's seed
constexpr int kBolts = 6;  // of lightning in a round of storm
constexpr int kLowest = 48, kLevel = 64, kHighest = 96, kLevelStep = 8;  // of water
enum Weather { kCalm, kDry, kRain, kStorm };

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
    int32_t count(const Plane& plane) const {
        int32_t found = 0;
        for (int word = 0; word < words; ++word)
            for (int row = 1; row <= rows; ++row) found += count_bits(plane.row[word][row]);
        return found;
    }
    // Add all neighbours of the cells.
    void widen(Plane& plane) const {
        const Plane before = plane;
        for (int row = 0; row < rows; ++row)
            for (int col = 0; col < cols; ++col)
                for (int down = -1; down <= 1; ++down)
                    if (bits(before, row + down, col - 1, 3)) set(plane, row, col);
    }
    bool at(const Plane& plane, int row, int col) const {
        return plane.row[col / width][row + 1] >> (col % width) & 1;
    }
    void clear(Plane& plane, int row, int col) const {
        plane.row[col / width][row + 1] &= ~(uint64_t{1} << (col % width));
    }
    void set(Plane& plane, int row, int col) const { plane.row[col / width][row + 1] |= uint64_t{1} << (col % width); }
    // Set columns from `first` to `last`, both on the board.
    void fill(Plane& plane, int row, int first, int last) const {
        for (int word = words == 1 ? 0 : first / width; word < words && word * width <= last; ++word) {
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

// Makes the ground of worlds: `terrain.make_ground`.
class Ground {
  public:
    Ground(int rows, int cols)
        : rows_(rows), cols_(cols), heights_(static_cast<size_t>(rows * cols)), moisture_(heights_.size()) {
        constexpr int bands = 7, rock_height = 208, rock = 15;
        for (int high = 0; high < 256; ++high) {
            const int band = high < kLowest ? 0 : std::min((high - kLowest) / kLevelStep + 1, bands);
            for (int forest = 0; forest < 2; ++forest)
                codes_[forest][high] = static_cast<uint8_t>(high >= rock_height ? rock : band ? 2 * band - 1 + forest : 0);
        }
    }
    void make(int64_t seed, uint8_t* ground) {
        constexpr int forest_moisture = 140;
        make_half(rows_, cols_, seed, kHeights, heights_);
        make_half(rows_, cols_, seed, kMoisture, moisture_);
        const int cells = rows_ * cols_;
        for (int at = 0; at < (cells + 1) / 2; ++at)
            ground[at] = ground[cells - 1 - at] = codes_[moisture_[at] >= forest_moisture][heights_[at]];
    }

  private:
    int rows_, cols_;
    std::vector<int> heights_, moisture_;
    uint8_t codes_[2][256];  // without and with forest, by height
};

// The codes that are under water at a level: `terrain.water_on`.
inline uint64_t under_water(int level) { return (uint64_t{2} << 2 * ((level - kLowest) / kLevelStep)) - 1; }

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

// Spread the zone of the cluster of a unit at (row, col), and take its units off the board.
void spread_zone(const World& world, Plane& units, int row, int col, int buffer, Plane& out) {
    static const int ways[kWays][2] = {{-2, -1}, {-2, 1}, {-1, -2}, {-1, -1}, {-1, 0}, {-1, 1}, {-1, 2}, {0, -1},
                                       {0, 1},   {1, -2}, {1, -1},  {1, 0},   {1, 1},  {1, 2},  {2, -1}, {2, 1}};
    static thread_local std::vector<Plane> room(1);
    Plane& fresh = room[0];  // units of the cluster whose neighbours are not known; none between calls
    int most[kWays], top = row, bottom = row;
    std::fill(most, most + kWays, -(1 << 20));
    world.set(fresh, row, col), world.clear(units, row, col);
    for (bool more = true; more;) {
        more = false;
        for (int middle = top; middle <= bottom; ++middle) {
            uint64_t wide[kWords + 2] = {};  // a word on either side is of no column
            int leftmost = world.cols, rightmost = -1;
            for (int word = 0; word < world.words; ++word) {
                const uint64_t here = fresh.row[word][middle + 1];
                if (!here) continue;
                fresh.row[word][middle + 1] = 0;
                leftmost = std::min(leftmost, word * world.width + lowest_bit64(here));
                rightmost = word * world.width + highest_bit64(here);
                wide[word + 1] |= here;
                for (int by = 1; by <= kCluster; ++by) {
                    wide[word + 1] |= here << by | here >> by;
                    wide[word] |= here << (world.width - by), wide[word + 2] |= here >> (world.width - by);
                }
            }
            if (rightmost < 0) continue;
            for (int way = 0; way < kWays; ++way) {
                const int far = ways[way][1] > 0 ? rightmost : leftmost;
                most[way] = std::max(most[way], ways[way][0] * middle + ways[way][1] * far);
            }
            for (int other = std::max(middle - kCluster, 0); other <= std::min(middle + kCluster, world.rows - 1); ++other)
                for (int word = 0; word < world.words; ++word) {
                    const uint64_t found = wide[word + 1] & units.row[word][other + 1];
                    if (!found) continue;
                    units.row[word][other + 1] ^= found, fresh.row[word][other + 1] |= found;
                    top = std::min(top, other), bottom = std::max(bottom, other), more = true;
                }
        }
    }
    for (int line = top; line <= bottom; ++line) {
        int first = 0, last = world.cols - 1;
        for (int way = 0; way < kWays; ++way) {
            const int room = most[way] - ways[way][0] * line, right = ways[way][1];
            if (right > 0) last = std::min(last, room >> (right - 1));  // 1 or 2 columns: a shift rounds down
            if (right < 0) first = std::max(first, -(room >> (-right - 1)));
        }
        if (first > last) continue;
        for (int down = 0, wide = buffer; down <= buffer; ++down) {
            while (down * down + wide * wide > buffer * buffer) --wide;
            const int from = std::max(first - wide, 0), to = std::min(last + wide, world.cols - 1);
            if (line - down >= 0) world.fill(out, line - down, from, to);
            if (line + down < world.rows) world.fill(out, line + down, from, to);
        }
    }
}

// --- perks -----------------------------------------------------------------------------------------------------------

constexpr int kKinds = 7, kLargest = 8, kWard = 2, kMostWider = 2;

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

// Count the still lifes of one board: numbers, points, and those that earn some, [2, kinds] each, and wards of both
// players. `live` is emptied.
void count_lives(const World& world, const Forms& forms, const Plane* units, Plane& live, const Plane& forest,
                 const Plane& barren, int32_t* numbers, int32_t* points, int32_t* earning, Plane* wards) {
    std::vector<std::pair<int, int>> group;
    for (int row = 0; row < world.rows; ++row)
        for (int word = 0; word < world.words; ++word)
            while (const uint64_t left = live.row[word][row + 1]) {
                live.row[word][row + 1] &= left - 1;
                group.assign(1, {row, word * world.width + lowest_bit64(left)});
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
                ++earning[side * kKinds + kind];
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
    Plane wards[2], water, wood, rock, stage[kStages], burnt, live;  // `live`: what a step needs
    Columns all, mine[2];
    int first_fire, last_fire;  // rows of the world outside of which nothing burns; none burns if the last is less
    bool swinging = false;  // `then` is also the next generation
    bool follows = false;   // `now` is the generation after `then`, and nothing else has changed it

    // The boards besides those of `Cells`, of which a round changes the last ones, fire.
    std::array<Plane*, kOthers> others() {
        return {&wards[0], &wards[1], &water, &wood, &stage[0], &stage[1], &stage[2], &stage[3], &burnt};
    }
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

    int count() const { return numbers[0] + numbers[1] + numbers[2]; }
    void begin(int32_t* place_, int64_t seed_, int64_t move_) {
        place = place_, seed = seed_, move = move_, known = INT64_MIN;
        tamed[0] = tamed[1] = 0;
    }
    void renew(const World& world) {
        const int64_t now = move >> kMovesLog;  // rounded down, as before the first round, too
        if (known == now) return;
        known = now;
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
    const int count = animals.count();
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

// Plays rounds of one game after the other.
struct Player {
    std::vector<Round> room{1};
    std::vector<Plane> fires{2};
    Round& game = room[0];
    Animals animals;

    // Play the generations of a round; `game` and `animals` hold its boards and animals. `when` and `where`: the
    // generations and cells of lightning.
    void play(const World& world, int64_t generations, int64_t seed, uint32_t below, const int64_t* when,
              const int64_t* where) {
        for (Plane& plane : game.then->plane) world.clear(plane);
        game.now->first = game.then->last = 0, game.then->first = 0;
        game.now->last = world.rows;  // at least that of the last block
        game.swinging = game.follows = false;
        game.first_fire = 0, game.last_fire = world.rows - 1;
        bool fire = find_fire(world, game);
        for (int number = 1; number <= generations; ++number) {
            if (game.swinging)
                std::swap(game.now, game.then);  // both are known
            else
                CELLGAMES_CHOSEN(live_on)(world, game);
            // All cells that lightning hits in a generation are emptied, and lit, at once: the order plays no part.
            for (int bolt = 0; bolt < kBolts; ++bolt)
                if (when[bolt] == number) {
                    strike(world, game, static_cast<int>(where[bolt] / world.cols), static_cast<int>(where[bolt] % world.cols));
                    fire = true;
                }
            if (fire) fire = burn(world, game, fires[0], fires[1], seed, number, below);
            if (animals.count() && number % kEvery == 0) act(world, game, animals, fire);
        }
    }
};

// Put fires out at the beginning of a round: `weather.put_out`.
void put_out(const World& world, Round& game, int64_t seed, bool rain) {
    for (int word = 0; word < world.words; ++word)
        for (int row = 1; row <= world.rows; ++row) {
            const uint64_t wet = rain ? ~uint64_t{0} : game.water.row[word][row];
            uint64_t& burnt = game.burnt.row[word][row];
            for (Plane& stage : game.stage) burnt |= stage.row[word][row] & wet, stage.row[word][row] &= ~wet;
            uint64_t grown = rain ? burnt & game.wood.row[word][row] & ~game.water.row[word][row] : 0;
            for (int col = word * world.width; grown; grown >>= 1, ++col)
                if (grown & 1 && (draw(seed, kRegrowth, static_cast<uint32_t>((row - 1) * world.cols + col)) & 0xFF) < 64)
                    burnt &= ~(uint64_t{1} << (col - word * world.width));
        }
}

// Count the still lifes after a round, and what they earn: `perks.count_still_lifes`, `WildRound.counted`.
void count_perks(const World& world, const Forms& forms, const WildRules& rules, const WildState& state, Player& player,
                 int64_t place) {
    Round& game = player.game;
    Plane &barren = player.fires[0], &forest = player.fires[1], *wards = game.wards, *cells = game.now->plane;
    for (int word = 0; word < world.words; ++word)
        for (int row = 0; row <= world.rows + 1; ++row) {
            const uint64_t burnt = rules.weather ? game.burnt.row[word][row] : 0;
            forest.row[word][row] = rules.terrain ? game.wood.row[word][row] & ~game.water.row[word][row] & ~burnt : 0;
            barren.row[word][row] = (rules.terrain ? game.rock.row[word][row] : 0) | burnt;
            game.live.row[word][row] = cells[0].row[word][row] | cells[1].row[word][row] | cells[2].row[word][row];
        }
    int32_t points[2][kKinds] = {}, earning[2][kKinds] = {}, *lives = state.lives + place * 2 * kKinds;
    std::fill(lives, lives + 2 * kKinds, 0);
    for (int side = 0; side < 2; ++side) world.clear(wards[side]);
    count_lives(world, forms, cells, game.live, forest, barren, lives, points[0], earning[0], wards);
    for (int side = 0; side < 2; ++side) {
        const auto sums = [](const int32_t* of) {
            return std::array<int, 4>{of[0] + of[1], of[2], of[5] + of[6], of[3] + of[4]};
        };
        const auto all = sums(earning[side]);
        const int sets = rules.combinations ? *std::min_element(all.begin(), all.end()) : 0;
        for (int wider = 0; wider < std::min(sets, kMostWider); ++wider) world.widen(wards[side]);
        const auto [supply, reach, warding, spells] = sums(points[side]);
        const int64_t at = 2 * place + side;
        state.supply[at] = supply + sets + player.animals.tamed[side];
        state.reach[at] = std::min((reach + sets) / 2, kMostReach);
        state.spells[at] = std::min(state.spells[at] + (spells + sets) / 2, 3);
        world.write(wards[side], state.wards + side * world.board.plane(), place);
    }
}

// The seed of a game's round: `terrain.round_seed`.
inline int64_t round_seed(const WildState& state, int64_t game) {
    return static_cast<int64_t>(draw_63(state.seed[game], kRounds, static_cast<uint32_t>(state.round[game])));
}

// Put the animals of a new game on free cells: `wildlife.place_animals`.
void place_animals(const Board& board, const WildRules& rules, const WildState& state, int64_t place) {
    const int64_t count = rules.number_of_animals();
    std::vector<int32_t> free;
    std::vector<int64_t> taken;  // places among all free cells, ascending
    for (int row = 0; count && row < board.rows; ++row)
        for (int col = 0; col < board.cols; ++col) {
            const int64_t at = board.at(row, col / board.width) + place;
            const uint64_t full = state.neutral[at] | (rules.terrain ? state.water[at] : 0);
            if (!(full >> (col % board.width) & 1)) free.push_back(row * board.cols + col);
        }
    for (int64_t number = 0; number < count; ++number) {
        const int64_t left = std::max<int64_t>(static_cast<int64_t>(free.size()) - number, 0);
        int64_t rank = uniform_int(draw(state.seed[place], kAnimals, static_cast<uint32_t>(number)), static_cast<uint32_t>(left));
        for (const int64_t other : taken) rank += other <= rank;
        state.animals[place * count + number] = left ? free[static_cast<size_t>(rank)] : -1;
        if (left) taken.insert(std::upper_bound(taken.begin(), taken.end(), rank), rank);
    }
}

}  // namespace

namespace cellgames::cloth {

void find_zones(const Board& board, const uint64_t* units, int64_t buffer, uint64_t* zones, int64_t place, int64_t cell) {
    static thread_local std::vector<Plane> planes(2);
    const World world(board);
    const int around = static_cast<int>(buffer);
    Plane &left = planes[0], &found = planes[1];
    world.read(units, place, left);
    if (cell >= 0) {
        world.read(zones, place, found);
        spread_zone(world, left, static_cast<int>(cell / board.cols), static_cast<int>(cell % board.cols), around, found);
    } else {
        world.clear(found);
        for (int row = 0; row < world.rows; ++row)
            for (int word = 0; word < world.words; ++word)
                while (const uint64_t here = left.row[word][row + 1])
                    spread_zone(world, left, row, word * world.width + lowest_bit64(here), around, found);
    }
    world.write(found, zones, place);
}

// `weather.draw_weather`.
void draw_weather(const WildState& state, int64_t game) {
    static const int below[4][3] = {{96, 160, 224}, {64, 176, 208}, {80, 112, 224}, {96, 128, 224}};  // of 256
    const int byte = draw(round_seed(state, game), kWeather) & 0xFF;
    int32_t& weather = state.weather[game];
    weather = static_cast<int32_t>(std::count_if(below[weather], below[weather] + 3, [&](int end) { return byte >= end; }));
}

void play_wild_rounds(const Board& board, const WildRules& rules, const WildState& state,
                      const std::vector<int64_t>& games) {
    const World world(board, rules.neutral_rules);
    const Forms forms(rules.forms[0], rules.number_of_forms);
    const int64_t plane = board.plane();
    static thread_local std::unique_ptr<Player> known;
    if (!known) known = std::make_unique<Player>();
    Player& player = *known;
    std::copy(rules.animals, rules.animals + 3, player.animals.numbers);
    Round& game = player.game;
    for (const int64_t place : games) {
        const int64_t seed = round_seed(state, place);
        const int32_t weather = rules.weather ? state.weather[place] : kCalm;
        uint64_t* const given[4] = {state.units, state.units + plane, state.neutral, state.killed};
        uint64_t *others[kOthers] = {}, *rock = nullptr;
        if (rules.perks) others[0] = state.wards, others[1] = state.wards + plane;
        if (rules.terrain) others[2] = state.water, others[3] = state.land, rock = state.land + plane;
        for (int at = 0; rules.weather && at <= kStages; ++at) others[4 + at] = state.fire + at * plane;
        if (rules.weather) {
            int32_t& level = state.level[place];
            const int way = weather == kRain ? 1 : weather == kDry ? -1 : (level < kLevel) - (level > kLevel);
            level = std::clamp(level + way * kLevelStep, kLowest, kHighest);
            find_codes(board, state.ground + place * board.cells(), under_water(level), state.water, place);
        }
        for (int at = 0; at < 4; ++at) world.read(given[at], place, game.now->plane[at]);
        for (int at = 0; at < kOthers; ++at) {
            Plane& other = *game.others()[at];
            others[at] ? world.read(others[at], place, other) : world.clear(other);
        }
        if (rock) world.read(rock, place, game.rock);
        int64_t when[kBolts] = {}, where[kBolts] = {};
        if (rules.weather) put_out(world, game, seed, weather == kRain);
        for (uint32_t bolt = 0; weather == kStorm && bolt < kBolts; ++bolt) {
            when[bolt] = uniform_int(draw(seed, kStrikes, 2 * bolt), static_cast<uint32_t>(rules.generations)) + 1;
            where[bolt] = uniform_int(draw(seed, kStrikes, 2 * bolt + 1), static_cast<uint32_t>(board.cells()));
        }
        player.animals.begin(state.animals + place * player.animals.count(), state.seed[place],
                             (state.round[place] - 1) * (rules.generations / kEvery));
        player.play(world, rules.generations, seed, weather == kDry ? 96 : 48, when, where);
        for (int at = 0; at < 4; ++at) world.write(game.now->plane[at], given[at], place);
        for (int at = 4; rules.weather && at < kOthers; ++at) world.write(*game.others()[at], others[at], place);
        for (int side = 0; side < 2; ++side) state.live[2 * place + side] = world.count(game.now->plane[side]);
        if (rules.perks) count_perks(world, forms, rules, state, player, place);
    }
}

// `rounds.start`.
void begin_wild(const Board& board, const WildRules& rules, const WildState& state, int64_t game) {
    const int64_t plane = board.plane(), worlds = board.worlds;
    const auto empty = [&](uint64_t* fields, int64_t planes) {
        for (int64_t at = game; at < planes * plane; at += worlds) fields[at] = 0;
    };
    if (rules.terrain) {
        static thread_local std::unique_ptr<Ground> maker;
        static thread_local int64_t size[2];
        if (!maker || size[0] != board.rows || size[1] != board.cols)
            maker = std::make_unique<Ground>(board.rows, board.cols), size[0] = board.rows, size[1] = board.cols;
        uint8_t* const ground = state.ground + game * board.cells();
        maker->make(state.seed[game], ground);
        find_codes(board, ground, 0x5554, state.land, game);  // forest: the even codes from 2 to 14
        find_codes(board, ground, 1 << 15, state.land + plane, game);
        find_codes(board, ground, under_water(kLevel), state.water, game);
        for (int64_t at = game; at < plane; at += worlds) state.neutral[at] &= ~state.water[at];
        state.level[game] = kLevel;
    }
    if (rules.weather) state.weather[game] = kCalm, empty(state.fire, 1 + kStages);
    if (rules.perks) {
        empty(state.wards, 2);
        std::fill(state.lives + 2 * kKinds * game, state.lives + 2 * kKinds * (game + 1), 0);
        for (int32_t* earned : {state.supply, state.reach, state.spells}) earned[2 * game] = earned[2 * game + 1] = 0;
    }
    place_animals(board, rules, state, game);
}

}  // namespace cellgames::cloth

// Write what players see of wild options and no field has: `observation.planes`. made: int64 [5, rows + 1, words, worlds],
// forest, burning cells, animals of each kind; seats: int64 [worlds]; numbers: int16 [worlds, all], from `first` on.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_wild_seen(const void* rules, const void* fields, int64_t worlds,
                                                        int64_t first, int64_t all, const int64_t* seats, uint64_t* made,
                                                        int16_t* numbers) {
    const WildRules& game = *static_cast<const WildRules*>(rules);
    const WildState& state = *static_cast<const WildState*>(fields);
    const Board board(game.rows, game.cols, worlds);
    const int64_t plane = board.plane(), count = game.number_of_animals();
    for (int64_t at = 0; game.terrain && at < plane; ++at) {
        made[at] = state.land[at] & ~state.water[at];
        if (!game.weather) continue;
        made[at] &= ~state.fire[kStages * plane + at];
        made[plane + at] = 0;
        for (int stage = 0; stage < kStages; ++stage) made[plane + at] |= state.fire[stage * plane + at];
    }
    if (count) std::fill(made + 2 * plane, made + 5 * plane, uint64_t{0});
    for (int64_t place = 0; place < worlds; ++place) {
        for (int64_t number = 0; number < count; ++number) {
            const int32_t cell = state.animals[place * count + number];
            const int64_t kind = (number >= game.animals[0]) + (number >= game.animals[0] + game.animals[1]);
            const int row = cell / board.cols, col = cell % board.cols;
            if (cell >= 0)
                made[(2 + kind) * plane + board.at(row, col / board.width) + place] |= uint64_t{1} << (col % board.width);
        }
        int16_t* out = numbers + place * all + first;
        for (int kind = 0; game.weather && kind < 4; ++kind) *out++ = state.weather[place] == kind;
        if (game.weather) *out++ = static_cast<int16_t>(state.level[place]);
        if (!game.perks) continue;
        for (const int32_t* earned : {state.supply, state.reach, state.spells})
            for (int64_t side : {seats[place], 1 - seats[place]}) *out++ = static_cast<int16_t>(earned[2 * place + side]);
    }
}

// Begin what the wild options add to new games. rules: `WildRules`; fields: the addresses of `WildState`, changed in place.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_wild_begin(const void* rules, const void* fields, int64_t worlds,
                                                         int64_t threads) {
    const WildRules& game = *static_cast<const WildRules*>(rules);
    const WildState& state = *static_cast<const WildState*>(fields);
    const Board board(game.rows, game.cols, worlds);
    in_parallel(worlds, std::min(threads, worlds), [&](int64_t from, int64_t to) {
        for (int64_t place = from; place < to; ++place) begin_wild(board, game, state, place);
    });
}

// Find the zones of boards of one side's units: int64 [rows + 1, words, worlds] both; buffer: int32 [worlds].
CELLGAMES_EXPORT void cellgames_cloth_of_gold_zones(int64_t rows, int64_t cols, int64_t worlds, int64_t threads,
                                                    const uint64_t* units, const int32_t* buffer, uint64_t* out) {
    const Board board(rows, cols, worlds);
    in_parallel(worlds, std::min(threads, worlds / 16 + 1), [&](int64_t from, int64_t to) {
        for (int64_t place = from; place < to; ++place) find_zones(board, units, buffer[place], out, place, -1);
    });
}

// Play the generations of a round in all games and count what it has made, but for territory. rules: `WildRules`; fields:
// the addresses of `WildState`, changed in place.
CELLGAMES_EXPORT void cellgames_cloth_of_gold_wild_live(const void* rules, const void* fields, int64_t worlds,
                                                        int64_t threads) {
    const WildRules& game = *static_cast<const WildRules*>(rules);
    const WildState& state = *static_cast<const WildState*>(fields);
    const Board board(game.rows, game.cols, worlds);
    in_parallel(worlds, std::min(threads, worlds), [&](int64_t from, int64_t to) {
        std::vector<int64_t> games;
        for (int64_t place = from; place < to; ++place) games.push_back(place);
        play_wild_rounds(board, game, state, games);
    });
}
