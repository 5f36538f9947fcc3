// Walls of triangles and belts: the same bits on any number of ranks and through restarts on others.
#include <fmt/format.h>

#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// 80 spheres between a mesh that turns, a mesh that stands and a belt.
std::string mill(const std::string& scheme, Real step) {
  const std::string meshes = SCREE_TESTS "/reference/meshes/";
  const bool has_materials = scheme != "pbd";
  const std::string material = has_materials ? "material = 'stone'\n" : "";
  return fmt::format(
             "[simulation]\ndimension = 3\nscheme = '{}'\nend_time = 100\nallow_overlap = true\nseed = 3\n"
             "[time]\nstep = {}\n[domain]\nlower = [-0.1, -0.1, 0]\nupper = [0.1, 0.1, 0.3]\n"
             "periodic = [true, true, false]\noutside = 'keep'\n[decomposition]\nblock_cells = 1\n",
             scheme, step) +
         (has_materials
              ? "[physics]\ngravity = [0, 0, -9.81]\n[materials.stone]\ndensity = 2500\n" +
                    std::string(scheme == "dem" ? "young_modulus = 5e6\npoisson_ratio = 0.2\n" : "") +
                    "[pairs]\n'stone-stone' = { friction = 0.5, restitution = 0.3 }\n"
              : "[velocity]\ntype = 'constant'\nvelocity = [0, 0, -0.5]\n") +
         "[particles.grains]\nradius = { distribution = 'uniform', min = 0.006, max = 0.009 }\n" + material +
         "source = { type = 'random', count = 80, region = { lower = [-0.1, -0.1, 0.11], upper = [0.1, 0.1, "
         "0.28] } }\n" +
         (has_materials ? "velocity = [0, 0, -1]\n" : "") +
         fmt::format(
             "[obstacles.gem]\ntype = 'mesh'\nfile = '{}gem.obj'\nscale = 0.03\nside = 'outside'\n"
             "translate = [-0.04, 0, 0.06]\n{}"
             "motion = {{ type = 'rotate', point = [-0.04, 0, 0.06], axis = [0, 1, 0], rate = 5 }}\n"
             "[obstacles.sheet]\ntype = 'mesh'\nfile = '{}patch.obj'\nscale = 0.03\n"
             "rotate = {{ axis = [0, 1, 0], angle = 0.4 }}\ntranslate = [0.05, 0, 0.05]\n{}"
             "[obstacles.belt]\ntype = 'plane'\npoint = [0, 0, 0.005]\nnormal = [0, 0, 1]\n"
             "surface_velocity = [0.5, 0.1, 0]\n{}",
             meshes, material, meshes, material, material);
}

constexpr Real soft_step = 2e-4, rigid_step = 2e-3;

}  // namespace

TEST_CASE("meshes and belts: the same bits on any number of ranks", "[mpi][walls]") {
  for (const auto& [scheme, step, n_steps] :
       {std::tuple{"dem", soft_step, 800}, {"nonsmooth", rigid_step, 120}, {"pbd", 1e-2, 400}}) {
    CAPTURE(scheme);
    const Outcome together = check_invariant<3>(mill(scheme, step), {}, n_steps);
    CHECK(together.n_contacts > 10);
  }
}

TEST_CASE("meshes and belts: restarts on other numbers of ranks go on with the same bits", "[mpi][walls]") {
  for (const auto& [scheme, step, first] :
       {std::tuple{"dem", soft_step, 600}, {"nonsmooth", rigid_step, 70}}) {
    CAPTURE(scheme);
    const Coverage covered = check_restarts<3>({mill(scheme, step), {}, first + 18, {first, first + 7}});
    CHECK(covered.n_contacts > 0);
    CHECK(covered.n_remembered > 0);
  }
}

}  // namespace scree
