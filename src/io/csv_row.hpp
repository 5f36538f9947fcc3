#pragma once
#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "friction/friction_solver.hpp"
#include "io/csv_cell.hpp"

namespace scree {

/// Calls f(name, value) with what a solve counted, integers, and how long its parts took [s].
template <class F>
void for_each_effort(const SolveReport& report, F&& f) {
  f("sweeps", report.sweeps);
  f("iterations", report.iterations);
  f("newton_steps", report.newton_steps);
  f("krylov_iterations", report.krylov_iterations);
  f("factorizations", report.factorizations);
  f("seconds", report.seconds);
  f("setup_seconds", report.setup_seconds);
  f("matrix_seconds", report.assembly_seconds);
  f("factor_seconds", report.factor_seconds);
  f("krylov_seconds", report.krylov_seconds);
}

/// Names and values of a row of a CSV table, for rows that all have the same names.
class CsvRow {
 public:
  template <class T>
  void add(const std::string& name, const T& value) {
    columns_.emplace_back(name, fmt::format("{}", value));
  }
  /// With four digits.
  void add_measured(const std::string& name, Real value) {
    columns_.emplace_back(name, fmt::format("{:.4g}", value));
  }
  void add_text(const std::string& name, const std::string& text) {
    columns_.emplace_back(name, csv_cell(text));
  }
  /// What a solve counted and how long its parts took.
  void add_effort(const SolveReport& report) {
    for_each_effort(report, [&](const char* name, auto value) {
      if constexpr (std::is_floating_point_v<decltype(value)>)
        add_measured(name, value);
      else
        add(name, value);
    });
  }

  /// When and at which iteration the residual first came below a tolerance; both empty if it did not.
  void add_reached(Real tolerance, bool reached, const ResidualSample& sample) {
    const std::string name = fmt::format("{:g}", tolerance);
    add("seconds_to_" + name, reached ? fmt::format("{:.4g}", sample.seconds) : "");
    add("iteration_at_" + name, reached ? std::to_string(sample.iteration) : "");
  }

  /// Appends the row to `csv`, after a line of names if that is empty.
  void append_to(std::string& csv) const {
    std::string head, line;
    for (const auto& [name, value] : columns_) {
      head += (head.empty() ? "" : ",") + name;
      line += (line.empty() ? "" : ",") + value;
    }
    if (csv.empty()) csv = head + '\n';
    csv += line + '\n';
  }

 private:
  std::vector<std::pair<std::string, std::string>> columns_;
};

}  // namespace scree
