#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/files.hpp"
#include "io/h5md.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

H5mdHead head() {
  H5mdHead result;
  result.creator_version = "0.1";
  result.lower = {-1, 0};
  result.upper = {1, 3};
  result.periodic = {true, false};
  result.texts = {{"deck", "[simulation]\n"}};
  result.provenance = {{"ranks", "1"}};
  return result;
}

/// n bodies with ids 10 (n - i), positions (step + id / 8, id), and one radius each.
struct Bodies {
  Bodies(std::int64_t step, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto id = static_cast<GlobalId>(10 * (n - i));
      ids.push_back(id);
      positions.push_back(static_cast<double>(step) + static_cast<double>(id) / 8);
      positions.push_back(static_cast<double>(id));
      radii.push_back(0.5);
      masses.push_back(0.25 * static_cast<double>(id));
      types.push_back(static_cast<std::int32_t>(id));
    }
  }
  std::vector<Column> columns() const {
    return {{"position", "m", 2, std::span<const double>(positions)},
            {"radius", "m", 1, std::span<const double>(radii)},
            {"mass", "kg", 1, std::span<const double>(masses)},
            {"type", "-", 1, std::span<const std::int32_t>(types)}};
  }
  std::vector<GlobalId> ids;
  std::vector<double> positions, radii, masses;
  std::vector<std::int32_t> types;
};

void append(H5mdWriter& writer, std::int64_t step, std::size_t n) {
  const Bodies bodies(step, n);
  const std::vector<Observable> observables{{"kinetic_energy", "J", static_cast<double>(step) * 2}};
  writer.append(step, 0.25 * static_cast<double>(step), bodies.ids, bodies.columns(), observables);
}

template <class T>
std::vector<T> all_of(const hdf5::File& file, const std::string& name) {
  const hdf5::Shape shape = file.info(name).shape;
  std::vector<T> values;
  file.read(name, {hdf5::Shape(shape.size(), 0), shape}, values);
  return values;
}

}  // namespace

TEST_CASE("h5md: units are written as powers", "[io]") {
  CHECK(h5md_unit("m") == "m");
  CHECK(h5md_unit("m/s") == "m s-1");
  CHECK(h5md_unit("m/s2") == "m s-2");
  CHECK(h5md_unit("kg/m3") == "kg m-3");
  CHECK(h5md_unit("1/s") == "s-1");
  CHECK(h5md_unit("N s/m") == "N s m-1");
  CHECK(h5md_unit("-").empty());
}

TEST_CASE("h5md: frames of 2, 3 and 0 bodies are sorted by id and padded with -1 and NaN", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "run.h5";
  {
    H5mdWriter writer(Comm(), path, head(), {});
    append(writer, 0, 2);
    append(writer, 4, 3);
    append(writer, 8, 0);
    CHECK_FALSE(std::filesystem::exists(scratch / "run.xdmf"));
    writer.complete();
  }
  const hdf5::File file(Comm(), path, hdf5::Open::read);
  CHECK(all_of<std::int64_t>(file, "/particles/all/id/value") ==
        std::vector<std::int64_t>{10, 20, -1, 10, 20, 30, -1, -1, -1});
  const std::vector<double> positions = all_of<double>(file, "/particles/all/position/value");
  CHECK(file.info("/particles/all/position/value").shape == hdf5::Shape{3, 3, 2});
  CHECK(positions[2] == 2.5);
  CHECK(std::isnan(positions[4]));
  CHECK(positions[10] == 4 + 30.0 / 8);
  CHECK(all_of<std::int64_t>(file, "/particles/all/radius/step") == std::vector<std::int64_t>{0, 4, 8});
  CHECK(all_of<double>(file, "/observables/kinetic_energy/time") == std::vector<double>{0, 1, 2});
  CHECK(all_of<double>(file, "/observables/kinetic_energy/value") == std::vector<double>{0, 8, 16});
  CHECK(all_of<std::int64_t>(file, "/observables/count/value") == std::vector<std::int64_t>{2, 3, 0});
  CHECK(all_of<double>(file, "/particles/all/box/edges") == std::vector<double>{2, 3});
  CHECK(file.attribute<std::vector<std::string>>("/particles/all/box", "boundary") ==
        std::vector<std::string>{"periodic", "none"});
  CHECK(file.attribute<std::vector<std::int64_t>>("/h5md", "version") == std::vector<std::int64_t>{1, 1});
  CHECK(file.text_attribute("/particles/all/position/value", "unit") == "m");
  CHECK(file.text_attribute("/h5md/author", "name") == "unknown");
  CHECK(file.text_attribute("/parameters", "ranks") == "1");
  CHECK(file.read_text("/parameters/deck") == "[simulation]\n");

  const std::string xdmf = content_of(scratch / "run.xdmf");
  CHECK_THAT(xdmf, Catch::Contains("run.h5:/particles/all/position/value") &&
                       Catch::Contains("Value=\"1\"") && Catch::Contains("GeometryType=\"XY\"") &&
                       !Catch::Contains("step 8"));
}

