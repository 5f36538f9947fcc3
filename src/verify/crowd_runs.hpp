#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "run/simulation.hpp"
#include "verify/checks.hpp"

namespace scree {

/// Rows "case, what, measured, required", and the same as CSV.
class CrowdTable : public Checks {
 public:
  CrowdTable(const Comm& comm, const Show& show_line)
      : Checks(comm, show_line, "case,what,measured,required,holds\n") {
    show(fmt::format("{:<4} {:<58} {:>14} {:>26} {}", "case", "what", "measured", "required", "ok"));
  }
  /// A number that is known, to an error of at most `bound`.
  void exact(std::string_view name, const std::string& what, Real measured, Real known, Real bound) {
    add(name, what, measured, fmt::format("{:.9g} +- {:.1e}", known, bound),
        std::abs(measured - known) <= bound);
  }
  void within(std::string_view name, const std::string& what, Real measured, const Interval& valid) {
    add(name, what, measured, fmt::format("{:.4g} to {:.4g}", valid.least, valid.most),
        measured >= valid.least && measured <= valid.most);
  }
  /// An error, or something else that is 0 at best.
  void at_most(std::string_view name, const std::string& what, Real measured, Real bound) {
    add(name, what, measured, fmt::format("<= {:.1e}", bound), measured <= bound);
  }

 private:
  void add(std::string_view name, const std::string& what, Real measured, const std::string& required,
           bool holds) {
    const char* const word = holds ? "yes" : "NO";
    show(fmt::format("{:<4} {:<58} {:>14.8g} {:>26} {}", name, what, measured, required, word));
    csv += fmt::format("{},\"{}\",{},\"{}\",{}\n", name, what, measured, required, word);
    count(holds, fmt::format("{}: {} = {:.12g}, required {}", name, what, measured, required));
  }
};

/// A deck with the scheme "crowd" and these tables.
RunDeck<2> read_crowd(const std::string& text);

/// Puts everybody where the case wants them: person i at `places[i]`. Before the first step. Collective.
void put(Simulation<2>& simulation, const std::vector<Vec<2>>& places);

/// What there is to know about somebody; the same on all ranks.
struct Person {
  Vec<2> position{}, velocity{};
  Vec<2> way{};  ///< unit, or zero for somebody who stands
  Real radius = 0, desired_speed = 0;
  bool is_here = false;  ///< false: has left
};

/// Everybody by id. Collective.
std::vector<Person> everybody(const Simulation<2>& simulation);

/// Multipliers [m/s] of all pairs and walls in the last step, the same on all ranks.
class Loads {
 public:
  /// Collective.
  explicit Loads(Simulation<2>& simulation);
  std::size_t n_walls() const { return n_walls_; }
  /// Of persons a < b.
  Real of_pair(std::size_t a, std::size_t b) const { return load_[a * (n_ + n_walls_) + b]; }
  Real of_wall(std::size_t person, std::size_t wall) const {
    return load_[person * (n_ + n_walls_) + n_ + wall];
  }
  /// All walls, all people.
  Real of_walls() const;

 private:
  std::size_t n_, n_walls_;
  std::vector<Real> load_;
};

void verify_optimality(CrowdTable& table);
void verify_wall_balance(CrowdTable& table);
/// Flow through doors of 0.4 m to 5 m beside what is published.
void verify_doors(CrowdTable& table, const VerifyOptions& options);

}  // namespace scree
