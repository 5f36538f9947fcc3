#include <algorithm>

#include "core/timing.hpp"
#include "io/background.hpp"
#include "run/body_surfaces.hpp"
#include "run/field_columns.hpp"
#include "run/output.hpp"
#include "run/wall_loads.hpp"

namespace scree {
namespace {

/// ParaView's points have three components.
template <int D>
void append_3d(std::vector<double>& list, const Vec<D>& v) {
  for (int k = 0; k < 3; ++k) list.push_back(k < D ? v[k] : 0);
}

/// Series for ParaView: bodies, contacts as lines between the centres of two bodies or from one to an
/// obstacle, obstacles with what they carry, surfaces of bodies.
template <int D>
class VtkOutput final : public Output<D> {
 public:
  std::string_view name() const override { return "vtk"; }
  void describe(Section& output, OutputSettings& shared) override;
  const OutputInterval& every() const override { return every_; }
  bool is_vtk() const override { return true; }
  bool uses_contacts() const override { return true; }
  bool uses_contact_counts() const override { return true; }
  typename Output<D>::Size size_of_body() const override {
    // Id, point, radius, velocity, type, rank, contacts in base 64 after LZ4; gathered, stored and encoded.
    return {.on_disk = 80, .in_memory = 600};
  }

  void open(const OutputSetup<D>& setup) override;
  void write(const OutputFrame<D>& frame) override {
    Scope timer("vtk");
    write_particles(frame);
    if (surfaces_) surfaces_->write(frame.state);
    if (contacts_) write_contacts(frame);
    if (obstacles_ && environment_)
      environment_->write_obstacles(*obstacles_, frame.state, frame.contacts);
    else if (obstacles_)
      write_obstacles(frame);
  }
  /// A frame that all ranks have written is listed without waiting for the next one.
  void after_step(const OutputFrame<D>& frame, Real /*before*/) override {
    const auto all = series();
    if (std::ranges::any_of(all, [](const VtkSeries* s) { return s->is_unfinished(); }) &&
        frame.state.comm.all(std::ranges::all_of(all, [](const VtkSeries* s) { return s->is_ready(); })))
      list_frames();
  }
  void list_frames() override {
    Scope timer("frames");
    for (VtkSeries* one : series()) one->complete();
  }
  std::string file_to_view() const override { return index_; }

 private:
  /// Those that there are.
  std::vector<VtkSeries*> series() const {
    std::vector<VtkSeries*> list;
    for (const auto* one : {&particles_, &contacts_, &obstacles_})
      if (*one) list.push_back(one->get());
    if (surfaces_) list.push_back(surfaces_->series());
    return list;
  }
  void write_particles(const OutputFrame<D>& frame);
  void write_contacts(const OutputFrame<D>& frame);
  void write_obstacles(const OutputFrame<D>& frame);

  enum class Surfaces { automatic, always, never };

