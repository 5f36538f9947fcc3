"""Grains against closed forms: rigid ones with the scheme "nonsmooth", soft ones with "dem"."""
from scree.verify.balances import verify_balances, verify_soft_energy
from scree.verify.checks import CaseTable
from scree.verify.impacts import verify_impacts
from scree.verify.motions import verify_motions, verify_soft_motions
from scree.verify.soft_impacts import verify_soft_impacts
from scree.verify.stacks import verify_stacks

GROUPS = {"impacts": (verify_impacts,), "motions": (verify_motions,), "stacks": (verify_stacks,), "balances": (verify_balances,),
          "soft": (verify_soft_impacts, verify_soft_motions, verify_soft_energy)}


def verify(laboratory, group, csv, show):
    table = CaseTable(show, "Grains against closed forms")
    for name, cases in GROUPS.items():
        if group in ("all", name):
            for case in cases:
                case(laboratory, table)
    show("")
    return table.finish(csv)
