// stat_fields.h - the fields of /proc/PID/stat and /proc/PID/task/TID/stat.
//
//   auto fields = StatFields::Of("24973 (cat) R 24963 ...");
//   fields->name();                       // "cat"
//   fields->Take(3);                      // "R"
//   fields->TakeCount(22);                // std::optional<uint64_t>
//
// Fields have the numbers of proc(5), and are taken in rising order. The name
// may have spaces, parentheses and line ends itself.
//
// Views of the text. Threads: none. Cost: no allocation.
#ifndef KYMO_PROFILER_PROCESSES_STAT_FIELDS_H_
#define KYMO_PROFILER_PROCESSES_STAT_FIELDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/processes/text_fields.h"

namespace kymo::processes {

class StatFields {
 public:
  // Nothing if there is no name.
  static std::optional<StatFields> Of(std::string_view stat) {
    const size_t open = stat.find('(');
    const size_t close = stat.rfind(')');
    if (open == stat.npos || close == stat.npos || close < open) {
      return std::nullopt;
    }
    StatFields fields;
    fields.pid_ = stat.substr(0, stat.find_first_of(" ("));
    fields.name_ = stat.substr(open + 1, close - open - 1);
    fields.rest_ = stat.substr(close + 1);
    return fields;
  }

  std::string_view name() const { return name_; }
  std::optional<uint64_t> pid() const { return ToCount(pid_); }

  // Field 3 is the state. Empty if the text ends before it.
  std::string_view Take(int field) {
    std::string_view word;
    for (; next_ <= field; ++next_) {
      rest_.remove_prefix(
          std::min(rest_.find_first_not_of(" \n"), rest_.size()));
      word = rest_.substr(0, rest_.find_first_of(" \n"));
      rest_.remove_prefix(word.size());
    }
    return word;
  }
  // Nothing if it is missing, or no number from 0 on.
  std::optional<uint64_t> TakeCount(int field) { return ToCount(Take(field)); }

 private:
  std::string_view pid_;
  std::string_view name_;
  std::string_view rest_;
  int next_ = 3;  // the number of the first field of rest_
};

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_STAT_FIELDS_H_
