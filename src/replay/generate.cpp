#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "replay/fclib_operator.hpp"
#include "replay/generated_problems.hpp"
#include "replay/replay.hpp"
#include "replay/split_problem.hpp"

namespace scree {

namespace {

namespace fs = std::filesystem;

/// Refuses a file that exists. Collective.
void check_new_file(const Comm& comm, const std::string& path, bool force) {
  files::on_root(comm, [&] {
    check_place(path);
    if (fs::exists(path) && !force)
      throw InputError(path + " exists already: --force replaces it; or choose another name with -o");
  });
}

template <int D>
std::string write_pile(const Comm& comm, const GeneratedFamily& family, const GenerateOptions& options,
                       const std::string& path) {
  const SerialProblem<D> whole = pile_problem<D>(options.size, options.seed);
  const SplitProblem<D> split(comm, whole);
  const FrictionProblem<D>& problem = split.problem();
  std::vector<ContactKey> keys;
  const auto id = [&](Index body) { return body < 0 ? GlobalId{-1} : problem.body_id[body]; };
  for (std::size_t c = 0; c < problem.a.size(); ++c)
    keys.push_back({id(problem.a[c]), id(problem.b[c]), split.contact_number()[c]});
  FclibInfo info;
  info.title = fmt::format("scree {}", family.name);
  info.description =
      fmt::format("generated problem \"{}\" in {} dimensions, size {}, seed {}: one step of {:g} s",
                  family.name, D, options.size, options.seed, whole.time_step);
  info.math_info = "a solution exists";
  write_fclib<D>(problem, keys, {}, info, path);
  return fmt::format("{} bodies, {} contacts", whole.n_bodies(), whole.n_contacts());
}

/// Returns the counts on rank 0 at least. Collective.
std::string write_generated(const Comm& comm, const GenerateOptions& options, const std::string& path) {
  const GeneratedFamily& family = require_family(options.dimension, options.family, options.size);
  if (family.name == "pile")
    return options.dimension == 2 ? write_pile<2>(comm, family, options, path)
                                  : write_pile<3>(comm, family, options, path);
  std::string counts;
  files::on_root(
      comm, [&] { counts = write_by_python(family, options.dimension, options.size, options.seed, path); });
  return counts;
}

/// By one rank, which reads all of the file.
void write_local_form(const Comm& comm, const std::string& path, const std::string& output) {
  share_errors(comm, [&] {
    if (!comm.is_root()) return;
    const Comm alone(MPI_COMM_SELF);
    const FclibProblem problem = read_fclib(alone, path);
    write_fclib_local(alone, FclibOperator(alone, problem).local_problem(), output);
  });
}

/// A file that is needed for a while, gone when this goes.
class TemporaryFile {
 public:
  TemporaryFile(const Comm& comm, std::string path) : comm_(comm), path_(std::move(path)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    if (comm_.is_root()) fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  Comm comm_;
  std::string path_;
};

/// Lines of at most `max` characters where words allow it, each after two blanks.
std::string wrap_words(std::string_view text, std::size_t max) {
  std::string lines;
  while (!text.empty()) {
    std::size_t end = text.size() > max ? text.rfind(' ', max) : text.size();
    if (end == std::string_view::npos || end == 0) end = std::min(text.find(' ', max), text.size());
    lines += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

}  // namespace

std::string list_families() {
  constexpr std::size_t max = 100;  // as wide as the help
  std::string text;
  for (const GeneratedFamily& family : generated_families())
    text += wrap_words(fmt::format("{}: {}. Size: {}, at least {}", family.name, family.summary, family.size,
                                   family.min_size),
                       max);
  return text;
}

std::string generate_file(const Comm& comm, const GenerateOptions& options) {
  check_new_file(comm, options.output, options.force);
  std::string counts;
  if (options.in_local_form) {
    const std::string between = options.output + ".global";
    files::on_root(comm, [&] {
      if (fs::exists(between))
        throw InputError(between + " exists already, a name needed on the way: choose another one with -o");
    });
    const TemporaryFile global(comm, between);
    counts = write_generated(comm, options, global.path());
    write_local_form(comm, global.path(), options.output);
  } else {
    counts = write_generated(comm, options, options.output);
  }
  return fmt::format("{}: {}\n", options.output, counts);
}

std::string convert_file(const Comm& comm, const std::string& path, const std::string& output, bool force) {
  const FclibProblem problem = read_fclib(comm, path);
  check_new_file(comm, output, force);
  files::on_root(comm, [&] {
    if (fs::exists(output) && fs::equivalent(path, output))
      throw InputError(output + " is the file that is to be converted");
  });
  write_local_form(comm, path, output);
  return fmt::format("{}: {} contacts\n", output, problem.n_contacts);
}

}  // namespace scree
