// The layer over HDF5 on one rank: what is written is what is read, and what cannot be read is refused.
#include "core/hdf5.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "unit/io/scratch.hpp"

using namespace scree;
using hdf5::File;
using hdf5::Open;
using hdf5::PartFile;
using hdf5::Shape;

namespace {

template <class T>
std::vector<T> all_of(const File& file, const std::string& name) {
  const Shape shape = file.info(name).shape;
  std::vector<T> values;
  file.read(name, {Shape(shape.size(), 0), shape}, values);
  return values;
}

struct Row {
  std::uint32_t number = 0;
  double value = 0;
};
const hdf5::RecordLayout row_layout{{{"number", hdf5::RecordField::Type::uint32, offsetof(Row, number)},
                                     {"value", hdf5::RecordField::Type::real64, offsetof(Row, value)}},
                                    sizeof(Row)};

}  // namespace

TEST_CASE("hdf5: a box of a dataset is written and read in its place", "[io]") {
  const Scratch scratch;
  File file(Comm(), scratch / "a.h5", Open::overwrite);
  file.create_dataset("/deep/down/table", hdf5::Type::real64, {3, 4});
  file.write<double>("/deep/down/table", {{0, 0}, {3, 4}}, std::vector<double>(12, 1));
  file.write<double>("/deep/down/table", {{1, 2}, {2, 2}}, std::vector<double>{5, 6, 7, 8});
  CHECK(all_of<double>(file, "/deep/down/table") == std::vector<double>{1, 1, 1, 1, 1, 1, 5, 6, 1, 1, 7, 8});
  std::vector<double> column;
  file.read("/deep/down/table", {{0, 3}, {3, 1}}, column);
  CHECK(column == std::vector<double>{1, 6, 8});
  file.read("/deep/down/table", {{0, 0}, {0, 4}}, column);
  CHECK(column.empty());
  CHECK(file.is_dataset("/deep/down/table"));
  CHECK_FALSE(file.is_dataset("/deep/down"));
}

TEST_CASE("hdf5: new places of a growing dataset hold -1, 0 or NaN; what was there stays", "[io]") {
  const Scratch scratch;
  File file(Comm(), scratch / "a.h5", Open::overwrite);
  const auto grow = [&]<class T>(const std::string& name, T value) {
    file.create_growing_dataset(name, hdf5::type_of<T>(), {1, 1}, {4, 4});
    file.write<T>(name, {{0, 0}, {1, 1}}, std::vector<T>{value});
    file.resize(name, {2, 2});
    return all_of<T>(file, name);
  };
  CHECK(grow("/ids", std::int64_t{7}) == std::vector<std::int64_t>{7, -1, -1, -1});
  CHECK(grow("/groups", std::int32_t{7}) == std::vector<std::int32_t>{7, 0, 0, 0});
  const std::vector<double> reals = grow("/reals", 7.0);
  CHECK(reals[0] == 7);
  CHECK((std::isnan(reals[1]) && std::isnan(reals[2]) && std::isnan(reals[3])));
}

TEST_CASE("hdf5: numbers of another width are read when any width will do, else refused", "[io]") {
  const Scratch scratch;
  {
    File file(Comm(), scratch / "a.h5", Open::overwrite);
    file.write_rows<std::int32_t>("/counts", std::vector<std::int32_t>{-2147483647, 5});
    file.write_rows<float>("/reals", std::vector<float>{0.5F, 1e30F, 2, 3}, 2);
  }
  const File file(Comm(), scratch / "a.h5", Open::read);
  CHECK(file.info("/counts").shape == Shape{2});
  CHECK(file.info("/reals").shape == Shape{2, 2});
  std::vector<std::int64_t> counts;
  file.read_any_width("/counts", {{0}, {2}}, counts);
  CHECK(counts == std::vector<std::int64_t>{-2147483647, 5});
  std::vector<double> reals;
  file.read_any_width("/reals", {{0, 0}, {2, 2}}, reals);
  CHECK(reals == std::vector<double>{0.5, static_cast<double>(1e30F), 2, 3});
  CHECK_THROWS_AS(file.read("/counts", {{0}, {2}}, counts), InputError);
  CHECK_THROWS_AS(file.read("/nothing", {{0}, {2}}, counts), InputError);
}

TEST_CASE("hdf5: a list of records grows, and other fields are refused", "[io]") {
  const Scratch scratch;
  File file(Comm(), scratch / "a.h5", Open::overwrite);
  file.create_records("/rows", row_layout, 16);
  CHECK(file.n_records("/rows", row_layout) == 0);
  const std::vector<Row> rows{{1, 0.1}, {4000000000U, -0.0}, {3, HUGE_VAL}};
  file.resize_records("/rows", row_layout, 3);
  file.write_records("/rows", row_layout, 0, 3, rows.data());
  file.resize_records("/rows", row_layout, 2);
  REQUIRE(file.n_records("/rows", row_layout) == 2);
  Row last;
  file.read_records("/rows", row_layout, 1, 1, &last);
  CHECK(last.number == 4000000000U);
  CHECK((last.value == 0 && std::signbit(last.value)));
  hdf5::RecordLayout other = row_layout;
  other.fields[1].name = "weight";
  CHECK_THROWS_AS(file.n_records("/rows", other), CollectiveError);
}

