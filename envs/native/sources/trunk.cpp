// The convolutions of `agents/networks/blocks.py`, forward and backward, in float32.
//
// A layer's 3 x 3 convolution is computed by tiles of 2 x 2 cells with 16 products in place of 36 (Winograd; Lavin,
// Gray, "Fast algorithms for convolutional neural networks", CVPR 2016). All layers of a few positions run one after the
// other, so what lies between them stays in the cache. The results of a position depend on no other one.
//
// Letters of the source: d a tile of the input with its surroundings, g a kernel, Y a tile of the output;
// Y = A' [(G g G') * (B' d B)] A.
#include <cstring>
#include <type_traits>

#include "portable.h"

// Products may be added without being rounded: a sum of hundreds of them has no order to be kept.
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

// What a call is given; letters as in `blocks.py`. `S` is the number of channels rounded up to a multiple of 32.
struct CellgamesTrunk {
    int64_t positions, rows, cols, planes, channels, layers, wrap, threads;
    const float* input;           // [L, planes, H, W]
    const float* added;           // null, or [L, C]
    const float* const* weights;  // of the first and the other layers: [C, 3, 3, planes or C]
    const float* const* biases;   // [C]
    int64_t kept;                 // 1 + layers, or 1: the last one only
    float* seen;                  // [kept, L, H, W, S]
};

// What the way back is given besides.
struct CellgamesTrunkGradients {
    const float* output;      // [L, H, W, S]
    int64_t parts;            // of the positions, that are added up one after the other
    float* scratch;           // zeros, [parts, cellgames_trunk_scratch]
    float* const* weights;    // to be written, as in `CellgamesTrunk`
    float* const* biases;
    float* added;             // null, or [L, C]
    float* input;             // null, or [L, planes, H, W]
};

namespace {

constexpr int64_t kTiles = 36;      // tiles that are transformed together, at most
constexpr int64_t kChunk = 32;      // channels of a row of transformed numbers
constexpr int64_t kComponents = 16;

CELLGAMES_INLINE int64_t rounded(int64_t number, int64_t step) { return (number + step - 1) / step * step; }
CELLGAMES_INLINE int64_t least(int64_t one, int64_t other) { return one < other ? one : other; }

#if defined(__GNUC__)
typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));
#else
struct Floats4 {
    float at[4];
};
#define CELLGAMES_FLOATS(sign)                                                 \
    CELLGAMES_INLINE Floats4 operator sign(const Floats4& a, const Floats4& b) { \
        Floats4 out;                                                           \
        for (int i = 0; i < 4; ++i) out.at[i] = a.at[i] sign b.at[i];          \
        return out;                                                            \
    }
CELLGAMES_FLOATS(+)
CELLGAMES_FLOATS(-)
CELLGAMES_FLOATS(*)
#undef CELLGAMES_FLOATS
CELLGAMES_INLINE Floats4 operator*(const Floats4& a, float b) { return a * Floats4{{b, b, b, b}}; }
CELLGAMES_INLINE void operator+=(Floats4& a, const Floats4& b) { a = a + b; }
#endif

