#include "crowd/people/crowd_placement.hpp"

#include <algorithm>
#include <numbers>

#include "core/even_share.hpp"
#include "core/sparse_all_to_all.hpp"
#include "particles/packing/bins.hpp"
#include "particles/packing/patches.hpp"
#include "particles/packing/random_placement.hpp"
#include "particles/packing/sites.hpp"

namespace scree {

namespace {

/// Disks that overlap are pushed apart until none does: descent on the sum of the squares of overlaps, with
/// momentum, all disks at once. Each pass sends disks to the rank of the patch that they are in; sums go by
/// id, so results do not depend on ranks.
class PushApart {
 public:
  PushApart(const PlacementTask& task, std::span<const PlacedPerson> people)
      : task_(task), patches_(task.comm, around(task.spaces), task.domain) {
    for (const PlacedPerson& person : people) {
      moving_.push_back({person, {}, Role::own});
      largest_ = std::max(largest_, person.body.radius);
    }
    for (const NewBody<2>& body : task.fixed) largest_ = std::max(largest_, body.radius);
    largest_ = task.comm.max(largest_);

    std::vector<Disk> outgoing;
    std::vector<int> destination;
    for (const NewBody<2>& body : task.fixed)
      patches_.for_each_near(body.position, reach_of(body.radius), [&](int rank, const Vec<2>& image) {
        outgoing.push_back({{{body.id, image, body.radius}, 0}, {}, Role::fixed});
        destination.push_back(rank);
      });
    fixed_ = exchange_values<Disk>(task.comm, outgoing, destination);
  }

  /// How many disks overlap another or an obstacle, or are out of the space. Collective.
  std::int64_t n_overlapping() {
    exchange();
    return task_.comm.sum(push(0, 0));
  }

  /// True if no overlap is left after at most `max_passes`. Collective.
  bool run(int max_passes) {
    // The stiffest mode of a disk with six neighbours bounds step and momentum: step * 6 < 2 (1 + momentum).
    constexpr Real step = 0.3, momentum = 0.7;
    for (int pass = 0; pass < max_passes; ++pass) {
      exchange();
      if (task_.comm.sum(push(step, momentum)) == 0) return true;
      move();
    }
    return false;
  }

  /// The disks in this rank's patch, after run() those of its last pass.
  std::vector<PlacedPerson> people() const {
    std::vector<PlacedPerson> people;
    for (const Disk& disk : moving_) people.push_back(disk.person);
    return people;
  }

 private:
  enum class Role : std::int32_t { own, near, fixed };
  struct Disk {
    PlacedPerson person;
    Vec<2> velocity;  ///< last displacement [m]
    Role role;
  };
  // Disks are pushed a little farther than touching, so that the pushing ends.
  static constexpr Real margin = 1e-3;

  static Box<2> around(std::span<const StartSpace* const> spaces) {
    Box<2> box = Box<2>::empty();
    for (const StartSpace* space : spaces) {
      box.include(space->bounds().lower);
      box.include(space->bounds().upper);
    }
    return box;
  }
  const StartSpace& space_of(const Disk& disk) const { return *task_.spaces[disk.person.space]; }
  Real reach_of(Real radius) const { return (radius + largest_) * (1 + 2 * margin); }

  void exchange() {
    std::vector<Disk> outgoing;
    std::vector<int> destination;
    for (const Disk& disk : moving_) {
      const NewBody<2>& body = disk.person.body;
      const int owner = patches_.owner(body.position);
      patches_.for_each_near(body.position, reach_of(body.radius), [&](int rank, const Vec<2>& image) {
        const bool is_own = rank == owner && image == body.position;
        outgoing.push_back({{{body.id, image, body.radius}, disk.person.space},
                            disk.velocity,
                            is_own ? Role::own : Role::near});
        destination.push_back(rank);
      });
    }
    around_ = exchange_values<Disk>(task_.comm, outgoing, destination);
    // Own disks first, by id; what they remember travels with them.
    std::ranges::sort(around_, {}, [](const Disk& d) { return std::pair(d.role, d.person.body.id); });
    moving_.assign(around_.begin(),
                   std::ranges::find_if(around_, [](const Disk& d) { return d.role != Role::own; }));
    around_.insert(around_.end(), fixed_.begin(), fixed_.end());
  }

