#include "crowd/output/crowd_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/files.hpp"
#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/output/agent_table.hpp"
#include "crowd/output/evacuation.hpp"
#include "crowd/output/loaded_walls.hpp"
#include "io/csv.hpp"

namespace scree {

namespace {

std::int64_t n_came(const State<2>& state) {
  std::int64_t n = 0;
  for (const InletProgress& inlet : state.inlets) n += inlet.n_made;
  return n;
}

std::vector<std::int64_t> n_left(const State<2>& state) {
  std::vector<std::int64_t> left;
  for (const OutletProgress& outlet : state.outlets) left.push_back(outlet.n_removed);
  return left;
}

}  // namespace

CrowdWriter::CrowdWriter(const OutputContext<2>& context, const CrowdOutputSettings& settings,
                         CrowdEnvironment& environment)
    : comm_(context.comm),
      files_(context.files),
      settings_(settings),
      environment_(environment),
      curve_(context.state.outlets.size()) {
  if (settings_.fps > 0) open_trajectory(context);
  if (settings_.every.ever() && has_vtk())
    for (int level = 0; level < environment_.building().n_levels(); ++level)
      fields_.push_back(std::make_unique<CrowdFields>(context, settings_, environment_, level));
  for (std::size_t k = 0; k < agent::fields.size(); ++k)
    if (agent::written[k].frames > 0 && holds(agent::written[k].only_if, environment_))
      fields_of_frames_.push_back(k);
  std::ranges::sort(fields_of_frames_, {}, [](std::size_t k) { return agent::written[k].frames; });

  std::vector<Table::Heading> headings;
  for (const AgentColumn& column : agent_columns(environment_, context.state))
    headings.push_back({column.name, column.unit});
  const auto left_column =
      static_cast<std::size_t>(std::ranges::find(headings, "left", &Table::Heading::name) - headings.begin());
  constexpr std::size_t done_column = 4;
  agents_ = open_table(context, ".agents.csv", headings, left_column);
  if (environment_.queues().is_used()) {
    queues_ = open_table(context, ".queues.csv",
                         {{"id", "-"},
                          {"queue", "-"},
                          {"joined", "s"},
                          {"served_from", "s"},
                          {"done", "s"},
                          {"waited", "s"},
                          {"walk", "s"}},
                         done_column);
    last_served_ = environment_.queues().n_served();
  }
  open_evacuation(context);
}

std::unique_ptr<Table> CrowdWriter::open_table(const OutputContext<2>& context, const std::string& ending,
                                               const std::vector<Table::Heading>& headings,
                                               std::size_t time_column) const {
  const std::string path = files_.with(ending);
  return std::make_unique<Table>(
      goes_on_with(comm_, path, context.resume)
          ? Table::resume(comm_, path, headings, context.resume->clock.time, time_column)
          : Table(comm_, path, headings));
}

void CrowdWriter::open_trajectory(const OutputContext<2>& context) {
  const ArchiveHead head{.title = context.title.empty() ? files_.name : context.title,
                         .version = context.creator,
                         .geometry = environment_.building().wkt(),
                         .fps = settings_.fps,
                         .has_levels = environment_.building().n_levels() > 1};
  const std::string path = files_.with(".trajectory.h5");
  trajectory_ = std::make_unique<PedestrianArchive>(
      goes_on_with(comm_, path, context.resume)
          ? PedestrianArchive::resume(comm_, path, head, frame_of(context.resume->clock.time))
          : PedestrianArchive(comm_, path, head));
}

/// Opens NAME.evacuation.csv; N(t) goes on from its rows.
void CrowdWriter::open_evacuation(const OutputContext<2>& context) {
  const State<2>& state = context.state;
  std::vector<Table::Heading> headings{{"time", "s"}, {"inside", "-"}, {"came", "-"}, {"left", "-"}};
  const std::size_t n_leading = headings.size();
  for (const OutletProgress& outlet : state.outlets)
    headings.push_back({"left_" + column_name(outlet.name), "-"});
  const std::size_t n_of_exits = headings.size();
  if (environment_.hazard().is_on()) headings.push_back({"incapacitated", "-"});
  last_fallen_ = environment_.hazard().n_fallen();
  last_left_ = n_left(state);
  last_came_ = n_came(state);
  began_ = state.clock.time;
  const bool goes_on = goes_on_with(comm_, files_.with(".evacuation.csv"), context.resume);
  evacuation_ = open_table(context, ".evacuation.csv", headings, 0);
  if (goes_on) {
    const TableContent content = read_table(comm_, files_.with(".evacuation.csv"));
    for (const std::vector<Real>& row : content.rows) {
      std::vector<std::int64_t> left;
      for (std::size_t k = n_leading; k < n_of_exits; ++k) left.push_back(static_cast<std::int64_t>(row[k]));
      curve_.add(row.front(), left);
    }
    if (!content.rows.empty()) began_ = content.rows.front().front();
  } else if (context.resume) {
    write_departures(state);
  }
}

std::int64_t CrowdWriter::frame_of(Real time) const {
  // Times are sums of steps: a frame may be missed by rounding alone, hence the small share of its length.
  constexpr Real rounding = 1e-6;
  return static_cast<std::int64_t>(std::floor(time * settings_.fps + rounding));
}

void CrowdWriter::keep_in_place() {
  agents_->keep_in_place();
  if (queues_) queues_->keep_in_place();
  evacuation_->keep_in_place();
}

void CrowdWriter::write(const State<2>& state, Real before) {
  const Real time = state.clock.time;
  const bool is_start = before < 0;
  if (trajectory_ && (is_start || frame_of(time) > frame_of(before))) write_trajectory(state, frame_of(time));
  if (is_start || n_left(state) != last_left_ || n_came(state) != last_came_ ||
      environment_.hazard().n_fallen() != last_fallen_)
    write_departures(state);
  environment_.departures().clear();
  if (queues_ && environment_.queues().n_served() != last_served_) write_served();
  environment_.queues().served().clear();
}

void CrowdWriter::write_served() {
  last_served_ = environment_.queues().n_served();
  const std::vector<Served>& mine = environment_.queues().served();
  Outgoing outgoing;
  if (!mine.empty()) outgoing.to(0).put(std::span<const Served>(mine));
  std::vector<Served> served = exchange_values<Served>(comm_, outgoing);
  std::ranges::sort(served, {}, [](const Served& s) { return std::pair(s.done, s.id); });
  std::string lines;
  for (const Served& s : served)
    lines += fmt::format("{},{},{},{},{},{},{}\n", s.id,
                         csv_cell(environment_.journey_plan().queues()[s.queue].name), s.since, s.served_from,
                         s.done, s.waited(), s.walk);
  queues_->add_lines(lines);
}

void CrowdWriter::write_trajectory(const State<2>& state, std::int64_t frame) {
  Scope timer("trajectory");
  const std::size_t n = state.bodies.n_owned();
  std::vector<double> positions;
  positions.reserve(3 * n);
  const PeopleAt people = owned_people(state);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec<2>& x = people.position[i];
    positions.insert(positions.end(),
                     {x[0], x[1], settings_.z + environment_.building().level(people.level(i)).height(x)});
  }
  trajectory_->append(frame, state.bodies.id().first(n), positions, people.levels);
}