template <class V>
CELLGAMES_INLINE V load(const float* from) {
    V value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class V>
CELLGAMES_INLINE void store(float* to, const V& value) {
    std::memcpy(to, &value, sizeof value);
}

// Where `sign` is above zero the numbers, else zero.
template <class V>
CELLGAMES_INLINE V where_positive(const V& sign, const V& numbers) {
#if defined(__GNUC__)
    return sign > V{} ? numbers : V{};
#else
    V out;
    for (size_t i = 0; i < sizeof(V) / sizeof(float); ++i) out.at[i] = sign.at[i] > 0.0f ? numbers.at[i] : 0.0f;
    return out;
#endif
}

struct Shape {
    int64_t rows, cols, tile_rows, tile_cols, tiles, padded_rows, padded_cols, padded_cells;
    bool wrap;

    explicit Shape(const CellgamesTrunk& trunk)
        : rows(trunk.rows), cols(trunk.cols), tile_rows((rows + 1) / 2), tile_cols((cols + 1) / 2),
          tiles(tile_rows * tile_cols), padded_rows(2 * tile_rows + 2), padded_cols(2 * tile_cols + 2),
          padded_cells(padded_rows * padded_cols), wrap(trunk.wrap != 0) {}

    // The place of a cell among those of the board with a border around it.
    CELLGAMES_INLINE_MEMBER int64_t cell(int64_t row, int64_t col) const { return (row + 1) * padded_cols + col + 1; }

    int64_t group() const { return kTiles / tiles > 1 ? kTiles / tiles : 1; }
};

// A part of some positions' tiles, which a convolution works on at once.
struct Tile {
    int64_t position, row, col;

    CELLGAMES_INLINE_MEMBER Tile(const Shape& shape, int64_t number) {
        position = number / shape.tiles;
        const int64_t rest = number - position * shape.tiles;
        row = rest / shape.tile_cols * 2;
        col = rest % shape.tile_cols * 2;
    }
};

// Copy to the border of a board on a torus what lies on its other side; S numbers a cell.
CELLGAMES_INLINE void wrap_around(const Shape& shape, float* board, int64_t stride) {
    if (!shape.wrap) return;
    const size_t bytes = sizeof(float) * static_cast<size_t>(stride);
    for (int64_t row = 0; row < shape.rows; ++row) {
        std::memcpy(board + shape.cell(row, -1) * stride, board + shape.cell(row, shape.cols - 1) * stride, bytes);
        std::memcpy(board + shape.cell(row, shape.cols) * stride, board + shape.cell(row, 0) * stride, bytes);
    }
    const size_t line = bytes * static_cast<size_t>(shape.cols + 2);
    std::memcpy(board + shape.cell(-1, -1) * stride, board + shape.cell(shape.rows - 1, -1) * stride, line);
    std::memcpy(board + shape.cell(shape.rows, -1) * stride, board + shape.cell(0, -1) * stride, line);
}

// B' d B of all channels of a tile; component k goes to `to + k * step`, and 32 channels later it goes `chunk` further.
template <class V>
CELLGAMES_INLINE void transform_input(const float* from, int64_t line, int64_t stride, float* to, int64_t step, int64_t chunk) {
    constexpr int64_t width = sizeof(V) / sizeof(float);
    for (int64_t channel = 0; channel < stride; channel += width) {
        V half[4][4];
        for (int col = 0; col < 4; ++col) {
            const float* at = from + col * stride + channel;
            const V a = load<V>(at), b = load<V>(at + line), c = load<V>(at + 2 * line), d = load<V>(at + 3 * line);
            half[0][col] = a - c;
            half[1][col] = b + c;
            half[2][col] = c - b;
            half[3][col] = b - d;
        }
        float* out = to + channel / kChunk * chunk + channel % kChunk;
        for (int row = 0; row < 4; ++row) {
            store(out + (4 * row) * step, half[row][0] - half[row][2]);
            store(out + (4 * row + 1) * step, half[row][1] + half[row][2]);
            store(out + (4 * row + 2) * step, half[row][2] - half[row][1]);
            store(out + (4 * row + 3) * step, half[row][1] - half[row][3]);
        }
    }
}

// Products of R rows of transformed tiles and the transformed kernels of two vectors of channels.
template <class V, int R>
CELLGAMES_INLINE void multiply(const float* rows, int64_t chunk, const float* kernels, int64_t inputs, float* to, int64_t outputs) {
    constexpr int64_t width = sizeof(V) / sizeof(float);
    V sums[R][2] = {};
    for (int64_t first = 0; first < inputs; first += kChunk, rows += chunk) {
        const int64_t count = least(kChunk, inputs - first);
        for (int64_t input = 0; input < count; ++input, kernels += 2 * width) {
            const V left = load<V>(kernels), right = load<V>(kernels + width);
            for (int row = 0; row < R; ++row) {
                const float number = rows[row * kChunk + input];
                sums[row][0] += left * number;
                sums[row][1] += right * number;
            }
        }
    }
    for (int row = 0; row < R; ++row) {
        store(to + row * outputs, sums[row][0]);
        store(to + row * outputs + width, sums[row][1]);
    }
}

template <class V, int R>
CELLGAMES_INLINE void multiply_rows(int64_t count, const float* rows, int64_t chunk, const float* kernels, int64_t inputs,
                                    float* to, int64_t outputs) {
    if constexpr (R > 1) {
        if (count < R) return multiply_rows<V, R - 1>(count, rows, chunk, kernels, inputs, to, outputs);
    }
    multiply<V, R>(rows, chunk, kernels, inputs, to, outputs);
}

// Kernels that are transformed for `multiply`: [16, blocks of two vectors of outputs, inputs, those outputs].
template <class V>
struct Kernels {
    static constexpr int64_t kBlock = 2 * static_cast<int64_t>(sizeof(V) / sizeof(float));
    const float* numbers;
    int64_t inputs, blocks;

    static CELLGAMES_INLINE_MEMBER int64_t size(int64_t inputs, int64_t outputs) {
        return kComponents * inputs * rounded(outputs, kBlock);
    }

    // Transform weights [C, 3, 3, planes]; `turned` for the way back, from C to planes.
    static CELLGAMES_INLINE_MEMBER Kernels made(const float* weights, int64_t channels, int64_t planes, bool turned, float* to) {
        const int64_t inputs = turned ? channels : planes, outputs = turned ? planes : channels;
        const int64_t blocks = rounded(outputs, kBlock) / kBlock, step = blocks * inputs * kBlock;
        for (int64_t block = 0; block < blocks; ++block)
            for (int64_t input = 0; input < inputs; ++input) {
                float taps[9][kBlock] = {};
                const int64_t count = least(kBlock, outputs - block * kBlock);
                for (int tap = 0; tap < 9; ++tap)
                    for (int64_t lane = 0; lane < count; ++lane) {
                        const int64_t output = block * kBlock + lane;
                        taps[tap][lane] = turned ? weights[(input * 9 + 8 - tap) * planes + output]
                                                 : weights[(output * 9 + tap) * planes + input];
                    }
                float* out = to + (block * inputs + input) * kBlock;
                for (int64_t lane = 0; lane < kBlock; lane += kBlock / 2) {
                    V half[4][3];
                    for (int col = 0; col < 3; ++col) {
                        const V a = load<V>(taps[col] + lane), b = load<V>(taps[3 + col] + lane), c = load<V>(taps[6 + col] + lane);
                        half[0][col] = a;
                        half[1][col] = (a + b + c) * 0.5f;
                        half[2][col] = (a - b + c) * 0.5f;
                        half[3][col] = c;
                    }
                    for (int row = 0; row < 4; ++row) {
                        const V a = half[row][0], b = half[row][1], c = half[row][2];
                        store(out + (4 * row) * step + lane, a);
                        store(out + (4 * row + 1) * step + lane, (a + b + c) * 0.5f);
                        store(out + (4 * row + 2) * step + lane, (a - b + c) * 0.5f);
                        store(out + (4 * row + 3) * step + lane, c);
                    }
                }
            }
        return {to, inputs, blocks};
    }
};

// Room for transformed tiles: those of an input of `stride` channels, and of an output.
struct Rooms {
    float *tiles, *products;
};

// Convolve boards with a border, `stride` numbers a cell, and call `finish(position, row, col, channel, result)`.
template <class V, int R, class Finish>
CELLGAMES_INLINE void convolve(const Shape& shape, int64_t positions, const float* boards, int64_t stride,
                               const Kernels<V>& kernels, const Rooms& rooms, const Finish& finish) {
    constexpr int64_t width = sizeof(V) / sizeof(float), block = Kernels<V>::kBlock;
    const int64_t outputs = kernels.blocks * block, all = positions * shape.tiles;
    constexpr int64_t chunk = kTiles * kChunk;
    const int64_t step = stride / kChunk * chunk;
    for (int64_t first = 0; first < all; first += kTiles) {
        const int64_t count = least(kTiles, all - first);
        for (int64_t number = 0; number < count; ++number) {
            const Tile tile(shape, first + number);
            const float* from =
                boards + (tile.position * shape.padded_cells + tile.row * shape.padded_cols + tile.col) * stride;
            transform_input<V>(from, shape.padded_cols * stride, stride, rooms.tiles + number * kChunk, step, chunk);
        }
        const int64_t parts = (count + R - 1) / R;
        for (int64_t component = 0; component < kComponents; ++component)
            for (int64_t part = 0; part < kernels.blocks; ++part) {
                const float* numbers = kernels.numbers + (component * kernels.blocks + part) * kernels.inputs * block;
                for (int64_t piece = 0; piece < parts; ++piece) {
                    const int64_t from = count * piece / parts, to = count * (piece + 1) / parts;
                    multiply_rows<V, R>(to - from, rooms.tiles + component * step + from * kChunk, chunk, numbers,
                                        kernels.inputs, rooms.products + (component * kTiles + from) * outputs + part * block,
                                        outputs);
                }
            }
        for (int64_t number = 0; number < count; ++number) {
            const Tile tile(shape, first + number);
            const bool below = tile.row + 1 < shape.rows, beside = tile.col + 1 < shape.cols;
            for (int64_t channel = 0; channel < outputs; channel += width) {
                const float* from = rooms.products + number * outputs + channel;
                V upper[4], lower[4];
                for (int col = 0; col < 4; ++col) {
                    const V a = load<V>(from + col * kTiles * outputs), b = load<V>(from + (4 + col) * kTiles * outputs);
                    const V c = load<V>(from + (8 + col) * kTiles * outputs), d = load<V>(from + (12 + col) * kTiles * outputs);
                    upper[col] = a + b + c;
                    lower[col] = b - c - d;
                }
                finish(tile.position, tile.row, tile.col, channel, upper[0] + upper[1] + upper[2]);
                if (beside) finish(tile.position, tile.row, tile.col + 1, channel, upper[1] - upper[2] - upper[3]);
                if (below) finish(tile.position, tile.row + 1, tile.col, channel, lower[0] + lower[1] + lower[2]);
                if (below && beside) finish(tile.position, tile.row + 1, tile.col + 1, channel, lower[1] - lower[2] - lower[3]);
            }
        }
    }
}

// Memory of this thread, aligned to whole vectors and kept for later calls.
inline float* memory(int64_t floats) {
    static thread_local std::vector<float> kept;
    if (static_cast<int64_t>(kept.size()) < floats + 16) kept.resize(static_cast<size_t>(floats + 16));
    const auto address = reinterpret_cast<uintptr_t>(kept.data());
    return reinterpret_cast<float*>((address + 63) / 64 * 64);
}

// Write an input [planes, H, W] as a board with a border, `stride` numbers a cell.
CELLGAMES_INLINE void lay_out(const CellgamesTrunk& trunk, const Shape& shape, int64_t position, float* board, int64_t stride) {
    const float* from = trunk.input + position * trunk.planes * shape.rows * shape.cols;
    for (int64_t plane = 0; plane < trunk.planes; ++plane)
        for (int64_t row = 0; row < shape.rows; ++row)
            for (int64_t col = 0; col < shape.cols; ++col) board[shape.cell(row, col) * stride + plane] = *from++;
    wrap_around(shape, board, stride);
}

// The end of a layer: bias, what is added to all cells, ReLU, the skip; to a board with a border and to what is kept.
template <class V>
struct Activation {
    const Shape& shape;
    const float *bias, *added, *skipped;  // `added` and `skipped` may be null
    int64_t channels, stride;
    float *board, *seen;  // either may be null

    CELLGAMES_INLINE_MEMBER void operator()(int64_t position, int64_t row, int64_t col, int64_t channel, V value) const {
        value += load<V>(bias + channel);
        if (added) value += load<V>(added + position * stride + channel);
        value = where_positive(value, value);
        const int64_t cell = (position * shape.padded_cells + shape.cell(row, col)) * stride + channel;
        if (skipped) value += load<V>(skipped + cell);
        if (board) store(board + cell, value);
        if (seen) store(seen + ((position * shape.rows + row) * shape.cols + col) * stride + channel, value);
    }
};

struct Sizes {
    int64_t input, stride, wider, group, boards, biases;

    explicit Sizes(const CellgamesTrunk& trunk, const Shape& shape)
        : input(rounded(trunk.planes, kChunk)), stride(rounded(trunk.channels, kChunk)),
          wider(input > stride ? input : stride), group(shape.group()), boards(group * shape.padded_cells * wider),
          biases((trunk.layers + 1 + group) * stride) {}

    Rooms rooms(float*& free) const {
        float* tiles = free;
        free += 2 * kComponents * kTiles * wider;
        return {tiles, tiles + kComponents * kTiles * wider};
    }
};

template <class V, int R>
CELLGAMES_INLINE void forward(const CellgamesTrunk& trunk, const float* kernels, int64_t from, int64_t to) {
    const Shape shape(trunk);
    const Sizes sizes(trunk, shape);
    const int64_t stride = sizes.stride, layers = trunk.layers;
    float* free = memory(2 * sizes.boards + 2 * kComponents * kTiles * sizes.wider + sizes.biases);
    float* const boards = free;
    free += 2 * sizes.boards;
    const Rooms rooms = sizes.rooms(free);
    float *biases = free, *added = free + (layers + 1) * stride;
    std::memset(biases, 0, sizeof(float) * static_cast<size_t>(sizes.biases));
    for (int64_t layer = 0; layer <= layers; ++layer)
        std::memcpy(biases + layer * stride, trunk.biases[layer], sizeof(float) * static_cast<size_t>(trunk.channels));
    const int64_t board = shape.rows * shape.cols * stride;
    for (int64_t first = from; first < to; first += sizes.group) {
        const int64_t count = least(sizes.group, to - first);
        float *here = boards, *there = boards + sizes.boards;
        std::memset(boards, 0, sizeof(float) * static_cast<size_t>(2 * sizes.boards));
        for (int64_t one = 0; one < count; ++one) {
            lay_out(trunk, shape, first + one, here + one * shape.padded_cells * sizes.input, sizes.input);
            if (trunk.added)
                std::memcpy(added + one * stride, trunk.added + (first + one) * trunk.channels,
                            sizeof(float) * static_cast<size_t>(trunk.channels));
        }
        const float* numbers = kernels;
        for (int64_t layer = 0; layer <= layers; ++layer) {
            const int64_t inputs = layer ? trunk.channels : trunk.planes;
            const Kernels<V> made{numbers, inputs, rounded(trunk.channels, Kernels<V>::kBlock) / Kernels<V>::kBlock};
            numbers += Kernels<V>::size(inputs, trunk.channels);
            const int64_t slot = trunk.kept > 1 ? layer : 0;
            const bool last = layer == layers, keeps = last || trunk.kept > 1;
            float* seen = keeps ? trunk.seen + (slot * trunk.positions + first) * board : nullptr;
            const Activation<V> finish{shape, biases + layer * stride, !layer && trunk.added ? added : nullptr,
                                       layer ? here : nullptr, trunk.channels, stride, last ? nullptr : there, seen};
            convolve<V, R>(shape, count, here, layer ? stride : sizes.input, made, rooms, finish);
            float* other = here;
            here = there;
            there = other;
            if (!last)
                for (int64_t one = 0; one < count; ++one) wrap_around(shape, here + one * shape.padded_cells * stride, stride);
            // The first input has another layout; what it leaves behind must not be taken for zeros of a border.
            if (layer == 0 && !last) std::memset(there, 0, sizeof(float) * static_cast<size_t>(sizes.boards));
        }
    }
}

template <class V>
CELLGAMES_INLINE int64_t pack(const CellgamesTrunk& trunk, bool turned, float* to) {
    int64_t used = 0;
    for (int64_t layer = 0; layer <= trunk.layers; ++layer) {
        const int64_t planes = layer ? trunk.channels : trunk.planes;
        if (to) Kernels<V>::made(trunk.weights[layer], trunk.channels, planes, turned, to + used);
        used += turned ? Kernels<V>::size(trunk.channels, planes) : Kernels<V>::size(planes, trunk.channels);
    }
    return used;
}

// --- the way back -----------------------------------------------------------------------------------------------------

// A m A' of all channels of a tile of gradients, as in `transform_input`; what lies beyond the board counts as zero.
template <class V>
CELLGAMES_INLINE void transform_gradient(const float* from, int64_t line, int64_t stride, bool below, bool beside, float* to,
                                         int64_t step, int64_t outputs) {
    constexpr int64_t width = sizeof(V) / sizeof(float);
    for (int64_t channel = 0; channel < outputs; channel += width) {
        const float* at = from + channel;
        V half[4][2];
        for (int col = 0; col < 2; ++col) {
            const bool there = col == 0 || beside;
            const V a = there ? load<V>(at + col * stride) : V{};
            const V b = there && below ? load<V>(at + line + col * stride) : V{};
            half[0][col] = a;
            half[1][col] = a + b;
            half[2][col] = a - b;
            half[3][col] = V{} - b;
        }
        float* out = to + channel;
        for (int row = 0; row < 4; ++row) {
            const V a = half[row][0], b = half[row][1];
            store(out + (4 * row) * step, a);
            store(out + (4 * row + 1) * step, a + b);
            store(out + (4 * row + 2) * step, a - b);
            store(out + (4 * row + 3) * step, V{} - b);
        }
    }
}

// Add to the gradients of transformed kernels, R inputs and two vectors of outputs, what `count` tiles say.
template <class V, int R>
CELLGAMES_INLINE void correlate(int64_t count, const float* inputs, const float* outputs, int64_t step, float* sums_at) {
    constexpr int64_t width = sizeof(V) / sizeof(float);
    V sums[R][2];
    for (int row = 0; row < R; ++row) {
        sums[row][0] = load<V>(sums_at + row * 2 * width);
        sums[row][1] = load<V>(sums_at + row * 2 * width + width);
    }
    for (int64_t tile = 0; tile < count; ++tile) {
        const V left = load<V>(outputs + tile * step), right = load<V>(outputs + tile * step + width);
        for (int row = 0; row < R; ++row) {
            const float number = inputs[tile * kChunk + row];
            sums[row][0] += left * number;
            sums[row][1] += right * number;
        }
    }
    for (int row = 0; row < R; ++row) {
        store(sums_at + row * 2 * width, sums[row][0]);
        store(sums_at + row * 2 * width + width, sums[row][1]);
    }
}

// The gradients of a layer's transformed kernels: [16, blocks of outputs, inputs rounded up to 32, outputs of a block].
template <class V>
CELLGAMES_INLINE int64_t kernel_gradients(int64_t inputs, int64_t outputs) {
    return kComponents * rounded(inputs, kChunk) * rounded(outputs, Kernels<V>::kBlock);
}

template <class V, int R>
CELLGAMES_INLINE void add_kernel_gradients(const Shape& shape, int64_t positions, const float* boards, int64_t stride,
                                           int64_t inputs, const float* gradients, int64_t gradient_stride,
                                           int64_t channels, const Rooms& rooms, float* to) {
    constexpr int64_t block = Kernels<V>::kBlock, chunk = kTiles * kChunk;
    const int64_t blocks = rounded(channels, block) / block, outputs = blocks * block;
    const int64_t step = stride / kChunk * chunk, all = positions * shape.tiles, padded = rounded(inputs, kChunk);
    for (int64_t first = 0; first < all; first += kTiles) {
        const int64_t count = least(kTiles, all - first);
        for (int64_t number = 0; number < count; ++number) {
            const Tile tile(shape, first + number);
            const int64_t start = tile.position * shape.padded_cells;
            const float* from = boards + (start + tile.row * shape.padded_cols + tile.col) * stride;
            transform_input<V>(from, shape.padded_cols * stride, stride, rooms.tiles + number * kChunk, step, chunk);
            transform_gradient<V>(gradients + (start + shape.cell(tile.row, tile.col)) * gradient_stride,
                                  shape.padded_cols * gradient_stride, gradient_stride, tile.row + 1 < shape.rows,
                                  tile.col + 1 < shape.cols, rooms.products + number * outputs, kTiles * outputs, outputs);
        }
        for (int64_t component = 0; component < kComponents; ++component)
            for (int64_t part = 0; part < blocks; ++part)
                for (int64_t input = 0; input < inputs; input += R)
                    correlate<V, R>(count, rooms.tiles + component * step + input / kChunk * chunk + input % kChunk,
                                    rooms.products + component * kTiles * outputs + part * block, outputs,
                                    to + ((component * blocks + part) * padded + input) * block);
    }
}

template <class V>
struct AddGradient {
    const Shape& shape;
    int64_t stride;
    float* to;  // [positions, H, W, S]

    CELLGAMES_INLINE_MEMBER void operator()(int64_t position, int64_t row, int64_t col, int64_t channel, V value) const {
        float* at = to + ((position * shape.rows + row) * shape.cols + col) * stride + channel;
        store(at, load<V>(at) + value);
    }
};

template <class V>
struct WriteInputGradient {
    const Shape& shape;
    int64_t planes;
    float* to;  // [positions, planes, H, W]

    CELLGAMES_INLINE_MEMBER void operator()(int64_t position, int64_t row, int64_t col, int64_t channel, V value) const {
        float numbers[sizeof(V) / sizeof(float)];
        store(numbers, value);
        const int64_t count = least(static_cast<int64_t>(sizeof(V) / sizeof(float)), planes - channel);
        for (int64_t lane = 0; lane < count; ++lane)
            to[((position * planes + channel + lane) * shape.rows + row) * shape.cols + col] = numbers[lane];
    }
};

// Numbers of a part's scratch: gradients of the transformed kernels of all layers, then of the biases.
template <class V>
CELLGAMES_INLINE int64_t scratch(const CellgamesTrunk& trunk) {
    return kernel_gradients<V>(trunk.planes, trunk.channels) + trunk.layers * kernel_gradients<V>(trunk.channels, trunk.channels) +
           (trunk.layers + 1) * rounded(trunk.channels, kChunk);
}

template <class V, int R, int Q>
CELLGAMES_INLINE void backward(const CellgamesTrunk& trunk, const CellgamesTrunkGradients& gradients, const float* kernels,
                               int64_t part) {
    constexpr int64_t width = sizeof(V) / sizeof(float), block = Kernels<V>::kBlock;
    const Shape shape(trunk);
    const Sizes sizes(trunk, shape);
    const int64_t stride = sizes.stride, cells = shape.rows * shape.cols, board = cells * stride;
    const int64_t from = trunk.positions * part / gradients.parts, to = trunk.positions * (part + 1) / gradients.parts;
    float* free = memory(2 * sizes.boards + 2 * kComponents * kTiles * sizes.wider + sizes.group * board);
    float *masked = free, *inputs = free + sizes.boards;
    free += 2 * sizes.boards;
    const Rooms rooms = sizes.rooms(free);
    float* flowing = free;
    float* sums = gradients.scratch + part * scratch<V>(trunk);
    float* biases = sums + scratch<V>(trunk) - (trunk.layers + 1) * stride;
    const int64_t first_kernels = Kernels<V>::size(trunk.channels, trunk.planes);
    const int64_t later_kernels = Kernels<V>::size(trunk.channels, trunk.channels);
    const int64_t first_sums = kernel_gradients<V>(trunk.planes, trunk.channels);
    const int64_t later_sums = kernel_gradients<V>(trunk.channels, trunk.channels);
    for (int64_t first = from; first < to; first += sizes.group) {
        const int64_t count = least(sizes.group, to - first);
        std::memcpy(flowing, gradients.output + first * board, sizeof(float) * static_cast<size_t>(count * board));
        std::memset(masked, 0, sizeof(float) * static_cast<size_t>(2 * sizes.boards));
        for (int64_t layer = trunk.layers; layer >= 0; --layer) {
            const float* after = trunk.seen + (layer * trunk.positions + first) * board;
            const float* before = layer ? after - trunk.positions * board : nullptr;
            for (int64_t one = 0; one < count; ++one) {
                float* mine = masked + one * shape.padded_cells * stride;
                float* seen = inputs + one * shape.padded_cells * stride;
                for (int64_t row = 0; row < shape.rows; ++row)
                    for (int64_t col = 0; col < shape.cols; ++col) {
                        const int64_t at = one * board + (row * shape.cols + col) * stride, cell = shape.cell(row, col) * stride;
                        for (int64_t channel = 0; channel < stride; channel += width) {
                            // ReLU added something where the sum is above what it was added to.
                            V rise = load<V>(after + at + channel);
                            if (before) {
                                const V was = load<V>(before + at + channel);
                                store(seen + cell + channel, was);
                                rise = rise - was;
                            }
                            const V gradient = where_positive(rise, load<V>(flowing + at + channel));
                            store(mine + cell + channel, gradient);
                            float* bias = biases + layer * stride + channel;
                            store(bias, load<V>(bias) + gradient);
                        }
                    }
                wrap_around(shape, mine, stride);
                if (layer) wrap_around(shape, seen, stride);
                if (!layer && gradients.added) {
                    float* added = gradients.added + (first + one) * trunk.channels;
                    for (int64_t row = 0; row < shape.rows; ++row)
                        for (int64_t col = 0; col < shape.cols; ++col)
                            for (int64_t channel = 0; channel < trunk.channels; ++channel)
                                added[channel] += mine[shape.cell(row, col) * stride + channel];
                }
            }
            if (!layer) {
                std::memset(inputs, 0, sizeof(float) * static_cast<size_t>(sizes.boards));
                for (int64_t one = 0; one < count; ++one)
                    lay_out(trunk, shape, first + one, inputs + one * shape.padded_cells * sizes.input, sizes.input);
            }
            add_kernel_gradients<V, Q>(shape, count, inputs, layer ? stride : sizes.input, layer ? trunk.channels : trunk.planes,
                                       masked, stride, trunk.channels, rooms,
                                       layer ? sums + first_sums + (layer - 1) * later_sums : sums);
            const float* numbers = layer ? kernels + first_kernels + (layer - 1) * later_kernels : kernels;
            const int64_t outputs = layer ? trunk.channels : trunk.planes;
            const Kernels<V> made{numbers, trunk.channels, rounded(outputs, block) / block};
            if (layer) {
                convolve<V, R>(shape, count, masked, stride, made, rooms, AddGradient<V>{shape, stride, flowing});
            } else if (gradients.input) {
                float* written = gradients.input + first * trunk.planes * cells;
                convolve<V, R>(shape, count, masked, stride, made, rooms, WriteInputGradient<V>{shape, trunk.planes, written});
            }
        }
    }
}

// Add up the parts, and write the gradients of weights and biases: G' u G of each kernel.
template <class V>
CELLGAMES_INLINE void write_gradients(const CellgamesTrunk& trunk, const CellgamesTrunkGradients& gradients) {
    constexpr int64_t block = Kernels<V>::kBlock;
    const int64_t size = scratch<V>(trunk), stride = rounded(trunk.channels, kChunk);
    float* sums = gradients.scratch;
    for (int64_t part = 1; part < gradients.parts; ++part)
        for (int64_t place = 0; place < size; ++place) sums[place] += sums[part * size + place];
    const float* biases = sums + size - (trunk.layers + 1) * stride;
    const int64_t blocks = rounded(trunk.channels, block) / block;
    for (int64_t layer = 0; layer <= trunk.layers; ++layer) {
        std::memcpy(gradients.biases[layer], biases + layer * stride, sizeof(float) * static_cast<size_t>(trunk.channels));
        const int64_t inputs = layer ? trunk.channels : trunk.planes, padded = rounded(inputs, kChunk);
        const int64_t step = blocks * padded * block;
        for (int64_t output = 0; output < trunk.channels; ++output)
            for (int64_t input = 0; input < inputs; ++input) {
                const float* from = sums + (output / block * padded + input) * block + output % block;
                float half[3][4];
                for (int col = 0; col < 4; ++col) {
                    const float a = from[col * step], b = from[(4 + col) * step], c = from[(8 + col) * step];
                    half[0][col] = a + 0.5f * (b + c);
                    half[1][col] = 0.5f * (b - c);
                    half[2][col] = 0.5f * (b + c) + from[(12 + col) * step];
                }
                for (int row = 0; row < 3; ++row) {
                    const float* u = half[row];
                    float* to = gradients.weights[layer] + (output * 9 + 3 * row) * inputs + input;
                    to[0] = u[0] + 0.5f * (u[1] + u[2]);
                    to[inputs] = 0.5f * (u[1] - u[2]);
                    to[2 * inputs] = 0.5f * (u[1] + u[2]) + u[3];
                }
            }
        sums += kernel_gradients<V>(inputs, trunk.channels);
    }
}

// --- instruction sets -------------------------------------------------------------------------------------------------

// The same code for vectors as wide as the processor's, and as many sums at a time as it has registers for.
struct Code {
    int64_t (*pack)(const CellgamesTrunk&, bool, float*);
    void (*forward)(const CellgamesTrunk&, const float*, int64_t, int64_t);
    int64_t (*scratch)(const CellgamesTrunk&);
    void (*backward)(const CellgamesTrunk&, const CellgamesTrunkGradients&, const float*, int64_t);
    void (*write_gradients)(const CellgamesTrunk&, const CellgamesTrunkGradients&);
};

#define CELLGAMES_CODE(NAME, TARGET, V, R, Q)                                                                              \
    namespace NAME {                                                                                                       \
    TARGET int64_t pack_all(const CellgamesTrunk& trunk, bool turned, float* to) { return pack<V>(trunk, turned, to); }     \
    TARGET void run(const CellgamesTrunk& trunk, const float* kernels, int64_t from, int64_t to) {                          \
        forward<V, R>(trunk, kernels, from, to);                                                                           \
    }                                                                                                                      \
    TARGET int64_t room(const CellgamesTrunk& trunk) { return scratch<V>(trunk); }                                          \
    TARGET void back(const CellgamesTrunk& trunk, const CellgamesTrunkGradients& all, const float* kernels, int64_t part) {  \
        backward<V, R, Q>(trunk, all, kernels, part);                                                                      \
    }                                                                                                                      \
    TARGET void write(const CellgamesTrunk& trunk, const CellgamesTrunkGradients& all) { write_gradients<V>(trunk, all); }   \
    constexpr Code code{pack_all, run, room, back, write};                                                                 \
    }

#if defined(__x86_64__) && defined(__GNUC__) && !defined(CELLGAMES_ONE_TARGET)
CELLGAMES_CODE(avx512, __attribute__((target("arch=x86-64-v4"))), Floats16, 12, 8)
CELLGAMES_CODE(avx2, __attribute__((target("arch=x86-64-v3"))), Floats8, 6, 4)
CELLGAMES_CODE(plain, , Floats4, 4, 4)

const Code& chosen() {
    static const Code& code = __builtin_cpu_supports("x86-64-v4")   ? avx512::code
                              : __builtin_cpu_supports("x86-64-v3") ? avx2::code
                                                                    : plain::code;
    return code;
}
#else
#if defined(__AVX512F__)
CELLGAMES_CODE(plain, , Floats16, 12, 8)
#elif defined(__AVX2__)
CELLGAMES_CODE(plain, , Floats8, 6, 4)
#else
CELLGAMES_CODE(plain, , Floats4, 8, 8)
#endif

const Code& chosen() { return plain::code; }
#endif

}  // namespace

