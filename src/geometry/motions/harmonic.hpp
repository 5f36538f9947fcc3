#pragma once
#include <numbers>

#include "core/section.hpp"

namespace scree {

/// The function sin(2 pi f t + phase) of time t.
class Harmonic {
 public:
  void describe(Section& section) {
    section.real("frequency", frequency_,
                 {.unit = Unit::frequency, .range = positive, .required = true, .doc = "periods per time"});
    section.real("phase", phase_, {.unit = Unit::angle, .doc = "phase at time 0"});
  }

  Real value(Real time) const { return std::sin(phase(time)); }
  Real slope(Real time) const { return angular_frequency() * std::cos(phase(time)); }  ///< [1/s]

 private:
  Real angular_frequency() const { return 2 * std::numbers::pi * frequency_; }
  Real phase(Real time) const { return angular_frequency() * time + phase_; }

  Real frequency_ = 1;
  Real phase_ = 0;
};

}  // namespace scree
