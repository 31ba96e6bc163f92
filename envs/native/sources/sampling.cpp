// Random bits spread out of one number: `envs/core/sampling.py`.
#include "random.h"

namespace {

using namespace cellgames;

CELLGAMES_DISPATCH void spread(uint64_t root, int64_t from, int64_t to, int64_t* out) {
    for (int64_t place = from; place < to; ++place)
        out[place] = static_cast<int64_t>(mixed(root + static_cast<uint64_t>(place) * 0x9E3779B97F4A7C15ull) >> 33);
}

}  // namespace

// Write `count` numbers, 0 to 2^31 - 1.
CELLGAMES_EXPORT void cellgames_spread_bits(const int64_t* root, int64_t count, int64_t threads, int64_t* out) {
    in_parallel(count, threads, [&](int64_t from, int64_t to) { spread(static_cast<uint64_t>(*root), from, to, out); });
}
