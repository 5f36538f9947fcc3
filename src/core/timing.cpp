#include "core/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <map>
#include <sstream>

namespace scree {

namespace {

using Ticks = std::chrono::steady_clock::time_point;
using Nanoseconds = std::chrono::nanoseconds;

/// A timer within its parent. Nodes are made at their first use and stay, so later uses allocate nothing.
struct Node {
  std::string name;
  Node* parent = nullptr;
  std::vector<Node*> children;  // in order of first use
  std::int64_t calls = 0;
  Nanoseconds spent{0};   // of the calls that ended
  Nanoseconds waited{0};  // within them, and within the call that goes on
  Ticks start{};          // of the call that goes on
};

struct Tree {
  std::deque<Node> nodes = std::deque<Node>(1);  // the root stands for the whole program
  Node* current = &nodes.front();
  int waits = 0;                  // open Waiting objects
  Ticks wait_start{};             // of the outermost
  int clocks = 0;                 // WorkClock objects
  Nanoseconds wait_begin{0};      // of the outermost wait while there are clocks, by the thread's clock
  Nanoseconds waited_clocked{0};  // in all waits that ended while there were clocks, by the same
};
Tree& tree() {
  static Tree instance;
  return instance;
}

Node& child(Node& parent, std::string_view name) {
  for (Node* node : parent.children)
    if (node->name == name) return *node;
  Node& node = tree().nodes.emplace_back();
  node.name = name;
  node.parent = &parent;
  parent.children.push_back(&node);
  return node;
}

/// What this thread has used of a processor.
Nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

struct Record {
  std::int64_t calls = 0;
  Nanoseconds spent{0};
  Nanoseconds waited{0};
};

/// All timers below `node` that were called, as "outer\tinner" names in order of first use.
void collect(const Node& node, const std::string& prefix, std::vector<std::string>& paths,
             std::map<std::string, Record>& records) {
  for (const Node* inner : node.children) {
    if (inner->calls == 0) continue;
    const std::string path = prefix + inner->name;
    paths.push_back(path);
    records[path] = {inner->calls, inner->spent, inner->waited};
    collect(*inner, path + '\t', paths, records);
  }
}

/// Adds `path` behind the last timer within its parent.
void insert(std::vector<std::string>& paths, const std::string& path) {
  const std::size_t cut = path.rfind('\t');
  auto place = paths.end();
  if (cut != std::string::npos) {
    const std::string parent = path.substr(0, cut);
    const auto within = [&](const std::string& other) {
      return other == parent || other.starts_with(parent + '\t');
    };
    place = std::find_if(paths.rbegin(), paths.rend(), within).base();
  }
  paths.insert(place, path);
}

/// Adds the timers of other ranks to `paths` until all ranks hold the same list, that of rank 0 first.
void unite(const Comm& comm, std::vector<std::string>& own, std::vector<std::string>& paths) {
  for (;;) {
    std::erase_if(own, [&](const std::string& path) {
      return std::find(paths.begin(), paths.end(), path) != paths.end();
    });
    const std::int64_t speaker = comm.min(std::int64_t{own.empty() ? comm.size() : comm.rank()});
    if (speaker == comm.size()) return;
    std::string text;
    for (const std::string& path : own) text += path + '\n';
    comm.broadcast(text, static_cast<int>(speaker));
    std::istringstream lines(text);
    for (std::string path; std::getline(lines, path);) insert(paths, path);
  }
}

}  // namespace

Scope::Scope(std::string_view name) {
  Node& node = child(*tree().current, name);
  tree().current = &node;
  ++node.calls;
  node.start = std::chrono::steady_clock::now();
}

Scope::~Scope() {
  Node& node = *tree().current;
  node.spent += std::chrono::steady_clock::now() - node.start;
  tree().current = node.parent;
}

Waiting::Waiting() {
  Tree& t = tree();
  if (t.waits++ > 0) return;
  t.wait_start = std::chrono::steady_clock::now();
  if (t.clocks > 0) t.wait_begin = thread_time();
}

Waiting::~Waiting() {
  Tree& t = tree();
  if (--t.waits > 0) return;
  const Nanoseconds waited = std::chrono::steady_clock::now() - t.wait_start;
  for (Node* node = t.current; node; node = node->parent) node->waited += waited;
  if (t.clocks > 0) t.waited_clocked += thread_time() - t.wait_begin;
}

namespace {

/// Processor time of this thread less what it waited; only differences mean something, and only while there
/// are clocks. It stands still during a wait.
Nanoseconds work_time() {
  const Tree& t = tree();
  return (t.waits > 0 ? t.wait_begin : thread_time()) - t.waited_clocked;
}

}  // namespace

WorkClock::WorkClock() {
  Tree& t = tree();
  if (t.clocks++ == 0) t.wait_begin = thread_time();  // of a wait that goes on, if there is one
  start_ = work_time();
}

WorkClock::~WorkClock() {
  --tree().clocks;
}

Real WorkClock::seconds() const {
  return std::chrono::duration<Real>(work_time() - start_).count();
}

std::vector<TimerRow> timer_table(const Comm& comm) {
  const Ticks now = std::chrono::steady_clock::now();
  std::vector<std::string> own;
  std::map<std::string, Record> records;
  collect(tree().nodes.front(), "", own, records);
  std::string open;
  std::vector<const Node*> open_nodes;
  for (const Node* node = tree().current; node->parent; node = node->parent) open_nodes.push_back(node);
  for (auto node = open_nodes.rbegin(); node != open_nodes.rend(); ++node) {
    open += (open.empty() ? "" : "\t") + (*node)->name;
    records[open].spent += now - (*node)->start;
  }

  std::vector<std::string> paths;
  unite(comm, own, paths);

  std::vector<Real> min;
  std::vector<Real> work;
  std::vector<std::int64_t> total, total_work;
  for (const std::string& path : paths) {
    const Record& record = records[path];
    min.push_back(std::chrono::duration<Real>(record.spent).count());
    work.push_back(std::chrono::duration<Real>(record.spent - record.waited).count());
    total.push_back(record.spent.count());
    total_work.push_back((record.spent - record.waited).count());
  }
  std::vector<Real> max = min;
  comm.min(min);
  comm.max(max);
  comm.max(work);
  comm.sum(total);
  comm.sum(total_work);

  std::vector<TimerRow> rows;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t cut = paths[i].rfind('\t');
    TimerRow row;
    row.name = cut == std::string::npos ? paths[i] : paths[i].substr(cut + 1);
    row.depth = static_cast<int>(std::count(paths[i].begin(), paths[i].end(), '\t'));
    row.calls = records[paths[i]].calls;
    row.min = min[i];
    row.mean = static_cast<Real>(total[i]) * 1e-9 / comm.size();
    row.max = max[i];
    row.work_mean = static_cast<Real>(total_work[i]) * 1e-9 / comm.size();
    row.work_max = work[i];
    rows.push_back(row);
  }
  std::vector<std::int64_t> calls;
  for (const TimerRow& row : rows) calls.push_back(comm.is_root() ? row.calls : 0);
  comm.sum(calls);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].calls = calls[i];
  return rows;
}