  /// Finds how own disks move next. Returns how many overlap where they are. Local.
  std::int64_t push(Real step, Real momentum) {
    const Vec<2> corner = patches_.corner(task_.comm.rank());
    const Vec<2> rim = filled<2>(reach_of(largest_));
    Bins<2> bins(corner - rim, corner + patches_.extent() + rim, 2 * largest_,
                 static_cast<std::int64_t>(around_.size()));
    for (const Disk& disk : around_) bins.add(disk.person.body);

    struct Contact {
      GlobalId id;
      Vec<2> push;
    };
    std::vector<Contact> contacts;
    std::int64_t n_overlapping = 0;
    for (std::size_t i = 0; i < moving_.size(); ++i) {
      Disk& disk = moving_[i];
      const Vec<2> x = disk.person.body.position;
      const Real r = disk.person.body.radius;
      bool overlaps = !space_of(disk).holds(x);
      contacts.clear();
      bins.any_near(x, reach_of(r), [&](Index at) {
        if (static_cast<std::size_t>(at) == i) return false;
        const Disk& other = around_[at];
        const Vec<2> apart = x - other.person.body.position;
        const Real contact_distance = r + other.person.body.radius, wanted = contact_distance * (1 + margin);
        const Real square = dot(apart, apart);
        if (square >= wanted * wanted) return false;
        overlaps = overlaps || square < contact_distance * contact_distance;
        const Real distance = std::sqrt(square);
        const Real share = other.role == Role::fixed ? 2 : 1;
        const Vec<2> away = distance > 0
                                ? 1 / distance * apart
                                : unit_vector<2>(0, disk.person.body.id < other.person.body.id ? 1 : -1);
        contacts.push_back({other.person.body.id, share * (wanted - distance) * away});
        return false;
      });
      // An id comes twice if images of a disk touch it from two sides.
      std::ranges::sort(contacts, {},
                        [](const Contact& c) { return std::tuple(c.id, c.push[0], c.push[1]); });
      Vec<2> total;
      for (const Contact& contact : contacts) total += contact.push;
      space_of(disk).obstacles().for_each_near(x, [&](Real distance, const Vec<2>& normal) {
        if (distance >= r * (1 + margin)) return;
        constexpr Real rounding = 2e-9;  // sites of a lattice may touch a wall
        overlaps = overlaps || distance < r * (1 - rounding);
        total += 2 * (r * (1 + margin) - distance) * normal;
      });
      n_overlapping += overlaps ? 1 : 0;
      disk.velocity = momentum * disk.velocity + step * total;
    }
    return n_overlapping;
  }

  void move() {
    for (Disk& disk : moving_) {
      // Far jumps could pass through a wall.
      const Real max = 0.3 * disk.person.body.radius;
      const Real length = norm(disk.velocity);
      if (length > max) disk.velocity *= max / length;
      const Vec<2> x = disk.person.body.position;
      const auto can_go = [&](const Vec<2>& displacement) {
        const Vec<2> y = wrapped(task_.domain, x + displacement);
        if (!space_of(disk).holds(y)) return false;
        disk.person.body.position = y;
        return true;
      };
      if (can_go(disk.velocity)) continue;
      const Vec<2> along_x{{disk.velocity[0], 0}}, along_y{{0, disk.velocity[1]}};
      if (!can_go(along_x)) can_go(along_y);
      disk.velocity = {};
    }
  }