TEST_CASE("hdf5: attributes are texts, lists of texts, integers and reals", "[io]") {
  const Scratch scratch;
  File file(Comm(), scratch / "a.h5", Open::overwrite);
  file.create_group("/run/parts");
  file.set_attribute("/run", "unit", "m/s");
  file.set_attribute("/run", "axes", std::vector<std::string>{"x", "long name"});
  file.set_attribute("/run", "version", std::vector<std::int64_t>{1, (std::int64_t{1} << 53) + 1});
  file.set_attribute("/run", "fps", std::vector<double>{12.5});
  file.set_long_text("/run", "deck", std::string(70000, 'd'));
  CHECK(file.text_attribute("/run", "unit") == "m/s");
  CHECK(file.text_attribute("/run", "nothing").empty());
  CHECK(file.text_attribute("/run", "fps").empty());
  CHECK(file.attribute<std::vector<std::string>>("/run", "axes") ==
        std::vector<std::string>{"x", "long name"});
  CHECK(file.attribute<std::vector<std::int64_t>>("/run", "version")->at(1) == (std::int64_t{1} << 53) + 1);
  CHECK(file.attribute<std::vector<double>>("/run", "fps") == std::vector<double>{12.5});
  CHECK(file.text_attribute("/run", "deck").size() == 70000);
  CHECK(file.has_attribute("/run", "fps"));
  CHECK_FALSE(file.has_attribute("/run/parts", "fps"));
  CHECK(file.attributes("/run").size() == 5);
}

TEST_CASE("hdf5: names are found as what they are, links are second names, removed objects are gone",
          "[io]") {
  const Scratch scratch;
  File file(Comm(), scratch / "a.h5", Open::overwrite);
  file.write_rows<double>("/z/reals", std::vector<double>{1, 2, 3});
  file.write_rows<std::int64_t>("/z/integers", std::vector<std::int64_t>{4});
  file.write_text("/z/text", "two\nlines");
  file.link("/z/reals", "/z/again");
  CHECK(file.members("/z") == std::vector<std::string>{"again", "integers", "reals", "text"});
  using enum hdf5::Content;
  CHECK(file.find("/z/reals").content == reals);
  CHECK(file.find("/z/reals").shape == Shape{3});
  CHECK(file.find("/z/integers").content == integers);
  CHECK(file.find("/z/text").content == text);
  CHECK(file.find("/z").content == something_else);
  CHECK(file.find("/y/none").content == nothing);
  file.remove("/z/reals");
  CHECK_FALSE(file.exists("/z/reals"));
  CHECK(all_of<double>(file, "/z/again") == std::vector<double>{1, 2, 3});
  CHECK(file.read_text("/z/text") == "two\nlines");
}

TEST_CASE("hdf5: a byte that changed is noticed where damage is to be noticed", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5";
  const std::vector<double> values{1.5, 1234567890.0625, -7};
  {
    File file(Comm(), path, Open::overwrite);
    file.write_rows<double>("/values", values, 1, hdf5::Damage::noticed);
  }
  CHECK(all_of<double>(File(Comm(), path, Open::read), "/values") == values);
  std::string content = content_of(path);
  const std::string number(reinterpret_cast<const char*>(&values[1]), sizeof(double));
  const std::size_t at = content.find(number);
  REQUIRE(at != std::string::npos);
  content[at] = static_cast<char>(content[at] ^ 1);
  put(path, content);
  const File damaged(Comm(), path, Open::read);
  CHECK_THROWS_AS(all_of<double>(damaged, "/values"), InputError);
}

TEST_CASE("hdf5: files that are not there, or are none of HDF5's, are refused by name", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5";
  const auto refusal = [&](Open how) { return message_of<InputError>([&] { File(Comm(), path, how); }); };
  CHECK_THAT(refusal(Open::read), Catch::Contains(path));
  put(path, "no HDF5");
  CHECK_THAT(refusal(Open::read), Catch::Contains(path));
}

TEST_CASE("hdf5: a file knows whether its name still leads to it", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5";
  const File file(Comm(), path, Open::overwrite);
  CHECK(file.is_in_place());
  std::filesystem::rename(path, scratch / "elsewhere.h5");
  CHECK_FALSE(file.is_in_place());
  put(path, "another file");
  CHECK_FALSE(file.is_in_place());
}

TEST_CASE("hdf5: a part file has its name only once it is complete", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.h5";
  const auto add = [](const std::string& name) {
    return [name](File& file) { file.write_text(name, "content"); };
  };
  { PartFile(Comm(), path).write(add("/lost")); }
  CHECK(n_files_in(scratch.folder()) == 0);
  {
    PartFile part(Comm(), path);
    part.write(add("/first"));
    CHECK_FALSE(std::filesystem::exists(path));
    part.commit();
  }
  CHECK(File(Comm(), path, Open::read).members("/") == std::vector<std::string>{"first"});
  {
    PartFile part(Comm(), path, PartFile::Start::copy);
    part.write(add("/second"));
    CHECK(File(Comm(), path, Open::read).members("/") == std::vector<std::string>{"first"});
    part.commit();
  }
  CHECK(File(Comm(), path, Open::read).members("/") == std::vector<std::string>{"first", "second"});
  CHECK(n_files_in(scratch.folder()) == 1);
}