void CrowdWriter::write_departures(const State<2>& state) {
  Scope timer("departures");
  last_left_ = n_left(state);
  last_came_ = n_came(state);
  last_fallen_ = environment_.hazard().n_fallen();
  // Those of one step: as many as exits let through in that time.
  write_rows(state, environment_.departures());

  const std::int64_t inside = comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  const std::int64_t left = std::accumulate(last_left_.begin(), last_left_.end(), std::int64_t{0});
  std::vector<Real> row{state.clock.time, static_cast<Real>(inside), static_cast<Real>(last_came_),
                        static_cast<Real>(left)};
  for (const std::int64_t n : last_left_) row.push_back(static_cast<Real>(n));
  if (environment_.hazard().is_on()) row.push_back(static_cast<Real>(last_fallen_));
  evacuation_->add(row);
  curve_.add(state.clock.time, last_left_);
}

/// Adds the rows of all ranks to NAME.agents.csv, by time, then id.
void CrowdWriter::write_rows(const State<2>& state, const std::vector<Departure>& mine) const {
  Outgoing outgoing;
  if (!mine.empty()) outgoing.to(0).put(std::span<const Departure>(mine));
  std::vector<Departure> departures = exchange_values<Departure>(comm_, outgoing);
  std::ranges::sort(departures, [](const Departure& a, const Departure& b) {
    return a.time != b.time ? a.time < b.time : a.id < b.id;
  });
  const std::vector<AgentColumn> columns = agent_columns(environment_, state);
  std::string lines;
  for (const Departure& d : departures)
    for (const AgentColumn& column : columns)
      lines += column.cell(d) + (&column == &columns.back() ? "\n" : ",");
  if (comm_.any(!departures.empty())) agents_->add_lines(lines);
}

