// What differs between compilers and processors, and threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#endif

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
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(CELLGAMES_SANITIZE) && \
    !defined(CELLGAMES_ONE_TARGET)
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

// The place of the lowest bit of a number that has one.
CELLGAMES_INLINE int lowest_bit(uint32_t bits) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanForward(&place, bits);
    return static_cast<int>(place);
#else
    return __builtin_ctz(bits);
#endif
}

CELLGAMES_INLINE int lowest_bit64(uint64_t bits) {
    return static_cast<uint32_t>(bits) ? lowest_bit(static_cast<uint32_t>(bits))
                                       : 32 + lowest_bit(static_cast<uint32_t>(bits >> 32));
}

CELLGAMES_INLINE int highest_bit(uint32_t bits) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanReverse(&place, bits);
    return static_cast<int>(place);
#else
    return 31 - __builtin_clz(bits);
#endif
}

CELLGAMES_INLINE int highest_bit64(uint64_t bits) {
    return bits >> 32 ? 32 + highest_bit(static_cast<uint32_t>(bits >> 32)) : highest_bit(static_cast<uint32_t>(bits));
}

// The number of bits set, by no instruction that a processor may lack.
CELLGAMES_INLINE int count_bits(uint64_t x) {
    x = x - (x >> 1 & 0x5555555555555555);
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return static_cast<int>(((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56);
}

// A word with its lowest bits set, 0 to 64 of them.
CELLGAMES_INLINE uint64_t low_bits(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// Threads that wait for work; they last as long as the process, since starting one takes as long as a small batch.
class Workers {
  public:
    // Call task(context, part) for all parts but 0 on threads of their own, and for part 0 on this one.
    using Task = void (*)(const void* context, int64_t part);

    // False if the threads are at work for somebody else.
    bool run(int64_t parts, Task task, const void* context) {
        std::unique_lock<std::mutex> alone(busy_, std::try_to_lock);
        if (!alone.owns_lock()) return false;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            while (static_cast<int64_t>(threads_) < parts - 1) {
                std::thread([this, part = ++threads_] { wait_for_work(part); }).detach();
            }
            task_ = task, context_ = context, parts_ = parts;
            left_.store(parts - 1, std::memory_order_relaxed);
            round_.fetch_add(1, std::memory_order_release);
        }
        start_.notify_all();
        task(context, 0);
        if (spun([this] { return left_.load(std::memory_order_acquire) == 0; })) return true;
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return left_.load(std::memory_order_acquire) == 0; });
        return true;
    }

    // Those of this process: a forked child has none of its parent's threads.
    static Workers& of_process() {
        static std::atomic<Workers*> current{nullptr};
        static std::atomic<int64_t> owner{0};
        static std::mutex making;
        const int64_t process = process_id();
        if (owner.load(std::memory_order_acquire) != process) {
            const std::lock_guard<std::mutex> lock(making);
            if (owner.load(std::memory_order_relaxed) != process) {
                current.store(new Workers, std::memory_order_release);  // never deleted: its threads wait for work
                owner.store(process, std::memory_order_release);
            }
        }
        return *current.load(std::memory_order_acquire);
    }

  private:
    void wait_for_work(int64_t part) {
        std::unique_lock<std::mutex> lock(mutex_);
        for (int64_t seen = round_.load(std::memory_order_relaxed) - 1;;) {
            start_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != seen; });
            seen = round_.load(std::memory_order_relaxed);
            const bool mine = part < parts_;
            const Task task = task_;
            const void* context = context_;
            lock.unlock();
            if (mine) {
                task(context, part);
                if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    const std::lock_guard<std::mutex> told(mutex_);  // or the waiting thread may miss it
                    done_.notify_one();
                }
                spun([&] { return round_.load(std::memory_order_acquire) != seen; });
            }
            lock.lock();
        }
    }

    // Look for a while, as long as a sleeping thread needs to wake, and return whether it is so now.
    template <class Condition>
    static bool spun(const Condition& condition) {
        for (int64_t look = 0; look < kLooks; ++look) {
            if (condition()) return true;
#if defined(__x86_64__) && defined(__GNUC__)
            __builtin_ia32_pause();
#endif
        }
        return condition();
    }

    static constexpr int64_t kLooks = 4000;

    static int64_t process_id() {
#if defined(_WIN32)
        return 1;  // without fork
#else
        return static_cast<int64_t>(getpid());
#endif
    }

    std::mutex busy_, mutex_;
    std::condition_variable start_, done_;
    Task task_ = nullptr;
    const void* context_ = nullptr;
    int64_t parts_ = 0, threads_ = 0;
    std::atomic<int64_t> left_{0}, round_{0};
};

// Call body(from, to) on parts of the range [0, count), each on a thread of its own.
template <class Body>
void in_parallel(int64_t count, int64_t threads, const Body& body) {
    if (threads > count) threads = count;
    if (threads <= 1) {
        if (count > 0) body(int64_t{0}, count);
        return;
    }
    struct Parts {
        const Body& body;
        int64_t count, threads;
    } const parts{body, count, threads};
    const auto task = [](const void* context, int64_t part) {
        const Parts& all = *static_cast<const Parts*>(context);
        all.body(all.count * part / all.threads, all.count * (part + 1) / all.threads);
    };
    if (Workers::of_process().run(threads, task, &parts)) return;
    for (int64_t part = 0; part < threads; ++part) task(&parts, part);  // another call has the threads
}

}  // namespace cellgames
