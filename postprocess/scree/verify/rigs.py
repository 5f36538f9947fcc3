"""Rigs against closed forms and reference data: cohesion, meshes, size classes, driven walls, deforming domains."""
from scree.verify.cells import cell_cases
from scree.verify.checks import verify_groups
from scree.verify.cohesion import cohesion_cases
from scree.verify.driven import driven_cases
from scree.verify.meshes import mesh_cases
from scree.verify.size_classes import size_class_cases

GROUPS = {"cohesion": (cohesion_cases,), "meshes": (mesh_cases,), "classes": (size_class_cases,), "driven": (driven_cases,),
          "cells": (cell_cases,)}


def verify(laboratory, group, csv, show):
    return verify_groups("Rigs against closed forms and reference data", GROUPS, laboratory, group, csv, show)
