#include "replay/serial_problem.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "core/random.hpp"
#include "replay/generated_problems.hpp"
#include "replay/split_problem.hpp"
#include "support/gather.hpp"
#include "support/message_of.hpp"

using namespace scree;
using Catch::Matchers::Contains;

namespace {

constexpr std::array<Real, 9> unit_inertia{1, 0, 0, 0, 1, 0, 0, 0, 1};

template <int D>
Vec<D> random_vector(RandomStream& random) {
  Vec<D> x;
  for (int k = 0; k < D; ++k) x[k] = random.uniform(-1, 1);
  return x;
}

}  // namespace

TEST_CASE("serial problem: Jacobian rows give the velocity of b against a at the contact point in space",
          "[solvers]") {
  RandomStream random(5, 1, 1);
  for (int i = 0; i < 50; ++i) {
    SerialProblem<3> whole;
    const std::array<Real, 6> rest{};
    const std::array<Vec<3>, 2> center{random_vector<3>(random), random_vector<3>(random)};
    for (const Vec<3>& at : center) whole.add_body(at, 1, unit_inertia, rest);
    const Vec<3> point = random_vector<3>(random);
    Vec<3> normal = random_vector<3>(random);
    normal *= 1 / norm(normal);
    CHECK(whole.add_contact(0, 1, point, normal, 0.3, 0.25) == 0);

    std::array<Vec<3>, 2> linear, angular, at_point;
    for (std::size_t side = 0; side < 2; ++side) {
      linear[side] = random_vector<3>(random);
      angular[side] = random_vector<3>(random);
      at_point[side] = linear[side] + cross(angular[side], point - center[side]);
    }
    const Vec<3> expected = at_point[1] - at_point[0];
    Vec<3> u;
    for (int row = 0; row < 3; ++row)
      for (std::size_t side = 0; side < 2; ++side)
        for (int k = 0; k < 3; ++k) {
          const Real* h = whole.jacobian.data() + (side * 3 + static_cast<std::size_t>(row)) * 6;
          u[row] += h[k] * linear[side][k] + h[3 + k] * angular[side][k];
        }
    // The tangents are not named, but with the normal they are a right-handed frame.
    CHECK(u[0] == Approx(dot(normal, expected)).margin(1e-13));
    CHECK(norm(u) == Approx(norm(expected)).margin(1e-13));
    std::array<Vec<3>, 3> frame;
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 3; ++k) frame[row][k] = whole.jacobian[18 + row * 6 + k];
    CHECK(norm(cross(frame[1], frame[2]) - normal) < 1e-14);
    CHECK(dot(frame[1], frame[1]) == Approx(1));
    CHECK(whole.bias == std::vector<Real>{0.25, 0, 0});
  }
}

TEST_CASE("serial problem: Jacobian rows of a disc that rolls on the floor, by hand", "[solvers]") {
  SerialProblem<2> whole;
  whole.add_body({{3, 0.5}}, 2, std::array{0.25}, std::array{1.0, 0.0, -2.0});
  whole.add_contact(-1, 0, {{3, 0}}, {{0, 1}}, 0.3);
  CHECK(whole.mass == std::vector<Real>{2, 0, 0, 0, 2, 0, 0, 0, 0.25});
  // Normal (0, 1) from the floor to the disc, tangent (-1, 0); rolling to the right is no slip.
  CHECK(whole.jacobian == std::vector<Real>{0, 0, 0, 0, 0, 0, /**/ 0, 1, 0, -1, 0, -0.5});
  const Real slip = -1 * 1.0 + -0.5 * -2.0;
  CHECK(slip == 0);
}

TEST_CASE("serial problem: what cannot be shared between ranks is refused by name", "[solvers]") {
  const Comm world;
  SerialProblem<3> whole = generate_problem<3>("stack", 2);
  const auto refusal = [&](const SerialProblem<3>& problem) {
    return message_of<InputError>([&] { SplitProblem<3> split(world, problem); });
  };
  CHECK(refusal(whole).empty());
  SerialProblem<3> wrong = whole;
  wrong.b[5] = 2;
  CHECK_THAT(refusal(wrong), Contains("contact 5 is between bodies 0 and 2"));
  wrong = whole;
  wrong.a[3] = wrong.b[3] = -1;
  CHECK_THAT(refusal(wrong), Contains("contact 3 is between bodies -1 and -1"));
  wrong = whole;
  wrong.compliance.assign(3, 0.0);
  CHECK_THAT(refusal(wrong), Contains("arrays"));
}

TEST_CASE("serial problem: gathered values are in the order of the list, every bit", "[solvers]") {
  const SerialProblem<3> whole = generate_problem<3>("wall", 3);
  const SplitProblem<3> split(Comm(), whole);
  CHECK(gather_contacts(split, split.problem().mu, 1) == whole.mu);
  CHECK(gather_contacts(split, split.problem().jacobian, 36) == whole.jacobian);
  CHECK(gather_bodies(split, split.problem().mass, 36) == whole.mass);
  std::vector<Real> odd(whole.mu.size(), -0.0);
  for (const Real x : gather_contacts(split, odd, 1)) CHECK(std::signbit(x));
}
