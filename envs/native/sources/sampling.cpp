// Random bits, spread out of one number (`envs/core/chance.py`) or counted (`envs/core/chance.py`); and actions chosen by
// logits: `envs/core/choosing.py`.
#include <cmath>
#include <cstring>

#include "random.h"
#include "threefry.h"

namespace {

using namespace cellgames;

CELLGAMES_DISPATCH void spread(uint64_t root, int64_t from, int64_t to, int64_t* out) {
    for (int64_t place = from; place < to; ++place)
        out[place] = static_cast<int64_t>(mixed(root + static_cast<uint64_t>(place) * 0x9E3779B97F4A7C15ull) >> 33);
}

CELLGAMES_DISPATCH
void draw_all(uint32_t purpose, int64_t count, const int64_t* seed, const int64_t* counter, int64_t* out) {
    for (int64_t at = 0; at < count; ++at)
        out[at] = static_cast<int64_t>(draw_63(seed[at], purpose, static_cast<uint32_t>(counter[at])));
}

// Choices of rows of logits. Numbers are rounded as torch's are, one operation after the other.
struct Choosing {
    int64_t width, bits, logit_stride, mask_stride;
    const float* logits;
    const uint8_t* mask;
    const int64_t* lots;  // null for the likeliest
    int64_t* chosen;
    float* behind;
    int64_t* total;
};

constexpr int kWide = 16, kLeast = 126;
constexpr float kLowest = -INFINITY;
constexpr int32_t kLowestBits = INT32_MIN + 0x7F800000;  // of this number
// The series of 2^x, highest power first, as `_EXP2` has it.
constexpr float kExp2[7] = {1.540353039338161e-4f, 1.333355814642844e-3f, 9.618129107628477e-3f, 5.550410866482158e-2f,
                            2.402265069591007e-1f, 6.931471805599453e-1f, 1.0f};

CELLGAMES_DISPATCH void choose(const Choosing& c, int64_t from, int64_t to) {
    const int width = static_cast<int>(c.width), padded = (width + kWide - 1) / kWide * kWide;
    std::vector<float> room(static_cast<size_t>(padded), kLowest);
    std::vector<int32_t> weights(static_cast<size_t>(padded));
    float* __restrict given = room.data();
    int32_t* __restrict weight = weights.data();
    for (int64_t row = from; row < to; ++row) {
        const float* __restrict logits = c.logits + row * c.logit_stride;
        const uint8_t* __restrict mask = c.mask + row * c.mask_stride;
        int32_t any = 0, broken = 0, highest = INT32_MIN;
        for (int i = 0; i < width; ++i) any |= mask[i];
        const uint8_t all = any == 0;
        std::memcpy(weight, logits, sizeof(float) * static_cast<size_t>(width));
        for (int i = 0; i < width; ++i) {  // bits of the logit or of the lowest number
            const int32_t legal = -static_cast<int32_t>((mask[i] | all) != 0);
            weight[i] = (weight[i] & legal) | (kLowestBits & ~legal);
        }
        std::memcpy(given, weight, sizeof(float) * static_cast<size_t>(width));
        for (int i = width; i < padded; ++i) weight[i] = kLowestBits;
        for (int i = 0; i < padded; ++i) {  // floats are ordered as these whole numbers are, whose maximum is vectorized
            const int32_t bits = weight[i], order = bits ^ ((bits >> 31) & INT32_MAX);
            broken |= (bits & INT32_MAX) > 0x7F800000;
            highest = order > highest ? order : highest;
        }
        highest ^= (highest >> 31) & INT32_MAX;
        float top;
        std::memcpy(&top, &highest, sizeof top);
        int64_t sums[kWide] = {};
        for (int i = 0; i < padded; i += kWide) {
            for (int lane = 0; lane < kWide; ++lane) {
                float x = (given[i + lane] - top) * 1.4426950408889634f;
                x = x > -kLeast ? x : -kLeast;
                const int32_t power = static_cast<int32_t>(x - 0.5f);
                const float rest = x - static_cast<float>(power);
                float series = kExp2[0];
                for (int k = 1; k < 7; ++k) series = series * rest + kExp2[k];
                const int32_t scale = (power + static_cast<int32_t>(c.bits) + 127) << 23;
                float factor;
                std::memcpy(&factor, &scale, sizeof factor);
                weight[i + lane] = static_cast<int32_t>(series * factor);
                sums[lane] += weight[i + lane];
            }
        }
        int64_t total = 0;
        for (const int64_t sum : sums) total += sum;
        if (broken) total = 0;
        int at = 0;
        if (total && c.lots) {
            int64_t left = c.lots[row] * total >> 31;
            for (; at + kWide <= padded; at += kWide) {
                int64_t block = 0;
                for (int lane = 0; lane < kWide; ++lane) block += weight[at + lane];
                if (block > left) break;
                left -= block;
            }
            while (weight[at] <= left) left -= weight[at++];
        } else if (total) {
            while (given[at] != top) ++at;
        }
        c.chosen[row] = at;
        c.behind[row] = total ? given[at] - top : NAN;
        c.total[row] = total;
    }
}

}  // namespace

// Write `count` numbers, 0 to 2^31 - 1.
CELLGAMES_EXPORT void cellgames_spread_bits(const int64_t* root, int64_t count, int64_t threads, int64_t* out) {
    in_parallel(count, threads, [&](int64_t from, int64_t to) { spread(static_cast<uint64_t>(*root), from, to, out); });
}

// Draw a legal action of each row. mask uint8 lies so many bytes apart from row to row; bits int64 [rows]; chosen int64
// [rows], written.
CELLGAMES_EXPORT void cellgames_random_legal(int64_t rows, int64_t threads, int64_t width, int64_t stride,
                                             const uint8_t* mask, const int64_t* bits, int64_t* chosen) {
    in_parallel(rows, threads, [&](int64_t from, int64_t to) {
        std::vector<uint8_t> counts(static_cast<size_t>(width / 64 + 1));
        for (int64_t row = from; row < to; ++row)
            chosen[row] = random_legal(mask + row * stride, width, bits[row], counts.data());
    });
}

// Choose one of `width` choices of each row. logits float and mask uint8 lie so many numbers apart from row to row; lots
// int64 [rows] or null; chosen int64, behind float and total int64 [rows], written.
CELLGAMES_EXPORT void cellgames_choose(int64_t rows, int64_t threads, int64_t width, int64_t bits, int64_t logit_stride,
                                       int64_t mask_stride, const float* logits, const uint8_t* mask, const int64_t* lots,
                                       int64_t* chosen, float* behind, int64_t* total) {
    const Choosing choosing{width, bits, logit_stride, mask_stride, logits, mask, lots, chosen, behind, total};
    in_parallel(rows, threads, [&](int64_t from, int64_t to) { choose(choosing, from, to); });
}

// Write `count` numbers of 63 random bits, by seeds and counters int64 [count]: `chance.draw`.
CELLGAMES_EXPORT void cellgames_draw(int64_t count, int64_t purpose, const int64_t* seed, const int64_t* counter,
                                     int64_t* out) {
    draw_all(static_cast<uint32_t>(purpose), count, seed, counter, out);
}
