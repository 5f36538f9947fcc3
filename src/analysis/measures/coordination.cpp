#include <algorithm>
#include <array>
#include <limits>

#include "analysis/contacts.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"
#include "core/sparse_all_to_all.hpp"

namespace scree {
namespace {

/// Contacts per body that carry load, or up to a gap, the share of bodies with fewer than D + 1 contacts,
/// which cannot be held in place by contacts alone, and the contacts per body of the others. A contact of two
/// bodies counts for both. It counts once, at however many points bodies with shapes touch.
///
/// The two bodies of a contact may be owned by two ranks, so counts are added up at a rank found from the id
/// alone: one exchange of 16 bytes per touching body.
template <int D>
class Coordination final : public Measure<D> {
 public:
  void describe(Section& section) override {
    counted_.describe(section);
    region_.describe(section);
  }

  void check(const State<D>& state) const override { region_.require_inside(state); }

  Real widest_gap() const override { return counted_.tolerance; }
  MeasuredRow record(const Sample<D>& sample) override {
    const Comm& comm = sample.state.comm;
    const BodyStore<D>& bodies = sample.state.bodies;
    const std::vector<std::int64_t> count = ends_on_this_rank(sample);
    const int level = region_.level(sample.state);
    const auto inside = [&](std::size_t i) {
      return is_on_level(sample.state, i, level) && region_.holds(sample.state.box, bodies.position()[i]);
    };
    struct Share {
      GlobalId id;
      std::int64_t count;
    };
    std::vector<Share> shares;
    std::vector<int> meeting_rank;
    for (std::size_t i = 0; i < count.size(); ++i) {
      if (count[i] == 0 || !inside(i)) continue;
      shares.push_back({bodies.id()[i], count[i]});
      meeting_rank.push_back(static_cast<int>(bodies.id()[i] % comm.size()));
    }
    shares = exchange_values<Share>(comm, shares, meeting_rank);
    std::ranges::sort(shares, {}, &Share::id);

    std::array<std::int64_t, 4> totals{};
    auto& [ends, jammed, ends_of_jammed, all] =
        totals;  // ends of contacts; bodies that are no rattlers; their ends; bodies
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) all += inside(i);
    for (auto share = shares.begin(); share != shares.end();) {
      const GlobalId id = share->id;
      std::int64_t n_contacts = 0;
      for (; share != shares.end() && share->id == id; ++share) n_contacts += share->count;
      const bool is_jammed = n_contacts >= D + 1;
      ends += n_contacts;
      jammed += is_jammed;
      ends_of_jammed += is_jammed ? n_contacts : 0;
    }
    comm.sum(totals);
    const auto ratio = [](std::int64_t part, std::int64_t of) {
      return of > 0 ? static_cast<Real>(part) / static_cast<Real>(of)
                    : std::numeric_limits<Real>::quiet_NaN();
    };
    const std::string min = std::to_string(D + 1);
    return {{"coordination", "-",
             "mean number of contacts of a body, one with each body or part of a wall that it touches; nan "
             "without bodies",
             ratio(ends, all)},
            {"rattlers", "-", "share of bodies with fewer than " + min + " contacts; nan without bodies",
             ratio(all - jammed, all)},
            {"coordination_without_rattlers", "-",
             "mean number of contacts of the bodies with at least " + min + "; nan without such bodies",
             ratio(ends_of_jammed, jammed)}};
  }

 private:
  /// Ends of contacts of this rank, by body, owned and ghosts.
  std::vector<std::int64_t> ends_on_this_rank(const Sample<D>& sample) const {
    const ContactGraph<D>& contacts = sample.contacts;
    std::vector<std::int64_t> count(sample.state.bodies.n_local(), 0);
    for (std::size_t c = 0, last = 0; c < contacts.size(); c = last) {
      last = contacts.end_of_pair(c);
      bool counts = false;
      for (std::size_t point = c; point < last; ++point) counts |= counted_(contacts, point);
      if (!counts) continue;
      ++count[contacts.a[c]];
      if (contacts.b[c] >= 0) ++count[contacts.b[c]];
    }
    return count;
  }

  CountedContacts counted_;
  MeasuredRegion<D> region_;
};

}  // namespace

SCREE_PLUGIN(Measure, coordination, Coordination,
             "coordination number of contacts that carry load, and share of rattlers")

}  // namespace scree
