// input_files.h - what the user named, as files that can be read twice.
//
//   KYMO_ASSIGN_OR_RETURN(const InputFiles inputs, InputFiles::Open({"out"}));
//   const absl::StatusOr<LoadedTrace> loaded = Load(inputs.paths(), ...);
//   if (!loaded.ok()) Say(inputs.WithNames(loaded.status().message()));
//
// A pipe (`zcat t.gz | report /dev/stdin`, `report <(...)`) can be read only
// once, but importers look at a file's beginning first. So its bytes go into a
// file without a name in the folder for temporary files (TMPDIR). A folder
// stands for the trace that a run left there: trace.json, else kymo.raw, else
// TensorBoard's *.pt.trace.json, each also with .gz, else the tables of
// --export=parquet, of all jobs and ranks.
//
// Errors: those of reading and writing. kNotFound for a folder without a trace;
// if it has folders of runs, such as kymo-out, the message names the newest.
// Ownership: the files without names last as long as this object.
#ifndef KYMO_TOOLS_COMMAND_LINE_INPUT_FILES_H_
#define KYMO_TOOLS_COMMAND_LINE_INPUT_FILES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {

class InputFiles {
 public:
  static absl::StatusOr<InputFiles> Open(const std::vector<std::string>& names);

  // What importers read.
  const std::vector<std::string>& paths() const { return paths_; }

  // The user's name of each path. The file that a folder stands for has its
  // own.
  const std::vector<std::string>& names() const { return names_; }

  // The first folder that stands for several files; empty: none does.
  const std::string& folder_of_several() const { return folder_of_several_; }

  // `text` with the user's names in place of paths.
  std::string WithNames(std::string_view text) const;

 private:
  absl::Status Add(const std::string& name);
  absl::Status AddPipe(const std::string& name, int fd);

  std::vector<std::string> paths_;
  std::vector<std::string> names_;
  std::string folder_of_several_;
  std::vector<OwnedDescriptor> unnamed_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_INPUT_FILES_H_
