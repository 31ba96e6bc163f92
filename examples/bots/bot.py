"""A bot for Torus in Python.

It fills the board at random many times and takes the cell that is most often its own in boards that it wins. Messages:
docs/bots.md. Try it: cellgames evaluate torus-v0 --agents "exec:python3 bot.py" random
"""

import json
import random
import sys

FILLS = 40


def lay_out(n):
    """Return the neighbours of each cell, octagons and then squares: (cell, crosses right, crosses down)."""
    rings = [[] for _ in range(2 * n * n)]

    def link(start, kind, row, col):
        rings[start].append((kind * n * n + row % n * n + col % n, col // n, row // n))

    for row in range(n):
        for col in range(n):
            octagon = row * n + col
            for r, c in ((0, 1), (0, -1), (1, 0), (-1, 0)):
                link(octagon, 0, row + r, col + c)
            for r, c in ((0, 0), (0, 1), (1, 0), (1, 1)):
                link(octagon, 1, row - r, col - c)
                link(n * n + octagon, 0, row + r, col + c)
    return rings


def wins(rings, board, colour):
    """Return True if a group of the colour (x Black, o White) on a full board has a path around that wins for it."""
    place = {}
    for first, mark in enumerate(board):
        if mark != colour or first in place:
            continue
        place[first] = (0, 0)
        queue, known = [first], (0, 0)
        for cell in queue:
            for other, right, down in rings[cell]:
                if board[other] != colour:
                    continue
                right, down = right + place[cell][0], down + place[cell][1]
                if other not in place:
                    place[other] = (right, down)
                    queue.append(other)
                    continue
                right, down = right - place[other][0], down - place[other][1]  # how often the closed path winds
                if (down and right * down >= 0) if colour == "x" else (right and right * down <= 0):
                    return True
                if known[0] * down != known[1] * right:  # two ways around that are not parallel: then there are all
                    return True
                if right or down:
                    known = right, down
    return False


def choose(message):
    """Return the action for a position."""
    octagons, squares, player = message["position"].split()
    rings, start = lay_out(octagons.count("/") + 1), list((octagons + squares).replace("/", ""))
    mover, other = "xo" if player == "b" else "ox"
    chance, empty = random.Random(message["seed"]), message["legal"][0]
    own, won = dict.fromkeys(empty, 0), dict.fromkeys(empty, 0)
    half = (len(empty) + 1) // 2
    for _ in range(FILLS):
        chance.shuffle(empty)
        board = start.copy()
        for number, cell in enumerate(empty):
            board[cell] = mover if number < half else other
        win = wins(rings, board, mover)
        for cell in empty[:half]:
            own[cell] += 1
            won[cell] += win
    return max(empty, key=lambda cell: won[cell] / own[cell] if own[cell] else 0)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello" and message["game"] == "torus-v0":
        answer = {"type": "ready", "protocol": 1, "name": "torus in Python"}
    elif message["type"] == "hello":
        answer = {"type": "error", "message": "this bot plays torus-v0"}
    elif message["type"] == "act":
        answer = {"type": "action", "id": message["id"], "action": choose(message)}
    elif message["type"] == "quit":
        break
    else:
        continue
    print(json.dumps(answer), flush=True)