std::string format_timer_table(const std::vector<TimerRow>& rows) {
  constexpr int indent = 2;
  std::size_t width = 5;
  Real whole = 0;
  for (const TimerRow& row : rows) {
    width = std::max(width, row.name.size() + static_cast<std::size_t>(indent * row.depth));
    if (row.depth == 0) whole += row.mean;
  }
  std::string text =
      fmt::format("{:<{}}  {:>10}  {:>10}  {:>10}  {:>10}  {:>6}  {:>6}  {:>6}\n", "timer", width, "calls",
                  "min [s]", "mean [s]", "max [s]", "share", "waits", "uneven");
  const auto percent = [](Real part, Real of) { return of > 0 ? 100 * part / of : 0.0; };
  for (const TimerRow& row : rows)
    text += fmt::format("{:<{}}  {:>10}  {:>10.3f}  {:>10.3f}  {:>10.3f}  {:>5.1f}%  {:>5.1f}%  {:>6.2f}\n",
                        std::string(static_cast<std::size_t>(indent * row.depth), ' ') + row.name, width,
                        row.calls, row.min, row.mean, row.max, percent(row.mean, whole),
                        percent(row.mean - row.work_mean, row.mean), row.imbalance());
  return text;
}

void reset_timers() {
  for (Node& node : tree().nodes) {
    node.calls = 0;
    node.spent = Nanoseconds{0};
    node.waited = Nanoseconds{0};
  }
  for (Node* node = tree().current; node->parent; node = node->parent) {
    node->calls = 1;
    node->start = std::chrono::steady_clock::now();
  }
}

}  // namespace scree
