#include "io/run_files.hpp"

#include <cmath>

namespace scree {

Clock ResumePoint::last_of(std::string_view output) const {
  Clock last = clock;
  if ((" " + end_frames + " ").find(" " + std::string(output) + " ") == std::string::npos) return last;
  --last.step;
  last.time = std::nextafter(last.time, -HUGE_VAL);
  return last;
}

}  // namespace scree
