// The cheapest walks on boards of Hex and Y: `agents/connection/walks.py`, whose words this uses.
#include <algorithm>
#include <cstring>
#include <vector>

#include "portable.h"

namespace {

constexpr int kLanes = 32;  // walks that are shortened together, a byte each
constexpr int kClosed = 120;

struct Walks {
    int64_t cells, degree, bridges, walks, positions;
    const int32_t* near;    // [N][degree]
    const int32_t* bridge;  // [N][bridges][3]: the other end, and the two cells between
    const uint8_t* price;   // [N][Q]
    uint8_t* cost;          // [N][T][Q]
};

#if defined(__GNUC__)
typedef uint8_t Lanes __attribute__((vector_size(kLanes)));
CELLGAMES_INLINE Lanes least(Lanes a, Lanes b) { return a < b ? a : b; }
#else
struct Lanes {
    uint8_t of[kLanes];
    uint8_t& operator[](int i) { return of[i]; }
};
template <class Each>
Lanes lanes(Each each) {
    Lanes all;
    for (int i = 0; i < kLanes; ++i) all[i] = static_cast<uint8_t>(each(i));
    return all;
}
Lanes operator|(Lanes a, Lanes b) { return lanes([&](int i) { return a[i] | b[i]; }); }
Lanes operator+(Lanes a, Lanes b) { return lanes([&](int i) { return a[i] + b[i]; }); }
Lanes least(Lanes a, Lanes b) { return lanes([&](int i) { return a[i] < b[i] ? a[i] : b[i]; }); }
#endif

// Shorten walks to a cell by those to its neighbours and across its bridges; `taken` has all bits set where a cell isn't free.
CELLGAMES_INLINE void shorten(const Walks& of, int64_t cell, Lanes* cost, const Lanes* price, const Lanes* taken) {
    const int32_t *near = of.near + cell * of.degree, *bridge = of.bridge + 3 * cell * of.bridges;
    Lanes best = cost[near[0]];
    for (int64_t slot = 1; slot < of.degree; ++slot) best = least(best, cost[near[slot]]);
    for (const int32_t* end = bridge + 3 * of.bridges; bridge < end; bridge += 3)
        best = least(best, cost[bridge[0]] | taken[bridge[1]] | taken[bridge[2]]);
    cost[cell] = least(cost[cell], best + price[cell]);
}

CELLGAMES_DISPATCH
void relax(const Walks& of, int64_t from, int64_t to) {
    const auto number = static_cast<size_t>(of.cells);
    std::vector<uint8_t> room(kLanes * (4 * number + 1));
    const uintptr_t past = reinterpret_cast<uintptr_t>(room.data()) + kLanes - 1;
    Lanes *cost = reinterpret_cast<Lanes*>(past - past % kLanes), *price = cost + number, *taken = price + number,
          *before = taken + number;
    const int64_t blocks = (of.positions + kLanes - 1) / kLanes;
    for (int64_t block = from; block < to; ++block) {
        const int64_t walk = block / blocks, first = block % blocks * kLanes;
        const auto count = static_cast<size_t>(std::min<int64_t>(kLanes, of.positions - first));
        for (int64_t cell = 0; cell < of.cells; ++cell) {
            std::memset(&cost[cell], kClosed, kLanes);
            std::memset(&price[cell], kClosed, kLanes);
            std::memcpy(&cost[cell], of.cost + (cell * of.walks + walk) * of.positions + first, count);
            std::memcpy(&price[cell], of.price + cell * of.positions + first, count);
            for (int i = 0; i < kLanes; ++i) taken[cell][i] = price[cell][i] == 1 ? 0 : 255;
        }
        do {
            std::memcpy(before, cost, number * kLanes);
            for (int64_t cell = 0; cell < of.cells; ++cell) shorten(of, cell, cost, price, taken);
            for (int64_t cell = of.cells - 1; cell >= 0; --cell) shorten(of, cell, cost, price, taken);
        } while (std::memcmp(before, cost, number * kLanes) != 0);
        for (int64_t cell = 0; cell < of.cells; ++cell)
            std::memcpy(of.cost + (cell * of.walks + walk) * of.positions + first, &cost[cell], count);
    }
}

}  // namespace

// near int32 [N][degree], bridge int32 [N][bridges][3]; price uint8 [N][Q]; cost uint8 [N][T][Q], changed.
CELLGAMES_EXPORT void cellgames_connection_walks(int64_t cells, int64_t degree, int64_t bridges, int64_t walks,
                                                 int64_t positions, int64_t threads, const int32_t* near,
                                                 const int32_t* bridge, const uint8_t* price, uint8_t* cost) {
    const Walks of{cells, degree, bridges, walks, positions, near, bridge, price, cost};
    cellgames::in_parallel(walks * ((positions + kLanes - 1) / kLanes), threads,
                           [&](int64_t from, int64_t to) { relax(of, from, to); });
}
