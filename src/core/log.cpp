#include "core/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace scree::log {

namespace {

// Null before start() and on all ranks but 0: then messages go nowhere.
std::shared_ptr<spdlog::logger> logger;
spdlog::sink_ptr file;

// What was said before there was a file to say it to.
struct Message {
  spdlog::level::level_enum level;
  std::string text;
};
std::vector<Message> early;

void send(spdlog::level::level_enum level, const std::string& message) {
  if (!logger) return;
  logger->log(level, spdlog::string_view_t(message));
  constexpr std::size_t max_early = 1000;
  if (!file && logger->should_log(level) && early.size() < max_early) early.push_back({level, message});
}

spdlog::level::level_enum threshold(Level level) {
  switch (level) {
    case Level::quiet:
      return spdlog::level::warn;
    case Level::normal:
      return spdlog::level::info;
    case Level::verbose:
      break;
  }
  return spdlog::level::debug;
}

}  // namespace

void start(bool is_root, Level level) {
  close_file();
  logger.reset();
  early.clear();
  if (!is_root) return;
  auto console = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  console->set_pattern("%v");
  console->set_level(threshold(level));
  logger = std::make_shared<spdlog::logger>("scree", console);
  logger->set_level(std::min(threshold(level), spdlog::level::info));
  logger->flush_on(spdlog::level::debug);  // a killed job must leave its last words
}

void open_file(const std::string& path, bool append) {
  close_file();
  if (!logger) return;
  file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, !append);
  file->set_pattern("%Y-%m-%d %H:%M:%S %v");
  logger->sinks().push_back(file);
  for (const Message& message : early) file->log({"scree", message.level, message.text});
  early.clear();
}

void close_file() {
  if (!file) return;
  std::erase(logger->sinks(), file);
  file.reset();
}

void info(const std::string& message) {
  send(spdlog::level::info, message);
}
void warn(const std::string& message) {
  send(spdlog::level::warn, "warning: " + message);
}
void detail(const std::string& message) {
  send(spdlog::level::debug, message);
}
void record(const std::string& message) {
  if (logger && logger->should_log(spdlog::level::debug))
    info(message);
  else if (file)
    spdlog::logger("scree", file).info(spdlog::string_view_t(message));
}

}  // namespace scree::log
