#include "run/crowd_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "comm/parcels.hpp"
#include "core/error.hpp"
#include "core/timing.hpp"
#include "io/csv_cell.hpp"
#include "io/files.hpp"
#include "run/version.hpp"

namespace scree {

namespace {

std::string cell(const std::optional<Real>& number) {
  return number ? fmt::format("{}", *number) : "";
}

/// The cell of a number; NaN if the line has none there.
Real number_in(const std::string& line, std::size_t column) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size() && column > 0; ++at) {
    // Quotes within a quoted cell are doubled, so that parity tells what is inside.
    if (line[at] == '"')
      while (++at < line.size() && line[at] != '"') continue;
    else if (line[at] == ',' && --column == 0)
      begin = at + 1;
  }
  if (column > 0) return std::numeric_limits<Real>::quiet_NaN();
  const char* start = line.c_str() + begin;
  char* end = nullptr;
  const Real value = std::strtod(start, &end);
  return end == start ? std::numeric_limits<Real>::quiet_NaN() : value;
}

nlohmann::ordered_json json_of(const std::optional<Real>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

std::string text_of(const std::optional<Real>& number, const std::string& unit) {
  return number ? fmt::format("{:.4g} {}", *number, unit) : "not known";
}

/// ceil(share n), exact where share n is an integer but for rounding.
std::int64_t part_of(std::int64_t n, Real share) {
  constexpr Real rounding = 1e-9;
  return static_cast<std::int64_t>(std::ceil(share * static_cast<Real>(n) - rounding));
}

const std::vector<std::pair<std::string, Real>>& quantiles() {
  static const std::vector<std::pair<std::string, Real>> list{
      {"t50", 0.5}, {"t90", 0.9}, {"t95", 0.95}, {"t100", 1}};
  return list;
}

}  // namespace

// ---- N(t)
// ------------------------------------------------------------------------------------------------------

void DepartureCurve::add(Real time, const std::vector<std::int64_t>& left) {
  Row row{time, left};
  row.left.push_back(std::accumulate(left.begin(), left.end(), std::int64_t{0}));
  rows_.push_back(std::move(row));
}

std::int64_t DepartureCurve::n_left(int exit) const {
  return rows_.empty() ? 0 : rows_.back().left[column(exit)];
}

std::optional<Real> DepartureCurve::time_of(std::int64_t k, int exit) const {
  const std::size_t c = column(exit);
  if (k < 1 || k > n_left(exit) || rows_.front().left[c] >= k) return {};
  return std::ranges::partition_point(rows_, [&](const Row& row) { return row.left[c] < k; })->time;
}

std::optional<Real> DepartureCurve::mean_time() const {
  Real sum = 0;
  std::int64_t n = 0;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const std::int64_t here = rows_[i].left[n_exits_] - rows_[i - 1].left[n_exits_];
    sum += static_cast<Real>(here) * rows_[i].time;
    n += here;
  }
  if (n == 0) return {};
  return sum / static_cast<Real>(n);
}

std::optional<Real> DepartureCurve::mean_flow(int exit) const {
  constexpr Real lower = 0.1, upper = 0.9;
  const std::int64_t n = n_left(exit), first = part_of(n, lower), last = part_of(n, upper);
  const std::optional<Real> begin = time_of(first, exit), end = time_of(last, exit);
  if (!begin || !end || *end <= *begin) return {};
  return static_cast<Real>(last - first) / (*end - *begin);
}

// ---- one row per person
// ----------------------------------------------------------------------------------------

/// A CSV file with texts, written by rank 0; each batch of rows reaches the system before add() returns. Rows
/// are in the order of the times in one column.
class CrowdWriter::RowFile {
 public:
  /// Starts a new file, or goes on after `time` with one that exists. Collective.
  RowFile(const Comm& comm, const std::string& path, const std::string& header, std::size_t time_column,
          std::optional<Real> time)
      : comm_(comm), path_(path) {
    files::on_root(comm_, [&] {
      if (time)
        cut(header, time_column, *time);
      else
        files::write_atomically(path_, header + "\n", true);
      file_.emplace(path_);
    });
  }

