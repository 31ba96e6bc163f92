// Planes of packed boards and of numbers, as players see them: `envs/boards/board_planes.py`.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "portable.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

constexpr int kBits = 16;  // that become cells at a time
constexpr int kTile = 8;   // games whose boards are read at a time: a line of the cache
constexpr int64_t kFarBytes = 16 << 20;  // so many are out of the caches before anybody reads them

// Where the words of a plane lie that each seat sees; the games lie next to each other.
struct Plane {
    const uint64_t* seen[2];
};

// A row has some words with as many columns each, or a word has some rows of so many bits.
struct Layout {
    int64_t rows, cols, words, width, rows_a_word, row_bits;
    int64_t games, seats, boards, values, first_boards, first_values, more;
    const Plane* planes;
    const int64_t* seat;
    const int16_t *numbers, *last;

    int64_t stored() const { return (rows + rows_a_word - 1) / rows_a_word * words; }
};

// Write the cells of some bits, 0 or 1.
#if defined(__GNUC__)
CELLGAMES_INLINE void write_bits(uint16_t bits, int16_t* out) {
    typedef uint16_t Cells __attribute__((vector_size(2 * kBits)));
    const Cells to_top = {32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1};
    const Cells cells = (Cells{} + bits) * to_top >> 15;
    std::memcpy(out, &cells, sizeof cells);
}
CELLGAMES_INLINE void write_bits(uint16_t bits, float* out) {
    typedef int32_t Cells __attribute__((vector_size(4 * kBits)));
    const Cells places = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    const Cells cells = (((Cells{} + bits) & places) != 0) & 0x3F800000;  // the bits of 1.0f
    std::memcpy(out, &cells, sizeof cells);
}
#else
template <class Number>
void write_bits(uint16_t bits, Number* out) {
    for (int cell = 0; cell < kBits; ++cell) out[cell] = static_cast<Number>(bits >> cell & 1);
}
#endif

enum Rows { kPacked, kWord, kWords };  // that are some in a word, each a word, or some words

// Write the cells of a board, as many pieces of `kBits` a word as its width needs: what that is too much is overwritten
// by the next word, for the last one `out` has room for a word more.
template <Rows kind, int pieces, class Number>
CELLGAMES_INLINE void unpack(const Layout& layout, const uint64_t* words, Number* out) {
    const int64_t rows = layout.rows, cols = layout.cols, width = layout.width;
    int64_t above = 0;  // rows in the word before the row
    for (int64_t row = 0; row < rows; ++row, out += cols)
        for (int64_t start = 0; start < cols; start += kind == kWords ? width : cols) {
            const uint64_t word = kind == kPacked ? *words >> above * layout.row_bits : *words++;
            if (kind == kPacked && ++above == layout.rows_a_word) ++words, above = 0;
            for (int piece = 0; piece < pieces; ++piece)
                write_bits(static_cast<uint16_t>(word >> piece * kBits), out + start + piece * kBits);
        }
}

template <class Number>
CELLGAMES_INLINE void unpack(const Layout& layout, const uint64_t* words, Number* out) {
    const auto as = [&](auto pieces) {
        if (layout.rows_a_word > 1) unpack<kPacked, pieces()>(layout, words, out);
        else if (layout.words > 1) unpack<kWords, pieces()>(layout, words, out);
        else unpack<kWord, pieces()>(layout, words, out);
    };
    const int64_t pieces = (std::min(layout.width, layout.cols) - 1) / kBits;
    if (pieces == 0) as(std::integral_constant<int, 1>());
    else if (pieces == 1) as(std::integral_constant<int, 2>());
    else if (pieces == 2) as(std::integral_constant<int, 3>());
    else as(std::integral_constant<int, 4>());
}

// Far memory that is written from front to back. Whole lines go past the caches, so that none need be read.
class Output {
  public:
    explicit Output(void* out)
        : out_(static_cast<char*>(out)), head_((~reinterpret_cast<uintptr_t>(out) + 1) % kLine) {}

    CELLGAMES_INLINE_MEMBER void put(const void* given, size_t bytes) {
        const char* from = static_cast<const char*>(given);
        if (head_ > 0) {
            const size_t some = std::min(head_, bytes);
            std::memcpy(out_, from, some);
            out_ += some, from += some, bytes -= some, head_ -= some;
        }
        if (filled_ > 0) {
            const size_t some = std::min(kLine - filled_, bytes);
            std::memcpy(line_ + filled_, from, some);
            filled_ += some, from += some, bytes -= some;
            if (filled_ == kLine) stream(line_), filled_ = 0;
        }
        for (; bytes >= kLine; bytes -= kLine, from += kLine) stream(from);
        if (bytes > 0) std::memcpy(line_, from, filled_ = bytes);
    }
    void finish() {
        std::memcpy(out_, line_, filled_);
#if defined(__SSE2__)
        _mm_sfence();
#endif
    }

  private:
    static constexpr size_t kLine = 64;
    char* out_;
    size_t head_, filled_ = 0;  // bytes to write before the first line, bytes of the line so far
    char line_[kLine];

