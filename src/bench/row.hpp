#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/measure_time.hpp"
#include "core/json.hpp"

namespace scree {

/// One value of a row of a benchmark, under the name that CSV and JSON know it by.
struct BenchColumn {
  enum class Role {
    key,    ///< what was measured; rows of different numbers of ranks belong together if their keys agree
    size,   ///< how much work there is, of all ranks: in weak mode it grows with them
    result  ///< what came out
  };
  using Value = std::variant<std::int64_t, Real, std::string>;

  std::string name;
  std::string unit = "-";
  Value value;
  Role role = Role::result;
  std::optional<Real> spread;  ///< of a timing: (largest - least) / median
  bool in_table = true;        ///< false: for files only
};

/// A part of the time of a row.
struct BenchPhase {
  std::string name;
  Real share = 0;
};

/// The outermost timers within `scope` as shares of it, exchanges taken out of where they happen and put
/// together under that name; "other" is what no timer covers. Parts below half a percent are left out.
std::vector<BenchPhase> phases_within(const std::vector<TimerRow>& timers, std::string_view scope);

/// One measurement: keys, the seconds of one unit of work, results, and where the time went.
class BenchRow {
 public:
  /// `work`: what `seconds` is of, "step" or "call".
  explicit BenchRow(std::string unit_of_work = "") : work(std::move(unit_of_work)) {}

  BenchRow& key(const std::string& name, BenchColumn::Value value, const std::string& unit = "-");
  BenchRow& size(const std::string& name, std::int64_t value);
  BenchRow& result(const std::string& name, const std::string& unit, BenchColumn::Value value);
  /// As result(), with a spread.
  BenchRow& timing(const std::string& name, const std::string& unit, Real value, Real its_spread);
  /// Sets `seconds` and its spread.
  BenchRow& time(const Timing& of_work);
  /// The column added last is not shown in tables for the terminal.
  BenchRow& only_in_files();
  /// The row as results.json has it, but for case, mode and ranks; tables and comparisons are made from that
  /// (postprocess/scree/bench).
  Json to_json() const;

  std::string work;
  Real seconds = 0;            ///< of one unit of work that all ranks do together
  std::optional<Real> spread;  ///< of `seconds`
  bool is_complete = true;     ///< false: the work was given up, so its seconds compare with nothing
  std::vector<BenchColumn> columns;
  std::vector<BenchPhase> phases;
  std::vector<std::string> remarks;  ///< lines below the row
};

}  // namespace scree
