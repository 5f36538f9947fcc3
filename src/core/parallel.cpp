#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/launcher.hpp"
#include "core/memory.hpp"
#include "core/petsc.hpp"
#include "core/timing.hpp"

namespace scree {

Comm::Comm(MPI_Comm handle) : handle_(handle) {
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
}

namespace {

template <class T>
T reduced(MPI_Comm handle, T value, MPI_Datatype type, MPI_Op operation) {
  const Waiting waiting;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, operation, handle);
  return value;
}
template <class T>
void reduce(MPI_Comm handle, std::span<T> values, MPI_Datatype type, MPI_Op operation) {
  const Waiting waiting;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, operation, handle);
}

}  // namespace

Real Comm::max(Real value) const {
  return reduced(handle_, value, MPI_DOUBLE, MPI_MAX);
}
Real Comm::min(Real value) const {
  return reduced(handle_, value, MPI_DOUBLE, MPI_MIN);
}
std::int64_t Comm::max(std::int64_t value) const {
  return reduced(handle_, value, MPI_INT64_T, MPI_MAX);
}
std::int64_t Comm::min(std::int64_t value) const {
  return reduced(handle_, value, MPI_INT64_T, MPI_MIN);
}
std::int64_t Comm::sum(std::int64_t value) const {
  return reduced(handle_, value, MPI_INT64_T, MPI_SUM);
}
void Comm::max(std::span<Real> values) const {
  reduce(handle_, values, MPI_DOUBLE, MPI_MAX);
}
void Comm::min(std::span<Real> values) const {
  reduce(handle_, values, MPI_DOUBLE, MPI_MIN);
}
void Comm::sum_to_round_off(std::span<Real> values) const {
  const Waiting waiting;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, handle_);
}
void Comm::sum(std::span<std::int64_t> values) const {
  reduce(handle_, values, MPI_INT64_T, MPI_SUM);
}
bool Comm::any(bool value) const {
  return max(std::int64_t{value}) != 0;
}
bool Comm::all(bool value) const {
  return min(std::int64_t{value}) != 0;
}

std::int64_t Comm::sum_before(std::int64_t value) const {
  std::int64_t before = 0;
  const Waiting waiting;
  MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, handle_);
  return rank_ == 0 ? 0 : before;  // MPI leaves rank 0 undefined
}

void Comm::broadcast(std::string& text, int root) const {
  const Waiting waiting;
  std::uint64_t length = text.size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, root, handle_);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, root, handle_);
}

void Comm::barrier() const {
  const Waiting waiting;
  MPI_Barrier(handle_);
}

Parallel::MpiLife::MpiLife(int& argc, char**& argv) {
  keep_freed_memory();
  // One thread calls MPI; another may write frames meanwhile (io/background.hpp).
  int provided = 0;  // asked by may_have_threads()
  const launcher::StartSettings settings;
  folder = settings.folder();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
}

Parallel::MpiLife::~MpiLife() {
  finish_petsc();
  MPI_Finalize();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
}

bool may_have_threads() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided >= MPI_THREAD_FUNNELED;
}

Parallel::Parallel(int& argc, char**& argv) : life_(argc, argv) {}
Parallel::~Parallel() = default;

std::string message_of_smallest(const Comm& comm, GlobalId key, std::string message) {
  constexpr GlobalId none = std::numeric_limits<GlobalId>::max();
  const GlobalId smallest = comm.min(message.empty() ? none : key);
  if (smallest == none) return {};
  const bool mine = !message.empty() && key == smallest;
  const auto speaker = comm.max(static_cast<std::int64_t>(mine ? comm.rank() : -1));
  comm.broadcast(message, static_cast<int>(speaker));
  return message;
}

void share_errors(const Comm& comm, const std::function<void()>& work) {
  bool failed = true;
  ExitCode code = ExitCode::runtime_failure;
  std::string message;
  try {
    work();
    failed = false;
  } catch (const CollectiveError& error) {
    code = error.code();
    message = error.what();
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "an error without a description";
  }

  const std::int64_t first = comm.min(std::int64_t{failed ? comm.rank() : comm.size()});
  if (first == comm.size()) return;
  int number = static_cast<int>(code);
  MPI_Bcast(&number, 1, MPI_INT, static_cast<int>(first), comm.handle());
  comm.broadcast(message, static_cast<int>(first));
  code = static_cast<ExitCode>(number);
  if (code == ExitCode::bad_input) throw InputError(message);
  if (code == ExitCode::runtime_failure) throw RunError(message);
  throw CollectiveError(code, message);
}

namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// A term has at most 60 bits, so a sum of 2^66 of them still fits.
constexpr int n_term_bits = 60;

// Parts of 32 bits in words of 64: MPI can add those of 2^31 ranks without a carry.
constexpr std::size_t n_parts = 4;
constexpr int n_part_bits = 32;

/// Room for one entry per quantity of a sum: on the stack for as many as sums usually have.
template <class T>
class Quantities {
 public:
  explicit Quantities(std::size_t count) : count_(count) {
    if (count > max_on_stack) many_.resize(count);
  }
  operator std::span<T>() { return {count_ > max_on_stack ? many_.data() : few_.data(), count_}; }
  T& operator[](std::size_t i) { return count_ > max_on_stack ? many_[i] : few_[i]; }

 private:
  static constexpr std::size_t max_on_stack = 16;
  std::size_t count_;
  std::array<T, max_on_stack> few_{};
  std::vector<T> many_;
};

void sum_over_ranks(const Comm& comm, std::span<Wide> sums) {
  Quantities<std::array<std::int64_t, n_parts>> parts(sums.size());
  for (std::size_t j = 0; j < sums.size(); ++j)
    for (std::size_t k = 0; k < n_parts; ++k)
      parts[j][k] = static_cast<std::uint32_t>(static_cast<UnsignedWide>(sums[j]) >>
                                               (static_cast<int>(k) * n_part_bits));
  comm.sum({parts[0].data(), sums.size() * n_parts});
  for (std::size_t j = 0; j < sums.size(); ++j) {
    UnsignedWide sum = 0;
    for (std::size_t k = n_parts; k-- > 0;)
      sum = (sum << n_part_bits) + static_cast<UnsignedWide>(parts[j][k]);
    sums[j] = static_cast<Wide>(sum);
  }
}

/// Two numbers at a time: all 64-bit processors have registers for that.
using Lanes = Real __attribute__((vector_size(16)));
using Bits = std::int64_t __attribute__((vector_size(16)));

/// Sums and maxima in so many chains, none of which waits for another.
constexpr std::size_t n_chains = 4;

/// Calls f(chain, two values) for all values in turn; 0 fills the last lane.
template <class F>
void for_each_lanes(std::span<const Real> values, F&& f) {
  constexpr std::size_t at_once = 2 * n_chains;
  std::size_t i = 0;
  for (; i + at_once <= values.size(); i += at_once)
    for (std::size_t k = 0; k < n_chains; ++k) f(k, Lanes{values[i + 2 * k], values[i + 2 * k + 1]});
  for (; i + 2 <= values.size(); i += 2) f(0, Lanes{values[i], values[i + 1]});
  if (i < values.size()) f(0, Lanes{values[i], 0});
}

/// The largest magnitude; infinite if a number is not finite.
Real largest_of(std::span<const Real> values) {
  Lanes max[n_chains]{}, faults[n_chains]{};
  for_each_lanes(values, [&](std::size_t k, Lanes x) {
    const Lanes size = x < 0 ? -x : x;
    max[k] = size > max[k] ? size : max[k];
    faults[k] += x * 0.0;  // NaN for infinities and NaN
  });
  Real largest = 0;
  for (std::size_t k = 0; k < n_chains; ++k) {
    if (!(faults[k][0] + faults[k][1] == 0)) return HUGE_VAL;
    largest = std::max({largest, max[k][0], max[k][1]});
  }
  return largest;
}

/// Sums of x * 2^power, each rounded to an integer (ties to even) of at most n_term_bits.
class IntegerSum {
 public:
  IntegerSum() = default;
  explicit IntegerSum(int power)
      : power_(power), factor_(std::abs(power) < 1000 ? std::scalbn(1.0, power) : 0) {}

  void add(Real x) { total_ += std::llrint(factor_ > 0 ? x * factor_ : std::scalbn(x, power_)); }
  void add(std::span<const Real> values) {
    if (factor_ == 0) {
      for (const Real value : values) add(value);
      return;
    }
    // The sums of so many fit into 64 bits.
    constexpr std::size_t at_once = std::size_t{1} << 30;
    for (std::size_t first = 0; first < values.size(); first += at_once)
      add_some(values.subspan(first, std::min(at_once, values.size() - first)));
  }
  Wide total() const { return total_; }