    CELLGAMES_INLINE_MEMBER void stream(const char* line) {
#if defined(__SSE2__)
        for (size_t at = 0; at < kLine; at += sizeof(__m128i))
            _mm_stream_si128(reinterpret_cast<__m128i*>(out_ + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + at)));
#else
        std::memcpy(out_, line, kLine);
#endif
        out_ += kLine;
    }
};

template <class Number>
CELLGAMES_INLINE void write(const Layout& layout, Number* seen, int64_t from, int64_t to) {
    const int64_t size = layout.rows * layout.cols, stored = layout.stored(), room = size + 64;
    const int64_t made = layout.boards + layout.values, all = made + layout.more, seats = layout.seats;
    std::vector<uint64_t> words(static_cast<size_t>(layout.boards * kTile * stored));
    const bool far = layout.games * seats * all * size * static_cast<int64_t>(sizeof(Number)) > kFarBytes;
    std::vector<Number> spare(static_cast<size_t>((far ? all * size : 0) + room));  // a whole look if it goes far
    Number *near = seen + from * seats * all * size, *const end = seen + to * seats * all * size;
    Output out(near);
    for (int64_t first = from; first < to; first += kTile) {
        const int64_t lanes = to - first < kTile ? to - first : kTile;
        for (int64_t board = 0; board < layout.boards; ++board) {
            const uint64_t* source[kTile] = {};
            for (int64_t lane = 0; lane < lanes; ++lane)
                source[lane] = layout.planes[board].seen[layout.seat[(first + lane) * seats] != 0] + first + lane;
            for (int64_t at = 0; at < stored; ++at)
                for (int64_t lane = 0; lane < lanes; ++lane)
                    words[static_cast<size_t>((lane * layout.boards + board) * stored + at)] = source[lane][at * layout.games];
        }
        for (int64_t look = 0; look < lanes * seats; ++look) {
            const int64_t lane = look / seats;
            const bool again = look % seats > 0;  // the next seat of a game, which sees most of what the last one saw
            const int16_t* numbers = layout.numbers + (first * seats + look) * layout.values;
            Number* plane = far ? spare.data() : near;
            for (int64_t place = 0, board = 0, value = 0; place < made; ++place, plane += size) {
                const bool second = board >= layout.first_boards && value >= layout.first_values;
                if (board >= (second ? layout.boards : layout.first_boards)) {
                    const int16_t number = numbers[value];
                    if (!far || !again || number != numbers[value - layout.values])
                        std::fill(plane, plane + size, static_cast<Number>(number));
                    ++value;
                    continue;
                }
                const uint64_t* given = words.data() + (lane * layout.boards + board) * stored;
                if (!again && (far || end - plane >= room)) {
                    unpack(layout, given, plane);  // what it writes too much is overwritten
                } else if (!again) {
                    unpack(layout, given, spare.data());
                    std::copy(spare.data(), spare.data() + size, plane);
                } else if (!far) {
                    std::copy(plane - all * size, plane - (all - 1) * size, plane);
                }
                ++board;
            }
            const int16_t* last = layout.last + (first * seats + look) * layout.more * size;
            plane = std::copy(last, last + layout.more * size, plane);
            if (far) out.put(spare.data(), sizeof(Number) * static_cast<size_t>(all * size));
            else near = plane;
        }
    }
    if (far) out.finish();
}

CELLGAMES_DISPATCH
void write_shorts(const Layout& layout, int16_t* seen, int64_t from, int64_t to) { write(layout, seen, from, to); }

CELLGAMES_DISPATCH
void write_floats(const Layout& layout, float* seen, int64_t from, int64_t to) { write(layout, seen, from, to); }

}  // namespace

// sizes: the numbers of `Layout`, rows to more. planes: for each board its words for either seat, int64
// [stored][games]; where several seats of a game look, all see the same boards. seat int64 [games][seats]; numbers int16
// [games][seats][values]; last int16 [games][seats][more][rows][cols]; seen int16 [games][seats][boards + values + more]
// [rows][cols], or float32. The first boards come first, then the first values, then the other boards and values, then
// the planes of `last`.
CELLGAMES_EXPORT void cellgames_planes_seen(const void* sizes, int64_t threads, int64_t floats, const void* planes,
                                            const int64_t* seat, const int16_t* numbers, const int16_t* last,
                                            void* seen) {
    Layout layout{};
    std::memcpy(&layout, sizes, 13 * sizeof(int64_t));
    layout.planes = static_cast<const Plane*>(planes), layout.seat = seat, layout.numbers = numbers, layout.last = last;
    const int64_t games = layout.games, tiles = (games + kTile - 1) / kTile;
    cellgames::in_parallel(tiles, threads, [&](int64_t from, int64_t to) {
        const int64_t end = to * kTile < games ? to * kTile : games;
        floats ? write_floats(layout, static_cast<float*>(seen), from * kTile, end)
               : write_shorts(layout, static_cast<int16_t*>(seen), from * kTile, end);
    });
}