namespace {

// The transformed kernels of the last call, and the weights that they were made of: to compare these takes a tenth of
// the time, and few positions take no longer than the transformation.
struct LastKernels {
    int64_t planes = 0, channels = 0, layers = -1;
    std::vector<float> weights, kernels;

    const float* of(const CellgamesTrunk& trunk, const Code& code) {
        const bool alike = planes == trunk.planes && channels == trunk.channels && layers == trunk.layers;
        if (alike && same(trunk)) return kernels.data();
        planes = trunk.planes;
        channels = trunk.channels;
        layers = trunk.layers;
        weights.clear();
        for (int64_t layer = 0; layer <= layers; ++layer)
            weights.insert(weights.end(), trunk.weights[layer], trunk.weights[layer] + size(layer));
        kernels.resize(static_cast<size_t>(code.pack(trunk, false, nullptr)));
        code.pack(trunk, false, kernels.data());
        return kernels.data();
    }

  private:
    int64_t size(int64_t layer) const { return channels * 9 * (layer ? channels : planes); }

    bool same(const CellgamesTrunk& trunk) const {
        const float* mine = weights.data();
        for (int64_t layer = 0; layer <= layers; mine += size(layer++))
            if (std::memcmp(mine, trunk.weights[layer], sizeof(float) * static_cast<size_t>(size(layer)))) return false;
        return true;
    }
};

}  // namespace

