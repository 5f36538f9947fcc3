#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "io/array_file.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

constexpr std::int64_t version = 3;
const std::vector<double> numbers{
    1.0 / 3,  -0.0,  std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::quiet_NaN(),
    HUGE_VAL, -1e300};
const std::vector<std::int64_t> ids{0, (std::int64_t{1} << 31) + 1, (std::int64_t{1} << 53) + 1};
const std::vector<std::int32_t> groups{-7, 0, 2147483647};

Column column(const std::string& name, const std::vector<double>& values, int components) {
  return {name, "m", components, std::span<const double>(values)};
}

void write_example(const std::string& path) {
  ArrayFileWriter writer(Comm(), path, "checkpoint", version);
  writer.array(column("position", numbers, 2));
  writer.array({"id", "-", 1, std::span<const std::int64_t>(ids)});
  writer.array({"group", "-", 1, std::span<const std::int32_t>(groups)});
  writer.array({"nothing", "m", 3, std::span<const double>()});
  writer.number("step", std::int64_t{1} << 60);
  writer.number("time", 0.1);
  writer.provenance("state", std::string(100000, 's') + "\nend");
  writer.provenance("empty", "");
  writer.provenance("deck", "[simulation]\n");
  writer.commit();
}

std::string opening_error(const std::string& path) {
  return message_of<InputError>([&] { ArrayFileReader(Comm(), path, "checkpoint", version); });
}

}  // namespace

