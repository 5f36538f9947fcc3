"""Grains against closed forms: rigid ones with the scheme "nonsmooth", soft ones with "dem"."""
from scree.verify.balances import balance_cases, soft_energy_cases
from scree.verify.checks import verify_groups
from scree.verify.impacts import impact_cases
from scree.verify.motions import motion_cases, soft_motion_cases
from scree.verify.soft_impacts import soft_impact_cases
from scree.verify.stacks import stack_cases

GROUPS = {"impacts": (impact_cases,), "motions": (motion_cases,), "stacks": (stack_cases,), "balances": (balance_cases,),
          "soft": (soft_impact_cases, soft_motion_cases, soft_energy_cases)}


def verify(laboratory, group, csv, show):
    return verify_groups("Grains against closed forms", GROUPS, laboratory, group, csv, show)
