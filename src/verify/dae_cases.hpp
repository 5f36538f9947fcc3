#pragma once
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>

#include "schemes/dem/integrator.hpp"
#include "verify/checks.hpp"

namespace scree {

/// Rows "case, quantity, expected, found, band" and a CSV table of the runs.
class DaeTable : public Checks {
 public:
  DaeTable(const Comm& comm, const DaeOptions& options, const Show& show_line)
      : Checks(comm, show_line), options_(options) {}

  const DaeOptions& options() const { return options_; }
  std::string reference(const std::string& name) const {
    return options_.source + "/tests/reference/dae/" + name;
  }

  void head(const std::string& title) const {
    show(title);
    show(fmt::format("{:<30} {:<34} {:>13} {:>13} {:>9}", "case", "quantity", "expected", "found", "band"));
  }
  /// |found - expected| <= band.
  void row(const std::string& name, const std::string& quantity, Real expected, Real found, Real band) {
    add(name, quantity, fmt::format("{:.8g}", expected), found, band, std::abs(found - expected) <= band);
  }
  /// found <= most.
  void at_most(const std::string& name, const std::string& quantity, Real found, Real most) {
    add(name, quantity, "<", found, most, found <= most);
  }
  /// found >= least.
  void at_least(const std::string& name, const std::string& quantity, Real found, Real least) {
    add(name, quantity, ">", found, least, found >= least);
  }
  void holds(const std::string& name, const std::string& quantity, bool is_true) {
    show(fmt::format("{:<30} {:<34} {:>13} {:>13}", name, quantity, "yes", is_true ? "yes" : "NO"));
    count(is_true, name + ": not " + quantity);
  }

 private:
  void add(const std::string& name, const std::string& quantity, const std::string& expected, Real found,
           Real band, bool in_band) {
    show(fmt::format("{:<30} {:<34} {:>13} {:>13.8g} {:>9.2g}{}", name, quantity, expected, found, band,
                     in_band ? "" : "  NO"));
    count(in_band,
          fmt::format("{}: {} = {:.10g}, expected {} within {:.3g}", name, quantity, found, expected, band));
  }

  const DaeOptions& options_;
};

/// The integrator that the options name; throws InputError with the names of all.
std::unique_ptr<Integrator<2>> dae_integrator(const std::string& name);
/// Whole steps that fill `end_time`; throws InputError if there is no such number.
int steps_until(Real end_time, Real time_step);

void verify_pendulum(DaeTable& table);
void run_pendulum(DaeTable& table);
void verify_double_pendulum(DaeTable& table);
void run_double_pendulum(DaeTable& table);
void verify_dry_slope(DaeTable& table);
void run_dry_slope(DaeTable& table);
void verify_oscillator(DaeTable& table);
void run_oscillator(DaeTable& table);
void verify_stack(DaeTable& table);
void run_stack(DaeTable& table);

}  // namespace scree
