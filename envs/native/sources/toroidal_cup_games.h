// Games of the Toroidal Cup, of one instruction set: see toroidal_cup.cpp.
//
// Some games stand side by side, one in each lane of the vectors, and a lane whose game has ended takes the next one. A
// column of words takes over some columns of the words beside it (its halo), so that as many generations pass before
// words are exchanged again, and stays in the first cache meanwhile. After each such step the end is looked for.
#include "bits.h"

namespace CELLGAMES_NAMESPACE {

// The end of games, side by side: `envs/toroidal_cup/simulator.py`.
class EndRule {
  public:
    explicit EndRule(double tolerance) : tolerance_(tolerance), small_(tolerance * 100), half_(tolerance * 50) {}

    // Take the live cells of the next generation, of all teams and of each but the last. Return the lanes, as bits,
    // whose generation, int64 [lanes], fulfils the rule; 0 is for lanes without a game. What another game left in a
    // lane is never looked at, since nothing ends before generation 243.
    uint32_t look(const Words* counts, int teams, const int64_t* generation) {
        int32_t live[kLanes], last[kLanes], most[kLanes] = {}, level[kLanes] = {}, teams_left[kLanes] = {};
        for (int lane = 0; lane < kLanes; ++lane) live[lane] = last[lane] = static_cast<int32_t>(lanes(counts)[lane]);
        for (int team = 1; team <= teams; ++team) {
            for (int lane = 0; lane < kLanes; ++lane) {
                const int32_t cells = team < teams ? static_cast<int32_t>(lanes(counts + team)[lane]) : last[lane];
                last[lane] -= cells;
                level[lane] = cells == most[lane] || (cells < most[lane] && level[lane]);
                most[lane] = std::max(most[lane], cells);
                teams_left[lane] += cells > 0;
            }
        }
        ++now_;
        bool maybe = false;
        bool ripe[kLanes], small[kLanes];
        double* const share = at(0);
        const double* const before = at(kWindow);
        for (int lane = 0; lane < kLanes; ++lane) {
            share[lane] = static_cast<double>(most[lane]) * 100 / static_cast<double>(std::max(live[lane], 1));
            change_[now_ & 3][lane] = std::fabs(share[lane] - before[lane]) / kWindow;
            small[lane] = change_[now_ & 3][lane] <= small_;  // no average exceeds 100, so this is needed
            ripe[lane] = generation[lane] >= kFirstEnd && !level[lane] &&
                         (teams_left[lane] == 1 || (small[lane] && was_small_[lane]));
            maybe |= ripe[lane];
        }
        std::memcpy(was_small_, small, sizeof small);
        return maybe ? settled(ripe, teams_left) : 0;
    }

  private:
    static constexpr int kWindow = 240, kFirstEnd = 243, kKept = 256;
    double tolerance_, small_, half_;
    double shares_[kKept][kLanes] = {}, change_[4][kLanes] = {};
    bool was_small_[kLanes] = {};
    uint64_t now_ = 0;

    static const uint64_t* lanes(const Words* words) { return reinterpret_cast<const uint64_t*>(words); }
    double* at(int ago) { return shares_[(now_ - static_cast<uint64_t>(ago)) % kKept]; }

    // The average of the shares up to some generations ago, added in the order of `EndRule._averages`.
    void average(int ago, double* out) {
        constexpr int kPart = 16;
        for (int part = 0; part < kWindow; part += kPart) {
            double sum[kPart][kLanes];
            for (int i = 0; i < kPart; ++i) std::memcpy(sum[i], at(ago + kWindow - 1 - part - i), sizeof sum[i]);
            for (int apart = 1; apart < kPart; apart *= 2)
                for (int i = 0; i < kPart; i += 2 * apart)
                    for (int lane = 0; lane < kLanes; ++lane) sum[i][lane] += sum[i + apart][lane];
            for (int lane = 0; lane < kLanes; ++lane) out[lane] = part ? out[lane] + sum[0][lane] : sum[0][lane];
        }
        for (int lane = 0; lane < kLanes; ++lane) out[lane] /= kWindow;
    }