/// Who is there at the end; who is incapacitated has a row already. By id, so many at a time that rank 0
/// never holds all.
void CrowdWriter::write_stayers(const State<2>& state) const {
  constexpr GlobalId ids_at_a_time = 1 << 16;
  const BodyStore<2>& bodies = state.bodies;
  std::vector<Departure> mine;
  for (GlobalId first = 0; first < state.next_id; first += ids_at_a_time) {
    mine.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      if (bodies.id()[i] < first || bodies.id()[i] >= first + ids_at_a_time) continue;
      if (is_incapacitated(bodies, i)) continue;
      mine.push_back(departure_of(bodies, i, -1, HUGE_VAL));
      mine.back().fate = environment_.fate_of(state, i);
    }
    write_rows(state, mine);
  }
}

std::vector<CrowdWriter::Scheduled> CrowdWriter::scheduled() const {
  if (fields_.empty()) return {};
  return {{"fields", settings_.every, fields_.front()->needs_contacts()}};
}

void CrowdWriter::write_frame(std::size_t /*k*/, const State<2>& state, const ContactGraph<2>& contacts) {
  for (const auto& of_level : fields_) of_level->write(state, contacts);
}

void CrowdWriter::add_columns(const BodyStore<2>& bodies, std::vector<Column>& columns) const {
  const std::size_t n = bodies.n_owned();
  for (const std::size_t k : fields_of_frames_) {
    const FieldInfo& field = agent::fields[k].info;
    columns.push_back({std::string(field.name), std::string(field.unit), 1, {}});
    if (agent::fields[k].is_integer)
      columns.back().values = bodies.extra<std::int32_t>(k).first(n);
    else
      columns.back().values = bodies.extra<Real>(k).first(n);
  }
  if (bodies.carries_levels()) columns.push_back({"level", "-", 1, bodies.level().first(n)});
}

void CrowdWriter::write_obstacles(VtkSeries& series, const State<2>& state,
                                  const ContactGraph<2>& contacts) const {
  const LoadedWalls drawn = loaded_walls(state, contacts, settings_.force_per_speed);
  Geometry walls;
  walls.points = drawn.points;
  walls.lines = drawn.lines;
  walls.cell_columns = {{"obstacle", "-", 1, std::span<const std::int32_t>(drawn.obstacle)},
                        {"load", "N/m", 1, std::span<const double>(drawn.load)}};
  series.write(state.clock.step, state.clock.time, walls);
}

CrowdWriter::Summary CrowdWriter::finish(const State<2>& state) const {
  EvacuationReport report = evacuation_report(state, curve_, n_came(state), began_, environment_.hazard());
  add_locks(state, environment_.locks(), environment_, report.summary);
  add_left_elsewhere(state, environment_.left_elsewhere(), report.summary);
  if (queues_)
    add_queues(environment_.journey_plan().queues(), environment_.queues().reports(state), report.summary);
  if (environment_.lifts().is_used()) add_lifts(environment_.lifts().reports(), report.summary);
  if (environment_.groups().is_used())
    add_waiting_of_groups(state, environment_.groups().waited(state), report.summary);
  files::on_root(comm_, [&] { files::write_atomically(files_.with(".exits.csv"), report.exits); });
  write_stayers(state);
  return report.summary;
}

}  // namespace scree
