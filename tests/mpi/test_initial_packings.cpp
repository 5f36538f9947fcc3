// The bodies of a start are the same, bit by bit, for any number of ranks; so are the errors.
#include <algorithm>
#include <optional>

#include "unit/particles/make_bodies.hpp"
#include "unit/particles/scratch_file.hpp"

using namespace scree;

namespace {

/// Compares what all ranks make together with what each would make alone.
template <int D>
void check_same_as_alone(const Box<D>& box, const std::string& toml) {
  const Comm world;
  const Start<D> alone = make_bodies<D>(Comm(MPI_COMM_SELF), box, toml);
  const Start<D> together = make_bodies<D>(world, box, toml);
  CHECK(together.next_id == alone.next_id);
  CHECK(world.sum(static_cast<std::int64_t>(together.size())) == alone.next_id);

  std::vector<std::size_t> place(alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) place[alone.bodies.id()[i]] = i;
  std::vector<std::int64_t> times_made(alone.size(), 0);
  std::int64_t n_different = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    const std::size_t id = together.bodies.id()[i];
    const std::size_t j = place.at(id);
    ++times_made[id];
    n_different += together.bodies.position()[i] != alone.bodies.position()[j] ||
                   together.bodies.radius()[i] != alone.bodies.radius()[j] ||
                   together.bodies.type()[i] != alone.bodies.type()[j];
  }
  CHECK(n_different == 0);
  world.sum(times_made);
  CHECK(std::ranges::all_of(times_made, [](std::int64_t n) { return n == 1; }));
  // No rank makes everything.
  if (world.size() > 1) CHECK(world.max(static_cast<std::int64_t>(together.size())) < alone.next_id);
}

template <int D>
void check_same_error(const Box<D>& box, const std::string& toml) {
  const std::string alone = message_of([&] { make_bodies<D>(Comm(MPI_COMM_SELF), box, toml); });
  const std::string together = message_of([&] { make_bodies<D>(Comm(), box, toml); });
  CHECK(alone != "");
  CHECK(together == alone);
}

/// The same file for all ranks, written by rank 0.
class SharedFile {
 public:
  SharedFile(const std::string& name, const std::string& text) {
    if (world_.is_root()) file_.emplace(name, text);
    if (file_) path_ = file_->path();
    world_.broadcast(path_);
  }
  ~SharedFile() { world_.barrier(); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  const std::string& path() const { return path_; }
  bool is_mine() const { return file_.has_value(); }
  void barrier() const { world_.barrier(); }

 private:
  Comm world_;
  std::optional<ScratchFile> file_;
  std::string path_;
};

const std::string sizes =
    "radius = { distribution = 'uniform', min = 0.005, max = 0.03, weight = 'volume' }\n";

}  // namespace

TEST_CASE("random: disks of two groups among posts are the same for any number of ranks", "[particles]") {
  check_same_as_alone<2>(
      {{}, {{1.0, 2.0}}, {true, false}},
      "[obstacles.post]\ntype = 'disk'\ncenter = [0.4, 1]\nradius = 0.2\n"
      "[particles.a]\n" +
          sizes +
          "source = { type = 'random', solid_fraction = 0.3 }\n"
          "[particles.b]\nradius = { distribution = 'constant', value = 0.01 }\n"
          "source = { type = 'random', count = 100, region = { center = [0.9, 1], radius = 0.4 } }");
}

TEST_CASE("random: spheres in a periodic box are the same for any number of ranks", "[particles]") {
  check_same_as_alone<3>({{}, filled<3>(0.5), {true, true, true}},
                         "[particles.a]\n" + sizes + "source = { type = 'random', solid_fraction = 0.25 }");
}

TEST_CASE("lattice: jittered sites around a disk are the same for any number of ranks", "[particles]") {
  const std::string post = "[obstacles.post]\ntype = 'disk'\ncenter = [0.4, 1]\nradius = 0.2\n";
  const std::string source = "source = { type = 'lattice', arrangement = 'hexagonal', jitter = 0.1, ";
  check_same_as_alone<2>({{}, {{1.0, 2.0}}, {true, false}},
                         post + "[particles.a]\n" + sizes + source + "spacing = 0.07 }");
  check_same_as_alone<2>({{}, {{1.0, 2.0}}, {true, false}},
                         post + "[particles.a]\n" + sizes + source + "count = 333 }");
}

