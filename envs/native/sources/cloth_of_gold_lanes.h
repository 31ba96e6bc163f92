// Worlds of Cloth of Gold side by side. No `pragma once`: each_target.h includes this once for each instruction set.
#include "bits.h"
#include "cloth_of_gold.h"

namespace CELLGAMES_NAMESPACE {

// As many worlds of a batch as a vector has lanes, or fewer, by their places in it.
struct Some {
    int64_t place[kLanes];  // -1: none
    int64_t together;       // how many, if they are so many first lanes and stand next to each other, else 0

    Some() : together(0) { std::fill(place, place + kLanes, int64_t{-1}); }
    // Of a list, or without one of the batch.
    Some(const int64_t* list, int64_t first, int64_t end) : Some() {
        const int64_t count = std::min<int64_t>(kLanes, end - first);
        for (int64_t lane = 0; lane < count; ++lane) place[lane] = list ? list[first + lane] : first + lane;
        join();
    }
    void join() {
        together = 0;
        while (together < kLanes && place[0] >= 0 && place[together] == place[0] + together) ++together;
        for (int64_t lane = together; lane < kLanes; ++lane)
            if (place[lane] >= 0) together = 0;
    }
    CELLGAMES_INLINE_MEMBER Words load(const uint64_t* words) const {
        if (together) return load_some(words + place[0], together);
        uint64_t all[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) all[lane] = place[lane] < 0 ? 0 : words[place[lane]];
        return CELLGAMES_NAMESPACE::load(all);
    }
    CELLGAMES_INLINE_MEMBER void store(uint64_t* words, Words some) const {
        if (together) return store_some(words + place[0], some, together);
        uint64_t all[kLanes];
        CELLGAMES_NAMESPACE::store(all, some);
        for (int lane = 0; lane < kLanes; ++lane)
            if (place[lane] >= 0) words[place[lane]] = all[lane];
    }
    // All bits of the worlds for which the function of a place returns true.
    template <class Condition>
    CELLGAMES_INLINE_MEMBER Words where(const Condition& condition) const {
        uint64_t all[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) all[lane] = place[lane] >= 0 && condition(place[lane]) ? ~uint64_t{0} : 0;
        return CELLGAMES_NAMESPACE::load(all);
    }
};

}  // namespace CELLGAMES_NAMESPACE
