// What differs between compilers and processors, and threads.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#if defined(_WIN32)
#define CELLGAMES_EXPORT extern "C" __declspec(dllexport)
#else
#define CELLGAMES_EXPORT extern "C" __attribute__((visibility("default")))
#endif

#if defined(_MSC_VER)
#define CELLGAMES_INLINE static __forceinline
#define CELLGAMES_INLINE_MEMBER __forceinline
#else
#define CELLGAMES_INLINE static inline __attribute__((always_inline))
#define CELLGAMES_INLINE_MEMBER inline __attribute__((always_inline))
#endif

#if defined(__GNUC__)
#define CELLGAMES_PREFETCH(address) __builtin_prefetch(address, 1)
#else
#define CELLGAMES_PREFETCH(address) static_cast<void>(address)
#endif

// A function of this kind is compiled for several instruction sets, and the processor's own is chosen when the library
// is loaded. Functions that it calls must be CELLGAMES_INLINE to be compiled with it.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(CELLGAMES_SANITIZE)
#define CELLGAMES_DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CELLGAMES_DISPATCH
#endif

// The namespace of code for an instruction set and its vectors' width in words of 64 bits: see each_target.h.
#define CELLGAMES_NAMESPACE cellgames
#define CELLGAMES_LANES 8
#define CELLGAMES_AVX512 0
#define CELLGAMES_POPCNT 0

namespace cellgames {

// Call body(from, to) on parts of the range [0, count), each on a thread of its own.
template <class Body>
void in_parallel(int64_t count, int64_t threads, const Body& body) {
    if (threads > count) threads = count;
    if (threads <= 1) {
        if (count > 0) body(int64_t{0}, count);
        return;
    }
    std::vector<std::thread> others;
    others.reserve(static_cast<size_t>(threads - 1));
    for (int64_t part = 1; part < threads; ++part)
        others.emplace_back([&, part] { body(count * part / threads, count * (part + 1) / threads); });
    body(int64_t{0}, count / threads);
    for (auto& thread : others) thread.join();
}

}  // namespace cellgames
