"""Plants secrets in recordings and looks for them: ``tox -e planted``. This is not a test.

Made-up keys of every kind are put into every place of a recording, in what a person, a tool or an upstream writes; the
recording is made by the command ``looptck record``, from an upstream on loopback. Then each is looked for in the
written files, in what is left of temporary ones, and on the terminal. Nothing may be seen of one: neither the whole of
it nor eight of its characters one after the other, also where a reader has to decode or join what is there.

The exit status is 0 if nothing was seen, 1 otherwise.
"""

from __future__ import annotations

import sys
from collections import Counter

import click

from meta.recording.fake_upstream import FakeUpstream
from tools.planted.kinds import planted
from tools.planted.places import PLACES
from tools.planted.playing import CELLS, in_turn, play

NAMED = 5
"""The most kinds that are named of those that are seen in a place."""


@click.command(help=(__doc__ or "").partition("\n\n")[2])
@click.option("--all-cells", is_flag=True, help="Each kind and place in every cell, and not in one after the other.")
@click.option("--place", "places", multiple=True, type=click.Choice(list(PLACES)), help="Only this place.")
def main(places: tuple[str, ...], all_cells: bool) -> None:
    """Print a line for each place, and the kinds that were seen."""
    kinds = planted()
    total: Counter[str] = Counter()
    with FakeUpstream() as upstream:
        for number, place in enumerate(places or PLACES):
            cells = dict.fromkeys(kinds, CELLS) if all_cells else in_turn(kinds, number)
            tally = play(place, kinds, cells, upstream)
            outcomes = ", ".join(f"{count} {word}" for word, count in sorted(tally.outcomes.items()))
            found = {much: len(names) for much, names in tally.seen.items()}
            click.echo(f"{place}: {outcomes}; seen: {found or 'none'}")
            for much, names in tally.seen.items():
                click.echo(f"    {much}: {', '.join(names[:NAMED])}")
            total.update({"recordings": tally.outcomes.total(), **found})
    click.echo(f"{len(kinds)} kinds, {len(places or PLACES)} places, {dict(total)}")
    sys.exit(1 if total["whole"] or total["in part"] else 0)


if __name__ == "__main__":
    main()
