#include "profiler/on_demand/config.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::on_demand {
namespace {

constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostMs = 3'600'000;  // an hour
constexpr int64_t kMostIterations = 1'000'000;

struct Number {
  int64_t Config::*value;
  int64_t least;
  int64_t most;
};
struct Key {
  const char* name;
  std::variant<Number, bool Config::*, std::string Config::*> value;
};

const Key kKeys[] = {
    {"ACTIVITIES_LOG_FILE", &Config::log_file},
    {"PROFILE_START_TIME", Number{&Config::start_time_ms, 0, kAnyNumber}},
    {"ACTIVITIES_DURATION_MSECS", Number{&Config::duration_ms, 1, kMostMs}},
    {"PROFILE_START_ITERATION",
     Number{&Config::start_iteration, -1, kAnyNumber / 4}},
    {"PROFILE_START_ITERATION_ROUNDUP",
     Number{&Config::start_iteration_roundup, -1, kAnyNumber / 4}},
    {"ACTIVITIES_ITERATIONS", Number{&Config::iterations, 0, kMostIterations}},
    {"PROFILE_REPORT_INPUT_SHAPES", &Config::record_shapes},
    {"PROFILE_WITH_STACK", &Config::with_stack},
    {"PROFILE_WITH_FLOPS", &Config::with_flops},
    {"PROFILE_WITH_MODULES", &Config::with_modules},
    {"PROFILE_PROFILE_MEMORY", &Config::profile_memory},
    {"REQUEST_TRACE_ID", &Config::trace_id},
    {"KYMO_ANSWER", &Config::answer},
    {"KYMO_STOP", &Config::stop},
};
constexpr char kTypesKey[] = "ACTIVITY_TYPES";

absl::Status Wrong(std::string_view key, std::string_view value,
                   std::string_view takes) {
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(key), "=", ToAbsl(value), ": it takes ", ToAbsl(takes)));
}

struct Reader {
  Config& config;
  std::string_view key;
  std::string_view text;

  absl::Status operator()(const Number& number) const {
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        value < number.least || value > number.most) {
      return Wrong(
          key, text,
          absl::StrCat("a number from ", number.least, " to ", number.most));
    }
    config.*number.value = value;
    return absl::OkStatus();
  }
  absl::Status operator()(bool Config::*flag) const {
    const std::string word = absl::AsciiStrToLower(ToAbsl(text));
    const bool on = word == "true" || word == "yes" || word == "on" ||
                    word == "1" || word == "t" || word == "y";
    if (!on && word != "false" && word != "no" && word != "off" &&
        word != "0" && word != "f" && word != "n") {
      return Wrong(key, text, "true or false");
    }
    config.*flag = on;
    return absl::OkStatus();
  }
  absl::Status operator()(std::string Config::*value) const {
    config.*value = text;
    return absl::OkStatus();
  }
};

bool IsBelow(const std::filesystem::path& path,
             const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end())
             .first == folder.end();
}

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view text) {
  Config config;
  for (const absl::string_view whole : absl::StrSplit(ToAbsl(text), '\n')) {
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    const size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == line.npos) continue;
    const std::string key(absl::StripAsciiWhitespace(line.substr(0, equals)));
    const std::string value(
        absl::StripAsciiWhitespace(line.substr(equals + 1)));
    if (key == kTypesKey) {
      config.activity_types =
          absl::StrSplit(absl::AsciiStrToLower(value), ',', absl::SkipEmpty());
      continue;
    }
    for (const Key& known : kKeys) {
      if (known.name != key) continue;
      KYMO_RETURN_IF_ERROR(std::visit(Reader{config, key, value}, known.value));
    }
  }
  return config;
}

std::string ConfigText(const Config& config) {
  std::string text = "ACTIVITIES_WARMUP_PERIOD_SECS=0\n";
  const Config defaults;
  for (const Key& key : kKeys) {
    std::string value;
    if (const auto* number = std::get_if<Number>(&key.value)) {
      if (config.*number->value == defaults.*number->value) continue;
      value = absl::StrCat(config.*number->value);
    } else if (const auto* flag = std::get_if<bool Config::*>(&key.value)) {
      if (!(config.**flag)) continue;
      value = "true";
    } else {
      value = config.*std::get<std::string Config::*>(key.value);
      if (value.empty()) continue;
    }
    absl::StrAppend(&text, key.name, "=", value, "\n");
  }
  if (!config.activity_types.empty()) {
    absl::StrAppend(&text, kTypesKey, "=",
                    absl::StrJoin(config.activity_types, ","), "\n");
  }
  return text;
}

int64_t FirstStep(const Config& config, int64_t current) {
  int64_t first = std::max(config.start_iteration, current + 1);
  const int64_t multiple = config.start_iteration_roundup;
  if (multiple > 0) first = (first + multiple - 1) / multiple * multiple;
  return first;
}

absl::StatusOr<std::string> TracePath(std::string_view log_file,
                                      const std::string& folder, int pid) {
  std::string path(log_file);
  const size_t name = path.rfind('/') + 1;  // npos + 1 == 0
  for (const std::string_view end : {".pt.trace.json", ".json"}) {
    if (const size_t at = path.find(end, name); at != path.npos) {
      path.insert(at, absl::StrCat("_", pid));
      break;
    }
  }
  // Links in the way would lead out again.
  std::error_code error;
  namespace fs = std::filesystem;
  const fs::path real_folder = fs::canonical(folder, error);
  const fs::path parent =
      error ? fs::path() : fs::canonical(fs::path(path).parent_path(), error);
  if (path.find("..") != path.npos || !path.starts_with('/') || error ||
      !IsBelow(parent, real_folder)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "`", path, "` is not in a folder below ", folder,
        ": name one that is there and below it, or start the program with ",
        kTraceFolderVariable, " set to another"));
  }
  return (parent / fs::path(path).filename()).string();
}

}  // namespace kymo::on_demand