    uint32_t settled(const bool* ripe, const int32_t* teams_left) {
        double averages[3][kLanes];
        for (int ago = 0; ago < 3; ++ago) average(ago, averages[ago]);
        uint32_t done = 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            bool still = true;
            for (int ago = 0; ago < 3; ++ago) still &= !(std::fabs(averages[ago][lane] - 50) <= half_);
            for (uint64_t ago = 0; ago < 2; ++ago)
                still &= change_[(now_ - ago) & 3][lane] < tolerance_ * averages[ago + 1][lane];
            done |= uint32_t{ripe[lane] && (teams_left[lane] == 1 || still)} << lane;
        }
        return done;
    }
};

// Play generations in the words of one column, [row][plane]: the live cells, then those of each team but the last. Its
// row after the last one is scratch. Add the live cells of each generation to counts, [generation][plane].
template <int fixed_teams, bool keep>
CELLGAMES_INLINE void play_column(Words* cells, int rows, int some_teams, Words own, Words even, int generations,
                                  Words* counts) {
    constexpr int kMost = fixed_teams ? fixed_teams : cup::kMostTeams;
    const int teams = fixed_teams ? fixed_teams : some_teams;
    for (int generation = 0; generation < generations; ++generation, counts += teams) {
        Words* at = cells;
        Words now[kMost], single[kMost], later[kMost], found[kMost];
        Rows near[kMost];
        for (int plane = 0; plane < teams; ++plane) {
            now[plane] = at[plane];
            near[plane].above = across(at[(rows - 1) * teams + plane]);
            near[plane].here = across(now[plane]);
            at[rows * teams + plane] = now[plane];  // below the last row
            found[plane] = every(0);
        }
        Words first = even;
        for (int row = 0; row < rows; ++row, at += teams) {
            Words below[kMost];
            for (int plane = 0; plane < teams; ++plane) {
                below[plane] = at[teams + plane];
                near[plane].below = across(below[plane]);
            }
            const Nine nine(near[0]);
            const Words live = now[0], after = nine.next(live), ones = nine.ones ^ live;
            const auto put = [&](int plane, Words word) {
                at[plane] = word;
#if CELLGAMES_POPCNT
                found[plane] = found[plane] + ones_of(word & own);
#endif
            };
            put(0, after);
            // A team has the majority of two or three live neighbours if it has two of them. Nobody has it where two
            // teams have a single one; then in even row + column the first of them has it, in odd the last.
            if (fixed_teams == 2) {
                const Neighbours mine(near[1], now[1]);
                const Words inherit = mine.twos | (mine.ones & ~ones & first);
                put(1, after & (keep ? now[1] | (inherit & ~live) : inherit));
            } else {
                Words seen = every(0), twice = every(0), rest = ones, twos[kMost];
                for (int plane = 1; plane < teams; ++plane) {
                    const Neighbours mine(near[plane], now[plane]);
                    twos[plane] = mine.twos;
                    single[plane] = mine.ones;
                    rest = rest ^ mine.ones;
                    twice = twice | (seen & mine.ones);
                    seen = seen | mine.ones;
                }
                twice = twice | (seen & rest);
                for (int plane = teams - 1; plane > 0; --plane) {
                    later[plane] = rest;
                    rest = rest | single[plane];
                }
                Words earlier = every(0);
                for (int plane = 1; plane < teams; ++plane) {
                    const Words chosen = (first & ~earlier) | ~(first | later[plane]);
                    const Words inherit = twos[plane] | (twice & single[plane] & chosen);
                    put(plane, after & (keep ? now[plane] | (inherit & ~live) : inherit));
                    earlier = earlier | single[plane];
                }
            }
            first = ~first;
            for (int plane = 0; plane < teams; ++plane) {
                near[plane].next();
                now[plane] = below[plane];
            }
        }
        for (int plane = 0; plane < teams; ++plane) {
#if !CELLGAMES_POPCNT
            Counter counter{every(0), every(0), every(0), every(0)};
            const Words* next = cells + plane;
            for (int left = rows; left > 0; left -= 8) {
                Words eight[8];
                for (int row = 0; row < 8; ++row, next += teams) eight[row] = row < left ? *next & own : every(0);
                counter.add(eight);
            }
            found[plane] = counter.total();
#endif
            counts[plane] = counts[plane] + found[plane];
        }
    }
}