  /// Adds lines, those of rank 0. Collective.
  void add(const std::string& lines) {
    files::on_root(comm_, [&] { file_->add(lines); });
  }
  /// Looks whether the file is still there, as add() does now and then. Collective.
  void keep_in_place() {
    files::on_root(comm_, [&] { file_->keep_in_place(); });
  }

 private:
  /// Takes away the first row later than `time` and all after it, and a last line cut short.
  void cut(const std::string& header, std::size_t time_column, Real time) const {
    std::ifstream stream(path_, std::ios::binary);
    std::string line;
    if (!std::getline(stream, line) || line != header)
      throw InputError(fmt::format("{} has the columns {}, but the run would add {}", path_, line, header));
    std::uintmax_t kept = line.size() + 1;
    while (std::getline(stream, line) && !stream.eof() && number_in(line, time_column) <= time)
      kept += line.size() + 1;
    std::error_code error;
    std::filesystem::resize_file(path_, kept, error);
    if (error) throw RunError(fmt::format("cannot shorten {}: {}", path_, error.message()));
  }

  Comm comm_;
  std::string path_;
  std::optional<AppendedFile> file_;  // on rank 0
};

// ---- all files
// ---------------------------------------------------------------------------------------------------

CrowdWriter::CrowdWriter(const Comm& comm, const RunFiles& files, const RunDeck<2>& deck,
                         const State<2>& state, const CrowdScene& scene,
                         const std::optional<ResumePoint>& resume)
    : comm_(comm), files_(files), output_(deck.output), scene_(scene), curve_(state.outlets.size()) {
  // A restart may write to a new folder, or what the run did not write before.
  const auto goes_on_with = [&](const std::string& path) {
    return resume && comm.any(comm.is_root() && std::filesystem::exists(path));
  };
  if (output_.trajectory_fps > 0) {
    const ArchiveHead head{.title = deck.title.empty() ? files.name : deck.title,
                           .version = fmt::format("scree {}", version::number),
                           .geometry = state.plan->wkt(),
                           .fps = output_.trajectory_fps};
    const std::string path = files.with(".trajectory.h5");
    trajectory_ = goes_on_with(path) ? std::make_unique<PedestrianArchive>(PedestrianArchive::resume(
                                           comm, path, head, frame_of(resume->clock.time)))
                                     : std::make_unique<PedestrianArchive>(comm, path, head);
  }
  if (output_.fields.ever())
    fields_ = std::make_unique<CrowdFields>(
        comm, files.folder + "/vtk", files.name, output_, state, scene,
        resume ? std::optional<Clock>(resume->last_of("fields")) : std::nullopt);

  const std::string agents = files.with(".agents.csv");
  constexpr std::size_t left_column = 7;
  agents_ = std::make_unique<RowFile>(
      comm, agents,
      "id[-],population[-],kind[-],radius[m],desired_speed[m/"
      "s],entered[s],walks_from[s],left[s],exit[-],walked[m]",
      left_column, goes_on_with(agents) ? std::optional<Real>(resume->clock.time) : std::nullopt);

  const std::string evacuation = files.with(".evacuation.csv");
  std::vector<Table::Heading> headings{{"time", "s"}, {"inside", "-"}, {"came", "-"}, {"left", "-"}};
  const std::size_t n_leading = headings.size();
  for (const OutletProgress& outlet : state.outlets)
    headings.push_back({"left_" + column_name(outlet.name), "-"});
  last_left_ = n_left(state);
  last_came_ = n_came(state);
  began_ = state.clock.time;
  if (goes_on_with(evacuation)) {
    evacuation_ = std::make_unique<Table>(Table::resume(comm, evacuation, headings, resume->clock.time));
    const TableContent content = read_table(comm, evacuation);
    for (const std::vector<Real>& row : content.rows) {
      std::vector<std::int64_t> left;
      for (std::size_t k = n_leading; k < row.size(); ++k) left.push_back(static_cast<std::int64_t>(row[k]));
      curve_.add(row.front(), left);
    }
    if (!content.rows.empty()) began_ = content.rows.front().front();
    return;
  }
  evacuation_ = std::make_unique<Table>(comm, evacuation, headings);
  if (resume) write_departures(state);
}

