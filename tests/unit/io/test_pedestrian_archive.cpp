// Trajectories in the layout of the archive of Juelich: rows, attributes, going on, refusals.
#include "io/pedestrian_archive.hpp"

#include <catch2/catch.hpp>

#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

ArchiveHead head(Real fps = 12.5) {
  return {.title = "hall", .version = "scree 1", .geometry = "POLYGON ((0 0, 1 0, 1 1, 0 0))", .fps = fps};
}

/// Persons 2 n, 2 (n - 1), ..., 2 at x = frame + id / 8, y = -id, z = 0.
void append(PedestrianArchive& archive, std::int64_t frame, GlobalId n) {
  std::vector<GlobalId> ids;
  std::vector<double> positions;
  for (GlobalId id = 2 * n; id > 0; id -= 2) {
    ids.push_back(id);
    const auto number = static_cast<double>(id);
    positions.insert(positions.end(), {static_cast<double>(frame) + number / 8, -number, 0});
  }
  archive.append(frame, ids, positions);
}

std::vector<TrajectoryRow> rows_of(const std::string& path) {
  const hdf5::File file(Comm(), path, hdf5::Open::read);
  return PedestrianArchive::read_rows(file, 0, PedestrianArchive::n_rows_in(file));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> frames_and_ids(const std::string& path) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  for (const TrajectoryRow& row : rows_of(path)) result.emplace_back(row.frame, row.id);
  return result;
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

}  // namespace

TEST_CASE("pedestrian archive: rows come by frame and id, with what tools look for", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5";
  {
    PedestrianArchive archive(Comm(), path, head());
    append(archive, 0, 2);
    append(archive, 1, 0);
    append(archive, 2, 3);
    CHECK(archive.n_rows() == 5);
    // What a run that is killed now leaves.
    CHECK(rows_of(path).size() == 5);
  }
  CHECK(frames_and_ids(path) == Pairs{{0, 2}, {0, 4}, {2, 2}, {2, 4}, {2, 6}});
  const TrajectoryRow last = rows_of(path).back();
  CHECK(last.x == 2.75);
  CHECK(last.y == -6);
  CHECK(last.z == 0);
  const hdf5::File file(Comm(), path, hdf5::Open::read);
  CHECK(file.attribute<std::vector<double>>("/trajectory", "fps") == std::vector<double>{12.5});
  CHECK(file.text_attribute("/", "wkt_geometry") == head().geometry);
  CHECK(file.text_attribute("/", "title") == "hall");
  CHECK(file.text_attribute("/", "version") == "scree 1");
}

TEST_CASE("pedestrian archive: a run goes on after any frame, as if it had not gone further", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5", whole = scratch / "whole.h5";
  {
    PedestrianArchive archive(Comm(), path, head()), never_stopped(Comm(), whole, head());
    for (int frame = 0; frame < 6; ++frame) append(archive, frame, frame);
    for (int frame = 0; frame < 4; ++frame) append(never_stopped, frame, frame);
  }
  const std::int64_t last = GENERATE(-1, 0, 3, 5, 100);
  {
    PedestrianArchive archive = PedestrianArchive::resume(Comm(), path, head(), last);
    const std::int64_t kept = std::min<std::int64_t>(last, 5);
    CHECK(archive.n_rows() == std::max<std::int64_t>(kept * (kept + 1) / 2, 0));
    for (auto frame = last + 1; frame < 4; ++frame) append(archive, frame, frame);
  }
  if (last <= 3) CHECK(frames_and_ids(path) == frames_and_ids(whole));
}

TEST_CASE("pedestrian archive: what 32 bits cannot hold is refused, and no row is lost", "[io]") {
  const Scratch scratch;
  PedestrianArchive archive(Comm(), scratch / "a.h5", head());
  append(archive, 0, 1);
  const std::vector<double> place(3, 0);
  const auto refusal = [&](std::int64_t frame, GlobalId id) {
    return message_of<RunError>([&] { archive.append(frame, {&id, 1}, place); });
  };
  CHECK_THAT(refusal(1, GlobalId{1} << 32), Catch::Contains("4294967296 does not fit"));
  CHECK_THAT(refusal(1, -1), Catch::Contains("-1 does not fit"));
  CHECK_THAT(refusal(std::int64_t{1} << 32, 1), Catch::Contains("4294967296 does not fit"));
  CHECK(refusal(1, (GlobalId{1} << 32) - 1).empty());
  CHECK(archive.n_rows() == 2);
  CHECK(rows_of(scratch / "a.h5").back().id == 4294967295U);
}

TEST_CASE("pedestrian archive: files of another kind or pace are refused", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5";
  { append(*std::make_unique<PedestrianArchive>(Comm(), path, head()), 0, 1); }
  const auto refusal = [&](Real fps) {
    return message_of<InputError>([&] { PedestrianArchive::resume(Comm(), path, head(fps), 0); });
  };
  CHECK_THAT(refusal(10), Catch::Contains("another number of frames per second than the run (10)"));
  CHECK(refusal(12.5).empty());
  { hdf5::File(Comm(), path, hdf5::Open::overwrite).create_group("/trajectory"); }
  CHECK_FALSE(refusal(12.5).empty());
}