TEST_CASE("h5md: resume at step 5 drops the frames 6 and 8 and goes on to the same file", "[io]") {
  const Scratch scratch;
  {
    H5mdWriter writer(Comm(), scratch / "a.h5", head(), {});
    for (const std::int64_t step : {0, 4, 6, 8}) append(writer, step, 3);
  }
  {
    H5mdWriter writer = H5mdWriter::resume(Comm(), scratch / "a.h5", 5, {});
    CHECK(writer.n_frames() == 2);
    CHECK_THAT(content_of(scratch / "a.xdmf"), Catch::Contains("step 4") && !Catch::Contains("step 6"));
    for (const std::int64_t step : {7, 9}) append(writer, step, 3);
    writer.complete();
  }
  {
    H5mdWriter writer(Comm(), scratch / "b.h5", head(), {});
    for (const std::int64_t step : {0, 4, 7, 9}) append(writer, step, 3);
    writer.complete();
  }
  const hdf5::File a(Comm(), scratch / "a.h5", hdf5::Open::read);
  const hdf5::File b(Comm(), scratch / "b.h5", hdf5::Open::read);
  const std::string steps = "/particles/all/radius/step";
  CHECK(all_of<std::int64_t>(a, steps) == std::vector<std::int64_t>{0, 4, 7, 9});
  const std::string positions = "/particles/all/position/value";
  CHECK(all_of<double>(a, positions) == all_of<double>(b, positions));
  std::string xdmf = content_of(scratch / "a.xdmf");
  for (std::size_t at = xdmf.find("a.h5"); at != std::string::npos; at = xdmf.find("a.h5")) xdmf[at] = 'b';
  CHECK(xdmf == content_of(scratch / "b.xdmf"));
}

TEST_CASE(
    "h5md: 800 frames write at most 2.1 times the bytes of 400, and the .xdmf shows all of them in the end",
    "[io]") {
  const Scratch scratch;
  const auto bytes_of_frames = [&](std::int64_t n) {
    const std::int64_t before = files::bytes_written();
    H5mdWriter writer(Comm(), scratch / "run.h5", head(), {});
    for (std::int64_t step = 0; step < n; ++step) append(writer, step, 3);
    writer.complete();
    const std::string xdmf = content_of(scratch / "run.xdmf");
    for (const std::int64_t step : {std::int64_t{0}, n / 2, n - 1})
      CHECK_THAT(xdmf, Catch::Contains(fmt::format("<Grid Name=\"step {}\"", step)));
    return static_cast<double>(files::bytes_written() - before);
  };
  CHECK(bytes_of_frames(800) / bytes_of_frames(400) < 2.1);  // .xdmf at each frame: 4
}

TEST_CASE("h5md: a file copied while the run goes on, as a killed run leaves it, can be read and resumed",
          "[io]") {
  const Scratch scratch;
  const H5mdOptions options{.compression = GENERATE(0, 6)};
  H5mdWriter writer(Comm(), scratch / "run.h5", head(), options);
  append(writer, 0, 200);
  append(writer, 1, 300);
  std::filesystem::copy_file(scratch / "run.h5", scratch / "copy.h5");
  {
    const hdf5::File copy(Comm(), scratch / "copy.h5", hdf5::Open::read);
    CHECK(all_of<std::int64_t>(copy, "/observables/count/value") == std::vector<std::int64_t>{200, 300});
    CHECK(all_of<double>(copy, "/particles/all/radius/value")[500 - 1 + 100] == 0.5);
  }
  H5mdWriter again = H5mdWriter::resume(Comm(), scratch / "copy.h5", 1, options);
  append(again, 2, 100);
  CHECK(again.n_frames() == 3);
}

TEST_CASE("h5md: a run without frames can be resumed", "[io]") {
  const Scratch scratch;
  { const H5mdWriter writer(Comm(), scratch / "run.h5", head(), {}); }
  H5mdWriter writer = H5mdWriter::resume(Comm(), scratch / "run.h5", 0, {});
  append(writer, 1, 2);
  CHECK(writer.n_frames() == 1);
}