CrowdWriter::~CrowdWriter() = default;

std::int64_t CrowdWriter::n_came(const State<2>& state) const {
  std::int64_t n = 0;
  for (const InletProgress& inlet : state.inlets) n += inlet.n_made;
  return n;
}

std::vector<std::int64_t> CrowdWriter::n_left(const State<2>& state) const {
  std::vector<std::int64_t> left;
  for (const OutletProgress& outlet : state.outlets) left.push_back(outlet.n_removed);
  return left;
}

std::int64_t CrowdWriter::frame_of(Real time) const {
  // Times are sums of steps: a frame may be missed by rounding alone, hence the small share of its length.
  constexpr Real rounding = 1e-6;
  return static_cast<std::int64_t>(std::floor(time * output_.trajectory_fps + rounding));
}

void CrowdWriter::keep_in_place() {
  agents_->keep_in_place();
  evacuation_->keep_in_place();
}

void CrowdWriter::write(const State<2>& state, Real before) {
  const Real time = state.clock.time;
  const bool is_start = before < 0;
  if (trajectory_ && (is_start || frame_of(time) > frame_of(before))) write_trajectory(state, frame_of(time));
  if (is_start || n_left(state) != last_left_ || n_came(state) != last_came_) write_departures(state);
}

void CrowdWriter::write_trajectory(const State<2>& state, std::int64_t frame) {
  Scope timer("trajectory");
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  std::vector<double> positions;
  positions.reserve(3 * n);
  for (const Vec<2>& x : state.bodies.position().first(n))
    positions.insert(positions.end(), {x[0], x[1], output_.trajectory_z});
  trajectory_->append(frame, state.bodies.id().first(n), positions);
}

void CrowdWriter::write_departures(const State<2>& state) {
  Scope timer("departures");
  last_left_ = n_left(state);
  last_came_ = n_came(state);
  // Those of one step: as many as exits let through in that time.
  Outbox outbox;
  if (!state.departures.empty()) outbox.to(0).put(std::span<const Departure>(state.departures));
  std::vector<Departure> departures = deliver_values<Departure>(comm_, outbox);
  std::ranges::sort(departures, [](const Departure& a, const Departure& b) {
    return a.time != b.time ? a.time < b.time : a.id < b.id;
  });
  const std::vector<std::string> groups = scene_.people().group_names();
  std::string lines;
  for (const Departure& d : departures)
    lines += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", d.id,
                         csv_cell(groups[static_cast<std::size_t>(d.group)]),
                         csv_cell(scene_.people().kinds()[static_cast<std::size_t>(d.kind)].name), d.radius,
                         d.desired_speed, d.entered_at, d.walks_from, d.time,
                         csv_cell(state.outlets[static_cast<std::size_t>(d.outlet)].name), d.walked);
  if (comm_.any(!departures.empty())) agents_->add(lines);

  const std::int64_t inside = comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  const std::int64_t left = std::accumulate(last_left_.begin(), last_left_.end(), std::int64_t{0});
  std::vector<Real> row{state.clock.time, static_cast<Real>(inside), static_cast<Real>(last_came_),
                        static_cast<Real>(left)};
  for (const std::int64_t n : last_left_) row.push_back(static_cast<Real>(n));
  evacuation_->add(row);
  curve_.add(state.clock.time, last_left_);
}

