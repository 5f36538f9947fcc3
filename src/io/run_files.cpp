#include "io/run_files.hpp"

#include <cmath>
#include <filesystem>

namespace scree {

Clock ResumePoint::last_of(std::string_view output) const {
  Clock last = clock;
  if ((" " + end_frames + " ").find(" " + std::string(output) + " ") == std::string::npos) return last;
  --last.step;
  last.time = std::nextafter(last.time, -HUGE_VAL);
  return last;
}

bool goes_on_with(const Comm& comm, const std::string& path, const std::optional<ResumePoint>& resume) {
  return resume && comm.any(comm.is_root() && std::filesystem::exists(path));
}

}  // namespace scree
