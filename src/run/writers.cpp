#include "run/writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "run/field_columns.hpp"
#include "run/version.hpp"
#include "run/wall_loads.hpp"

namespace scree {

namespace {

/// ParaView's points have three components.
template <int D>
void append_3d(std::vector<double>& list, const Vec<D>& v) {
  for (int k = 0; k < 3; ++k) list.push_back(k < D ? v[k] : 0);
}

/// Columns that every table starts with.
template <int D>
std::vector<Table::Heading> first_headings(const RunDeck<D>& deck) {
  std::vector<Table::Heading> headings{{"time", "s"}, {"step", "-"}, {"dt", "s"}, {"n_bodies", "-"}};
  if (!deck.events.stages.empty()) headings.push_back({"stage", "-"});
  for (const CertificateEntry& entry : deck.stepper->certificate())
    headings.push_back({std::string(entry.name), std::string(entry.unit)});
  return headings;
}

}  // namespace

template <int D>
std::vector<Table::Heading> scalars_headings(const RunDeck<D>& deck, const State<D>& state) {
  std::vector<Table::Heading> headings = first_headings(deck);
  std::set<std::string> names;
  for (const Table::Heading& heading : headings) names.insert(heading.name);
  for (const NamedMeasure<D>& measure : deck.measures)
    for (const MeasuredValue& column : columns_of(*measure.measure, state)) {
      headings.push_back({measure.name + "_" + column.name, column.unit});
      if (!names.insert(headings.back().name).second)
        throw InputError(
            fmt::format("{}: [measures.{}] makes a column \"{}\", which the table has already; "
                        "give the measure another name",
                        measure.where, measure.name, headings.back().name));
    }
  return headings;
}

template <int D>
Writers<D>::Writers(const Comm& comm, const RunFiles& files, const RunDeck<D>& deck, const State<D>& state,
                    const std::string& resolved, const files::Texts& provenance,
                    const std::optional<ResumePoint>& resume)
    : comm_(comm), deck_(deck), files_(files) {
  const OutputSettings& output = deck.output;
  const auto open_table = [&](const std::string& name, const std::vector<Table::Heading>& headings) {
    const std::string path = files.with("." + name + ".csv");
    return std::make_unique<Table>(goes_on_with(comm_, path, resume)
                                       ? Table::resume(comm, path, headings, resume->last_of(name).time)
                                       : Table(comm, path, headings));
  };
  if (output.certificate.ever()) certificate_ = open_table("certificate", first_headings(deck));
  if (output.scalars.ever()) scalars_ = open_table("scalars", scalars_headings(deck, state));
  if (output.writes_vtk()) open_vtk(state, resume);
  if (output.h5md.ever()) open_h5md(state, resolved, provenance, resume);
  if (deck.continuum->is_asked_for() && has_vtk())
    continuum_ = std::make_unique<ContinuumWriter<D>>(
        comm, files, *deck.continuum, state,
        VtkOptions{.writers = static_cast<int>(std::max<std::int64_t>(output.vtk_writers, 1)),
                   .single_precision = output.vtk_single,
                   .compress = true},
        resume);
  if (Environment<D>* environment = deck.stepper->environment())
    of_environment_ = environment->output().make_writer({.comm = comm,
                                                         .files = files,
                                                         .title = deck.title,
                                                         .creator = fmt::format("scree {}", version::number),
                                                         .vtk_writers = static_cast<int>(output.vtk_writers),
                                                         .single_precision = output.vtk_single,
                                                         .state = state,
                                                         .resume = resume});
}

template <int D>
void Writers<D>::open_vtk(const State<D>& state, const std::optional<ResumePoint>& resume) {
  const OutputSettings& output = deck_.output;
  if (output.vtk_asynchronous) background_ = std::make_unique<Background>();
  constexpr std::int64_t bodies_of_writer = 1'000'000;
  const std::int64_t n_bodies = comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  const std::int64_t n_writers = output.vtk_writers > 0
                                     ? output.vtk_writers
                                     : 1 + std::max<std::int64_t>(n_bodies - 1, 0) / bodies_of_writer;
  const VtkOptions options{.writers = static_cast<int>(std::min<std::int64_t>(n_writers, comm_.size())),
                           .single_precision = output.vtk_single,
                           .compress = true,
                           .background = background_.get()};
  const auto make = [&](const std::string& name) {
    auto series = std::make_unique<VtkSeries>(comm_, files_.folder + "/vtk", files_.name, name, options);
    if (resume) series->resume(resume->last_of("vtk").step);
    return series;
  };
  particles_ = make("particles");
  if (output.vtk_contacts) contacts_ = make("contacts");
  if (output.vtk_obstacles && !state.obstacles.list().empty()) obstacles_ = make("obstacles");
  constexpr std::int64_t few = 20'000;
  using Surfaces = OutputSettings::Surfaces;
  if (output.vtk_surfaces == Surfaces::always ||
      (output.vtk_surfaces == Surfaces::automatic && state.bodies.carries_shapes() && n_bodies <= few))
    surfaces_ = std::make_unique<BodySurfaces<D>>(make("surfaces"));
}

template <int D>
void Writers<D>::open_h5md(const State<D>& state, const std::string& resolved, const files::Texts& provenance,
                           const std::optional<ResumePoint>& resume) {
  const OutputSettings& output = deck_.output;
  const Environment<D>* environment = deck_.stepper->environment();
  const H5mdOptions options{.single_precision = output.h5md_single,
                            .compression = static_cast<int>(output.h5md_compression),
                            .fixed_bodies = deck_.outside != Outside::remove &&
                                            !deck_.events.change_bodies() &&
                                            !(environment && environment->change_bodies())};
  const std::string path = files_.with(".h5");
  if (goes_on_with(comm_, path, resume)) {
    h5md_ =
        std::make_unique<H5mdWriter>(H5mdWriter::resume(comm_, path, resume->last_of("h5md").step, options));
  } else {
    H5mdHead head;
    head.creator_version = version::number;
    head.lower.assign(state.box.lower.component.begin(), state.box.lower.component.end());
    head.upper.assign(state.box.upper.component.begin(), state.box.upper.component.end());
    head.periodic.assign(state.box.periodic.begin(), state.box.periodic.end());
    head.texts = {{"resolved_deck", resolved}};
    head.provenance = provenance;
    h5md_ = std::make_unique<H5mdWriter>(comm_, path, head, options);
  }
}

template <int D>
std::vector<typename Writers<D>::Output> Writers<D>::outputs() const {
  const OutputSettings& output = deck_.output;
  std::vector<Output> all{{"certificate", certificate_ != nullptr, output.certificate, false},
                          {"scalars", scalars_ != nullptr, output.scalars, true},
                          {"vtk", particles_ != nullptr, output.vtk, true},
                          {"h5md", h5md_ != nullptr, output.h5md, false},
                          {"continuum", continuum_ != nullptr, deck_.continuum->every(), true}};
  if (of_environment_)
    for (const auto& [name, every, uses_contacts] : of_environment_->scheduled())
      all.push_back({name, true, every, uses_contacts});
  return all;
}

template <int D>
bool Writers<D>::use_contacts() const {
  return std::ranges::any_of(outputs(), [](const Output& o) { return o.is_there && o.uses_contacts; });
}

template <int D>
bool Writers<D>::needs_contacts(std::int64_t step, Real before, Real time) const {
  if (continuum_ && continuum_->fields().takes(before, time, step)) return true;
  return std::ranges::any_of(outputs(), [&](const Output& o) {
    return o.is_there && o.uses_contacts && o.every.due(step, before, time);
  });
}

template <int D>
bool Writers<D>::needs_contact_counts(std::int64_t step, Real before, Real time) const {
  return particles_ && deck_.output.vtk.due(step, before, time);
}

template <int D>
std::string Writers<D>::end_frames(std::int64_t step, Real before, Real time) const {
  std::string names;
  for (const Output& output : outputs())
    if (output.is_there && !output.every.due(step, before, time))
      names += (names.empty() ? "" : " ") + std::string(output.name);
  return names;
}

template <int D>
void Writers<D>::write(const State<D>& state, Real before, bool at_end, const ContactGraph<D>& contacts,
                       std::span<const std::int32_t> contact_counts, const Stepper<D>& stepper) {
  Scope timer("output");
  // A frame that all ranks have written is listed without waiting for the next one.
  const auto series = frame_series();
  if (!at_end && std::ranges::any_of(series, [](const VtkSeries* s) { return s->is_unfinished(); }) &&
      comm_.all(std::ranges::all_of(series, [](const VtkSeries* s) { return s->is_ready(); })))
    list_frames();
  const auto wanted = [&](const OutputInterval& every) {
    return every.due(state.clock.step, before, state.clock.time) != at_end;
  };
  const OutputSettings& output = deck_.output;
  if (certificate_ && wanted(output.certificate)) {
    start_row(state, stepper);
    certificate_->add(row_);
  }
  if (scalars_ && wanted(output.scalars)) write_row(state, contacts, stepper);
  if (particles_ && wanted(output.vtk)) write_vtk(state, contacts, contact_counts);
  if (h5md_ && wanted(output.h5md)) write_h5md(state, stepper);
  if (continuum_) {
    if (!at_end) continuum_->fields().after_step(state, before, contacts);
    if (wanted(continuum_->fields().every())) {
      continuum_->write(state, contacts);
      if (!at_end) continuum_->fields().frame_is_written();
    }
  }
  if (!of_environment_) return;
  const auto scheduled = of_environment_->scheduled();
  for (std::size_t k = 0; k < scheduled.size(); ++k)
    if (wanted(scheduled[k].every)) of_environment_->write_frame(k, state, contacts);
  if (!at_end) of_environment_->write(state, before);
}

template <int D>
std::vector<VtkSeries*> Writers<D>::frame_series() const {
  std::vector<VtkSeries*> list;
  for (const auto* series : {&particles_, &contacts_, &obstacles_})
    if (*series) list.push_back(series->get());
  if (surfaces_) list.push_back(surfaces_->series());
  return list;
}

template <int D>
void Writers<D>::list_frames() {
  Scope timer("frames");
  for (VtkSeries* series : frame_series()) series->complete();
}

template <int D>
void Writers<D>::complete_frames() {
  list_frames();
  for (const auto* table : {&scalars_, &certificate_})
    if (*table) (*table)->keep_in_place();
  if (of_environment_) of_environment_->keep_in_place();
  if (h5md_) h5md_->look_after();
}

template <int D>
void Writers<D>::complete() {
  complete_frames();
  if (h5md_) h5md_->complete();
}

template <int D>
std::string Writers<D>::paraview_file() const {
  if (particles_) return files_.folder + "/vtk/" + files_.name + "_particles.pvd";
  if (continuum_) return files_.folder + "/vtk/" + files_.name + "_continuum.pvd";
  return h5md_ ? files_.with(".xdmf") : "";
}

template <int D>
typename EnvironmentWriter<D>::Summary Writers<D>::finish(const State<D>& state) const {
  if (!of_environment_) return {};
  return of_environment_->finish(state);
}

template <int D>
void Writers<D>::start_row(const State<D>& state, const Stepper<D>& stepper) {
  row_ = {state.clock.time, static_cast<Real>(state.clock.step), state.clock.last_dt,
          static_cast<Real>(comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned())))};
  if (const auto n_stages = static_cast<std::int64_t>(deck_.events.stages.list().size()); n_stages > 0)
    row_.push_back(
        static_cast<Real>(std::min(state.stage.index, n_stages - 1)));  // counted from 0, as by --set
  for (const CertificateEntry& entry : stepper.certificate()) row_.push_back(entry.value);
}

