"""Rigs against closed forms and reference data: cohesion, meshes, driven walls, size classes, deforming cells."""
from scree.verify.cells import verify_cells
from scree.verify.checks import CaseTable
from scree.verify.cohesion import verify_cohesion
from scree.verify.driven import verify_driven
from scree.verify.meshes import verify_meshes
from scree.verify.size_classes import verify_size_classes

GROUPS = {"cohesion": verify_cohesion, "meshes": verify_meshes, "classes": verify_size_classes, "driven": verify_driven,
          "cells": verify_cells}


def verify(laboratory, group, csv, show):
    table = CaseTable(show, "Rigs against closed forms and reference data")
    for name, cases in GROUPS.items():
        if group in ("all", name):
            cases(laboratory, table)
    show("")
    return table.finish(csv)
