#pragma once
#include <string>
#include <vector>

#include "bench/row.hpp"
#include "core/json.hpp"

namespace scree {

/// All that a benchmark has to tell, for files. Local; one rank keeps it.
class BenchResults {
 public:
  explicit BenchResults(const std::string& command_line);

  Json settings = Json::object();
  Json machine;  ///< describe_machine(), with what was measured as list "measured"
  std::vector<BenchRow> rows;

  /// Rows of one case.
  std::vector<BenchRow> rows_of(const std::string& bench) const;
  /// results.json as text.
  std::string json() const;
  /// Writes results.json and NAME.csv for each case, under temporary names first. Throws RunError.
  void write(const std::string& folder) const;

 private:
  std::string command_line_, date_;
};

/// Makes the folder and tries to write there. Throws InputError.
void require_writable_folder(const std::string& folder);

}  // namespace scree
