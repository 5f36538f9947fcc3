#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "comm/ghost_exchange.hpp"
#include "contact/cohesion.hpp"
#include "core/types.hpp"
#include "particles/body_store.hpp"

namespace scree {

/// How a body moves, as force kernels read it: one cache line. Plane motion has v[2] = spin[0] = spin[1] = 0.
struct alignas(64) MotionRecord {
  Real velocity[3];       ///< [m/s]
  Real inverse_mass = 0;  ///< [1/kg]; 0: fixed
  Real spin[3];           ///< [rad/s]
  Real material = 0;      ///< number in Materials
};
/// What pushes and turns a body: one cache line.
struct alignas(64) ForceRecord {
  Real force[3];  ///< [N]
  Real unused_a;
  Real torque[3];  ///< about the centre [N m]
  Real unused_b;
};
/// What a contact remembers from step to step: four numbers.
struct alignas(32) ContactHistory {
  Real spring[3];  ///< tangential displacement of b against a since they touched, less what slid [m], world
                   ///< axes
  Real stiffness;  ///< k_T of the last step, where the tangential law asks for it [N/m]; else 0, or -1 where
                   ///< attraction beyond contact has to know that they touch
};

/// The same of its resistance to rolling.
struct alignas(32) RollingHistory {
  Real angle[3];  ///< by which b has turned against a since they touched, less
                  ///< what rolled [rad], world axes
  Real unused;
};

/// The soft-contact law of two materials, ready for a kernel (docs/method.md, eq. H.1-H.5).
struct SoftLaw {
  Real stiffness = 0;      ///< linear: k_N [N/m]; Hertz: 2 E* [Pa]
  Real tangential = 0;     ///< linear: k_T [N/m]; Hertz: 8 G* [Pa]
  Real damping = 0;        ///< c in gamma_N = c sqrt(m* k_N)
  Real damping_ratio = 0;  ///< gamma_T / gamma_N
  Real friction = 0;
  Real rolling_friction = 0;
  Real rolling_stiffness = 0;  ///< k_r over k_N R*^2; 0: the torque has no spring
  Real rolling_damping = 0;    ///< of it, over sqrt(k_r / sum of 1/(m R^2)) (eq. H.5b)
  // Cohesion (docs/method.md, eq. H.12-H.14).
  PullOff pull{};                          ///< constant pull while they touch; 0 beside `attraction`
  Real pull_share = 1;                     ///< of the pull in the load that limits friction
  const Attraction* attraction = nullptr;  ///< one that acts beyond contact; null: none
};
/// Which attraction some pair of materials has.
enum class Pulls {
  never,
  in_contact,  ///< SoftLaw::pull
  beyond       ///< that, or SoftLaw::attraction
};
constexpr int n_pulls = 3;
enum class NormalLaw { linear, hertz };
/// What becomes of tangential force while the load, and with it k_T of Hertz's law, changes (docs/method.md,
/// eq. H.4a). Of the linear law k_T is constant, and all are the same.
enum class TangentialLaw {
  whole,       ///< k_T of now times the whole displacement
  increments,  ///< the sum of k_T times the displacement of each step: a change of load leaves the force
               ///< alone
  rescaled     ///< the same while the load grows; as it falls, the force falls with k_T
};
constexpr int n_tangential_laws = 3;

/// Whether a contact of this law that has begun still holds at a gap [m].
bool is_bonded(const SoftLaw& pair, NormalLaw law, Real gap, Real effective_radius);

/// A contact as obstacles and outputs give it, and its force.
struct SoftContact {
  Vec<3> normal;                  ///< from a to b
  Real overlap = 0;               ///< [m]
  Real effective_radius = 0;      ///< [m]
  Real lever_a = 0, lever_b = 0;  ///< from the centres to the contact point [m]
};
struct SoftForce {
  Vec<3> force;    ///< on b [N]
  Vec<3> torque;   ///< of friction: -lever_a * torque on a, -lever_b * torque on b [N]
  Vec<3> rolling;  ///< torque of rolling resistance on b, its opposite on a [N m]
  Real pull = 0;   ///< attraction in `force`: what the law without cohesion has more along the normal [N]
  Real load = 0;   ///< what mu times bounds friction [N]; set with cohesion only
};

/// Memory to bring into the cache a few lines at a time, while something else is computed.
class PrefetchQueue {
 public:
  static constexpr std::size_t line = 64;

  void clear() {
    ranges_.clear();
    n_lines_ = 0;
    current_ = 0;
    at_ = 0;
  }
  /// No allocation once as many ranges have been added before.
  void add(const void* first, std::size_t n_bytes) {
    if (n_bytes == 0) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(first) / line * line;
    const auto end = reinterpret_cast<std::uintptr_t>(first) + n_bytes;
    ranges_.push_back({begin, end});
    n_lines_ += (end - begin + line - 1) / line;
    if (ranges_.size() == 1) at_ = begin;
  }
  void reserve(std::size_t n_ranges) { ranges_.reserve(n_ranges); }
  /// Lines for each of so many calls of fetch().
  std::size_t share(std::size_t n_calls) const {
    return n_calls > 0 ? (n_lines_ + n_calls - 1) / n_calls : 0;
  }
  /// Asks for the next n lines.
  void fetch(std::size_t n) {
    for (; n > 0 && current_ < ranges_.size(); --n) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, never read
      __builtin_prefetch(reinterpret_cast<const void*>(at_), 0, 2);
      at_ += line;
      if (at_ < ranges_[current_].end) continue;
      if (++current_ < ranges_.size()) at_ = ranges_[current_].begin;
    }
  }

