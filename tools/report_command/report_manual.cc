#include "tools/report_command/report_manual.h"

#include "profiler/report/analyses.h"
#include "tools/command_line/manual.h"
#include "tools/report_command/options.h"

namespace kymo::tools {

std::string ReportManual(const ImporterRegistry& importers,
                         const ExporterRegistry& exporters) {
  std::string page =
      "NAME\n"
      "    report - tables, checks, comparisons and conversions of traces that "
      "any\n"
      "    tool wrote\n\n"
      "SYNOPSIS\n"
      "    report [flags] FILE ...\n"
      "    report --check [flags] FILE ...\n"
      "    report --diff [flags] BEFORE AFTER\n\n"
      "DESCRIPTION\n";
  AppendWrapped(
      page,
      "Reads traces and prints PyTorch's table of them. The format of "
      "a file is known by its content. Several files are one trace: "
      "their processes stay apart, times are those that the files "
      "state.",
      4);
  page += '\n';
  AppendWrapped(
      page,
      "Filters choose which events count; a time that is shown is the "
      "one in the whole trace.",
      4);
  page += "\nFLAGS\n";
  AppendFlags(page, ReportFlags());
  page += '\n' + ReportList(importers, exporters);
  page +=
      "\nEXIT STATUS\n"
      "    0    done; with --check: nothing but notes was found\n"
      "    1    a file cannot be read, or not be written\n"
      "    2    the command line is wrong\n"
      "    3    --check found warnings or errors\n";
  return page;
}

std::string ReportList(const ImporterRegistry& importers,
                       const ExporterRegistry& exporters) {
  std::string page = "ANALYSES\n";
  for (const report::Analysis& analysis : report::Analyses()) {
    page += "    " + std::string(analysis.name) + "\n";
    AppendWrapped(page, std::string(analysis.purpose) + ".", 8);
  }
  page += "\nIMPORTERS\n";
  for (const TraceImporter* importer : importers.List()) {
    AppendPlugin(page, importer->info());
  }
  page += "\nEXPORTERS\n";
  for (const TraceExporter* exporter : exporters.List()) {
    AppendPlugin(page, exporter->info());
  }
  return page;
}

}  // namespace kymo::tools
