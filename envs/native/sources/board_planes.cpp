// Planes of packed boards and of numbers, as players see them: `envs/boards/board_planes.py`.
#include <algorithm>
#include <cstring>

#include "portable.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

constexpr int kChunk = 8;  // cells that are written at a time
constexpr int kTile = 8;    // games whose boards are read at a time: a line of the cache
constexpr int64_t kFarBytes = 4 << 20;  // so many are out of the caches before anybody reads them

// Where the words of a plane lie that each seat sees; the games lie next to each other.
struct Plane {
    const uint64_t* seen[2];
};

struct Layout {
    int64_t rows, cols, words, width;  // of the board; words of a row, and the columns in each
    int64_t games, boards, values, first_boards, first_values;
    const Plane* planes;
    const int64_t* seat;
    const int16_t* numbers;
};

// The cells of each octet of bits, 0 or 1.
template <class Number>
struct Octets {
    Number cells[256][kChunk];
    Octets() {
        for (int octet = 0; octet < 256; ++octet)
            for (int bit = 0; bit < kChunk; ++bit) cells[octet][bit] = static_cast<Number>(octet >> bit & 1);
    }
};

// Write the cells of a board; `out` has room for a chunk more, which the last row writes too much.
template <class Number>
CELLGAMES_INLINE void unpack(const Layout& layout, const Octets<Number>& octets, const uint64_t* words, Number* out) {
    const int64_t rows = layout.rows, cols = layout.cols, width = layout.width;
    for (int64_t row = 0; row < rows; ++row, out += cols)
        for (int64_t start = 0; start < cols; start += width) {
            const int64_t columns = cols - start < width ? cols - start : width;
            uint64_t word = *words++;
            for (int64_t at = 0; at < columns; at += kChunk, word >>= kChunk)
                std::memcpy(out + start + at, octets.cells[word & 0xFF], sizeof octets.cells[0]);
        }
}

// Copy a plane; past the caches if it is far, where memory need not be read to be written.
CELLGAMES_INLINE void put(void* out, const void* plane, size_t bytes, bool far) {
#if defined(__SSE2__)
    if (far && bytes % 16 == 0 && reinterpret_cast<uintptr_t>(out) % 16 == 0) {
        for (size_t at = 0; at < bytes / 16; ++at)
            _mm_stream_si128(static_cast<__m128i*>(out) + at, _mm_loadu_si128(static_cast<const __m128i*>(plane) + at));
        return;
    }
#endif
    static_cast<void>(far);
    std::memcpy(out, plane, bytes);
}

template <class Number>
CELLGAMES_INLINE void write(const Layout& layout, Number* seen, int64_t from, int64_t to) {
    const int64_t size = layout.rows * layout.cols, stored = layout.rows * layout.words;
    const int64_t all = layout.boards + layout.values;
    static const Octets<Number> octets;
    std::vector<uint64_t> boards(static_cast<size_t>(kTile * stored));
    std::vector<Number> cells(static_cast<size_t>(size + kChunk));
    const size_t bytes = sizeof(Number) * static_cast<size_t>(size);
    const bool far = layout.games * all * size * static_cast<int64_t>(sizeof(Number)) > kFarBytes;
    for (int64_t first = from; first < to; first += kTile) {
        const int64_t lanes = to - first < kTile ? to - first : kTile;
        for (int64_t place = 0, board = 0, value = 0; place < all; ++place) {
            Number* out = seen + (first * all + place) * size;
            const bool second = board >= layout.first_boards && value >= layout.first_values;
            if (board < (second ? layout.boards : layout.first_boards)) {
                const Plane& plane = layout.planes[board++];
                const uint64_t* words[kTile] = {};
                for (int64_t lane = 0; lane < lanes; ++lane)
                    words[lane] = plane.seen[layout.seat[first + lane] != 0] + first + lane;
                for (int64_t at = 0; at < stored; ++at)
                    for (int64_t lane = 0; lane < lanes; ++lane)
                        boards[static_cast<size_t>(lane * stored + at)] = words[lane][at * layout.games];
                for (int64_t lane = 0; lane < lanes; ++lane) {
                    unpack(layout, octets, boards.data() + lane * stored, cells.data());
                    put(out + lane * all * size, cells.data(), bytes, far);
                }
            } else {
                for (int64_t lane = 0; lane < lanes; ++lane) {
                    const auto number = static_cast<Number>(layout.numbers[(first + lane) * layout.values + value]);
                    std::fill(cells.begin(), cells.begin() + size, number);
                    put(out + lane * all * size, cells.data(), bytes, far);
                }
                ++value;
            }
        }
    }
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

CELLGAMES_DISPATCH
void write_shorts(const Layout& layout, int16_t* seen, int64_t from, int64_t to) { write(layout, seen, from, to); }

CELLGAMES_DISPATCH
void write_floats(const Layout& layout, float* seen, int64_t from, int64_t to) { write(layout, seen, from, to); }

}  // namespace

// planes: for each board its words for either seat, int64 [rows + 1][words][games]; seat int64 [games]; numbers int16
// [games][values]; seen int16 [games][boards + values][rows][cols], or float32. The first boards come first, then the
// first values, then the other boards and values.
CELLGAMES_EXPORT void cellgames_planes_seen(int64_t games, int64_t threads, int64_t rows, int64_t cols, int64_t words,
                                            int64_t width, int64_t boards, int64_t values, int64_t first_boards,
                                            int64_t first_values, int64_t floats, const void* planes,
                                            const int64_t* seat, const int16_t* numbers, void* seen) {
    const Layout layout{rows,   cols,         words,        width, games, boards, values,
                        first_boards, first_values, static_cast<const Plane*>(planes), seat, numbers};
    const int64_t tiles = (games + kTile - 1) / kTile;
    cellgames::in_parallel(tiles, threads, [&](int64_t from, int64_t to) {
        const int64_t end = to * kTile < games ? to * kTile : games;
        floats ? write_floats(layout, static_cast<float*>(seen), from * kTile, end)
               : write_shorts(layout, static_cast<int16_t*>(seen), from * kTile, end);
    });
}
