// Tiles that players of Grid Adaptation try out, and what the next generations make of them: `lookahead.tried`.
#include <algorithm>
#include <cstring>

#define CELLGAMES_BODY "grid_adaptation_trials.h"
#include "each_target.h"

// numbers: size, rows, rows of own, guesses, candidates, generations, threads; the rest as in `Trials`.
CELLGAMES_EXPORT void cellgames_grid_adaptation_trials(const int64_t* numbers, const uint64_t* bases,
                                                       const uint64_t* own, int32_t* out) {
    CELLGAMES_CHOSEN(try_out)(numbers, bases, own, out);
}
