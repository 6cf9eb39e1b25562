// run_folder.h - the output folder of one run.
//
//   KYMO_ASSIGN_OR_RETURN(const std::string path,
//                         MakeDatedFolder(UserPath(kDefaultFolder), "a.out"));
//   KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<RunFolder> out,
//                         RunFolder::Take(path));
//   KYMO_RETURN_IF_ERROR(out->CheckFree({"trace.json", "report.html"}));
//   KYMO_RETURN_IF_ERROR(Start(target));
//   KYMO_RETURN_IF_ERROR(out->RemoveOld());
//   KYMO_RETURN_IF_ERROR(WriteTables(tables, *out));
//
// A folder holds one run. While a RunFolder lives, no other one can take the
// same folder, in any process. A later run that takes it removes the files of
// the earlier run first, and no other files: the hidden file .kymo-files names
// those that the run made and nobody has changed since. The list of another
// user does not count, and no symbolic link in the folder is followed.
//
// A target may remove or move the folder, as `git clean -fdx` does. Then the
// next Open or Note makes it again, and says so.
//
// Threads: one call at a time, but any number of Open and Remove.
// Errors:  those of OutputDirectory. They name the folder.
#ifndef KYMO_TOOLS_COMMAND_LINE_RUN_FOLDER_H_
#define KYMO_TOOLS_COMMAND_LINE_RUN_FOLDER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/plugin/sink.h"

namespace kymo::tools {

// Where the commands make folders that the user did not name.
inline constexpr char kDefaultFolder[] = "kymo-out";

// Makes PARENT/NAME-YYYYMMDD-HHMMSS, by local time now, and returns its path.
// If that exists, tries the same name with -2, -3 and so on behind it. So each
// call makes a folder of its own, also when many processes call at once.
absl::StatusOr<std::string> MakeDatedFolder(const std::string& parent,
                                            const std::string& name);

// For a command that is no run, but makes files in a folder, which may be that
// of a run: adds them to the folder's list, so that the next run may replace
// them. `files`: by name, whether a file was there before. Such a file stays
// the user's if no run has listed its name. Does nothing if the list cannot be
// written.
void AddToList(const std::string& folder,
               const std::map<std::string, bool>& files);

class RunFolder final : public OutputDirectory {
 public:
  // Makes the folder if it does not exist. A run that does not start removes
  // the folder that it made, with the parents that it made. The error is
  // kFailedPrecondition if another run has it.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Take(
      const std::string& path);
  // The same of a folder that MakeDatedFolder makes.
  static absl::StatusOr<std::unique_ptr<RunFolder>> TakeDated(
      const std::string& parent, const std::string& name);
  ~RunFolder() override;

  // From now on only this user may look into the folder. Does nothing if it was
  // there before the run: it is as somebody wanted it.
  void KeepPrivate();

  // An error if one of these files, which the run may write, is there already,
  // and no run has listed its name. Call it before the target starts.
  // For a file in a folder of the run's, Open does that.
  absl::Status CheckFree(const std::vector<std::string>& names) const;

  // Removes what the run before this one made in the folder, and this run has
  // not written over. Call it once this run's target has started. A run that
  // does not start leaves the folder, and the list of its files, as they were.
  absl::Status RemoveOld();

  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override;
  // Only what this run has made. RemoveOld has removed the earlier run's.
  void Remove(std::string_view name) noexcept override;

  // Says that the run makes this file in another way than with Open. Call it
  // before this run's file is there.
  absl::Status Note(std::string_view name);

  // Keeps a file that Note knows, and that the run makes before its target
  // starts, under another name until then. If the run does not start, the file
  // comes back; if it is killed before, the next run brings it back. For one
  // name.
  void SetAside(std::string_view name);

  // Says that the run has made all its files. From now on they are the run's as
  // long as they stay as they are.
  void Finish();

  // The names of the files that the run has made. A file of the user that the
  // run could not replace is not among them.
  std::vector<std::string> Names() const;

  // How many files the run has made, or tried to make with Open.
  size_t CountTried() const;

  // Whether the run has made a file.
  bool HasFiles() const;

 private:
  // A file of the run before.
  struct OldFile {
    std::string name;
    // Of when that run was through. If it was killed: of when this one came.
    std::string stamp;
  };

  RunFolder(const std::string& path, OwnedDescriptor top);

  // REQUIRES: the lock is held. Before that, an earlier run may still write.
  void TakeBackAside();
  void ReadList();
  // Appends the name to the file of names.
  absl::Status List(std::string_view name) const;
  absl::Status ListAll() const;
  // Makes the folder again if the target has removed or moved it, and says so.
  absl::Status MakeAgain();
  void EndAside(bool has_started);
  // Says so if others keep their rights.
  void TakeRights() const;
  bool HasMade(const std::string& name, const std::string& stamp_before) const;

  OwnedDescriptor top_;  // of the folder; locked
  std::vector<OldFile> old_;
  // The names in the list, also those that somebody has changed since.
  std::set<std::string, std::less<>> of_runs_;
  // The folder and its parents, as far as this run made them, innermost first.
  std::vector<std::string> made_;
  bool is_private_ = false;
  bool has_started_ = false;  // before that, nothing is listed on disk
  std::mutex note_mutex_;     // of opened_, noted_ and listed_
  std::set<std::string, std::less<>> opened_;  // the names that Open got
  // The names that Note got, and the stamps of what was there.
  std::map<std::string, std::string, std::less<>> noted_;
  std::set<std::string, std::less<>> listed_;  // and not there before
  std::string aside_;       // the name that SetAside got; empty: none
  bool has_aside_ = false;  // there was such a file
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_RUN_FOLDER_H_
