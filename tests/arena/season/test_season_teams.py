"""Teams of a season: made up, read from files, put into leagues and divisions."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from refusals import fails, refused

from cellgames.arena import Team, assign_agents, assign_divisions, generate_names, read_teams
from cellgames.arena.season.teams import LEAST, by_league
from cellgames.utils.errors import InputError


def numbered(count: int) -> list[Team]:
    return [Team(f"t{number}") for number in range(count)]


def sizes(teams: tuple[Team, ...]) -> list[list[int]]:
    return [[len(names) for names in divisions.values()] for divisions in by_league(teams).values()]


def test_made_up_names_differ_and_follow_from_the_seed() -> None:
    names = generate_names(1760, 1)
    assert len(set(names)) == 1760
    assert generate_names(20, 1) == names[:20] != generate_names(20, 2)
    assert all(re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", name) for name in names)
    places, nouns = zip(*(name.split() for name in names[:40]), strict=True)
    assert len(set(places)) == len(set(nouns)) == 40


def written(folder: Path, text: str) -> Path:
    path = folder / "teams.csv"
    path.write_bytes(text.encode())
    return path


def test_files_have_a_name_a_line_or_columns_in_any_order_with_a_header(tmp_path: Path) -> None:
    file = written(tmp_path, "Kites\n\n  Old Owls \r\nÆther\n")
    assert read_teams(file) == [Team("Kites"), Team("Old Owls"), Team("Æther")]
    file = written(tmp_path, '\ufeffdivision,Name, agent ,league\nx,"Kites, Red",rollout:8,L\ny,Owls,,M\n')
    assert read_teams(file) == [Team("Kites, Red", "L", "x", "rollout:8"), Team("Owls", "M", "y", "")]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("name,bot\na,b\n", "'bot'"),
        ("a\nb,random\n", "2; columns need a header line such as name,agent,league,division"),
        ("name,agent\na,b,c\n", "3"),
        ("name,agent\n,random\n", "['', 'random']"),
        ("a\nb\x07\n", r"['b\x07']"),
    ],
)
def test_files_that_are_not_understood(text: str, got: str, tmp_path: Path) -> None:
    with fails(InputError, got=got):
        read_teams(written(tmp_path, text))


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "teams.csv").write_bytes("Käuze\n".encode("latin-1"))
    with refused(str(tmp_path / "teams.csv")):
        read_teams(tmp_path / "teams.csv")


def test_agents_are_assigned_in_turn_by_those_without() -> None:
    teams = [Team("a"), Team("b", agent="own"), Team("c"), Team("d")]
    assert [team.agent for team in assign_agents(teams, ["x", "y"])] == ["x", "own", "y", "x"]
    assert assign_agents(teams, []) == teams


def test_any_number_of_teams_has_at_most_one_league_of_odd_size() -> None:
    for count in range(LEAST, 60):
        found = sizes(assign_divisions(numbered(count)))
        assert all(0 <= first - second <= 1 for first, second in found)
        leagues = [sum(divisions) for divisions in found]
        assert sum(league % 2 for league in leagues) == count % 2
        assert 0 <= leagues[0] - leagues[1] <= 2


def test_sizes_leagues_and_divisions_can_be_given() -> None:
    assert sizes(assign_divisions(numbered(10), [5, 5])) == [[3, 2], [3, 2]]
    assert sizes(assign_divisions(numbered(20), [1, 3, 9, 7])) == [[1, 3], [9, 7]]
    teams = [Team(f"t{number}", "LM"[number % 2], "xy"[number // 2 % 2]) for number in range(10)]
    assert assign_divisions(teams) == tuple(teams)
    leagues = [Team(f"t{number}", "LM"[number % 2]) for number in range(11)]
    placed = assign_divisions(leagues)
    assert sizes(placed) == [[3, 3], [3, 2]]
    assert [team.league for team in placed] == [team.league for team in leagues]
    assert Counter(team.division for team in placed) == {"Even Division": 6, "Odd Division": 5}


def leagues_of(*counts: int) -> list[Team]:
    return [Team(f"t{k}{number}", f"L{k}") for k, count in enumerate(counts) for number in range(count)]


@pytest.mark.parametrize(
    ("teams", "given", "refusal"),
    [
        (numbered(9), [3, 3, 3], ("sizes", "3 3 3")),
        (numbered(9), [6, 3], ("Beacon League", "Even Division (2), Odd Division (1)")),
        ([*leagues_of(4, 4), Team("x")], None, ("teams",)),
        (leagues_of(4, 4), [4, 4], ("sizes", "both")),
        (leagues_of(4, 4, 4), None, ("teams", "3: L0, L1, L2")),
        (leagues_of(5, 3), None, ("L1", "Even Division (2), Odd Division (1)")),
        ([Team(f"t{n}", division="x") for n in range(8)], None, ("divisions", "divisions alone")),
        ([Team(f"t{n}", "LM"[n % 2], "x") for n in range(8)], None, ("L", "1: x (4)")),
        ([Team(f"t{n}", "LM"[n % 2], "xyz"[n % 3]) for n in range(12)], None, ("L", "3: x (2), z (2), y (2)")),
    ],
)
def test_teams_that_make_no_season(teams: list[Team], given: list[int] | None, refusal: tuple[str, ...]) -> None:
    with refused(*refusal):
        assign_divisions(teams, given)
