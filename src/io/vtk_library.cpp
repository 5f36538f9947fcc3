// Loads the library that vtk_encoding.cpp is compiled to.
#include <dlfcn.h>
#include <fmt/format.h>

#include "core/error.hpp"
#include "core/program_folder.hpp"
#include "io/vtk_encoding.hpp"

namespace scree::vtk {

namespace {

const Functions& functions() {
  static const Functions* const found = [] {
    const std::string file = program_folder({SCREE_VTK_LIBRARY}) + "/" SCREE_VTK_LIBRARY;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void* functions = library ? dlsym(library, "scree_vtk_functions") : nullptr;
    if (!functions)
      throw RunError(fmt::format("what writes files of VTK could not be loaded: {}", dlerror()));
    return static_cast<const Functions*>(functions);
  }();
  return *found;
}

}  // namespace

const bool is_built_in = true;

void load() {
  functions();
}

std::string encoded(SurfacePiece& piece, bool compress) {
  return functions().encoded_surface(piece, compress);
}
std::string encoded(ImagePiece& piece, bool compress) {
  return functions().encoded_image(piece, compress);
}
std::vector<Real> image_rows(const std::string& path, const std::string& column, const ImageRows& rows) {
  return functions().image_rows(path, column, rows);
}

}  // namespace scree::vtk