CrowdWriter::Summary CrowdWriter::finish(const State<2>& state) const {
  constexpr int n_named = 3;
  const std::int64_t inside = comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  const std::int64_t came = n_came(state), left = curve_.n_left();
  const std::int64_t at_start = inside + left - came;

  Summary summary;
  std::int64_t dropped = 0, waiting = 0;
  for (const InletProgress& inlet : state.inlets) {
    dropped += inlet.n_dropped;
    waiting += inlet.n_waiting();
  }
  summary.text = fmt::format("people: {} at the start, {} came, {} left, {} still inside at t = {:g} s",
                             at_start, came, left, inside, state.clock.time);
  if (dropped > 0)
    summary.text += fmt::format("\n  {} more found no room at their source and dropped out", dropped);
  if (waiting > 0)
    summary.text += fmt::format("\n  {} more were due and wait for room at their source", waiting);
  nlohmann::ordered_json json{{"at_start", at_start}, {"came", came}, {"dropped", dropped},
                              {"waiting", waiting},   {"left", left}, {"still_inside", inside}};
  if (began_ > 0) {
    // A restart in a folder without the rows before.
    summary.text += fmt::format("\n  when they left is known from t = {:g} s on", began_);
    json["known_from_s"] = began_;
  }
  std::string times;
  for (const auto& [name, share] : quantiles()) {
    const std::optional<Real> time = curve_.time_of(part_of(at_start + came, share));
    json[name + "_s"] = json_of(time);
    if (time) times += fmt::format("{}{:g} % by {:.4g} s", times.empty() ? "" : ", ", 100 * share, *time);
  }
  const std::optional<Real> mean = curve_.mean_time();
  json["mean_s"] = json_of(mean);
  if (!times.empty()) summary.text += "\n  left: " + times;
  if (mean) summary.text += fmt::format("\n  mean time of leaving {:.4g} s", *mean);

  std::string table = "exit[-],persons[-],first[s],last[s],flow[1/s]\n";
  json["exits"] = nlohmann::ordered_json::object();
  for (std::size_t k = 0; k < state.outlets.size(); ++k) {
    const int exit = static_cast<int>(k);
    const std::string& name = state.outlets[k].name;
    const std::int64_t persons = curve_.n_left(exit);
    const std::optional<Real> first = curve_.time_of(1, exit), last = curve_.time_of(persons, exit),
                              flow = curve_.mean_flow(exit);
    table += fmt::format("{},{},{},{},{}\n", csv_cell(name), persons, cell(first), cell(last), cell(flow));
    json["exits"][name] = {{"persons", persons},
                           {"first_s", json_of(first)},
                           {"last_s", json_of(last)},
                           {"flow_per_s", json_of(flow)}};
    summary.text += fmt::format("\n  exit {}: {} persons", name, persons);
    if (persons > 0)
      summary.text += fmt::format(", first {}, last {}, mean flow {}", text_of(first, "s"),
                                  text_of(last, "s"), text_of(flow, "1/s"));
  }
  files::on_root(comm_, [&] { files::write_atomically(files_.with(".exits.csv"), table); });

  json["never_left"] = nlohmann::ordered_json::array();
  GlobalId after = -1;
  for (int k = 0; k < n_named && k < inside; ++k) {
    GlobalId next = std::numeric_limits<GlobalId>::max();
    std::size_t place = 0;
    const auto ids = state.bodies.id().first(static_cast<std::size_t>(state.bodies.n_owned()));
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] > after && ids[i] < next) {
        next = ids[i];
        place = i;
      }
    after = comm_.min(next);
    std::array<Real, 2> at{-HUGE_VAL, -HUGE_VAL};
    if (next == after) at = state.bodies.position()[place].component;
    comm_.max(std::span<Real>(at));
    json["never_left"].push_back({{"id", after}, {"position_m", at}});
    summary.text += fmt::format("{} person {} at ({:.4g}, {:.4g})", k == 0 ? "\n  still inside:" : ",", after,
                                at[0], at[1]);
  }
  if (inside > n_named) summary.text += ", ...";
  summary.json = json.dump();
  return summary;
}

// ---- walls
// -------------------------------------------------------------------------------------------------------