template <int D>
void Writers<D>::write_row(const State<D>& state, const ContactGraph<D>& contacts,
                           const Stepper<D>& stepper) {
  Scope timer("measures");
  start_row(state, stepper);
  for (const NamedMeasure<D>& m : deck_.measures)
    for (const MeasuredValue& column : m.measure->record({state, contacts})) row_.push_back(column.value);
  scalars_->add(row_);
}

template <int D>
void Writers<D>::write_vtk(const State<D>& state, const ContactGraph<D>& contacts,
                           std::span<const std::int32_t> contact_counts) {
  Scope timer("vtk");
  write_particles(state, contact_counts);
  if (surfaces_) surfaces_->write(state);
  if (contacts_) write_contacts(state, contacts);
  if (obstacles_ && of_environment_)
    of_environment_->write_obstacles(*obstacles_, state, contacts);
  else if (obstacles_)
    write_obstacles(state, contacts);
}

template <int D>
void Writers<D>::write_particles(const State<D>& state, std::span<const std::int32_t> contact_counts) {
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  std::vector<double> points;
  points.reserve(3 * n);
  for (const Vec<D>& x : bodies.position().first(n)) append_3d<D>(points, x);
  const std::vector<std::int32_t> rank(n, comm_.rank());
  FieldColumns<D> columns(state, FieldFile::frames);
  columns.add(5, {"rank", "-", 1, std::span<const std::int32_t>(rank)});
  columns.add(6, {"contacts", "-", 1, contact_counts.first(n)});
  Geometry geometry;
  geometry.points = points;
  geometry.point_columns = columns.columns();
  if (of_environment_) of_environment_->add_columns(bodies, geometry.point_columns);
  particles_->write(state.clock.step, state.clock.time, geometry);
}

