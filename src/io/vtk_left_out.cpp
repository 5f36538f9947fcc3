// In the place of vtk_encoding.cpp in builds without VTK. Nobody should get here: who writes asks has_vtk().
#include "core/error.hpp"
#include "io/vtk_encoding.hpp"

namespace scree::vtk {

namespace {

[[noreturn]] void refuse() {
  throw RunError("this scree was built without VTK (SCREE_VTK=OFF): it neither writes nor reads VTK files");
}

}  // namespace

const bool is_built_in = false;

void load() {}

std::string encoded(SurfacePiece& /*piece*/, bool /*compress*/) {
  refuse();
}
std::string encoded(ImagePiece& /*piece*/, bool /*compress*/) {
  refuse();
}
std::vector<Real> image_rows(const std::string& /*path*/, const std::string& /*column*/,
                             const ImageRows& /*rows*/) {
  refuse();
}

}  // namespace scree::vtk