 private:
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> ranges_;
  std::size_t n_lines_ = 0, current_ = 0;
  std::uintptr_t at_ = 0;
};

/// The operands of a kernel call. Batches hold pairs without a common body (neighbors/sweep_schedule.hpp).
struct ForceBatches {
  const SweepRecord* places = nullptr;    ///< of local bodies, then two dummies far apart
  const MotionRecord* motions = nullptr;  ///< of local bodies
  ForceRecord* forces = nullptr;          ///< of local bodies, added to
  const Index* ends = nullptr;            ///< first batch to treat
  Index n_batches = 0;
  const std::uint8_t* shifts = nullptr;    ///< one per place (shifted kernels only)
  const Real* shift_table = nullptr;       ///< 3 numbers per shift code: what to add to x_i - x_j
  const Real* shift_velocities = nullptr;  ///< the same to v_i - v_j; null: 0
  Real* face_virial = nullptr;         ///< 4 numbers: sum of f_k s_k over shifted pairs, f: force on j [N],
                                       ///< s: their shift [m], and of f_flow s_gradient; null: nobody asks
  std::size_t flow = 0, gradient = 0;  ///< axes of the fourth
  std::uint8_t* touched = nullptr;     ///< one per place: whether the pair touched at the last call
  ContactHistory* history = nullptr;   ///< one per place, meaningless where `touching` is 0
  RollingHistory* rolling = nullptr;   ///< the same with `rolling_springs`
  Index* list = nullptr;               ///< scratch, three per place
  PrefetchQueue* prefetch = nullptr;   ///< fetched on the way; may be null
  const SoftLaw* laws = nullptr;       ///< n_materials * n_materials
  Index n_materials = 1;
  bool rolling_springs = false;  ///< resistance to rolling has a spring; else its torque has no memory
  Real dt = 0;                   ///< by which histories advance [s]
  Real min_force = 0;      ///< of the normal force without attraction: 0, or -infinite if damping may pull
  Real overlap_limit = 0;  ///< as a share of the smaller radius of a contact
  Real reach = 0;          ///< the widest gap of a contact that has begun [m]
  NormalLaw law = NormalLaw::hertz;  ///< that of the kernels
};
struct ForceCounts {
  Index n_contacts = 0;
  Real deepest = 0;         ///< overlap [m]
  Real beyond = -HUGE_VAL;  ///< overlap less overlap_limit of the smaller radius, the largest [m]

  /// An overlap, which is negative where attraction acts across a gap, and the limit of it.
  void meet(Real overlap, Real limit) {
    deepest = std::max(deepest, overlap);
    beyond = std::max(beyond, std::max(overlap, 0.0) - limit);
  }
  void add(const ForceCounts& more) {
    n_contacts += more.n_contacts;
    deepest = std::max(deepest, more.deepest);
    beyond = std::max(beyond, more.beyond);
  }
};

/// The kernels of one law of contact.
struct LawKernels {
  /// [shifted]: adds the forces of all touching pairs of the batches, in order.
  ForceCounts (*pairs[2])(const ForceBatches&);
  /// The force of one contact; `history` and `rolling`, which may be null,
  /// advance by p.dt.
  SoftForce (*contact)(const ForceBatches& p, const SoftContact& contact, const MotionRecord& a,
                       const MotionRecord& b, ContactHistory& history, RollingHistory* rolling);
};

/// Bodies in space and what kernels know of them, from the first one that is treated on.
struct BodyArrays {
  Vec<3>*position, *previous, *velocity, *acceleration;
  Spin<3>*spin, *angular_acceleration;
  Orientation<3>* orientation;
  const Vec<3>* reference_position;
  const Real *mass, *radius;
  SweepRecord* places;
  MotionRecord* motions;
  ForceRecord* forces;
};

/// The kernels of one instruction set. All sets give the same bits: no fused multiply-add, IEEE square root
/// and division, and the same operations per pair.
struct ForceKernels {
  std::string_view instruction_set;
  LawKernels laws[n_pulls][2][n_tangential_laws];  ///< [pulls][normal law][tangential law]
  /// drift_body() of schemes/dem/body_motion.hpp for n bodies that can move and turn, a multiple of
  /// batch_size; their records are brought up to date, with no forces.
  void (*drift)(const BodyArrays& bodies, std::size_t n, Real dt);
  /// kick_body() for such bodies without force fields; returns the largest of its results.
  Real (*kick)(const BodyArrays& bodies, std::size_t n, Real dt, const Vec<3>& gravity);

  const LawKernels& of(NormalLaw law, TangentialLaw tangential, Pulls pulls = Pulls::never) const {
    return laws[static_cast<int>(pulls)][static_cast<int>(law)][static_cast<int>(tangential)];
  }
};

/// The set to take: see core/simd.hpp.
const ForceKernels& force_kernels();
/// All sets that this processor runs.
std::span<const ForceKernels* const> available_force_kernels();

}  // namespace scree