// The games of one thread.
template <int fixed_teams, bool keep>
class Slots {
  public:
    Slots(cup::Games& games, const cup::Torus& torus)
        : games_(games), torus_(torus), teams_(games.teams), column_((torus.rows + 1) * games.teams),
          room_(3 * column_ * torus.words() + torus.halo * teams_), now_(room_.begin()),
          next_(now_ + column_ * torus.words()), other_(next_ + column_ * torus.words()),
          counts_(other_ + column_ * torus.words()), rule_(games.tolerance) {
        std::fill_n(game_, kLanes, -1);
    }

    void play() {
        while (refill()) {
            exchange(now_, next_);
            advance(next_, torus_.halo);
            look();
            if (!events_.empty()) record();
            std::swap(now_, next_);
            for (int64_t& age : age_) age += torus_.halo;
        }
    }

  private:
    struct Event {
        int lane, passed;  // generations of the step
        int8_t* board;     // gets it
    };
    cup::Games& games_;
    const cup::Torus& torus_;
    const int teams_;
    const int64_t column_;
    Room room_;
    Words *now_, *next_, *other_, *counts_;
    EndRule rule_;
    std::vector<Event> events_;
    std::vector<int64_t> ended_;
    int64_t game_[kLanes], age_[kLanes] = {}, seen_[kLanes];  // -1 for none; its generations; its boards kept so far

    uint64_t& lane_word(Words* tile, int word, int row, int plane, int lane) const {
        return reinterpret_cast<uint64_t*>(tile + word * column_ + row * teams_ + plane)[lane];
    }

    // Put games into empty lanes; return whether any is being played.
    bool refill() {
        bool playing = false;
        for (int lane = 0; lane < kLanes; ++lane) {
            if (game_[lane] < 0 && games_.next < games_.count)
                if (const int64_t next = games_.next++; next < games_.count) enter(lane, next);
            playing |= game_[lane] >= 0;
        }
        return playing;
    }

    void enter(int lane, int64_t game) {
        game_[lane] = game;
        age_[lane] = 0;
        const int8_t* cells = games_.boards + game * torus_.cells();
        seen_[lane] = games_.kept && games_.keep[0] == 0;
        if (seen_[lane]) std::copy_n(cells, torus_.cells(), games_.photo(0, game));
        for (int64_t cell = 0; games_.trajectory && cell < torus_.cells(); ++cell)
            if (cells[cell]) ++games_.counts_at(game, 0)[cells[cell] - 1];
        for (int row = 0; row < torus_.rows; ++row, cells += torus_.cols) {
            for (int word = 0; word < torus_.words(); ++word) {
                const auto& column = torus_.columns[static_cast<size_t>(word)];
                for (int plane = 0; plane < teams_; ++plane) {
                    const uint64_t found = equal_bytes(cells + column.first, column.width, plane) << torus_.halo;
                    lane_word(now_, word, row, plane, lane) = plane ? found : found ^ column.own;
                }
            }
        }
    }

    // Write a board as bytes.
    void store(Words* tile, int lane, int8_t* cells) {
        uint64_t planes[cup::kMostTeams];
        for (int row = 0; row < torus_.rows; ++row, cells += torus_.cols) {
            for (int word = 0; word < torus_.words(); ++word) {
                const auto& column = torus_.columns[static_cast<size_t>(word)];
                for (int plane = 0; plane < teams_; ++plane)
                    planes[plane] = (lane_word(tile, word, row, plane, lane) & column.own) >> torus_.halo;
                put_bytes(cells + column.first, column.width, planes, teams_);
            }
        }
    }

    // Fill all words with their columns and halos.
    void exchange(const Words* from, Words* to) const {
        const auto count = static_cast<int64_t>(torus_.rows) * teams_;
        for (const auto& column : torus_.columns) {
            for (size_t part = 0; part < column.parts.size(); part += 3) {
                const auto &a = column.parts[part], &b = column.parts[part + 1], &c = column.parts[part + 2];
                const Words *const x = from + a.word * column_, *const y = from + b.word * column_,
                                  *const z = from + c.word * column_;
                const Words in_a = every(a.mask), in_b = every(b.mask), in_c = every(c.mask);
                for (int64_t at = 0; at < count; ++at) {
                    const Words before = part ? to[at] : every(0);
                    to[at] = before | (turned(x[at], a.turn) & in_a) | (turned(y[at], b.turn) & in_b) |
                             (turned(z[at], c.turn) & in_c);
                }
            }
            to += column_;
        }
    }