LoadedWalls loaded_walls(const State<2>& state, const ContactGraph<2>& contacts, Real force_per_speed) {
  constexpr Real longest_piece = 1;     // [m]: loads of whole walls would hide where people press
  constexpr Real force_unit = 0x1p-20;  // [N]: forces are summed as multiples, so that ranks do not matter
  constexpr std::int64_t nowhere = -1;
  struct Line {
    Vec<2> a, b;
    std::int64_t first_piece, n_pieces;
  };
  struct DrawnObstacle {
    std::vector<Line> lines;
    std::size_t lines_per_part;
  };
  std::vector<DrawnObstacle> drawn;
  std::int64_t n_pieces = 0;
  for (std::size_t o = 0; o < state.obstacles.list().size(); ++o) {
    const Outline<2> outline = state.obstacles.outline(static_cast<int>(o), state.box);
    const auto n_parts = static_cast<std::size_t>(std::max(state.obstacles.list()[o].shape->n_parts(), 1));
    DrawnObstacle& obstacle = drawn.emplace_back();
    // Outlines draw part after part, each with as many lines.
    obstacle.lines_per_part = outline.lines.size() % n_parts == 0 ? outline.lines.size() / n_parts : 0;
    for (const auto& ends : outline.lines) {
      const Vec<2>& a = outline.points[static_cast<std::size_t>(ends[0])];
      const Vec<2>& b = outline.points[static_cast<std::size_t>(ends[1])];
      const auto n = std::max<std::int64_t>(1, std::llround(std::ceil(norm(b - a) / longest_piece)));
      obstacle.lines.push_back({a, b, n_pieces, n});
      n_pieces += n;
    }
  }

  std::vector<std::int64_t> sums(static_cast<std::size_t>(n_pieces));
  const auto piece_at = [](const Line& line, const Vec<2>& x, Real& distance) {
    const Vec<2> along = line.b - line.a;
    const Real length = dot(along, along);
    const Real t = length > 0 ? std::clamp(dot(x - line.a, along) / length, 0.0, 1.0) : 0;
    distance = norm(x - (line.a + t * along));
    return line.first_piece +
           std::min(line.n_pieces - 1, static_cast<std::int64_t>(t * static_cast<Real>(line.n_pieces)));
  };
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (contacts.b[c] >= 0 || !(contacts.force[c] > 0)) continue;
    const DrawnObstacle& obstacle =
        drawn[static_cast<std::size_t>(state.obstacles.obstacle_of(contacts.wall[c]))];
    const auto part = static_cast<std::size_t>(state.obstacles.part_of(contacts.wall[c]));
    const Vec<2> foot = state.bodies.position()[static_cast<std::size_t>(contacts.a[c])] + contacts.branch[c];
    const std::size_t n = obstacle.lines_per_part > 0 ? obstacle.lines_per_part : obstacle.lines.size();
    const std::size_t first = obstacle.lines_per_part > 0 ? part * n : 0;
    std::int64_t nearest = nowhere;
    Real least = HUGE_VAL;
    for (std::size_t l = first; l < first + n && l < obstacle.lines.size(); ++l) {
      Real distance = 0;
      const std::int64_t piece = piece_at(obstacle.lines[l], foot, distance);
      if (distance >= least) continue;
      least = distance;
      nearest = piece;
    }
    if (nearest != nowhere)
      sums[static_cast<std::size_t>(nearest)] +=
          std::llround(force_per_speed * contacts.force[c] / force_unit);
  }
  state.comm.sum(std::span<std::int64_t>(sums));

  LoadedWalls walls;
  if (!state.comm.is_root()) return walls;  // every rank holds all obstacles, one draws them
  for (std::size_t o = 0; o < drawn.size(); ++o)
    for (const Line& line : drawn[o].lines)
      for (std::int64_t k = 0; k < line.n_pieces; ++k) {
        const auto n = static_cast<Real>(line.n_pieces);
        for (const Real t : {static_cast<Real>(k) / n, static_cast<Real>(k + 1) / n}) {
          const Vec<2> x = line.a + t * (line.b - line.a);
          walls.lines.push_back(static_cast<std::int64_t>(walls.points.size() / 3));
          walls.points.insert(walls.points.end(), {x[0], x[1], 0});
        }
        walls.obstacle.push_back(static_cast<std::int32_t>(o));
        const Real length = norm(line.b - line.a) / n;
        walls.load.push_back(static_cast<Real>(sums[static_cast<std::size_t>(line.first_piece + k)]) *
                             force_unit / length);
      }
  return walls;
}

}  // namespace scree
