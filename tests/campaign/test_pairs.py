"""A slice of the covering array of the deck language, and what it is made of. The whole is scripts/campaign.sh --pairs --full."""
import tempfile

import covering
import harness
import pairs
import pairs_report
from scree_program import check, source_folder

ROWS = (0, 1, 3, 5)         # of the array with the seed 1


def test_rows_cover_all_pairs_and_triples(folder):
    factors = [covering.Factor("a", list("xyz"), core=True), covering.Factor("b", list("pq"), core=True), covering.Factor("c", list("klm"), core=True),
               covering.Factor("d", list("uv")), covering.Factor("e", list("fghi"), core=True, several=True)]
    refused = [{("a", "x"), ("b", "p")}, {("a", "y"), ("c", "k"), ("d", "u")}]
    array = covering.Array(factors, refused, 1)
    rows = list(array)
    check(all(not bad <= set(row) for row in rows for bad in refused), "no row holds what is refused")
    pairs_left, triples_left = covering.missing_tuples(rows, array)
    check([set(pair) for pair in pairs_left] == refused[:1], "every pair but the refused one is there", pairs_left)
    check(all({("a", "x"), ("b", "p")} <= set(triple) for triple in triples_left), "every triple without it is there", triples_left)
    counts = array.counts()
    check(counts["pairs"] + counts["pairs refused"] == counts["pairs possible"] and counts["pairs refused"] == 1, "they are counted", counts)


def test_slice_of_the_array(folder):
    findings = []
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        workshop = harness.Workshop(scratch, "campaign-findings", "scripts/campaign.sh --pairs")
        pairs.prepare(workshop)
        pairs.RANKS = (2, 3)        # 5 in the whole
        for case, _ in map(lambda number: harness.run_case(pairs, 1, number, workshop), ROWS):
            findings += [f"{case.number} ({case.kind}): {words}" for words, _ in case.findings]
    check(not findings, "no finding", "\n".join(findings))


def test_combinations_are_current(folder):
    kept = (source_folder() / "docs/combinations.md").read_text()
    check(kept == pairs_report.text(), "docs/combinations.md is what tests/campaign/pairs_report.py writes (renew it with that program)")


def test_refused_pairs_name_both(folder):
    """Every ninth; scripts/campaign.sh --pairs --full tries all."""
    found = pairs_report.wrong_refusals(folder, every=9)
    check(not found, "what docs/combinations.md lists is refused, with a message that names both", "\n".join(found))
