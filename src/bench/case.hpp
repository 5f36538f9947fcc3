#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/row.hpp"
#include "core/command_line.hpp"
#include "core/parallel.hpp"
#include "run/python_lines.hpp"

namespace scree {

/// What a case runs with and where its rows go. Everything collective.
class BenchRun {
 public:
  BenchRun(const Comm& comm, std::string name, std::string mode, Send send)
      : comm_(comm), name_(std::move(name)), mode_(std::move(mode)), send_(std::move(send)) {}

  const Comm& comm() const { return comm_; }
  /// A finished row; called on all ranks.
  void add(const BenchRow& row) const { send("row", row.to_json()); }
  /// What measure_steps() found, of which Python makes a row with what it is to know of the case.
  void add_steps(Json found, const Json& row) const {
    found["row"] = row;
    send("steps", found);
  }
  /// Text above the rows that follow, which make a table of their own.
  void head(const std::string& text) const { send_("head", text); }
  /// triad_rate() of this machine, measured at the first call.
  Real triad() const;

 private:
  void send(const std::string& what, const Json& value) const {
    Json message{{"case", name_}, {"mode", mode_}, {"ranks", comm_.size()}};
    message.update(value);
    send_(what, message);
  }

  const Comm& comm_;
  std::string name_, mode_;
  Send send_;
  mutable std::optional<Real> triad_;
};

/// One named measurement. To add one, see docs/benchmarks.md: a file in cases/ that ends in
///     SCREE_BENCH_CASE(name, Class, "one-line summary")
/// and the line SCREE_ENTRY(name) in cases.def.
class BenchCase {
 public:
  virtual ~BenchCase() = default;

  /// Declares the options of `scree_bench NAME`; their defaults are those of a full measurement.
  virtual void add_options(CommandLine& app) = 0;
  /// Sets the defaults of a quick measurement, some seconds long; before options are read.
  virtual void make_quick() = 0;
  /// Bodies of a study of scaling: of all ranks together in strong mode, of each in weak mode.
  virtual std::int64_t study_bodies() const = 0;
  /// One size for all, of all ranks together; rounded to what the case can do.
  virtual void set_bodies(std::int64_t bodies) = 0;
  /// Timings of each row, where the case takes several.
  void set_repetitions(int repetitions) { repetitions_ = repetitions; }
  /// An existing folder that all ranks see, for files that go away; empty: that of temporary files.
  void set_folder(const std::string& folder) { folder_ = folder; }

  /// Measures. Throws InputError for options that make no sense, before anything is computed. Collective.
  virtual void run(const BenchRun& run) = 0;

 protected:
  /// The option --repetitions.
  void add_repetitions(CommandLine& app);
  /// The option --folder.
  void add_folder(CommandLine& app);

  int repetitions_ = 5;
  std::string folder_;
};

struct BenchEntry {
  std::string_view name;
  std::string_view summary;
  std::function<std::unique_ptr<BenchCase>()> make;
};

/// All cases: those of cases.def, and run_cases().
std::span<const BenchEntry> bench_cases();

template <class Case>
std::unique_ptr<BenchCase> make_bench_case() {
  return std::make_unique<Case>();
}

}  // namespace scree

#define SCREE_BENCH_CASE(name, Class, summary)                 \
  ::scree::BenchEntry BenchCase_##name() {                     \
    return {#name, summary, &::scree::make_bench_case<Class>}; \
  }
