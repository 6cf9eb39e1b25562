// shared_flags.h - the flags that both commands have.
//
//   struct ReportFlags : SharedFlags {
//     bool check = false;
//   };
//   std::vector<Setting<ReportFlags>> settings =
//       SharedSettings<ReportFlags>({.exporters = "What to write.", ...});
//
// Names, bounds and sort keys are here. A command adds what differs: texts, and
// in its constructor the defaults.
#ifndef KYMO_TOOLS_COMMAND_LINE_SHARED_FLAGS_H_
#define KYMO_TOOLS_COMMAND_LINE_SHARED_FLAGS_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kymo/version.h"
#include "profiler/plugin/settings.h"
#include "profiler/report/table.h"

namespace kymo::tools {

struct SharedFlags {
  std::vector<std::string> exporters;
  std::string output_dir;              // empty: made from a name and the time
  std::optional<std::string> sort_by;  // a key of the table, or a word of ours
  int row_limit = report::TableOptions().row_limit;
  uint64_t max_size = uint64_t{100} << 20;  // bytes; 0: any number
  int64_t max_file_mib = 0;                 // 0: any number
  bool gzip = false;
  bool view = false;  // the page of the html exporter
  bool with_flops = false;
  bool quiet = false;
  bool list = false;
  bool version = false;
};

// What --version prints.
inline constexpr char kVersionLine[] = "kymo " KYMO_VERSION "\n";

// Purposes of flags that mean something else in each command.
struct SharedTexts {
  std::string exporters;
  std::string sort_by;
  std::vector<std::string> sort_words;  // beside the table's keys
  std::string output_name;              // the default folder's: "<file>"
  std::string with_flops;
  std::string list;
};

// The columns by which a table can be sorted, after further words.
std::vector<std::string> SortWords(std::vector<std::string> further);

// Bytes, or 0.
SettingValue<SharedFlags> MaxSizeValue();

constexpr int64_t kMostMib = int64_t{1} << 20;

template <typename S>
std::vector<Setting<S>> SharedSettings(const SharedTexts& texts) {
  static_assert(std::derived_from<S, SharedFlags>);
  using Shared = SharedFlags;
  const std::vector<std::string> sort_words = SortWords(texts.sort_words);
  SettingValue<Shared> sort_by =
      setting::Word(&Shared::sort_by, setting::SameWords(sort_words));
  sort_by.takes += ", or nothing";
  return {
      {.name = "export",
       .value = setting::Texts(&Shared::exporters),
       .purpose = texts.exporters +
                  " Names of exporters, separated by commas, or paths (with a "
                  "slash) of libraries that hold further ones, whose own flags "
                  "stand after this one.",
       .topic = "files",
       .is_common = true},
      {.name = "output_dir",
       .value = setting::Text(&Shared::output_dir),
       .purpose = "Folder for the files, relative to where you stand. Default: "
                  "kymo-out/" +
                  texts.output_name + "-<date>-<time>.",
       .hint = "DIR",
       .topic = "files",
       .is_common = true},
      {.name = "view",
       .value = setting::Switch(&Shared::view),
       .purpose = "Open report.html in a browser; written, too, if --export "
                  "leaves it out. Where there is no screen, say its address.",
       .topic = "files",
       .is_common = true},
      {.name = "gzip",
       .value = setting::Switch(&Shared::gzip),
       .purpose = "Compress traces that are written: trace.json.gz.",
       .topic = "files",
       .is_common = true},
      {.name = "max_size",
       .value = MaxSizeValue(),
       .purpose = "Most that timelines, report.html and the text files of "
                  "stacks of a run take. Larger files are first compressed "
                  "(trace.json.gz), with everything in them. What is still "
                  "too large is folded: short ranges, and rare stacks. 0 = "
                  "fold nothing for its size. Does not bound pprof's files.",
       .topic = "files"},
      {.name = "max_file_mib",
       .value = setting::Integer(&Shared::max_file_mib, 0, kMostMib, "MiB"),
       .purpose = "Split timelines whose file would be larger at the steps of "
                  "the program: trace.steps_0-99.json. Nothing is folded "
                  "then. 0 = never.",
       .topic = "files"},
      {.name = "sort_by",
       .value = std::move(sort_by),
       .purpose =
           "Column to sort the table by, largest first. " + texts.sort_by,
       .hint = "COLUMN",
       .topic = "table",
       .is_common = true},
      {.name = "row_limit",
       .value = setting::Integer(&Shared::row_limit),
       .purpose = "Rows of the table; -1 = all.",
       .topic = "table",
       .is_common = true},
      {.name = "with_flops",
       .value = setting::Switch(&Shared::with_flops),
       .purpose = "Estimate the FLOPs of operations from their inputs. " +
                  texts.with_flops,
       .topic = "table"},
      {.name = "quiet",
       .value = setting::Switch(&Shared::quiet),
       .purpose = "Print nothing but errors on standard error.",
       .topic = "run",
       .is_common = true},
      {.name = "list",
       .value = setting::Switch(&Shared::list),
       .purpose = texts.list,
       .topic = "run",
       .is_common = true},
      {.name = "version",
       .value = setting::Switch(&Shared::version),
       .purpose = "Print the version of Kymo; then exit.",
       .topic = "run"},
  };
}

// Both lists in one.
template <typename S>
std::vector<Setting<S>> Joined(std::vector<Setting<S>> first,
                               std::vector<Setting<S>> second) {
  for (Setting<S>& setting : second) first.push_back(std::move(setting));
  return first;
}

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_SHARED_FLAGS_H_
