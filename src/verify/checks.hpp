#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "verify/verify.hpp"

namespace scree {

struct Interval {
  Real least = 0;
  Real most = 0;
};

/// What a verification holds against its results: counts checks, shows those that failed, keeps a table.
class Checks {
 public:
  /// `csv_head`: first line of the table.
  Checks(const Comm& comm, const Show& show, const std::string& csv_head = "")
      : csv(csv_head), comm_(comm), show_(show) {}
  /// A check that is only told of if it fails.
  void count(bool holds, const std::string& failure);
  /// A check with a line of its own.
  void require(const std::string& what, Real value, const Interval& valid);
  bool has_checks() const { return n_checks_ > 0; }
  /// Writes the table, if a path is given, and tells what failed; returns whether nothing did. Collective.
  bool finish(const std::string& csv_path = "") const;
  void show(const std::string& line) const { show_(line); }
  const Comm& comm() const { return comm_; }

  std::string csv;

 private:
  const Comm& comm_;
  const Show& show_;
  std::vector<std::string> failures_;
  int n_checks_ = 0;
};

/// The rows of a CSV file with this header line; lines that begin with # are comments. Throws InputError.
/// Collective.
std::vector<std::vector<std::string>> read_rows(const Comm& comm, const std::string& path,
                                                std::string_view header);
/// A word of such a row as a number; throws InputError naming the file. Local.
Real number(std::string_view word, const std::string& path);

}  // namespace scree
