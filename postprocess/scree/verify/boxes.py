"""Convex bodies against closed forms and small integrations: slopes, tents, stacks, a wall, dominoes, free and spinning bodies."""
from scree.verify.checks import verify_groups
from scree.verify.dominoes import domino_cases
from scree.verify.solid_motions import solid_motion_cases
from scree.verify.solid_stacks import solid_stack_cases

GROUPS = {"motions": (solid_motion_cases,), "stacks": (solid_stack_cases,), "dominoes": (domino_cases,)}


def verify(laboratory, group, csv, show):
    return verify_groups("Convex bodies against closed forms and small integrations", GROUPS, laboratory, group, csv, show)
