#include "tools/report_command/report_manual.h"

#include <vector>

#include "profiler/report/analyses.h"
#include "tools/report_command/report_flags.h"

namespace kymo::tools {
namespace {

constexpr char kEnd[] =
    "\nEXIT STATUS\n"
    "    0    done; with --check: nothing but notes was found\n"
    "    1    a file cannot be read, or not be written\n"
    "    2    the command line is wrong\n"
    "    3    --check found warnings or errors\n"
    "    4    something changed by more than --fail_if says\n";

std::vector<PluginGroup> Groups(const ImporterRegistry& importers,
                                const ExporterRegistry& exporters) {
  std::vector<PluginGroup> groups = {{"IMPORTERS", {}}, {"EXPORTERS", {}}};
  for (const TraceImporter* const importer : importers.List()) {
    groups[0].plugins.push_back(&importer->info());
  }
  for (const TraceExporter* const exporter : exporters.List()) {
    groups[1].plugins.push_back(&exporter->info());
  }
  return groups;
}

std::string AnalysisList() {
  std::string text = "ANALYSES\n";
  for (const report::Analysis& analysis : report::Analyses()) {
    text += "    " + std::string(analysis.name) + "\n";
    AppendWrapped(text, std::string(analysis.purpose) + ".", 8);
  }
  return text;
}

}  // namespace

Manual MakeReportManual(const ImporterRegistry& importers,
                        const ExporterRegistry& exporters) {
  Manual manual;
  manual.name =
      "kymo report - tables, checks, comparisons and conversions of traces "
      "that any tool wrote";
  manual.synopsis =
      "kymo report [flags] FILE ...\n"
      "kymo report --check [flags] FILE ...\n"
      "kymo report --diff [flags] BEFORE AFTER\n"
      "kymo report --diff [flags] BASE ... -- HEAD ...\n"
      "kymo report --append=FILE [flags] TRACE\n"
      "kymo report --history=FILE [flags]";
  manual.description = {
      "Reads traces and prints PyTorch's table of them. The format of a file "
      "is known by its content. Several files are one trace: their processes "
      "stay apart, and their times are not shifted. A file may be a pipe. The "
      "folder of a run stands for its trace.json, else kymo.raw, else "
      "*.pt.trace.json, else the files of parquet/.",
      "Filters choose which events count; a time that is shown is the one in "
      "the whole trace."};
  manual.examples =
      "kymo report trace.json.gz\n"
      "kymo report --analysis=device_idle --step=10-20 trace.json\n"
      "kymo report --diff before.json after.json\n"
      "kymo report trace.json --query=slowest_steps\n"
      "kymo report trace.json --sql 'select count(*) from events'";
  manual.own = ReportFlagTable().infos();
  manual.analyses = '\n' + AnalysisList();
  manual.groups = Groups(importers, exporters);
  manual.end = kEnd;
  return manual;
}

absl::StatusOr<std::string> ReportManual(std::string_view topic,
                                         const ImporterRegistry& importers,
                                         const ExporterRegistry& exporters) {
  return ManualPage(MakeReportManual(importers, exporters), topic);
}

std::string ReportList(const ImporterRegistry& importers,
                       const ExporterRegistry& exporters) {
  std::string page = AnalysisList();
  for (const PluginGroup& group : Groups(importers, exporters)) {
    page += '\n' + group.title + "\n";
    for (const PluginInfo* const plugin : group.plugins) {
      AppendPlugin(page, *plugin);
    }
  }
  return page;
}

}  // namespace kymo::tools