TEST_CASE("packed: disks among posts and spheres in a periodic box are the same for any number of ranks",
          "[particles]") {
  const std::string around =
      "[obstacles.post]\ntype = 'disk'\ncenter = [0.4, 1]\nradius = 0.2\n"
      "[particles.held]\nmobility = 0\nradius = { distribution = 'constant', value = 0.05 }\n"
      "source = { type = 'random', count = 5 }\n";
  check_same_as_alone<2>({{}, {{1.0, 2.0}}, {true, false}},
                         around +
                             "[particles.a]\nradius = { distribution = 'uniform', min = 0.02, max = 0.03 }\n"
                             "source = { type = 'packed', solid_fraction = 0.72 }");
  check_same_as_alone<3>({{}, filled<3>(0.5), {true, true, true}},
                         "[particles.a]\nradius = { distribution = 'uniform', min = 0.02, max = 0.03 }\n"
                         "source = { type = 'packed', solid_fraction = 0.5 }");
}

TEST_CASE("file: each rank reads some of the rows of a CSV file, with long and short lines", "[particles]") {
  std::string text = "# a header that is longer than the shares of some ranks\nx,y,radius,id\n";
  const int n = 50;
  for (int i = 0; i < n; ++i) {
    if (i % 7 == 0) text += "# " + std::string(static_cast<std::size_t>(i), '-') + "\n\n";
    text += "0." + std::to_string(100 + i) + ",0.5,0.0" + std::to_string(1 + i) + "," +
            std::to_string(n - 1 - i) + "\n";
  }
  const SharedFile csv("shared.csv", text);
  check_same_as_alone<2>({{}, filled<2>(1.0), {}},
                         "[particles.a]\nsource = { type = 'file', path = '" + csv.path() + "' }");
}

TEST_CASE("file: each rank reads some of the bodies of an H5MD file", "[particles]") {
  const SharedFile h5("shared.h5", "");
  if (h5.is_mine()) {
    const hid_t file = H5Fcreate(h5.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    std::vector<double> x, radius;
    for (int i = 0; i < 20; ++i) {
      for (int k = 0; k < 3; ++k) x.push_back(0.01 * i + 0.3 * k);
      radius.push_back(0.01 + 0.001 * i);
    }
    write_hdf5<double>(file, "/particles/all/position/value", {1, 20, 3}, x);
    write_hdf5<double>(file, "/particles/all/radius/value", {1, 20}, radius);
    H5Fclose(file);
  }
  h5.barrier();
  check_same_as_alone<3>({{}, filled<3>(1.0), {}},
                         "[particles.a]\nsource = { type = 'file', path = '" + h5.path() + "' }");
}

TEST_CASE("file: each rank looks through a part of a LAMMPS dump; ids from 1, with gaps", "[particles]") {
  std::string text;
  for (int frame = 0; frame < 4; ++frame) {
    text += "ITEM: TIMESTEP\n" + std::to_string(frame) + "\nITEM: NUMBER OF ATOMS\n50\n" +
            "ITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\nITEM: ATOMS id x y z radius vx vy vz\n";
    for (int i = 0; i < 50; ++i)
      text += std::to_string(3 * ((17 * i) % 50) + 1) + " 0." + std::to_string(100 + i + frame) +
              " 0.5 0.25 0.0" + std::to_string(i + 1) + " 1 2 3\n";
  }
  const SharedFile dump("shared.dump", text);
  for (const char* frame : {"", ", frame = 0", ", frame = 2"})
    check_same_as_alone<3>({{}, filled<3>(1.0), {}}, "[particles.a]\nsource = { type = 'file', path = '" +
                                                         dump.path() + "'" + frame + " }");
}

TEST_CASE("initial packings: all ranks throw the error that one rank alone would throw", "[particles]") {
  const Box<2> box{{}, filled<2>(1.0), {}};
  check_same_error<2>(box,
                      "[particles.a]\nradius = { distribution = 'constant', value = 0.05 }\n"
                      "source = { type = 'random', solid_fraction = 0.7 }");
  check_same_error<2>(box,
                      "[particles.a]\nradius = { distribution = 'constant', value = 0.05 }\n"
                      "source = { type = 'lattice', count = 200 }");
  std::string text = "x,y,radius\n";
  for (int i = 0; i < 40; ++i) text += i == 31 ? "0.5,half,0.1\n" : "0.5,0.5,0.1\n";
  const SharedFile csv("wrong.csv", text);
  check_same_error<2>(box, "[particles.a]\nsource = { type = 'file', path = '" + csv.path() + "' }");
  check_same_error<2>(box, "[particles.a]\nsource = { type = 'file', path = '" + csv.path() + ".not' }");
  const SharedFile ids("ids.csv",
                       "x,y,radius,id\n0.5,0.5,0.1,2\n0.5,0.5,0.1,0\n0.5,0.5,0.1,0\n0.5,0.5,0.1,3\n");
  check_same_error<2>(box, "[particles.a]\nsource = { type = 'file', path = '" + ids.path() + "' }");
  const SharedFile outside("outside.csv", "x,y,radius\n0.5,0.5,0.1\n0.5,0.5,0.1\n0.5,1.5,0.1\n");
  check_same_error<2>(box, "[particles.a]\nsource = { type = 'file', path = '" + outside.path() + "' }");
}
