#include <array>
#include <limits>

#include "analysis/contacts.hpp"
#include "analysis/measure.hpp"
#include "schemes/common/contact_pair.hpp"

namespace scree {
namespace {

/// How much of their friction contacts use, over the contacts that push (normal reaction f_n > 0, friction
/// f_t, coefficient mu of their pair of materials): the mean f_n [N], and of those with mu > 0 the share that
/// slides,
///     |f_t| > (1 - 1e-3) mu p,
/// and the mean of |f_t| / (mu p). p is the load that the scheme bounds friction by: f_n, and with cohesion
/// what docs/method.md, "Cohesion", has, f_n + F_c as a rule.
template <int D>
class ContactStatus final : public Measure<D> {
 public:
  void check(const State<D>& state) const override { require_inertia(state, this->where_, "contact_status"); }

  bool needs_forces() const override { return true; }
  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const ContactGraph<D>& contacts = sample.contacts;
    std::vector<Real> force, used;
    std::array<std::int64_t, 3> counts{};  // contacts that push, those with friction, those that slide
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (!(contacts.force[c] > 0)) continue;
      force.push_back(contacts.force[c]);
      const Real mu = pair_of(state, contacts, c).friction;
      if (mu == 0) continue;
      const Real load = contacts.load.empty() ? contacts.force[c] : contacts.load[c];
      used.push_back(contacts.friction.empty() || load == 0 ? 0 : norm(contacts.friction[c]) / (mu * load));
      counts[2] += used.back() > 1 - 1e-3;
    }
    counts[0] = static_cast<std::int64_t>(force.size());
    counts[1] = static_cast<std::int64_t>(used.size());
    state.comm.sum(counts);
    const auto mean = [](Real sum, std::int64_t n) {
      return n > 0 ? sum / static_cast<Real>(n) : std::numeric_limits<Real>::quiet_NaN();
    };
    return {{"contacts", "-", "contacts that push", static_cast<Real>(counts[0])},
            {"mean_force", "N", "mean normal reaction of these; nan without any",
             mean(ReproducibleSum::sum(state.comm, force), counts[0])},
            {"sliding", "-", "share that slides, of those with friction; nan without any",
             mean(static_cast<Real>(counts[2]), counts[1])},
            {"mobilised", "-", "mean share of the friction available that is used; nan without any",
             mean(ReproducibleSum::sum(state.comm, used), counts[1])}};
  }
};

}  // namespace

SCREE_PLUGIN(Measure, contact_status, ContactStatus, "mean contact force and share of contacts that slide")

}  // namespace scree
