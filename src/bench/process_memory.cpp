#include "bench/process_memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace scree {

std::int64_t memory_in_use() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  if (!(file >> pages >> resident)) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

void reset_peak_memory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace scree
