#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/checks.hpp"

/// The files of tests/reference/pbd.
namespace scree {

struct Errors {
  Real max = 0;
  Real end = 0;
};

/// Errors of the reference by case, method, parameter and step.
class ExpectedErrors {
 public:
  ExpectedErrors(const Comm& comm, const std::string& path) {
    for (const auto& row : read_rows(comm, path, "case,method,parameter,h,error_max,error_end,sweeps"))
      errors_[key(row[0], row[1], row[2], number(row[3], path))] = {number(row[4], path),
                                                                    number(row[5], path)};
  }
  std::optional<Errors> find(std::string_view on, std::string_view method, std::string_view parameter,
                             Real h) const {
    const auto found = errors_.find(key(on, method, parameter, h));
    return found == errors_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::string key(std::string_view on, std::string_view method, std::string_view parameter, Real h) {
    return fmt::format("{},{},{},{}", on, method, parameter, h);
  }
  std::map<std::string, Errors> errors_;
};

/// The reference trajectory of the disks: coordinates in the order of ids.
class DisksReference {
 public:
  static constexpr Real interval = 0.01;  ///< [s]

  DisksReference(const Comm& comm, const std::string& folder) {
    std::string header = "t";
    for (std::size_t id = 0; id < n_bodies; ++id) header += fmt::format(",x{0},y{0}", id);
    const std::string path = folder + "/disks40_path.csv";
    for (const auto& row : read_rows(comm, path, header)) {
      if (frame_at(number(row[0], path)) != path_.size())
        throw InputError(fmt::format("{}: the row for t = {} is not where it belongs", path, row[0]));
      std::vector<Real>& positions = path_.emplace_back();
      for (std::size_t k = 1; k < row.size(); ++k) positions.push_back(number(row[k], path));
    }
    const std::string end_path = folder + "/disks40_end_T4.csv";
    for (const auto& row : read_rows(comm, end_path, "id,x,y"))
      place(end_, number(row[0], end_path), number(row[1], end_path), number(row[2], end_path));

    const std::string sparse_path = folder + "/disks40_trajectory.csv";
    std::map<std::size_t, std::vector<Real>> sparse;
    for (const auto& row : read_rows(comm, sparse_path, "t,id,x,y"))
      place(sparse[frame_at(number(row[0], sparse_path))], number(row[1], sparse_path),
            number(row[2], sparse_path), number(row[3], sparse_path));
    for (const auto& [frame, positions] : sparse)
      disagreement_ = std::max(disagreement_, frame < path_.size() ? error(frame, positions) : HUGE_VAL);
  }
  std::size_t n_frames() const { return path_.size(); }
  Real error(std::size_t frame, const std::vector<Real>& positions) const {
    return distance(path_[frame], positions);
  }
  Real end_error(const std::vector<Real>& positions) const { return distance(end_, positions); }
  /// Largest distance of the trajectory from the few frames of the prototype [m].
  Real disagreement() const { return disagreement_; }

  static constexpr std::size_t n_bodies = 40;

 private:
  static std::size_t frame_at(Real time) { return static_cast<std::size_t>(std::llround(time / interval)); }
  static void place(std::vector<Real>& positions, Real id, Real x, Real y) {
    if (!(id >= 0 && id < n_bodies))
      throw InputError(fmt::format("reference of {} disks: there is no id {}", n_bodies, id));
    positions.resize(2 * n_bodies, std::nan(""));
    positions[2 * static_cast<std::size_t>(id)] = x;
    positions[2 * static_cast<std::size_t>(id) + 1] = y;
  }
  static Real distance(const std::vector<Real>& a, const std::vector<Real>& b) {
    Real sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::isnan(sum) ? HUGE_VAL : std::sqrt(sum);
  }
  std::vector<std::vector<Real>> path_;
  std::vector<Real> end_;
  Real disagreement_ = 0;
};

}  // namespace scree
