// Steps and observations of the Toroidal Cup: `step`, `init`, `legal_actions` and `observe` of `envs/toroidal_cup`.
#include <algorithm>

#include "random.h"
#include "threefry.h"

// Plays games to their ends: toroidal_cup.cpp.
CELLGAMES_EXPORT void cellgames_toroidal_cup(int64_t games, int64_t rows, int64_t cols, int64_t teams,
                                             int64_t keep_colour, int64_t most, int64_t kept, int64_t longest,
                                             int64_t threads, double tolerance, const int64_t* keep,
                                             const int8_t* boards, int64_t* scores, int64_t* generations,
                                             uint8_t* truncated, int8_t* final, int8_t* photos, int32_t* trajectory);

namespace {

using namespace cellgames;

constexpr int64_t kOrientations = 8;
constexpr int64_t kGamesAThread = 64;

// A live cell of a stamp from the first lattice row and column of a band on: its row, wrapped; and its column, as the
// remainder by the stride and as the words and bits from one lattice position to another.
struct Spot {
    int32_t row, rest, words, bits;
};

// What a game's options say, as `native_step.py` writes it: sizes, and tables of `placement.py` and `dealing.py`.
struct Rules {
    int64_t rows, cols, teams, band, stride, longest, queue, margin, keep_colour, generations;
    int64_t patterns, draws, numbers, kinds, limit;
    double tolerance;
    const int64_t* footprints;  // [stamps][8][longest][2], rows and columns from the centre
    const Spot* spots;          // [stamps][8][longest]
    const bool* fits;           // [stamps][positions][8], of an empty band
    const float* sizes;         // [stamps], live cells
    const int64_t *ways, *number_of, *choices, *kind_of, *dealt;  // see `dealing.tables`, `dealing.dealt`

    int64_t cells() const { return rows * cols; }
    int64_t down() const { return rows / stride; }
    int64_t across() const { return band / stride; }
    int64_t actions() const { return down() * across() * kOrientations; }
};

// The fields of `CupState`, in their order. The games of rewards and scores lie next to each other.
struct State {
    int64_t* seed;
    int32_t* turn;
    const int64_t* player;
    float *rewards, *scores;
    const bool *terminated, *truncated;  // no game is over between steps
    int64_t* pattern;
    int8_t *queue, *start, *board;
    int32_t* generations;
};

// Words of a team's cells for `write_legal`: [row][rest][words], by lattice positions; zeros between calls.
class Bands {
  public:
    explicit Bands(const Rules& rules)
        : words((rules.band + rules.stride - 1) / rules.stride / 64 + 1), all(words + 2 * rules.margin),
          cells_(static_cast<size_t>(rules.rows * rules.stride * all)), met(static_cast<size_t>(words * kOrientations)) {}

    const uint64_t* at(const Rules& rules, int64_t row, int64_t rest) const {
        return cells_.data() + (row * rules.stride + rest) * all + rules.margin;
    }
    void put(const Rules& rules, int64_t row, int64_t col) {
        const int64_t position = col / rules.stride, rest = col % rules.stride;
        const int64_t word = (row * rules.stride + rest) * all + rules.margin + position / 64;
        cells_[static_cast<size_t>(word)] |= uint64_t{1} << position % 64;
        written_.push_back(word);
    }
    void clear() {
        for (const int64_t word : written_) cells_[static_cast<size_t>(word)] = 0;
        written_.clear();
    }

    const int64_t words, all;

  private:
    std::vector<uint64_t> cells_;
    std::vector<int64_t> written_;

