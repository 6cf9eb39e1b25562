// An exporter of this project's own: how often each range ran, and how long.
//
//   bazel build //:libname_totals.so
//   totals=$PWD/bazel-bin/libname_totals.so
//   bazel run @kymo//tools:profile -- --export=chrome,$totals target
//
// It writes name_totals.tsv, a line for each name, the longest total first:
//
//   name         count  total_us  longest_us
//   count_words  5      61240     12830
//
// Spreadsheets and `sort` read that. Device work counts like ranges. Ranges
// that are shorter than --name_totals_least_us do not count.
//
// It is written in C++, but everything that Kymo sees of it is C:
// kymo/exporter_plugin.h. So it can be built with another compiler than Kymo.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kymo/exporter_plugin.h"

namespace {

struct Totals {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// Tabs and line ends would be columns and rows.
std::string Cell(const char* name) {
  std::string cell = name;
  for (char& c : cell) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return cell;
}

uint32_t AddUp(const KymoTrace& trace, int64_t least_ns,
               std::map<std::string, Totals>& totals) {
  for (uint64_t i = 0; i < trace.event_count; ++i) {
    KymoTraceEvent event = {};
    event.struct_size = sizeof(event);
    const uint32_t result = trace.get_event(trace.host, i, &event);
    if (result != KYMO_OK) return result;
    const int64_t length_ns = event.end_ns - event.begin_ns;
    if ((event.flags & KYMO_EVENT_INSTANT) != 0 || length_ns < least_ns) {
      continue;
    }
    Totals& of_name = totals[Cell(event.name)];
    ++of_name.count;
    of_name.total_ns += length_ns;
    of_name.longest_ns = std::max(of_name.longest_ns, length_ns);
  }
  return KYMO_OK;
}

std::string Table(const std::map<std::string, Totals>& totals) {
  std::vector<std::pair<std::string, Totals>> rows(totals.begin(),
                                                   totals.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  std::string table = "name\tcount\ttotal_us\tlongest_us\n";
  for (const auto& [name, row] : rows) {
    table += name + "\t" + std::to_string(row.count) + "\t" +
             std::to_string(row.total_ns / 1000) + "\t" +
             std::to_string(row.longest_ns / 1000) + "\n";
  }
  return table;
}

uint32_t Export(const KymoTrace* trace, const KymoOutput* output, char* why,
                size_t why_size) {
  try {
    const int64_t least_us = atoll(kymo_output_setting(output, "least_us"));
    std::map<std::string, Totals> totals;
    const uint32_t result = AddUp(*trace, least_us * 1000, totals);
    if (result != KYMO_OK) return result;
    const std::string table = Table(totals);
    return output->write(output->host, "name_totals.tsv", table.data(),
                         table.size());
  } catch (const std::bad_alloc&) {
    return KYMO_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    snprintf(why, why_size, "%s", error.what());
    return KYMO_INTERNAL;
  }
}

}  // namespace

const KymoExporterPlugin* kymo_exporter_plugin(uint32_t) {
  static const KymoSetting setting = {
      .struct_size = sizeof(KymoSetting),
      .kind = KYMO_SETTING_INTEGER,
      .name = "least_us",
      .default_value = "0",
      .purpose = "Leaves out ranges that are shorter.",
      .least = 0,
      .most = 1'000'000'000};
  static const KymoExporterPlugin plugin = {
      .struct_size = sizeof(KymoExporterPlugin),
      .version = KYMO_PLUGIN_VERSION,
      .name = "name_totals",
      .purpose = "how often each range ran, and how long (name_totals.tsv)",
      .settings = &setting,
      .setting_count = 1,
      .export_trace = Export};
  return &plugin;
}
