#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

struct Interval {
  Real least = 0;
  Real most = 0;
};

/// What a verification holds against its results: counts checks, and shows those that failed. Local.
class Checks {
 public:
  using Show = std::function<void(const std::string&)>;

  explicit Checks(const Show& show) : show_(show) {}
  /// A check that is only told of if it fails.
  void count(bool holds, const std::string& failure);
  /// A check with a line of its own.
  void require(const std::string& what, Real value, const Interval& valid);
  /// Tells what failed; returns whether nothing did.
  bool finish() const;
  void show(const std::string& line) const { show_(line); }

 private:
  Show show_;
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