  public:
    std::vector<uint64_t> met;  // [orientation][word]
};

// Turn a matrix of 8 x 8 bits, one byte a row (Hacker's Delight, section 7-3).
CELLGAMES_INLINE uint64_t transposed(uint64_t x) {
    uint64_t swap = (x ^ x >> 7) & 0x00AA00AA00AA00AA;
    x ^= swap ^ swap << 7;
    swap = (x ^ x >> 14) & 0x0000CCCC0000CCCC;
    x ^= swap ^ swap << 14;
    swap = (x ^ x >> 28) & 0x00000000F0F0F0F0;
    return x ^ swap ^ swap << 28;
}

// The eight bits of a byte as bytes, 0 or 1, the lowest in memory first on machines that store low bytes first.
CELLGAMES_INLINE uint64_t as_bytes(uint64_t octet) {
    const uint64_t bits = octet * 0x0101010101010101 & 0x8040201008040201;
    return (bits + 0x7F7F7F7F7F7F7F7F) >> 7 & 0x0101010101010101;
}

// Write the mask of a team that is to place a stamp: `placement.legal`.
CELLGAMES_INLINE void write_legal(const Rules& rules, Bands& bands, const int8_t* start, int64_t seat, int64_t stamp,
                                  uint8_t* mask) {
    if (stamp < 0) {
        std::fill_n(mask, rules.actions(), uint8_t{1});
        return;
    }
    for (int64_t row = 0; row < rules.rows; ++row) {
        const int8_t* line = start + row * rules.cols + seat * rules.band;
        int64_t col = 0;
        for (; col + 8 <= rules.band; col += 8) {
            if (eight_bytes(line + col) == 0) continue;
            for (int64_t at = col; at < col + 8; ++at)
                if (line[at] == seat + 1) bands.put(rules, row, at);
        }
        for (; col < rules.band; ++col)
            if (line[col] == seat + 1) bands.put(rules, row, col);
    }
    const int64_t words = bands.words, size = static_cast<int64_t>(rules.sizes[stamp]), across = rules.across();
    uint64_t* met = bands.met.data();
    const bool* fits = rules.fits + stamp * rules.actions();
    for (int64_t down = 0; down < rules.down(); ++down) {
        for (int64_t turn = 0; turn < kOrientations; ++turn) {
            uint64_t* found = met + turn * words;
            std::fill_n(found, words, uint64_t{0});
            const Spot* spots = rules.spots + (stamp * kOrientations + turn) * rules.longest;
            for (int64_t cell = 0; cell < size; ++cell) {
                const Spot& spot = spots[cell];
                int64_t row = spot.row + down * rules.stride;
                if (row >= rules.rows) row -= rules.rows;
                const uint64_t* from = bands.at(rules, row, spot.rest) + spot.words;
                for (int64_t word = 0; word < words; ++word)
                    found[word] |= from[word] >> spot.bits | from[word + 1] << 1 << (63 - spot.bits);
            }
        }
        for (int64_t first = 0; first < across; first += 8) {
            uint64_t turns = 0;
            for (int64_t turn = 0; turn < kOrientations; ++turn)
                turns |= (met[turn * words + first / 64] >> first % 64 & 0xFF) << 8 * turn;
            turns = ~transposed(turns);
            for (int64_t at = first; at < std::min(first + 8, across); ++at, turns >>= 8) {
                const uint64_t legal = as_bytes(turns & 0xFF) & eight_bytes(fits + at * kOrientations);
                std::memcpy(mask + at * kOrientations, &legal, sizeof legal);
            }
        }
        mask += across * kOrientations;
        fits += across * kOrientations;
    }
    bands.clear();
}

// Draw the pattern and the shapes of a game and deal them: `dealing.deal`.
void deal(const Rules& rules, int64_t seed, int64_t* pattern, int8_t* queue) {
    constexpr uint32_t kPattern = 16, kNumber = 17, kStamp = 18;
    const int64_t found = *pattern = uniform_int(draw(seed, kPattern), static_cast<uint32_t>(rules.patterns));
    int64_t count = 0;
    for (int64_t at = 0; at < rules.draws; ++at) {
        const auto ways = static_cast<uint32_t>(rules.ways[found * rules.draws + at]);
        const int64_t way = uniform_int(draw(seed, kNumber, static_cast<uint32_t>(at)), ways);
        count += rules.number_of[(found * rules.draws + at) * rules.numbers + way];
    }
    count = std::min(count, rules.limit) * rules.teams;
    const int64_t places = rules.teams * rules.queue;
    std::vector<int8_t> sorted(static_cast<size_t>(places), int8_t{-1});
    for (int64_t at = 0; at < count; ++at) {  // the largest first, equal ones as they are drawn
        const auto choices = static_cast<uint32_t>(rules.choices[found]);
        const int64_t kind = uniform_int(draw(seed, kStamp, static_cast<uint32_t>(at)), choices);
        const auto stamp = static_cast<int8_t>(rules.kind_of[found * rules.kinds + kind]);
        int64_t place = at;
        for (; place > 0 && rules.sizes[sorted[static_cast<size_t>(place - 1)]] < rules.sizes[stamp]; --place)
            sorted[static_cast<size_t>(place)] = sorted[static_cast<size_t>(place - 1)];
        sorted[static_cast<size_t>(place)] = stamp;
    }
    for (int64_t at = 0; at < places; ++at) queue[at] = sorted[static_cast<size_t>(rules.dealt[at])];
}

// What a step is given, and what it gives.
struct Given {
    const int64_t* given;  // actions [games][teams], or bits for them [teams][games]
    bool random;
    uint8_t* mask;
    int64_t* actions;  // written if they are drawn, [teams][games]
    float* rewards;    // [teams][games]
    bool *terminated, *truncated;
};

// Place the next shape of each team in some games.
CELLGAMES_DISPATCH
void place(const Rules& rules, const State& state, const Given& step, int64_t games, int64_t from, int64_t to) {
    const int64_t actions = rules.actions(), across = rules.across(), first = rules.stride / 2;
    std::vector<uint8_t> counts(static_cast<size_t>(actions / 64 + 1));
    for (int64_t game = from; game < to; ++game) {
        ++state.turn[game];
        step.terminated[game] = step.truncated[game] = false;
        for (int64_t seat = 0; seat < rules.teams; ++seat) {
            const int64_t team = game * rules.teams + seat, other = seat * games + game;
            int64_t action = step.random ? random_legal(step.mask + team * actions, actions, step.given[other], counts.data())
                                         : step.given[team];
            if (step.random) step.actions[other] = action;
            action = std::min(std::max(action, int64_t{0}), actions - 1);  // of unchecked ones
            int8_t* queue = state.queue + team * rules.queue;
            const int64_t stamp = std::max(queue[0], int8_t{0});
            const int64_t position = action / kOrientations, size = static_cast<int64_t>(rules.sizes[stamp]);
            const int64_t* cells =
                rules.footprints + (stamp * kOrientations + action % kOrientations) * rules.longest * 2;
            for (int64_t cell = 0; cell < size; ++cell, cells += 2) {
                const int64_t row = first + position / across * rules.stride + cells[0];
                const int64_t col = seat * rules.band + first + position % across * rules.stride + cells[1];
                const int64_t at = game * rules.cells() + (row % rules.rows + rules.rows) % rules.rows * rules.cols +
                                   (col % rules.cols + rules.cols) % rules.cols;
                state.start[at] = state.board[at] = static_cast<int8_t>(seat + 1);
            }
            std::memmove(queue, queue + 1, static_cast<size_t>(rules.queue - 1));
            queue[rules.queue - 1] = -1;
            step.rewards[other] = state.rewards[other] = 0.0f;
            state.scores[other] += rules.sizes[stamp];
        }
    }
}

// Play Life in games whose last shapes are placed, and reward the teams.
void live(const Rules& rules, const State& state, const Given& step, int64_t games, int64_t threads,
          const std::vector<int64_t>& ended) {
    const auto count = static_cast<int64_t>(ended.size());
    const int64_t cells = rules.cells();
    std::vector<int8_t> starts(static_cast<size_t>(count * cells)), ends(starts.size());
    std::vector<int64_t> scores(static_cast<size_t>(count * rules.teams)), generations(ended.size());
    std::vector<uint8_t> truncated(ended.size());
    for (int64_t at = 0; at < count; ++at)
        std::copy_n(state.start + ended[static_cast<size_t>(at)] * cells, cells, starts.data() + at * cells);
    cellgames_toroidal_cup(count, rules.rows, rules.cols, rules.teams, rules.keep_colour, rules.generations, 0, 0,
                           threads, rules.tolerance, nullptr, starts.data(), scores.data(), generations.data(),
                           truncated.data(), ends.data(), nullptr, nullptr);
    for (size_t at = 0; at < ended.size(); ++at) {
        const int64_t game = ended[at], *own = scores.data() + at * static_cast<size_t>(rules.teams);
        const int64_t most = *std::max_element(own, own + rules.teams);
        const bool level = std::count(own, own + rules.teams, most) > 1;
        for (int64_t seat = 0; seat < rules.teams; ++seat)
            step.rewards[seat * games + game] = level ? 0.0f : own[seat] == most ? 1.0f : -1.0f;
        step.terminated[game] = !truncated[at];
        step.truncated[game] = truncated[at] != 0;
    }
}

// Begin the next game of an env: `ToroidalCup._init`.
void restart(const Rules& rules, const State& state, int64_t games, int64_t game) {
    state.seed[game] = next_seed(state.seed[game]);
    state.turn[game] = state.generations[game] = 0;
    deal(rules, state.seed[game], state.pattern + game, state.queue + game * rules.teams * rules.queue);
    std::fill_n(state.start + game * rules.cells(), rules.cells(), int8_t{0});
    std::fill_n(state.board + game * rules.cells(), rules.cells(), int8_t{0});
    for (int64_t seat = 0; seat < rules.teams; ++seat) state.scores[seat * games + game] = 0.0f;
}

CELLGAMES_DISPATCH
void write_masks(const Rules& rules, const int8_t* start, const int8_t* queue, uint8_t* mask, int64_t from, int64_t to) {
    Bands bands(rules);
    for (int64_t team = from * rules.teams; team < to * rules.teams; ++team)
        write_legal(rules, bands, start + team / rules.teams * rules.cells(), team % rules.teams,
                    queue[team * rules.queue], mask + team * rules.actions());
}

// What observations are made of: see `observation.planes`.
struct Scene {
    int64_t rows, cols, teams, band, queue, stamps, seats;
    const int8_t *board, *waiting, *drawings;  // [games][rows][cols], [games][teams][queue], [stamps + 1][rows][cols]
    const int64_t* seat;                       // [games][seats]
};

template <class Number>
CELLGAMES_INLINE void write(const Scene& scene, Number* out, int64_t from, int64_t to) {
    const int64_t rows = scene.rows, cols = scene.cols, size = rows * cols, teams = scene.teams;
    out += from * scene.seats * (teams + 2) * size;
    for (int64_t at = from * scene.seats; at < to * scene.seats; ++at) {
        const int64_t game = at / scene.seats, seat = scene.seat[at], first = seat * scene.band % cols;
        for (int64_t place = 0; place < teams; ++place) {
            const auto owner = static_cast<int8_t>((seat + place) % teams + 1);
            const int8_t* line = scene.board + game * size;
            for (int64_t row = 0; row < rows; ++row, line += cols) {
                for (int64_t col = first; col < cols; ++col) *out++ = static_cast<Number>(line[col] == owner);
                for (int64_t col = 0; col < first; ++col) *out++ = static_cast<Number>(line[col] == owner);
            }
        }
        const int8_t* own = scene.waiting + (game * teams + seat) * scene.queue;
        const int8_t* drawing = scene.drawings + (own[0] < 0 ? scene.stamps : own[0]) * size;
        for (int64_t cell = 0; cell < size; ++cell) out[cell] = static_cast<Number>(drawing[cell]);
        const auto left = std::count_if(own, own + scene.queue, [](int8_t stamp) { return stamp >= 0; });
        std::fill(out + size, out + 2 * size, static_cast<Number>(left));
        out += 2 * size;
    }
}

CELLGAMES_DISPATCH
void write_bytes(const Scene& scene, int8_t* out, int64_t from, int64_t to) { write(scene, out, from, to); }

CELLGAMES_DISPATCH
void write_floats(const Scene& scene, float* out, int64_t from, int64_t to) { write(scene, out, from, to); }

}  // namespace

