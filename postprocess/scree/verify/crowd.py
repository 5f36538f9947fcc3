"""Crowds against what is known exactly about the scheme "crowd", and the flow through doors beside experiments."""
from scree.verify.checks import Checks
from scree.verify.crowd_doors import verify_doors
from scree.verify.crowd_optimality import verify_optimality, verify_wall_balance
from scree.verify.crowd_walks import verify_columns, verify_convergence, verify_files, verify_head_on
from scree.verify.numbers import residue

CASES = {"s1": verify_head_on, "s2": verify_columns, "s3": verify_convergence, "s4": verify_optimality, "s6": verify_files,
         "s7": verify_wall_balance, "doors": verify_doors}


class CrowdTable(Checks):
    """Rows "case, what, measured, required", and the same as CSV."""

    def __init__(self, show):
        super().__init__(show, ("case", "what", "measured", "required", "holds"))
        show(f"{'case':<4} {'what':<58} {'measured':>14} {'required':>26} ok")

    def exact(self, case, what, measured, known, bound):
        """A number that is known, to an error of at most `bound`."""
        self._add(case, what, measured, f"{known:.9g} +- {bound:.1e}", abs(measured - known) <= bound)

    def within(self, case, what, measured, least, most, missed=""):
        self._add(case, what, measured, f"{least:.4g} to {most:.4g}", least <= measured <= most, missed)

    def at_most(self, case, what, measured, bound):
        """An error, or something else that is 0 at best."""
        self._add(case, what, measured, f"<= {bound:.1e}", measured <= bound, shown=residue(measured, bound))

    def _add(self, case, what, measured, required, holds, missed="", shown=None):
        word = "yes" if holds else "missed" if missed else "NO"
        self.show(f"{case:<4} {what:<58} {measured if shown is None else shown:>14.8g} {required:>26} {word}")
        self.record(case, what, float(measured), required, word)
        self.count(holds, f"{case}: {what} = {measured:.12g}, required {required}", missed)


def verify(laboratory, group, csv, show):
    table = CrowdTable(show)
    for name, verify_case in CASES.items():
        if group in ("all", name):
            verify_case(laboratory, table)
    show("")
    return table.finish(csv)
