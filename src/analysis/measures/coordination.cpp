#include <algorithm>
#include <array>
#include <limits>

#include "analysis/measure.hpp"
#include "particles/redistribute.hpp"

namespace scree {
namespace {

/// Contacts per body (a contact of two bodies counts for both), and the share of bodies with fewer than D + 1
/// contacts, which cannot be held in place by contacts alone.
///
/// The two bodies of a contact may be owned by two ranks, so counts are added up at a rank found from the id
/// alone: one exchange of 16 bytes per touching body.
template <int D>
class Coordination final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.real("tolerance", tolerance_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "pairs with a gap of at most this count as contacts"});
  }

  std::vector<ColumnInfo> columns(const State<D>&) const override {
    return {{"coordination", "-", "mean number of contacts of a body; nan without bodies"},
            {"rattlers", "-",
             "share of bodies with fewer than " + std::to_string(D + 1) + " contacts; nan without bodies"}};
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    const Comm& comm = sample.state.comm;
    const BodyStore<D>& bodies = sample.state.bodies;
    const ContactGraph<D>& contacts = sample.contacts;
    std::vector<std::int64_t> count(static_cast<std::size_t>(bodies.n_held()), 0);
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (contacts.gap[c] > tolerance_) continue;
      ++count[static_cast<std::size_t>(contacts.a[c])];
      if (contacts.b[c] >= 0) ++count[static_cast<std::size_t>(contacts.b[c])];
    }

    struct Share {
      GlobalId id;
      std::int64_t count;
    };
    std::vector<Share> shares;
    std::vector<int> meeting_rank;
    for (std::size_t i = 0; i < count.size(); ++i) {
      if (count[i] == 0) continue;
      shares.push_back({bodies.id()[i], count[i]});
      meeting_rank.push_back(static_cast<int>(bodies.id()[i] % comm.size()));
    }
    shares = redistribute<Share>(comm, shares, meeting_rank);
    std::ranges::sort(shares, {}, &Share::id);

    std::array<std::int64_t, 3> totals{0, 0,
                                       bodies.n_owned()};  // ends of contacts, bodies held in place, bodies
    for (auto share = shares.begin(); share != shares.end();) {
      const GlobalId id = share->id;
      std::int64_t n_contacts = 0;
      for (; share != shares.end() && share->id == id; ++share) n_contacts += share->count;
      totals[0] += n_contacts;
      totals[1] += n_contacts >= D + 1;
    }
    comm.sum(totals);
    const auto n = static_cast<Real>(totals[2]);
    const Real nothing = std::numeric_limits<Real>::quiet_NaN();
    row.push_back(n > 0 ? static_cast<Real>(totals[0]) / n : nothing);
    row.push_back(n > 0 ? static_cast<Real>(totals[2] - totals[1]) / n : nothing);
  }

 private:
  Real tolerance_ = 0;
};

}  // namespace

SCREE_PLUGIN(Measure, coordination, Coordination, "contacts per body and share of rattlers")

}  // namespace scree
