// A bot for Torus in Rust: rustc -O -o bot bot.rs; cellgames evaluate torus-v0 --agents exec:./bot random
//
// It fills the board at random many times and takes the cell that is most often its own in boards that it wins. Without
// a library for JSON it finds the few values that it needs by their names. Messages: docs/bots.md.
use std::io::{self, BufRead, Write};

const FILLS: usize = 400;

struct Edge {
    cell: usize,
    right: i32,
    down: i32,
}

/// The neighbours of each cell: octagons row by row, then squares.
fn lay_out(n: i32) -> Vec<Vec<Edge>> {
    let mut rings: Vec<Vec<Edge>> = (0..2 * n * n).map(|_| Vec::new()).collect();
    let mut link = |from: i32, kind: i32, row: i32, col: i32| {
        let cell = kind * n * n + row.rem_euclid(n) * n + col.rem_euclid(n);
        rings[from as usize].push(Edge { cell: cell as usize, right: col.div_euclid(n), down: row.div_euclid(n) });
    };
    for row in 0..n {
        for col in 0..n {
            let octagon = row * n + col;
            for (r, c) in [(0, 1), (0, -1), (1, 0), (-1, 0)] {
                link(octagon, 0, row + r, col + c);
            }
            for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                link(octagon, 1, row - r, col - c);
                link(n * n + octagon, 0, row + r, col + c);
            }
        }
    }
    rings
}

/// Does a group of the colour (1 Black, 2 White) on a full board hold a path around the torus that wins for it?
fn wins(rings: &[Vec<Edge>], board: &[u8], colour: u8) -> bool {
    let mut place: Vec<Option<(i32, i32)>> = vec![None; board.len()];
    for first in 0..board.len() {
        if board[first] != colour || place[first].is_some() {
            continue;
        }
        place[first] = Some((0, 0));
        let (mut queue, mut known) = (vec![(first, 0, 0)], (0, 0));
        while let Some((cell, right, down)) = queue.pop() {
            for edge in rings[cell].iter().filter(|edge| board[edge.cell] == colour) {
                let (right, down) = (right + edge.right, down + edge.down);
                let Some(before) = place[edge.cell] else {
                    place[edge.cell] = Some((right, down));
                    queue.push((edge.cell, right, down));
                    continue;
                };
                let (r, d) = (right - before.0, down - before.1); // how often the closed path winds
                let good = if colour == 1 { d != 0 && r * d >= 0 } else { r != 0 && r * d <= 0 };
                if (good && (r, d) != (0, 0)) || known.0 * d != known.1 * r {
                    return true; // or two ways around that are not parallel: then there are all
                }
                if (r, d) != (0, 0) {
                    known = (r, d);
                }
            }
        }
    }
    false
}

fn choose(position: &str, seed: u64) -> usize {
    let parts: Vec<&str> = position.split(' ').collect();
    let n = parts[0].split('/').count() as i32;
    let marks = parts[0].chars().chain(parts[1].chars()).filter(|mark| *mark != '/');
    let start: Vec<u8> = marks.map(|mark| if mark == 'x' { 1 } else { 2 * u8::from(mark == 'o') }).collect();
    let (rings, mover) = (lay_out(n), if parts[2] == "b" { 1u8 } else { 2 });
    let mut empty: Vec<usize> = (0..start.len()).filter(|cell| start[*cell] == 0).collect();
    let (mut own, mut won) = (vec![0u64; start.len()], vec![0u64; start.len()]);
    let half = (empty.len() + 1) / 2;
    let mut chance = 2 * seed + 1;
    for _ in 0..FILLS {
        let mut board = start.clone();
        for k in 0..empty.len() {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let other = k + ((chance >> 11) % (empty.len() - k) as u64) as usize;
            empty.swap(k, other);
            board[empty[k]] = if k < half { mover } else { 3 - mover };
        }
        let win = u64::from(wins(&rings, &board, mover));
        for cell in &empty[..half] {
            own[*cell] += 1;
            won[*cell] += win;
        }
    }
    let better = |best: usize, cell: usize| if won[cell] * own[best] > won[best] * own[cell] { cell } else { best };
    empty.iter().copied().reduce(better).expect("a legal action")
}

/// The text after `"name":`, up to the end of the value.
fn value<'a>(line: &'a str, name: &str) -> &'a str {
    let start = line.find(&format!("\"{name}\":")).map_or(line.len(), |at| at + name.len() + 3);
    let rest = &line[start..];
    match rest.strip_prefix('"') {
        Some(text) => &text[..text.find('"').unwrap_or(text.len())],
        None => &rest[..rest.find([',', '}']).unwrap_or(rest.len())],
    }
}

fn main() {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match value(&line, "type") {
            "hello" if value(&line, "game") == "torus-v0" => {
                println!(r#"{{"type":"ready","protocol":1,"name":"torus in Rust"}}"#)
            }
            "hello" => println!(r#"{{"type":"error","message":"this bot plays torus-v0"}}"#),
            "act" => {
                let seed = value(&line, "seed").parse().unwrap_or(1);
                let action = choose(value(&line, "position"), seed);
                println!(r#"{{"type":"action","id":{},"action":{action}}}"#, value(&line, "id"));
            }
            "quit" => break,
            _ => {}
        }
        io::stdout().flush().expect("the arena reads");
    }
}