    void advance(Words* tile, int generations) const {
        for (int at = 0; at < generations * teams_; ++at) counts_[at] = every(0);
        for (const auto& column : torus_.columns) {
            play_column<fixed_teams, keep>(tile, torus_.rows, teams_, every(column.own), every(column.even), generations,
                                           counts_);
            tile += column_;
        }
    }

    // Look for ends in the step just played, and collect the boards that are asked for.
    void look() {
        events_.clear();
        ended_.clear();
        for (int passed = 1; passed <= torus_.halo; ++passed) {
            const Words* counts = counts_ + (passed - 1) * teams_;
            int64_t generation[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) generation[lane] = game_[lane] < 0 ? 0 : age_[lane] + passed;
            const uint32_t done = rule_.look(counts, teams_, generation);
            for (int lane = 0; lane < kLanes; ++lane) {
                const int64_t game = game_[lane];
                if (game < 0) continue;
                int64_t* scores = games_.scores + game * teams_;
                const bool over = done >> lane & 1;
                const bool stopped = over || generation[lane] == games_.most;
                if (stopped || games_.trajectory) {
                    count(counts, lane, scores);
                    if (games_.trajectory) std::copy_n(scores, teams_, games_.counts_at(game, generation[lane]));
                }
                if (stopped) {
                    games_.generations[game] = generation[lane];
                    games_.truncated[game] = !over;
                    events_.push_back({lane, passed, games_.final + game * torus_.cells()});
                    ended_.push_back(game);
                    game_[lane] = -1;
                } else if (seen_[lane] < games_.kept && games_.keep[seen_[lane]] == generation[lane]) {
                    events_.push_back({lane, passed, games_.photo(seen_[lane]++, game)});
                }
            }
        }
    }

    // Store boards of the step just played. Those inside of it are played again.
    void record() {
        int again = 0;
        for (const auto& event : events_) again = std::max(again, event.passed % torus_.halo);
        if (again) exchange(now_, other_);
        for (int passed = 1; passed <= again; ++passed) {
            advance(other_, 1);
            for (const auto& event : events_)
                if (event.passed == passed) store(other_, event.lane, event.board);
        }
        for (const auto& event : events_)
            if (event.passed == torus_.halo) store(next_, event.lane, event.board);
        for (const int64_t game : ended_) {
            const int64_t generations = games_.generations[game];
            for (int64_t at = games_.kept - 1; at >= 0 && games_.keep[at] >= generations; --at)
                std::copy_n(games_.final + game * torus_.cells(), torus_.cells(), games_.photo(at, game));
            for (int64_t later = generations + 1; games_.trajectory && later <= games_.longest; ++later)
                std::copy_n(games_.scores + game * teams_, teams_, games_.counts_at(game, later));
        }
    }

    // The live cells of each team in a lane.
    void count(const Words* counts, int lane, int64_t* cells) const {
        const auto* of = reinterpret_cast<const uint64_t*>(counts) + lane;
        cells[teams_ - 1] = static_cast<int64_t>(of[0]);
        for (int team = 0; team < teams_ - 1; ++team) {
            cells[team] = static_cast<int64_t>(of[(team + 1) * kLanes]);
            cells[teams_ - 1] -= cells[team];
        }
    }
};

template <int fixed_teams>
void play_slots(cup::Games& games, const cup::Torus& torus) {
    if (games.keep_colour)
        Slots<fixed_teams, true>(games, torus).play();
    else
        Slots<fixed_teams, false>(games, torus).play();
}

// Play games by so many threads, each of which takes from the queue.
inline void play(cup::Games& games, const cup::Torus& torus, int64_t threads) {
    threads = std::min(threads, (games.count + kLanes - 1) / kLanes);
    in_parallel(threads, threads, [&](int64_t, int64_t) {
        switch (games.teams) {
            case 2: return play_slots<2>(games, torus);
            case 3: return play_slots<3>(games, torus);
            case 4: return play_slots<4>(games, torus);
            default: return play_slots<0>(games, torus);
        }
    });
}

}  // namespace CELLGAMES_NAMESPACE
