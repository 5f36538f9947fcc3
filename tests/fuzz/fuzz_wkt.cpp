// Floor plans as well-known text.
#include "crowd/plan/floor_plan_text.hpp"
#include "fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return scree::read_bytes(bytes, size, [](const std::string& text) {
    scree::Geos geos;
    scree::area_from_wkt(geos, text, 0.5, "plan.wkt");
  });
}