template <int D>
void Writers<D>::write_contacts(const State<D>& state, const ContactGraph<D>& contacts) {
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
void Writers<D>::write_obstacles(const State<D>& state, const ContactGraph<D>& contacts) {
  std::vector<double> points;
  std::vector<Outline<D>> outlines;
  for (std::size_t o = 0; o < state.obstacles.list().size(); ++o)
    outlines.push_back(state.obstacles.outline(static_cast<int>(o), state.box));
  const WallLoads loads = wall_loads<D>(state, contacts, outlines);
  std::vector<std::int64_t> lines, triangles;
  std::vector<std::int32_t> number;  // per cell; a frame has lines (2D) or triangles (3D), not both
  if (comm_.is_root()) {             // every rank holds all obstacles, one draws them
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
  if (deck_.stepper->traits().exports_forces) {
    walls.cell_columns.push_back(
        {"force", state.bodies.has_inertia() ? "N" : "m/s", 3, std::span<const double>(loads.force)});
    if (state.bodies.has_inertia())
      walls.cell_columns.push_back({"pressure", "Pa", 1, std::span<const double>(loads.pressure)});
  }
  obstacles_->write(state.clock.step, state.clock.time, walls);
}

template <int D>
void Writers<D>::write_h5md(const State<D>& state, const Stepper<D>& stepper) {
  Scope timer("h5md");
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  FieldColumns<D> columns(state, FieldFile::h5md);
  std::vector<Observable> observables;
  for (const CertificateEntry& entry : stepper.certificate())
    observables.push_back({std::string(entry.name), std::string(entry.unit), entry.value});
  h5md_->append(state.clock.step, state.clock.time, bodies.id().first(n), columns.columns(), observables);
}

template std::vector<Table::Heading> scalars_headings(const RunDeck<2>&, const State<2>&);
template std::vector<Table::Heading> scalars_headings(const RunDeck<3>&, const State<3>&);
template class Writers<2>;
template class Writers<3>;

}  // namespace scree
