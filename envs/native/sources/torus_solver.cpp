// The solver of small boards of Torus, for Python: `agents/torus/proof_search.py`.
#include <atomic>
#include <map>
#include <new>
#include <utility>

#include "random.h"
#include "torus_winning_sets.h"

namespace cellgames::torus {

// A solver of some instruction set's code.
class SmallSolver {
  public:
    virtual ~SmallSolver() = default;
    virtual int words() const = 0;
    virtual int64_t nodes() const = 0;
    virtual void search(const int8_t* colours, int64_t player, int64_t nodes, int64_t* out, uint64_t* carrier) = 0;
    virtual void judge_moves(const int8_t* colours, int64_t player, int64_t nodes, int8_t* out) = 0;
    virtual int64_t write_proof(const int8_t* colours, int64_t player, int64_t shared, const volatile int32_t* stop,
                                int64_t most, uint8_t* out) = 0;
    virtual int64_t entries(int64_t least, int64_t most, uint64_t* out) const = 0;
    virtual void add_entries(int64_t count, const uint64_t* rows) = 0;
    virtual void clear() = 0;
    virtual void bound(int64_t attacker, int64_t stones) = 0;
};

}  // namespace cellgames::torus

#define CELLGAMES_BODY "torus_solver.h"
#include "each_target.h"

using cellgames::torus::SmallSolver;

// A new solver with room for so many positions, or 0 if there is no memory for it. Its table lies in `memory` if that is
// not null: zeros, or what an earlier solver of the same kind has left.
CELLGAMES_EXPORT int64_t cellgames_torus_solver_new(int64_t size, int64_t longest, int64_t entries, void* memory) {
    try {
        return reinterpret_cast<int64_t>(
            CELLGAMES_CHOSEN(torus::make_solver)(static_cast<int>(size), static_cast<int>(longest), entries, memory));
    } catch (const std::bad_alloc&) {
        return 0;
    }
}

// Positions searched so far.
CELLGAMES_EXPORT int64_t cellgames_torus_solver_nodes(int64_t solver) {
    return reinterpret_cast<SmallSolver*>(solver)->nodes();
}

CELLGAMES_EXPORT void cellgames_torus_solver_end(int64_t solver) { delete reinterpret_cast<SmallSolver*>(solver); }

// Search positions one after the other, each with so many nodes: int8 [count, cells] of 0 free, 1 Black, 2 White, and
// the players to move. `out` is [count, 5]: 1 if the mover wins, -1 if it loses, 0 if that is open; a winning move or
// -1; nodes; proof and disproof number. `carriers` is [count, words] or null.
CELLGAMES_EXPORT void cellgames_torus_solver_search(int64_t solver, int64_t count, int64_t cells, const int8_t* colours,
                                                    const int64_t* players, int64_t nodes, int64_t* out,
                                                    uint64_t* carriers) {
    SmallSolver& chosen = *reinterpret_cast<SmallSolver*>(solver);
    for (int64_t i = 0; i < count; ++i)
        chosen.search(colours + i * cells, players[i], nodes, out + 5 * i,
                      carriers ? carriers + i * chosen.words() : nullptr);
}

// Search positions as above, but each with an empty table, so that none depends on the others.
CELLGAMES_EXPORT void cellgames_torus_solver_each(int64_t solver, int64_t count, int64_t cells, const int8_t* colours,
                                                  const int64_t* players, int64_t nodes, int64_t* out) {
    SmallSolver& chosen = *reinterpret_cast<SmallSolver*>(solver);
    for (int64_t i = 0; i < count; ++i) {
        chosen.clear();
        chosen.search(colours + i * cells, players[i], nodes, out + 5 * i, nullptr);
    }
}

// From now on `attacker` (0 Black, 1 White) must win with so many stones, else the opponent wins; -1: no bound.
CELLGAMES_EXPORT void cellgames_torus_solver_bound(int64_t solver, int64_t attacker, int64_t stones) {
    reinterpret_cast<SmallSolver*>(solver)->bound(attacker, stones);
}

// Judge all moves of positions, each with so many nodes: int8 [count, cells], 1 wins, -1 loses, 0 is open or no move.
CELLGAMES_EXPORT void cellgames_torus_solver_moves(int64_t solver, int64_t count, int64_t cells, const int8_t* colours,
                                                   const int64_t* players, int64_t nodes, int8_t* out) {
    for (int64_t i = 0; i < count; ++i)
        reinterpret_cast<SmallSolver*>(solver)->judge_moves(colours + i * cells, players[i], nodes, out + i * cells);
}

// Write a proof of who wins a position, up to `most` moves; return how many it has, or -1 once `stop` is not 0.
CELLGAMES_EXPORT int64_t cellgames_torus_solver_proof(int64_t solver, const int8_t* colours, int64_t player, int64_t shared,
                                                      const int32_t* stop, int64_t most, uint8_t* out) {
    return reinterpret_cast<SmallSolver*>(solver)->write_proof(colours, player, shared, stop, most, out);
}

// Copy out up to `most` solved positions that took so many nodes; return how many there are.
CELLGAMES_EXPORT int64_t cellgames_torus_solver_entries(int64_t solver, int64_t least, int64_t most, uint64_t* out) {
    return reinterpret_cast<SmallSolver*>(solver)->entries(least, most, out);
}

CELLGAMES_EXPORT void cellgames_torus_solver_add(int64_t solver, int64_t count, const uint64_t* rows) {
    reinterpret_cast<SmallSolver*>(solver)->add_entries(count, rows);
}

CELLGAMES_EXPORT void cellgames_torus_solver_clear(int64_t solver) { reinterpret_cast<SmallSolver*>(solver)->clear(); }