// Run the layers of a trunk on all positions.
CELLGAMES_EXPORT void cellgames_trunk(const CellgamesTrunk* trunk) {
    const Code& code = chosen();
    static thread_local LastKernels last;
    const float* numbers = last.of(*trunk, code);
    cellgames::in_parallel(trunk->positions, trunk->threads,
                           [&](int64_t from, int64_t to) { code.forward(*trunk, numbers, from, to); });
}

// Return how many numbers of scratch a part of the positions needs on the way back.
CELLGAMES_EXPORT int64_t cellgames_trunk_scratch(const CellgamesTrunk* trunk) { return chosen().scratch(*trunk); }

// Compute gradients; `trunk->seen` holds all layers.
CELLGAMES_EXPORT void cellgames_trunk_backward(const CellgamesTrunk* trunk, const CellgamesTrunkGradients* gradients) {
    const Code& code = chosen();
    std::vector<float> kernels(static_cast<size_t>(code.pack(*trunk, true, nullptr)));
    code.pack(*trunk, true, kernels.data());
    cellgames::in_parallel(gradients->parts, trunk->threads, [&](int64_t from, int64_t to) {
        for (int64_t part = from; part < to; ++part) code.backward(*trunk, *gradients, kernels.data(), part);
    });
    code.write_gradients(*trunk, *gradients);
}