// Play a step of all games and begin those anew that end; the mask of legal actions, bytes [games][teams][actions], is
// overwritten. rules: `Rules`; fields: the addresses of `State`; the rest: `Given`.
CELLGAMES_EXPORT void cellgames_toroidal_cup_step(const void* rules, const void* fields, int64_t games, int64_t threads,
                                                  int64_t random, const int64_t* given, uint8_t* mask, int64_t* actions,
                                                  float* rewards, bool* terminated, bool* truncated) {
    const Rules& game = *static_cast<const Rules*>(rules);
    const State& state = *static_cast<const State*>(fields);
    const Given step{given, random != 0, mask, actions, rewards, terminated, truncated};
    const int64_t parts = std::min(threads, games / kGamesAThread + 1);
    in_parallel(games, parts, [&](int64_t from, int64_t to) { place(game, state, step, games, from, to); });
    std::vector<int64_t> ended;
    for (int64_t at = 0; at < games; ++at)
        if (state.queue[at * game.teams * game.queue] < 0) ended.push_back(at);
    if (!ended.empty()) live(game, state, step, games, threads, ended);
    for (const int64_t at : ended) restart(game, state, games, at);
    in_parallel(games, parts, [&](int64_t from, int64_t to) {
        write_masks(game, state.start, state.queue, mask, from, to);
    });
}

// Write what seats see, int8 [games][seats][teams + 2][rows][cols], or float32; see `Scene`.
CELLGAMES_EXPORT void cellgames_toroidal_cup_seen(int64_t games, int64_t threads, int64_t rows, int64_t cols,
                                                  int64_t teams, int64_t band, int64_t queue, int64_t stamps,
                                                  int64_t seats, int64_t floats, const int8_t* board,
                                                  const int8_t* waiting, const int8_t* drawings, const int64_t* seat,
                                                  void* out) {
    const Scene scene{rows, cols, teams, band, queue, stamps, seats, board, waiting, drawings, seat};
    in_parallel(games, std::min(threads, games / kGamesAThread + 1), [&](int64_t from, int64_t to) {
        floats ? write_floats(scene, static_cast<float*>(out), from, to)
               : write_bytes(scene, static_cast<int8_t*>(out), from, to);
    });
}
