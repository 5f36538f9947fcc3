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

  const BenchColumn* find(std::string_view name) const;
  /// The number of this column; 0 if there is none, or it is a text.
  Real number(std::string_view name) const;
  /// The work of all ranks, 1 if the row has no size.
  Real work_size() const;

  std::string bench;  ///< name of the case
  std::string mode;   ///< fixed, strong or weak
  int ranks = 1;
  std::string work;
  Real seconds = 0;            ///< of one unit of work that all ranks do together
  std::optional<Real> spread;  ///< of `seconds`
  bool is_complete = true;     ///< false: the work was given up, so its seconds compare with nothing
  std::vector<BenchColumn> columns;
  std::vector<BenchPhase> phases;
  std::vector<std::string> notes;  ///< lines below the row
};

Json to_json(const BenchRow& row);
/// Throws JsonError where the text is none of to_json().
BenchRow row_from_json(const Json& json);

/// A table for the terminal: the processor (processor_text(); empty: not told), then keys, ranks, seconds,
/// results; shares of phases and notes below each row. Blocks of columns that do not fit side by side follow
/// each other.
std::string format_rows(const std::vector<BenchRow>& rows, const std::string& processor);

/// The same as CSV, with all columns that any row has; shares of phases as share_NAME; the processor last.
std::string rows_as_csv(const std::vector<BenchRow>& rows, const std::string& processor);

/// Adds speed_up and efficiency to rows that were measured on more than one number of ranks: rates of work
/// per rank, over those of the fewest ranks. Rows of a case belong together, and are put together, if they
/// have the same place among the rows of their number of ranks; they are compared if their keys
/// agree and all are complete.
void compare_ranks(std::vector<BenchRow>& rows);

}  // namespace scree
