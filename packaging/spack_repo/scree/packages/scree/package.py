import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Scree(CMakePackage):
    """MPI-parallel simulation of grains and crowds: rigid and elastic grains with exact Coulomb friction, soft contact,
    position-based dynamics, evacuation of floor plans; the same bits on any number of ranks."""

    # The tarball of scripts/release.sh, in the current folder or in a mirror.
    manual_download = True
    url = f"file://{os.getcwd()}/scree-0.2.0.tar.gz"

    license("Apache-2.0")

    version("0.2.0")

    variant("crowd", default=True, description="Crowds: the scheme \"crowd\"")
    variant("vtk", default=True, description="VTK files: [output.vtk], [output.fields]")
    variant("python", default=True, description="What postprocess/ needs: reading results, plots")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3.1:")
    depends_on("petsc@3.18:+mpi+double~complex~int64")
    depends_on("hdf5@1.10:+mpi")
    depends_on("vtk@9.1:", when="+vtk")
    depends_on("geos@3.11:", when="+crowd")
    depends_on("libpng", when="+crowd")
    depends_on("boost@1.74:")  # headers only: no variant is needed
    depends_on("qhull@2020.1:")  # the first with version 8 of the library
    depends_on("tomlplusplus@3:")
    depends_on("cli11@2:")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("nlohmann-json@3:")
    depends_on("catch2@2.13:2", type="test")

    with when("+python"):
        depends_on("python@3.11:", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-matplotlib", type="run")

    conflicts("%gcc@:11", msg="scree needs C++20: GCC 12 or later")

    def cmake_args(self):
        return [
            self.define_from_variant("SCREE_CROWD", "crowd"),
            self.define_from_variant("SCREE_VTK", "vtk"),
            self.define("SCREE_WERROR", False),
            self.define("BUILD_TESTING", self.run_tests),
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", self.prefix.share.scree.postprocess)

    def test_version(self):
        """the installed program prints the version of the package"""
        scree = which(self.prefix.bin.scree)
        assert str(self.spec.version) in scree("--version", output=str.split, error=str.split)

    def test_deck(self):
        """a deck that is installed is valid"""
        scree = which(self.prefix.bin.scree)
        scree("check", self.prefix.share.scree.inputs.granular.join("pile.toml"))