 private:
  /// x + rounder(p) is x rounded to a multiple of 2^p, which is also the difference of the bits of the two.
  static constexpr Real rounder(int p) {
    return 1.5 * static_cast<Real>(std::uint64_t{1} << 52) * static_cast<Real>(std::uint64_t{1} << p);
  }
  void add_some(std::span<const Real> values) {
    constexpr int high_bits = n_term_bits / 2;
    constexpr Real to_high = rounder(high_bits), to_integer = rounder(0);
    Bits high[n_chains]{}, low[n_chains]{};
    for_each_lanes(values, [&](std::size_t k, Lanes x) {
      x *= factor_;
      const Lanes rounded = x + to_high;
      const Lanes rest = x - (rounded - to_high);  // exact
      high[k] += std::bit_cast<Bits>(rounded) - std::bit_cast<std::int64_t>(to_high);
      low[k] += std::bit_cast<Bits>(rest + to_integer) - std::bit_cast<std::int64_t>(to_integer);
    });
    for (std::size_t k = 0; k < n_chains; ++k)
      total_ += (Wide{high[k][0]} + high[k][1]) * (Wide{1} << high_bits) + low[k][0] + low[k][1];
  }

  int power_ = 0;
  Real factor_ = 1;  // 2^power_; 0 where that would overflow or vanish
  Wide total_ = 0;
};

/// The sums of several quantities with these largest magnitudes on this rank: add(sums) adds the terms to
/// those of finite ones.
template <class Add>
void sum_up(const Comm& comm, std::span<Real> largest, std::span<Real> totals, Add&& add) {
  comm.max(largest);
  const std::size_t n = totals.size();
  Quantities<int> exponent(n);
  Quantities<IntegerSum> integers(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (std::isfinite(largest[j])) std::frexp(largest[j], &exponent[j]);
    integers[j] = IntegerSum(n_term_bits - exponent[j]);
  }
  add(integers);
  Quantities<Wide> sums(n);
  for (std::size_t j = 0; j < n; ++j) sums[j] = integers[j].total();
  sum_over_ranks(comm, sums);
  for (std::size_t j = 0; j < n; ++j)
    totals[j] = std::isfinite(largest[j]) ? std::scalbn(static_cast<Real>(sums[j]), exponent[j] - n_term_bits)
                                          : std::numeric_limits<Real>::quiet_NaN();
}

}  // namespace

void ReproducibleSum::sum(const Comm& comm, std::size_t count, std::span<Real> totals,
                          const std::function<void(std::size_t, std::span<Real>)>& terms) {
  if (totals.empty()) return;
  Quantities<Real> term(totals.size()), largest(totals.size());
  for (std::size_t i = 0; i < count; ++i) {
    terms(i, term);
    for (std::size_t j = 0; j < totals.size(); ++j)
      largest[j] = std::max(largest[j], std::isfinite(term[j]) ? std::abs(term[j]) : HUGE_VAL);
  }
  sum_up(comm, largest, totals, [&](Quantities<IntegerSum>& sums) {
    for (std::size_t i = 0; i < count; ++i) {
      terms(i, term);
      for (std::size_t j = 0; j < totals.size(); ++j)
        if (std::isfinite(largest[j])) sums[j].add(term[j]);
    }
  });
}

void ReproducibleSum::sum(const Comm& comm, std::span<const std::span<const Real>> terms,
                          std::span<Real> totals) {
  if (totals.empty()) return;
  Quantities<Real> largest(totals.size());
  for (std::size_t j = 0; j < totals.size(); ++j) largest[j] = largest_of(terms[j]);
  sum_up(comm, largest, totals, [&](Quantities<IntegerSum>& sums) {
    for (std::size_t j = 0; j < totals.size(); ++j)
      if (std::isfinite(largest[j])) sums[j].add(terms[j]);
  });
}

Real ReproducibleSum::sum(const Comm& comm, std::span<const Real> values) {
  Real total = 0;
  sum(comm, {&values, 1}, {&total, 1});
  return total;
}

}  // namespace scree
