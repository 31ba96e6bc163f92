/* A bot for Torus in C: cc -O2 -o bot bot.c; cellgames evaluate torus-v0 --agents exec:./bot random

   It fills the board at random many times and takes the cell that is most often its own in boards that it wins. Each
   message is one line of JSON; the few values that are needed are found by their names. Messages: docs/bots.md. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2 * 16 * 16 };

static int fills = 400; /* boards for a move; the first argument, if there is one */
static int size, squares, cells; /* cells: octagons, then as many squares, row by row */
static int ring[MOST][8], right_of[MOST][8], down_of[MOST][8], degree[MOST];
static uint64_t chance;

static uint32_t draw(uint32_t below) { /* xorshift */
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    return (uint32_t)((chance >> 11) % below);
}

static void link_cells(int from, int kind, int row, int col) {
    int k = degree[from]++;
    down_of[from][k] = row < 0 ? -1 : row >= size;
    right_of[from][k] = col < 0 ? -1 : col >= size;
    ring[from][k] = kind * squares + (row + size) % size * size + (col + size) % size;
}

static void lay_out(int n) {
    size = n, squares = n * n, cells = 2 * n * n;
    memset(degree, 0, sizeof degree);
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            int octagon = row * n + col, square = squares + octagon;
            link_cells(octagon, 0, row, col + 1), link_cells(octagon, 0, row, col - 1);
            link_cells(octagon, 0, row + 1, col), link_cells(octagon, 0, row - 1, col);
            for (int corner = 0; corner < 4; corner++) {
                link_cells(octagon, 1, row - corner / 2, col - corner % 2);
                link_cells(square, 0, row + corner / 2, col + corner % 2);
            }
        }
}

/* Does a group of `colour` (1 Black, 2 White) on a full board hold a path around the torus that wins for it? */
static int wins(const char *board, int colour) {
    static int seen[MOST], right[MOST], down[MOST], queue[MOST];
    memset(seen, 0, sizeof seen);
    for (int first = 0; first < cells; first++) {
        int length = 1, r0 = 0, d0 = 0;
        if (board[first] != colour || seen[first]) continue;
        seen[queue[0] = first] = 1, right[first] = down[first] = 0;
        for (int at = 0; at < length; at++)
            for (int cell = queue[at], k = 0; k < degree[cell]; k++) {
                int next = ring[cell][k], r = right[cell] + right_of[cell][k], d = down[cell] + down_of[cell][k];
                if (board[next] != colour) continue;
                if (!seen[next]) {
                    seen[next] = 1, right[next] = r, down[next] = d, queue[length++] = next;
                    continue;
                }
                r -= right[next], d -= down[next]; /* how often the closed path winds right and down */
                if (!r && !d) continue;
                if (colour == 1 ? d && r * d >= 0 : r && r * d <= 0) return 1;
                if (r0 * d - d0 * r) return 1; /* two ways around that are not parallel: all there are */
                r0 = r, d0 = d;
            }
    }
    return 0;
}

static int choose(const char *position) {
    static char start[MOST], board[MOST];
    static int empty[MOST], own[MOST], won[MOST];
    int count = 0, n = (int)strcspn(position, "/"), mover;
    if (n != size) lay_out(n);
    for (int cell = 0; cell < cells; position++)
        if (strchr(".xo", *position)) start[cell++] = (char)(*position == 'x' ? 1 : *position == 'o' ? 2 : 0);
    mover = position[1] == 'b' ? 1 : 2;
    memset(own, 0, sizeof own), memset(won, 0, sizeof won);
    for (int cell = 0; cell < cells; cell++)
        if (!start[cell]) empty[count++] = cell;
    for (int fill = 0; fill < fills; fill++) {
        memcpy(board, start, sizeof board);
        for (int k = 0; k < count; k++) { /* the first half of the empty cells, in random order, is the mover's */
            int other = k + (int)draw((uint32_t)(count - k)), cell = empty[other];
            empty[other] = empty[k], empty[k] = cell;
            board[cell] = (char)(k < (count + 1) / 2 ? mover : 3 - mover);
        }
        int win = wins(board, mover);
        for (int k = 0; k < (count + 1) / 2; k++) own[empty[k]]++, won[empty[k]] += win;
    }
    int best = empty[0];
    for (int k = 1; k < count; k++)
        if ((int64_t)won[empty[k]] * own[best] > (int64_t)won[best] * own[empty[k]]) best = empty[k];
    return best;
}

static const char *value(const char *line, const char *name) { /* the text after "name": */
    const char *found = strstr(line, name);
    return found ? found + strlen(name) : "0";
}

int main(int count, char** words) {
    static char line[1 << 20];
    if (count > 1) fills = atoi(words[1]);
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(value(line, "\"type\":"), "\"hello\"", 7)) {
            int torus = !strncmp(value(line, "\"game\":"), "\"torus-v0\"", 10);
            puts(torus ? "{\"type\":\"ready\",\"protocol\":1,\"name\":\"torus in C\"}"
                       : "{\"type\":\"error\",\"message\":\"this bot plays torus-v0\"}");
        } else if (!strncmp(value(line, "\"type\":"), "\"act\"", 5)) {
            chance = strtoull(value(line, "\"seed\":"), NULL, 10) * 2 + 1;
            printf("{\"type\":\"action\",\"id\":%ld,\"action\":%d}\n", strtol(value(line, "\"id\":"), NULL, 10),
                   choose(value(line, "\"position\":\"")));
        } else if (!strncmp(value(line, "\"type\":"), "\"quit\"", 6))
            break;
        fflush(stdout);
    }
    return 0;
}