  const PlacementTask& task_;
  Patches<2> patches_;
  Real largest_ = 0;
  std::vector<Disk> moving_;  // of this rank, by id
  std::vector<Disk> around_;  // moving_, what is near it, and fixed_
  std::vector<Disk> fixed_;
};

/// Mean and largest radius of all who are to be placed. Collective.
struct Radii {
  Real mean = 0;
  Real largest = 0;
  Real filled_area = 0;  ///< [m2]
};

Radii radii_of(const PlacementTask& task) {
  std::vector<Real> radius, area;
  Radii radii;
  const EvenShare share(task.comm, task.count);
  for (std::int64_t i = share.first; i < share.last; ++i) {
    const Real r = task.radius(task.first_id + i);
    radii.largest = std::max(radii.largest, r);
    radius.push_back(r);
    area.push_back(std::numbers::pi * r * r);
  }
  radii.largest = task.comm.max(radii.largest);
  radii.mean = ReproducibleSum::sum(task.comm, radius) / static_cast<Real>(task.count);
  radii.filled_area = ReproducibleSum::sum(task.comm, area);
  return radii;
}

/// This rank's share of the sites of a hexagonal lattice where a disk of `radius` is free.
std::vector<Vec<2>> free_sites(const PlacementTask& task, const StartSpace& space, Real spacing,
                               Real radius) {
  const Sites<2> sites(space.bounds(), true, spacing, radius);
  // Sites that are meant to touch a wall must not be lost to rounding.
  const Real reach = radius * (1 - 1e-9);
  std::vector<Vec<2>> free;
  const EvenShare share(task.comm, sites.size());
  for (std::int64_t site = share.first; site < share.last; ++site) {
    const std::int64_t row = site / sites.row_length(), at = site % sites.row_length();
    const bool is_back = task.back_and_forth && row % 2 == 1;
    const Vec<2> x = wrapped(task.domain, sites.row(row).place(is_back ? sites.row_length() - 1 - at : at));
    if (space.holds(x) && !space.obstacles().touches(x, reach)) free.push_back(x);
  }
  return free;
}

/// Puts people on sites that are at least `contact_distance` apart and leaves room for `radius`, each on one.
/// Returns the spacing; 0: too few sites, nobody was added.
Real put_on_sites(const PlacementTask& task, Real contact_distance, Real radius,
                  std::vector<PlacedPerson>& people) {
  const StartSpace& space = task.space();
  const auto n_free = [&](Real s) {
    return task.comm.sum(static_cast<std::int64_t>(free_sites(task, space, s, radius).size()));
  };
  const Real guess = std::sqrt(2 / std::numbers::sqrt3 * space.area() / static_cast<Real>(task.count));
  const std::optional<Real> widest = widest_spacing(n_free, task.count, contact_distance, guess);
  if (!widest) return 0;
  const std::vector<Vec<2>> sites = free_sites(task, space, *widest, radius);
  const std::int64_t n_before = task.comm.sum_before(static_cast<std::int64_t>(sites.size()));
  const std::int64_t n_all = task.comm.sum(static_cast<std::int64_t>(sites.size()));
  const auto number_of_space = static_cast<std::int32_t>(task.spaces.size() - 1);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::int64_t k = n_before + static_cast<std::int64_t>(i);
    const std::int64_t number = task.count * k / n_all;
    if (task.count * (k + 1) / n_all == number) continue;
    const GlobalId id = task.first_id + number;
    people.push_back({{id, sites[i], task.radius(id)}, number_of_space});
  }
  return *widest;
}

bool place_densely(const PlacementTask& task, const Radii& radii, std::vector<PlacedPerson>& people) {
  // Sites hold the typical person; larger ones find room as all are pushed apart.
  const StartSpace& space = task.space();
  const std::size_t n_before = people.size();
  const Real spacing = put_on_sites(task, radii.mean, radii.mean, people);
  if (spacing == 0) return false;
  for (std::size_t i = n_before; i < people.size(); ++i) {
    NewBody<2>& body = people[i].body;
    constexpr Real disorder = 0.15;  // of the spacing: hides the rows, and leaves little to push
    RandomStream stream(task.seed, body.id, purpose::jitter);
    Vec<2> x = body.position;
    for (int k = 0; k < 2; ++k) x[k] += disorder * spacing * stream.uniform(-1, 1);
    x = wrapped(task.domain, x);
    if (space.holds(x) && !space.obstacles().touches(x, 0.5 * body.radius)) body.position = x;
  }
  return push_apart(task, people);
}

}  // namespace

bool push_apart(const PlacementTask& task, std::vector<PlacedPerson>& people) {
  PushApart pushing(task, people);
  constexpr int max_passes = 3000;
  if (!pushing.run(max_passes)) return false;
  people = pushing.people();
  return true;
}

bool place_at_random(const PlacementTask& task, std::vector<PlacedPerson>& people) {
  const Radii radii = radii_of(task);
  const StartSpace& space = task.space();
  constexpr Real loose = 0.45;      // random sequential addition comes to a stop at 0.547
  constexpr std::int64_t few = 10;  // cheap to try, and their region may be smaller than they are
  if (radii.filled_area <= loose * space.area() || task.count <= few) {
    std::vector<NewBody<2>> added, earlier(task.fixed.begin(), task.fixed.end());
    for (const PlacedPerson& person : people) earlier.push_back(person.body);
    const EvenShare share(task.comm, task.count);
    for (std::int64_t i = share.first; i < share.last; ++i)
      added.push_back({task.first_id + i, {}, task.radius(task.first_id + i)});
    RandomPlacement<2, StartSpace> placement(task.comm, task.domain, task.seed, space, 0, std::move(added),
                                             earlier);
    constexpr std::int64_t tries = 100;
    if (placement.run(tries)) {
      const auto number_of_space = static_cast<std::int32_t>(task.spaces.size() - 1);
      for (const NewBody<2>& body : placement.placed())
        people.push_back({{body.id, wrapped(task.domain, body.position), body.radius}, number_of_space});
      return true;
    }
  }
  return place_densely(task, radii, people);
}

bool place_pushed_apart(const PlacementTask& task, std::vector<PlacedPerson>& people) {
  return place_densely(task, radii_of(task), people);
}

bool place_on_lattice(const PlacementTask& task, std::vector<PlacedPerson>& people) {
  const Radii radii = radii_of(task);
  const bool is_alone = !task.comm.any(!people.empty() || !task.fixed.empty());
  if (put_on_sites(task, 2 * radii.largest, radii.largest, people) == 0) return false;
  return is_alone || PushApart(task, people).n_overlapping() == 0;
}

}  // namespace scree
