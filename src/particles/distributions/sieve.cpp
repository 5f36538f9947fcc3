#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_file.hpp"
#include "core/table_reader.hpp"
#include "particles/initial_packing.hpp"
#include "particles/volume.hpp"

namespace scree {
namespace {

/// Diameters by a sieve curve: of the mass, the share w_k lies between the openings a and b of neighbouring
/// sieves, spread evenly over ln d ("log": a straight line in the usual plot of such curves) or over d
/// ("linear"). With the volume c d^D of a body the numbers per unit of volume are
///     N_k = w_k (a^-p - b^-p) / (p c q),   p = D, q = ln(b/a) or p = D - 1, q = b - a
/// and within a class the share of bodies below d is (a^-p - d^-p) / (a^-p - b^-p). All bodies have the same
/// density, so shares of mass are shares of volume.
template <int D>
class SieveRadius final : public RadiusDistribution<D> {
 public:
  void describe(Section& section) override {
    std::vector<Real> passing;
    std::string path;
    section.reals("sizes", sizes_, -1,
                  {.unit = Unit::length,
                   .range = positive,
                   .doc = "openings of the sieves, which are diameters of bodies, rising; two or more"});
    section.reals("fractions", fractions_, -1,
                  {.range = non_negative,
                   .doc = "share of the mass between each opening and the next one, which sum to 1"});
    section.reals("passing", passing, -1,
                  {.range = unit_interval,
                   .doc = "instead of fractions: share of the mass that passes each opening, from 0 to 1"});
    section.text("path", path,
                 {.doc = "CSV file instead of sizes, fractions and passing: columns size [m] and passing; "
                         "looked for in the current folder, then beside the deck"});
    section.choice("interpolation", is_linear_, {{"log", false}, {"linear", true}},
                   {.doc = "how the mass of a class is spread: evenly over the logarithm of the diameter, or "
                           "over the diameter"});
    std::string where;
    if (section.reading() && !path.empty()) {
      for (const std::string_view key : {"sizes", "fractions", "passing"})
        if (section.has(key)) section.fail(key, "is not for a sieve curve that is read from a file");
      where = path_of_input(path, section.where("path"));
      read(section, where, passing);
    }
    describe_checksum(section, "path", path);
    if (!section.reading()) return;
    const auto refuse = [&](std::string_view key, const std::string& what) {
      if (path.empty()) section.fail(key, what);
      section.fail("path", fmt::format("{}: {}", where, what));
    };
    check(refuse, passing);
    find_numbers();
  }

  Real draw(RandomStream& stream) const override {
    const auto found = std::ranges::upper_bound(cumulative_, stream.uniform() * cumulative_.back());
    const auto k = std::min(static_cast<std::size_t>(found - cumulative_.begin()), cumulative_.size() - 1);
    const Real p = power(), a = sizes_[k], b = sizes_[k + 1];
    const Real below = std::pow(a, -p), above = std::pow(b, -p);
    return std::clamp(std::pow(below - stream.uniform() * (below - above), -1 / p), a, b) / 2;
  }
  Real largest() const override { return sizes_.back() / 2; }
  Real mean_volume() const override { return 1 / cumulative_.back(); }

 private:
  Real power() const { return is_linear_ ? D - 1 : D; }

  void read(const Section& section, const std::string& where, std::vector<Real>& passing) {
    constexpr std::string_view wanted = "the columns must be size,passing";
    try {
      TableReader table = TableReader::of_text(where, with_plain_line_ends(read_input(where)), wanted);
      Real size = 0, share = 0;
      if (!table.real("size", size, {.unit = "m"}) || !table.real("passing", share, {.unit = "-"}) ||
          !table.others().empty())
        table.refuse(std::string(wanted));
      while (table.next()) {
        if (!(size > 0)) table.refuse(fmt::format("the size is {:g}, it must be positive", size));
        if (!(share >= 0 && share <= 1))
          table.refuse(fmt::format("passing is {:g}, it must be in [0, 1]", share));
        sizes_.push_back(size);
        passing.push_back(share);
      }
    } catch (const InputError& error) {
      section.fail("path", error.what());
    }
  }

  /// Makes shares of classes of what passes.
  template <class Refuse>
  void check(const Refuse& refuse, const std::vector<Real>& passing) {
    if (sizes_.size() < 2)
      refuse("sizes", fmt::format("a sieve curve has two sizes at least, {} given", sizes_.size()));
    for (std::size_t k = 1; k < sizes_.size(); ++k)
      if (!(sizes_[k - 1] < sizes_[k]))
        refuse("sizes", fmt::format("sizes must rise: {:g} m comes after {:g} m", sizes_[k], sizes_[k - 1]));
    if (passing.empty() == fractions_.empty())
      refuse("fractions", "give either fractions, between the sizes, or passing, at the sizes");
    if (!passing.empty()) {
      if (passing.size() != sizes_.size())
        refuse("passing", fmt::format("passing has {} shares for {} sizes", passing.size(), sizes_.size()));
      for (std::size_t k = 1; k < passing.size(); ++k) {
        if (passing[k] < passing[k - 1])
          refuse("passing",
                 fmt::format("passing must not fall: {:g} comes after {:g}", passing[k], passing[k - 1]));
        fractions_.push_back(passing[k] - passing[k - 1]);
      }
      if (passing.front() != 0 || passing.back() != 1)
        refuse("passing",
               fmt::format(
                   "passing goes from {:g} to {:g}; it must begin at 0, at the size that nothing passes, and "
                   "end at 1",
                   passing.front(), passing.back()));
    }
    if (fractions_.size() + 1 != sizes_.size())
      refuse("fractions",
             fmt::format("fractions has {} shares for {} sizes; there must be one less than sizes",
                         fractions_.size(), sizes_.size()));
    constexpr Real rounding = 1e-3;  // of tables with three digits
    const Real sum = std::accumulate(fractions_.begin(), fractions_.end(), 0.0);
    if (!(std::abs(sum - 1) <= rounding))
      refuse("fractions", fmt::format("fractions sum to {:g}, not to 1", sum));
  }

  void find_numbers() {
    const Real sum = std::accumulate(fractions_.begin(), fractions_.end(), 0.0), p = power();
    const Real unit_volume = body_volume<D>(0.5);
    for (std::size_t k = 0; k < fractions_.size(); ++k) {
      const Real a = sizes_[k], b = sizes_[k + 1];
      const Real q = is_linear_ ? b - a : std::log(b / a);
      cumulative_.push_back(fractions_[k] / sum * (std::pow(a, -p) - std::pow(b, -p)) /
                            (p * unit_volume * q));
    }
    std::inclusive_scan(cumulative_.begin(), cumulative_.end(), cumulative_.begin());
    // No draw reaches an empty class at the coarse end.
    while (fractions_.back() == 0) {
      fractions_.pop_back();
      cumulative_.pop_back();
      sizes_.pop_back();
    }
  }

  std::vector<Real> sizes_;       // openings [m]
  std::vector<Real> fractions_;   // of the mass, by class
  std::vector<Real> cumulative_;  // bodies per m3 [2D: m2], up to the end of each class
  bool is_linear_ = false;
};

}  // namespace

SCREE_PLUGIN(RadiusDistribution, sieve, SieveRadius, "a sieve curve: shares of the mass between sizes")

}  // namespace scree