  OutputInterval every_;
  bool asynchronous_ = true, with_contacts_ = true, with_obstacles_ = true;
  Surfaces with_surfaces_ = Surfaces::automatic;
  const EnvironmentWriter<D>* environment_ = nullptr;
  bool exports_forces_ = false;
  std::string index_;
  std::unique_ptr<Background> background_;  // null: frames are written at once
  std::unique_ptr<VtkSeries> particles_, contacts_, obstacles_;
  std::unique_ptr<BodySurfaces<D>> surfaces_;
};

template <int D>
void VtkOutput<D>::describe(Section& output, OutputSettings& shared) {
  output.table("vtk", {.doc = "Series for ParaView: particles, contacts, obstacles"}, [&](Section& table) {
    every_.describe(table, "frames");
    std::string writers = "auto";
    table.integer_or_word("writers", shared.vtk_writers, writers, {"auto"},
                          {.range = {.min = 1},
                           .doc = "Files per frame and series, at most, and ranks that write them; "
                                  "\"auto\" takes one per million bodies"});
    if (!writers.empty()) shared.vtk_writers = 0;
    table.boolean("asynchronous", asynchronous_,
                  {.doc = "Whether frames are encoded and written by a background thread"});
    table.boolean("contacts", with_contacts_,
                  {.doc = "Whether contacts are written, as lines with gap and pressure"});
    table.boolean("obstacles", with_obstacles_, {.doc = "Whether obstacles are written"});
    table.choice("surfaces", with_surfaces_,
                 {{"auto", Surfaces::automatic}, {"on", Surfaces::always}, {"off", Surfaces::never}},
                 {.doc = "Whether the surfaces of bodies are written as triangles, besides their "
                         "centres; \"auto\": if some have shapes and all are at most 20000"});
    describe_precision(table, shared.vtk_single);
  });
}

template <int D>
void VtkOutput<D>::open(const OutputSetup<D>& setup) {
  environment_ = setup.environment;
  exports_forces_ = setup.exports_forces;
  const std::string folder = setup.files.folder + "/vtk";
  index_ = folder + "/" + setup.files.name + "_particles.pvd";
  if (asynchronous_) background_ = std::make_unique<Background>();
  constexpr std::int64_t bodies_of_writer = 1'000'000;
  const State<D>& state = setup.state;
  const std::int64_t n_bodies = setup.comm.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  const std::int64_t n_writers = setup.vtk_writers > 0
                                     ? setup.vtk_writers
                                     : 1 + std::max<std::int64_t>(n_bodies - 1, 0) / bodies_of_writer;
  const VtkOptions options{.writers = static_cast<int>(std::min<std::int64_t>(n_writers, setup.comm.size())),
                           .single_precision = setup.single_precision,
                           .compress = true,
                           .background = background_.get()};
  const auto make = [&](const std::string& name) {
    auto series = std::make_unique<VtkSeries>(setup.comm, folder, setup.files.name, name, options);
    if (setup.resume) series->resume(setup.resume->last_of("vtk").step);
    return series;
  };
  particles_ = make("particles");
  if (with_contacts_) contacts_ = make("contacts");
  if (with_obstacles_ && !state.obstacles.list().empty()) obstacles_ = make("obstacles");
  constexpr std::int64_t few = 20'000;
  if (with_surfaces_ == Surfaces::always ||
      (with_surfaces_ == Surfaces::automatic && state.bodies.carries_shapes() && n_bodies <= few))
    surfaces_ = std::make_unique<BodySurfaces<D>>(make("surfaces"));
}

template <int D>
void VtkOutput<D>::write_particles(const OutputFrame<D>& frame) {
  const State<D>& state = frame.state;
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  std::vector<double> points;
  points.reserve(3 * n);
  for (const Vec<D>& x : bodies.position().first(n)) append_3d<D>(points, x);
  const std::vector<std::int32_t> rank(n, state.comm.rank());
  FieldColumns<D> columns(state, FieldFile::frames);
  columns.add(5, {"rank", "-", 1, std::span<const std::int32_t>(rank)});
  columns.add(6, {"contacts", "-", 1, frame.contact_counts.first(n)});
  Geometry geometry;
  geometry.points = points;
  geometry.point_columns = columns.columns();
  if (environment_) environment_->add_columns(bodies, geometry.point_columns);
  particles_->write(state.clock.step, state.clock.time, geometry);
}

template <int D>
void VtkOutput<D>::write_contacts(const OutputFrame<D>& frame) {
  const State<D>& state = frame.state;
  const ContactGraph<D>& contacts = frame.contacts;
  const BodyStore<D>& bodies = state.bodies;
  std::vector<double> points;
  const std::string force_unit = bodies.has_inertia() ? "N" : "m/s";
  std::vector<std::int64_t> lines, id_a, id_b;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    // Drawn from body a, so that a line through a periodic face leaves the box instead of crossing it.
    const std::size_t a = contacts.a[c];
    lines.push_back(static_cast<std::int64_t>(2 * c));
    lines.push_back(static_cast<std::int64_t>(2 * c + 1));
    append_3d<D>(points, bodies.position()[a]);
    append_3d<D>(points, bodies.position()[a] + contacts.branch[c]);
    id_a.push_back(bodies.id()[a]);
    id_b.push_back(contacts.b[c] < 0 ? -1 - GlobalId{state.obstacles.obstacle_of(contacts.wall[c])}
                                     : bodies.id()[contacts.b[c]]);
  }
  Geometry graph;
  graph.points = points;
  graph.lines = lines;
  std::vector<double> friction;
  for (const Vec<D>& f : contacts.friction) append_3d<D>(friction, f);
  friction.resize(points.size() / 2, 0.0);  // of contacts without friction, of which the graph says nothing
  graph.cell_columns = {{"gap", "m", 1, std::span<const double>(contacts.gap)},
                        {"normal_force", force_unit, 1, std::span<const double>(contacts.force)},
                        {"id_a", "-", 1, std::span<const std::int64_t>(id_a)},
                        {"id_b", "-", 1, std::span<const std::int64_t>(id_b)}};
  if (bodies.has_inertia())
    graph.cell_columns.push_back({"tangential_force", "N", 3, std::span<const double>(friction)});
  contacts_->write(state.clock.step, state.clock.time, graph);
}

template <int D>
void VtkOutput<D>::write_obstacles(const OutputFrame<D>& frame) {
  const State<D>& state = frame.state;
  std::vector<double> points;
  std::vector<Outline<D>> outlines;
  for (std::size_t o = 0; o < state.obstacles.list().size(); ++o)
    outlines.push_back(state.obstacles.outline(static_cast<int>(o), state.box));
  const WallLoads loads = wall_loads<D>(state, frame.contacts, outlines);
  std::vector<std::int64_t> lines, triangles;
  std::vector<std::int32_t> number;  // per cell; a frame has lines (2D) or triangles (3D), not both
  if (state.comm.is_root()) {        // every rank holds all obstacles, one draws them
    for (std::size_t o = 0; o < outlines.size(); ++o) {
      const auto first = static_cast<std::int64_t>(points.size() / 3);
      for (const Vec<D>& p : outlines[o].points) append_3d<D>(points, p);
      for (const auto& line : outlines[o].lines)
        for (const int p : line) lines.push_back(first + p);
      for (const auto& triangle : outlines[o].triangles)
        for (const int p : triangle) triangles.push_back(first + p);
      number.resize(lines.size() / 2 + triangles.size() / 3, static_cast<std::int32_t>(o));
    }
  }
  Geometry walls;
  walls.points = points;
  walls.lines = lines;
  walls.triangles = triangles;
  walls.cell_columns = {{"obstacle", "-", 1, std::span<const std::int32_t>(number)}};
  if (exports_forces_) {
    walls.cell_columns.push_back(
        {"force", state.bodies.has_inertia() ? "N" : "m/s", 3, std::span<const double>(loads.force)});
    if (state.bodies.has_inertia())
      walls.cell_columns.push_back({"pressure", "Pa", 1, std::span<const double>(loads.pressure)});
  }
  obstacles_->write(state.clock.step, state.clock.time, walls);
}

}  // namespace

SCREE_PLUGIN(Output, vtk, VtkOutput, "series for ParaView")

}  // namespace scree
