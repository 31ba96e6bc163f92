// The instruction set that code of each_target.h is chosen by.
#pragma once

#include "portable.h"

// CELLGAMES_ONE_TARGET compiles for the compiler's own target alone, which takes a third of the time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32) && !defined(CELLGAMES_SANITIZE) && \
    !defined(CELLGAMES_ONE_TARGET)
#define CELLGAMES_X86
#endif

namespace cellgames {

// The most that may be used, so that tests reach what this processor does not choose by itself.
inline int64_t& most_instructions() {
    static int64_t most = 3;
    return most;
}

// 3: AVX-512 with VPOPCNTDQ, 2: AVX-512, 1: AVX2, 0: any other.
inline int64_t instruction_set() {
    static const int64_t found = [] {
#if defined(CELLGAMES_X86)
        __builtin_cpu_init();
        if (!__builtin_cpu_supports("avx2")) return 0;
        if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
            !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
            return 1;
        return __builtin_cpu_supports("avx512vpopcntdq") ? 3 : 2;
#else
        return 0;
#endif
    }();
    return found < most_instructions() ? found : most_instructions();
}

}  // namespace cellgames