TEST_CASE("array file: every bit of arrays, numbers and texts comes back, ids above 2^53 too", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  write_example(path);
  CHECK(n_files_in(scratch.folder()) == 1);

  const ArrayFileReader reader(Comm(), path, "checkpoint", version);
  std::vector<double> read_numbers;
  reader.share("position", read_numbers);
  REQUIRE(read_numbers.size() == numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    CHECK(std::bit_cast<std::uint64_t>(read_numbers[i]) == std::bit_cast<std::uint64_t>(numbers[i]));
  std::vector<std::int64_t> read_ids;
  reader.share("id", read_ids);
  CHECK(read_ids == ids);
  std::vector<std::int32_t> read_groups;
  reader.array("group", 1, 2, read_groups);
  CHECK(read_groups == std::vector<std::int32_t>{0, 2147483647});
  reader.share("nothing", read_numbers);
  CHECK(read_numbers.empty());

  CHECK(reader.array_info("position").components == 2);
  CHECK(reader.array_info("position").unit == "m");
  CHECK(reader.array_info("nothing").components == 3);
  CHECK(reader.arrays().size() == 4);
  CHECK(reader.integer("step") == std::int64_t{1} << 60);
  CHECK(reader.real("time") == 0.1);
  CHECK(reader.provenance() == files::Texts{{"deck", "[simulation]\n"},
                                            {"empty", ""},
                                            {"state", std::string(100000, 's') + "\nend"}});
  CHECK_THROWS_AS(reader.integer("time"), InputError);
  CHECK_THROWS_AS(reader.share("id", read_groups), InputError);
  CHECK_THROWS_AS(reader.array("id", 2, 2, read_ids), InputError);
  CHECK(message_of<InputError>([&] { reader.share("velocity", read_numbers); }) ==
        path + ": there is no array velocity");
}

TEST_CASE("array file: writing the same twice gives the same bytes", "[io]") {
  const Scratch scratch;
  write_example(scratch / "a.scree");
  write_example(scratch / "b.scree");
  CHECK(content_of(scratch / "a.scree") == content_of(scratch / "b.scree"));
}

TEST_CASE("array file: without commit nothing is left and an older file is kept", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  write_example(path);
  const std::string before = content_of(path);
  {
    ArrayFileWriter writer(Comm(), path, "checkpoint", version);
    writer.array(column("position", numbers, 1));
    CHECK(n_files_in(scratch.folder()) == 2);
  }
  CHECK(n_files_in(scratch.folder()) == 1);
  CHECK(content_of(path) == before);
}

TEST_CASE("array file: missing, foreign, cut short, of another kind or version: one sentence each", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  CHECK(opening_error(path) == "cannot open " + path + ": No such file or directory");
  CHECK(opening_error(scratch.folder()) == "cannot open " + scratch.folder() + ": it is a folder");
  put(path, "id,x\n1,2\n");
  CHECK(opening_error(path) == "cannot open " + path + ": it is no HDF5 file");
  put(path, "");
  CHECK(opening_error(path) == "cannot open " + path + ": it is no HDF5 file");

  write_example(path);
  const std::string whole = content_of(path);
  for (const double part : {0.01, 0.5, 0.99}) {
    put(path, whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    CHECK_THAT(opening_error(path),
               Catch::StartsWith(path + ": cannot open it: ") && Catch::Contains("trunc"));
  }
  put(path, whole);
  CHECK(opening_error(path).empty());
  CHECK(message_of<InputError>([&] { ArrayFileReader(Comm(), path, "contact problem", version); }) ==
        path + " is no contact problem of scree but a checkpoint");
  CHECK(message_of<InputError>([&] { ArrayFileReader(Comm(), path, "checkpoint", 4); }) ==
        path + " is a checkpoint of version 3; this program reads version 4");
}

TEST_CASE("array file: one flipped bit in an array or text is found by its checksum", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  write_example(path);
  std::string content = content_of(path);
  const double third = numbers[0];
  const std::size_t number = content.find(std::string(reinterpret_cast<const char*>(&third), sizeof third));
  const std::size_t text = content.find("sss\nend");
  REQUIRE(number != std::string::npos);
  REQUIRE(text != std::string::npos);
  content[number] = static_cast<char>(content[number] ^ 1);
  content[text] = 't';
  put(path, content);

  const ArrayFileReader reader(Comm(), path, "checkpoint", version);
  std::vector<double> values;
  CHECK(message_of<InputError>([&] { reader.share("position", values); }) ==
        path + " is damaged: the array position does not have its checksum");
  CHECK(message_of<InputError>([&] { reader.provenance(); }) ==
        path + " is damaged: the text state does not have its checksum");
  std::vector<std::int64_t> read_ids;
  reader.share("id", read_ids);
  CHECK(read_ids == ids);
}

TEST_CASE("array file: one flipped bit in a number, in provenance or in a unit is found", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  write_example(path);
  const std::string whole = content_of(path);
  const auto flipped = [&](std::size_t place) {
    std::string content = whole;
    content[place] = static_cast<char>(content[place] ^ 4);
    put(path, content);
  };
  const std::int64_t step = std::int64_t{1} << 60;
  const std::size_t number = whole.find(std::string(reinterpret_cast<const char*>(&step), sizeof step));
  const std::size_t deck = whole.find("[simulation]\n");
  REQUIRE(number != std::string::npos);
  REQUIRE(deck != std::string::npos);
  flipped(number);
  CHECK_FALSE(opening_error(path).empty());
  flipped(deck);
  const ArrayFileReader reader(Comm(), path, "checkpoint", version);
  CHECK(message_of<InputError>([&] { reader.provenance(); }) ==
        path + " is damaged: the text deck does not have its checksum");
}

TEST_CASE("array file: what is changed, added or taken away by hand does not fit the checksum of the whole",
          "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  const auto changed = [&](const std::function<void(hdf5::File&)>& change) {
    write_example(path);
    {
      hdf5::File file(Comm(), path, hdf5::Open::append);
      change(file);
      file.close();
    }
    return opening_error(path);
  };
  const std::string damaged =
      path + " is damaged: its numbers, names and shapes do not have the checksum of the whole";
  const std::int64_t more = (std::int64_t{1} << 60) + 1;
  const auto list = [](hdf5::File& f, const std::vector<std::int64_t>& values) {
    f.remove("/numbers/integers");
    f.write_rows("/numbers/integers", std::span<const std::int64_t>(values));
  };
  const std::string wrong_length =
      path + " is damaged: /numbers/integers is no list of 1 numbers, which have names";
  CHECK(changed([&](hdf5::File& f) { list(f, {more}); }) == damaged);
  CHECK(changed([&](hdf5::File& f) { list(f, {more - 1, 0}); }) == wrong_length);
  CHECK(changed([&](hdf5::File& f) { list(f, {}); }) == wrong_length);
  CHECK_FALSE(changed([&](hdf5::File& f) { f.remove("/numbers/integers_names"); }).empty());
  CHECK(changed([](hdf5::File& f) { f.set_attribute("/arrays/position", "unit", std::string("km")); }) ==
        damaged);
  CHECK(changed([](hdf5::File& f) { f.remove("/arrays/nothing"); }) == damaged);
  CHECK(changed([](hdf5::File& f) { f.link("/arrays/id", "/arrays/other"); }) == damaged);
  CHECK(changed([](hdf5::File& f) { f.link("/provenance/state", "/texts/state"); }) == damaged);
  CHECK(changed([](hdf5::File& f) { f.link("/provenance/state", "/provenance/other"); }) == damaged);
  CHECK(changed([](hdf5::File& f) { f.remove("/provenance"); }) ==
        path + " is damaged: there is no /provenance");
  CHECK(changed([](hdf5::File&) {}).empty());
}

TEST_CASE("array file: two numbers that change places are found by the checksum", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  {
    ArrayFileWriter writer(Comm(), path, "checkpoint", version);
    const std::vector<std::int64_t> values{1111111111111, 2222222222222};
    writer.array({"id", "-", 1, std::span<const std::int64_t>(values)});
    writer.commit();
  }
  std::string content = content_of(path);
  const std::int64_t first = 1111111111111;
  const std::size_t at = content.find(std::string(reinterpret_cast<const char*>(&first), sizeof first));
  REQUIRE(at != std::string::npos);
  std::swap_ranges(&content[at], &content[at + 8], &content[at + 8]);
  put(path, content);
  std::vector<std::int64_t> values;
  const ArrayFileReader reader(Comm(), path, "checkpoint", version);
  CHECK_THROWS_AS(reader.share("id", values), InputError);
}

TEST_CASE("array file: a folder that is not there stops with path and reason", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "no/a.scree";
  CHECK(message_of<RunError>([&] { ArrayFileWriter(Comm(), path, "checkpoint", version); }) ==
        "cannot create " + path + ".part: No such file or directory");
}

TEST_CASE("array file: a disk that fills up stops with RunError, removes the .part, and the next file works",
          "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree";
  const std::vector<double> many(1 << 16, 1.0);
  for (const rlim_t bytes : {100, 5000, 300000, 500000}) {
    const FileSizeLimit limit(bytes);
    const std::string message = message_of<RunError>([&] {
      ArrayFileWriter writer(Comm(), path, "checkpoint", version);
      writer.array(column("position", many, 1));
      writer.commit();
    });
    INFO(bytes << ": " << message);
    CHECK_THAT(message, Catch::Contains(path));
    CHECK(n_files_in(scratch.folder()) == 0);
  }
  write_example(path);
  CHECK(opening_error(path).empty());
}

TEST_CASE("array file: a link at NAME.part leads no content elsewhere", "[io]") {
  const Scratch scratch;
  put(scratch / "precious", "mine");
  std::filesystem::create_symlink(scratch / "precious", scratch / "a.scree.part");
  write_example(scratch / "a.scree");
  CHECK(content_of(scratch / "precious") == "mine");
  CHECK(opening_error(scratch / "a.scree").empty());
  CHECK(n_files_in(scratch.folder()) == 2);
}
