// Includes the file CELLGAMES_BODY once for each instruction set that is worth code of its own, each time in another
// CELLGAMES_NAMESPACE, and defines CELLGAMES_CHOSEN(name): the address of the function `name` for this processor.
//
// Other than with `target_clones`, the code has vectors of the set's width (CELLGAMES_LANES words of 64 bits) and may
// use its intrinsics (CELLGAMES_AVX512, CELLGAMES_POPCNT).
#include "instruction_set.h"

#undef CELLGAMES_NAMESPACE
#undef CELLGAMES_LANES
#undef CELLGAMES_AVX512
#undef CELLGAMES_POPCNT

#if defined(CELLGAMES_X86)

#include <immintrin.h>

#define CELLGAMES_NAMESPACE cellgames::avx2
#define CELLGAMES_LANES 4
#define CELLGAMES_AVX512 0
#define CELLGAMES_POPCNT 0
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#include CELLGAMES_BODY
#pragma clang attribute pop
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#include CELLGAMES_BODY
#pragma GCC pop_options
#endif
#undef CELLGAMES_NAMESPACE
#undef CELLGAMES_LANES
#undef CELLGAMES_AVX512

#define CELLGAMES_NAMESPACE cellgames::avx512
#define CELLGAMES_LANES 8
#define CELLGAMES_AVX512 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#include CELLGAMES_BODY
#pragma clang attribute pop
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#include CELLGAMES_BODY
#pragma GCC pop_options
#endif
#undef CELLGAMES_NAMESPACE
#undef CELLGAMES_POPCNT

#define CELLGAMES_NAMESPACE cellgames::avx512_popcnt
#define CELLGAMES_POPCNT 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq"))), \
                             apply_to = function)
#include CELLGAMES_BODY
#pragma clang attribute pop
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")
#include CELLGAMES_BODY
#pragma GCC pop_options
#endif
#undef CELLGAMES_NAMESPACE
#undef CELLGAMES_LANES
#undef CELLGAMES_AVX512
#undef CELLGAMES_POPCNT

#define CELLGAMES_CHOSEN(name)                                                 \
    (cellgames::instruction_set() == 3   ? &cellgames::avx512_popcnt::name     \
     : cellgames::instruction_set() == 2 ? &cellgames::avx512::name            \
     : cellgames::instruction_set() == 1 ? &cellgames::avx2::name              \
                                         : &cellgames::any::name)
#else
#define CELLGAMES_CHOSEN(name) (&cellgames::any::name)
#endif

#define CELLGAMES_NAMESPACE cellgames::any
#if defined(CELLGAMES_ONE_TARGET) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>
#define CELLGAMES_LANES 8
#define CELLGAMES_AVX512 1
#elif defined(CELLGAMES_ONE_TARGET) && defined(__AVX2__)
#define CELLGAMES_LANES 4
#define CELLGAMES_AVX512 0
#else
#define CELLGAMES_LANES 2
#define CELLGAMES_AVX512 0
#endif
#if defined(__AVX512VPOPCNTDQ__)
#define CELLGAMES_POPCNT CELLGAMES_AVX512
#else
#define CELLGAMES_POPCNT 0
#endif
#include CELLGAMES_BODY
