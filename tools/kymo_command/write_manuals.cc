// write_manuals - writes the man pages and the shell completion of packages:
//
//   write_manuals FOLDER
#include <stdio.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "backends/builtin/builtin_backends.h"
#include "exporters/builtin/builtin_exporters.h"
#include "importers/builtin/builtin_importers.h"
#include "kymo/version.h"
#include "profiler/library/emitter_backends.h"
#include "profiler/plugin/registry.h"
#include "tools/command_line/completions.h"
#include "tools/command_line/manual_files.h"
#include "tools/gate_command/compare.h"
#include "tools/gate_command/gate_flags.h"
#include "tools/kymo_command/kymo_manual.h"
#include "tools/profile_command/profile_manual.h"
#include "tools/report_command/report_manual.h"

namespace kymo::tools {
namespace {

bool Write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return true;
  fprintf(stderr, "could not write %s\n", path.c_str());
  return false;
}

int Main(const std::filesystem::path& folder) {
  BackendRegistry backends;
  ImporterRegistry importers;
  ExporterRegistry exporters;
  absl::Status status = RegisterBuiltinBackends(backends);
  status.Update(RegisterEmitterBackends(backends));
  status.Update(RegisterBuiltinImporters(importers));
  status.Update(RegisterBuiltinExporters(exporters));
  if (!status.ok()) {
    fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  const CommandManuals manuals = {
      .profile = MakeProfileManual(backends, exporters),
      .report = MakeReportManual(importers, exporters),
      .gate = MakeGateManual(),
      .compare = MakeCompareManual()};
  const bool written =
      Write(folder / "kymo.1",
            ManPage(MakeKymoManual(), "kymo", KYMO_VERSION)) &&
      Write(folder / "kymo-profile.1",
            ManPage(manuals.profile, "kymo-profile", KYMO_VERSION)) &&
      Write(folder / "kymo-report.1",
            ManPage(manuals.report, "kymo-report", KYMO_VERSION)) &&
      Write(folder / "kymo-gate.1",
            ManPage(manuals.gate, "kymo-gate", KYMO_VERSION)) &&
      Write(folder / "kymo-compare.1",
            ManPage(manuals.compare, "kymo-compare", KYMO_VERSION)) &&
      Write(folder / "kymo.bash", BashCompletion(manuals)) &&
      Write(folder / "kymo.fish", FishCompletion(manuals)) &&
      Write(folder / "_kymo", ZshCompletion(manuals));
  return written ? 0 : 1;
}

}  // namespace
}  // namespace kymo::tools

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: write_manuals FOLDER\n", stderr);
    return 2;
  }
  return kymo::tools::Main(argv[1]);
}