TEST_CASE("h5md: with fixed bodies ids and constant columns are stored once, other bodies are an error",
          "[io]") {
  const Scratch scratch;
  H5mdOptions options;
  options.fixed_bodies = true;
  options.single_precision = true;
  {
    H5mdWriter writer(Comm(), scratch / "run.h5", head(), options);
    append(writer, 0, 3);
    append(writer, 1, 3);
    CHECK_THROWS_AS(append(writer, 2, 4), RunError);
  }
  {
    H5mdWriter writer = H5mdWriter::resume(Comm(), scratch / "run.h5", 1, options);
    append(writer, 2, 3);
    CHECK_THROWS_AS(append(writer, 3, 2), RunError);
  }
  const hdf5::File file(Comm(), scratch / "run.h5", hdf5::Open::read);
  CHECK(all_of<std::int64_t>(file, "/particles/all/id") == std::vector<std::int64_t>{10, 20, 30});
  CHECK(file.info("/particles/all/radius").shape == hdf5::Shape{3});
  CHECK(all_of<float>(file, "/particles/all/mass") == std::vector<float>{2.5F, 5, 7.5F});
  CHECK(file.info("/particles/all/radius").type == hdf5::Type::real32);
  CHECK(file.info("/particles/all/position/value").type == hdf5::Type::real32);
  CHECK(file.info("/particles/all/position/value").shape == hdf5::Shape{3, 3, 2});
}

TEST_CASE("h5md: compressed frames hold the same numbers in fewer bytes, also after a restart", "[io]") {
  const Scratch scratch;
  const bool fixed = GENERATE(true, false);
  for (const int level : {0, 1, 9}) {
    const H5mdOptions options{.compression = level, .fixed_bodies = fixed};
    const auto size_of = [&](std::int64_t step) {
      return 2000 - (fixed ? 0 : static_cast<std::size_t>(step) * 100);
    };
    const std::string path = scratch / fmt::format("{}.h5", level);
    {
      H5mdWriter writer(Comm(), path, head(), options);
      for (const std::int64_t step : {0, 1, 2}) append(writer, step, size_of(step));
    }
    H5mdWriter writer = H5mdWriter::resume(Comm(), path, 1, options);
    for (const std::int64_t step : {3, 4}) append(writer, step, size_of(step));
    writer.complete();
  }
  const hdf5::File plain(Comm(), scratch / "0.h5", hdf5::Open::read);
  for (const int level : {1, 9}) {
    const std::string path = scratch / fmt::format("{}.h5", level);
    const hdf5::File file(Comm(), path, hdf5::Open::read);
    for (const std::string name : {"position", "radius", "mass"}) {
      const std::string series = "/particles/all/" + name + (fixed && name != "position" ? "" : "/value");
      const std::vector<double> values = all_of<double>(file, series),
                                expected = all_of<double>(plain, series);
      CHECK(std::ranges::equal(values, expected, [](double a, double b) {
        return std::bit_cast<std::int64_t>(a) == std::bit_cast<std::int64_t>(b);
      }));
    }
    const std::string ids = fixed ? "/particles/all/id" : "/particles/all/id/value";
    CHECK(all_of<std::int64_t>(file, ids) == all_of<std::int64_t>(plain, ids));
    CHECK(3 * std::filesystem::file_size(path) < 2 * std::filesystem::file_size(scratch / "0.h5"));
  }
}

TEST_CASE("h5md: a frame with other quantities is an error that names both lists", "[io]") {
  const Scratch scratch;
  H5mdWriter writer(Comm(), scratch / "run.h5", head(), {});
  append(writer, 0, 2);
  const Bodies bodies(1, 2);
  const std::string message =
      message_of<RunError>([&] { writer.append(1, 1, bodies.ids, bodies.columns(), {}); });
  CHECK_THAT(message, Catch::Contains("kinetic_energy, mass, position, radius, type") &&
                          Catch::Contains("mass, position, radius, type"));
}

TEST_CASE("h5md: resuming a file that is none of ours is an input error", "[io]") {
  const Scratch scratch;
  put(scratch / "a.h5", "text");
  CHECK_THROWS_AS(H5mdWriter::resume(Comm(), scratch / "a.h5", 1, {}), InputError);
  { hdf5::File(Comm(), scratch / "b.h5", hdf5::Open::overwrite).close(); }
  CHECK(message_of<InputError>([&] { H5mdWriter::resume(Comm(), scratch / "b.h5", 1, {}); }) ==
        scratch / "b.h5 is no H5MD file of scree");
}

TEST_CASE("h5md: a disk that fills up stops with the bytes wanted; earlier frames stay readable", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "run.h5";
  {
    H5mdWriter writer(Comm(), path, head(), {});
    append(writer, 0, 100);
    const FileSizeLimit limit(std::filesystem::file_size(path) + 1000);
    CHECK_THAT(message_of<RunError>([&] { append(writer, 1, 100000); }), Catch::Contains(path));
  }
  H5mdWriter writer = H5mdWriter::resume(Comm(), path, 0, {});
  append(writer, 1, 10);
  CHECK(writer.n_frames() == 2);
}
