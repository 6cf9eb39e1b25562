// Long, because all that is done in the folder goes through one descriptor.
#include "tools/command_line/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "tools/command_line/say.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

// The files that the last run made, a name on each line. Behind the name, once
// the run was through, a tab and the file's Stamp.
constexpr char kListFile[] = ".kymo-files";

// Before the name of a file that SetAside keeps.
constexpr char kAside[] = ".kymo-earlier.";

// How often MakeDatedFolder makes a parent that others remove.
constexpr int kMostTries = 100;

// The folder that the file `name` of the folder `top` is in. Follows no
// symbolic link, so it is inside of `top`. Invalid if there is no such folder.
OwnedDescriptor ParentOf(int top, const fs::path& name) {
  OwnedDescriptor folder(openat(top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const fs::path& part : name.parent_path()) {
    if (!folder.is_open() || part == ".." || part.is_absolute()) {
      return OwnedDescriptor();
    }
    folder =
        OwnedDescriptor(openat(folder.get(), part.c_str(),
                               O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return folder;
}

// Tells a file from another one of its name, and from itself once changed.
// Empty if there is no such regular file in the folder.
std::string StampIn(const OwnedDescriptor& folder, const fs::path& file) {
  struct stat info = {};
  if (!folder.is_open() ||
      fstatat(folder.get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(info.st_mode)) {
    return "";
  }
  return absl::StrCat(info.st_ino, " ", info.st_mtim.tv_sec, " ",
                      info.st_mtim.tv_nsec);
}

std::string Stamp(int top, const fs::path& name) {
  return StampIn(ParentOf(top, name), name.filename());
}

// The list in the folder `top`. Empty if there is none, or if it is a link.
struct ListFile {
  std::string text;
  bool is_own = false;  // of this user
};

ListFile ReadListFile(int top) {
  const OwnedDescriptor file(
      openat(top, kListFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!file.is_open() || fstat(file.get(), &info) != 0 ||
      !S_ISREG(info.st_mode)) {
    return {};
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return {.text = std::move(text), .is_own = info.st_uid == geteuid()};
}

std::set<std::string, std::less<>> NamesOf(const std::string& list) {
  std::set<std::string, std::less<>> names;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    names.insert(line.substr(0, line.find('\t')));
  }
  return names;
}

// False, with errno, if that cannot be.
bool AppendToList(int top, std::string_view lines) {
  const OwnedDescriptor list(
      openat(top, kListFile,
             O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  return list.is_open() && write(list.get(), lines.data(), lines.size()) ==
                               static_cast<ssize_t>(lines.size());
}

absl::Status CannotMake(int error, const std::string& path) {
  return absl::ErrnoToStatus(error,
                             absl::StrCat("could not make '", path, "'"));
}

// Those of the path and its parents that do not exist, innermost first. Behind
// a symbolic link, ".." leads elsewhere, so it stays.
std::vector<std::string> MissingFolders(fs::path path) {
  std::vector<std::string> missing;
  std::error_code error;
  if (!path.has_filename()) path = path.parent_path();  // "a/"
  while (!path.empty() &&
         fs::symlink_status(path, error).type() == fs::file_type::not_found) {
    const fs::path name = path.filename();
    if (name != "." && name != "..") missing.push_back(path);
    path = path.parent_path();
  }
  return missing;
}

// Whether `path` is not the open folder any more.
bool LeadsElsewhere(int top, const std::string& path) {
  struct stat open = {};
  struct stat now = {};
  return fstat(top, &open) == 0 &&
         (stat(path.c_str(), &now) != 0 || now.st_dev != open.st_dev ||
          now.st_ino != open.st_ino);
}

// Whether a run that did not start has removed the open folder. Some file
// systems count no links of folders.
bool WasRemoved(int top, const std::string& path) {
  struct stat open = {};
  return fstat(top, &open) == 0 && open.st_nlink == 0 &&
         LeadsElsewhere(top, path);
}

// Removes the folders between `top` and a file that is gone, if they are empty.
void RemoveEmptyFolders(int top, const fs::path& name) {
  for (fs::path folder = name.parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    const OwnedDescriptor parent = ParentOf(top, folder);
    if (!parent.is_open() ||
        unlinkat(parent.get(), folder.filename().c_str(), AT_REMOVEDIR) != 0) {
      return;
    }
  }
}

}  // namespace

absl::StatusOr<std::string> MakeDatedFolder(const std::string& parent,
                                            const std::string& name) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return CannotMake(error.value(), parent);
  char stamp[32];
  const time_t now = time(nullptr);
  tm local;
  strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
  // A line break in a program's name would break the lines that show the path.
  std::string shown = name;
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '_');
  const std::string first = absl::StrCat(parent, "/", shown, "-", stamp);
  std::string path = first;
  for (int count = 2; mkdir(path.c_str(), 0777) != 0; ++count) {
    // A run that did not start has removed the parent just now.
    if (errno == ENOENT && count < kMostTries) {
      fs::create_directories(parent, error);
      continue;
    }
    if (errno != EEXIST) return CannotMake(errno, path);
    path = absl::StrCat(first, "-", count);
  }
  return path;
}

void AddToList(const std::string& folder,
               const std::map<std::string, bool>& files) {
  const OwnedDescriptor top(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open()) return;
  const std::set<std::string, std::less<>> listed =
      NamesOf(ReadListFile(top.get()).text);
  std::string lines;
  for (const auto& [name, was_there] : files) {
    const std::string stamp = Stamp(top.get(), name);
    if (stamp.empty() || (was_there && !listed.contains(name))) continue;
    absl::StrAppend(&lines, name, "\t", stamp, "\n");
  }
  if (!lines.empty()) AppendToList(top.get(), lines);
}

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Take(
    const std::string& path) {
  std::vector<std::string> missing = MissingFolders(path);
  KYMO_RETURN_IF_ERROR(OutputDirectory(path).CheckWritable());
  OwnedDescriptor top(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open()) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("could not open '", path, "'"));
  }
  // Some network file systems have no locks. There a second run is not seen.
  const bool is_locked =
      flock(top.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_locked || WasRemoved(top.get(), path)) {
    return absl::FailedPreconditionError(
        absl::StrCat("another run is writing into '", path, "'"));
  }
  std::unique_ptr<RunFolder> folder(new RunFolder(path, std::move(top)));
  folder->made_ = std::move(missing);
  folder->TakeBackAside();
  folder->ReadList();
  return folder;
}

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::TakeDated(
    const std::string& parent, const std::string& name) {
  std::vector<std::string> made = MissingFolders(parent);
  KYMO_ASSIGN_OR_RETURN(const std::string path, MakeDatedFolder(parent, name));
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<RunFolder> folder, Take(path));
  made.insert(made.begin(), path);
  folder->made_ = std::move(made);
  return folder;
}

RunFolder::RunFolder(const std::string& path, OwnedDescriptor top)
    : OutputDirectory(path), top_(std::move(top)) {}

RunFolder::~RunFolder() {
  EndAside(/*has_started=*/false);
  if (has_started_) return;
  // Only those that are empty.
  for (const std::string& folder : made_) {
    if (rmdir(folder.c_str()) != 0) return;
  }
}

// Brings back what a run set aside that was killed before its target started.
void RunFolder::TakeBackAside() {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(path(), error)) {
    const std::string aside = entry.path().filename().string();
    struct stat info = {};
    if (!aside.starts_with(kAside) ||
        fstatat(top_.get(), aside.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
      continue;
    }
    renameat(top_.get(), aside.c_str(), top_.get(),
             aside.c_str() + std::string_view(kAside).size());
  }
}

void RunFolder::ReadList() {
  const ListFile list = ReadListFile(top_.get());
  of_runs_ = NamesOf(list.text);
  if (!list.is_own) return;
  std::istringstream lines(list.text);
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    OldFile old = {.name = line.substr(0, tab)};
    old.stamp = tab == std::string::npos ? Stamp(top_.get(), old.name)
                                         : line.substr(tab + 1);
    if (!old.stamp.empty()) old_.push_back(std::move(old));
  }
}

void RunFolder::KeepPrivate() {
  if (made_.empty()) return;
  is_private_ = true;
  TakeRights();
}

void RunFolder::TakeRights() const {
  if (fchmod(top_.get(), 0700) == 0) return;
  Say(absl::StrCat(
      "others may read the output folder '", path(),
      "': its rights could not be changed: ", std::strerror(errno)));
}

absl::Status RunFolder::CheckFree(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (of_runs_.contains(name) || Stamp(top_.get(), name).empty()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "'", path(), "/", name,
        "' is not of an earlier run of kymo, and this run would replace it: "
        "choose another folder with --output_dir, or move the file"));
  }
  return absl::OkStatus();
}

absl::Status RunFolder::RemoveOld() {
  EndAside(/*has_started=*/true);
  for (const OldFile& old : old_) {
    const fs::path name(old.name);
    const OwnedDescriptor folder = ParentOf(top_.get(), name);
    if (StampIn(folder, name.filename()) != old.stamp) continue;
    if (unlinkat(folder.get(), name.filename().c_str(), 0) == 0) {
      RemoveEmptyFolders(top_.get(), name);
    }
  }
  old_.clear();
  if (unlinkat(top_.get(), kListFile, 0) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("could not remove '", path(), "/", kListFile, "'"));
  }
  has_started_ = true;
  // The target may have removed the folder already. Then Note makes it again,
  // with the list.
  return LeadsElsewhere(top_.get(), path()) ? absl::OkStatus() : ListAll();
}

absl::Status RunFolder::ListAll() const {
  for (const std::string& name : listed_) KYMO_RETURN_IF_ERROR(List(name));
  return absl::OkStatus();
}

absl::Status RunFolder::MakeAgain() {
  if (!LeadsElsewhere(top_.get(), path())) return absl::OkStatus();
  const auto failed = [&](const absl::Status& why) {
    return absl::Status(
        why.code(),
        absl::StrCat("the output folder '", path(),
                     "' was removed or moved during the run: ", why.message(),
                     "; choose a folder elsewhere with --output_dir"));
  };
  if (absl::Status made = CheckWritable(); !made.ok()) return failed(made);
  OwnedDescriptor top(open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open()) return failed(CannotMake(errno, path()));
  // In case it is the same one, whose file system numbers it anew.
  flock(top_.get(), LOCK_UN);
  if (flock(top.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return failed(absl::FailedPreconditionError("another run writes there"));
  }
  top_ = std::move(top);
  if (is_private_) TakeRights();
  KYMO_RETURN_IF_ERROR(ListAll());
  Say(absl::StrCat("the output folder '", path(),
                   "' was removed or moved during the run; kymo has made it "
                   "again. --output_dir names a folder elsewhere"));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ByteSink>> RunFolder::Open(
    std::string_view name) {
  {
    const std::lock_guard<std::mutex> lock(note_mutex_);
    opened_.emplace(name);
  }
  KYMO_RETURN_IF_ERROR(Note(name));
  return OutputDirectory::Open(name);
}

void RunFolder::Remove(std::string_view name) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(note_mutex_);
    const auto noted = noted_.find(name);
    if (noted == noted_.end() || !HasMade(noted->first, noted->second)) return;
  } catch (const std::bad_alloc&) {
    return;  // as OutputDirectory's
  }
  OutputDirectory::Remove(name);
}

// Once the run has started, writes the name before the file exists, so that the
// next run finds also the files of a run that was killed. What is there already
// is the user's, if no run has listed its name: no later run removes it. This
// run may write over it, since CheckFree has asked before the run. Names in
// folders are not known then.
absl::Status RunFolder::Note(std::string_view name) {
  const std::lock_guard<std::mutex> lock(note_mutex_);
  if (has_started_) KYMO_RETURN_IF_ERROR(MakeAgain());
  if (noted_.contains(name)) return absl::OkStatus();
  const std::string stamp = Stamp(top_.get(), name);
  std::error_code error;
  const bool is_there =
      fs::symlink_status(fs::path(path()) / name, error).type() !=
      fs::file_type::not_found;
  const bool was_ours = std::ranges::any_of(old_, [&](const OldFile& old) {
    return old.name == name && old.stamp == stamp;
  });
  const bool is_users = is_there && !was_ours && !of_runs_.contains(name);
  if (is_users && name.find('/') != std::string_view::npos) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", path(), "/", ToAbsl(name),
        "' is not of an earlier run of kymo, and was left as it is; `kymo "
        "report --export=NAME` writes the format into another --output_dir"));
  }
  noted_.emplace(name, stamp);
  if (is_users) return absl::OkStatus();
  if (has_started_) KYMO_RETURN_IF_ERROR(List(name));
  listed_.emplace(name);
  return absl::OkStatus();
}

void RunFolder::SetAside(std::string_view name) {
  struct stat info = {};
  const std::string file(name);
  const bool is_there =
      fstatat(top_.get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there &&
      (!S_ISREG(info.st_mode) || renameat(top_.get(), file.c_str(), top_.get(),
                                          (kAside + file).c_str()) != 0)) {
    return;
  }
  aside_ = file;
  has_aside_ = is_there;
}

// Leaves one file of the name: the run's own, if it has started and made one;
// else the earlier one, if there was one.
void RunFolder::EndAside(bool has_started) {
  if (aside_.empty()) return;
  const std::string aside = kAside + aside_;
  const bool is_made = has_started && !Stamp(top_.get(), aside_).empty();
  if (has_aside_ && is_made) {
    unlinkat(top_.get(), aside.c_str(), 0);
  } else if (has_aside_) {
    renameat(top_.get(), aside.c_str(), top_.get(), aside_.c_str());
  } else if (!has_started) {
    unlinkat(top_.get(), aside_.c_str(), 0);
  }
  aside_.clear();
}

absl::Status RunFolder::List(std::string_view name) const {
  if (AppendToList(top_.get(), absl::StrCat(ToAbsl(name), "\n"))) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat("could not write '", path(), "/", kListFile, "'"));
}

void RunFolder::Finish() {
  std::string text;
  for (const std::string& name : listed_) {
    const std::string stamp = Stamp(top_.get(), name);
    if (stamp.empty() || stamp == noted_.at(name)) continue;
    absl::StrAppend(&text, name, "\t", stamp, "\n");
  }
  // If it cannot be written, the names stay.
  const absl::StatusOr<std::unique_ptr<ByteSink>> list =
      OutputDirectory::Open(kListFile);
  if (!list.ok() || !(*list)->Append(text).ok()) return;
  const absl::Status committed = (*list)->Commit();
  static_cast<void>(committed);
}

std::vector<std::string> RunFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, stamp_before] : noted_) {
    if (HasMade(name, stamp_before)) names.push_back(name);
  }
  return names;
}

size_t RunFolder::CountTried() const {
  std::set<std::string, std::less<>> tried = opened_;
  for (const std::string& name : Names()) tried.insert(name);
  // A file that was to be too large is given up for a compressed one.
  return static_cast<size_t>(
      std::ranges::count_if(tried, [&tried](const std::string& name) {
        return !tried.contains(name + ".gz");
      }));
}

bool RunFolder::HasFiles() const {
  return std::ranges::any_of(noted_, [this](const auto& noted) {
    return HasMade(noted.first, noted.second);
  });
}

bool RunFolder::HasMade(const std::string& name,
                        const std::string& stamp_before) const {
  const std::string stamp = Stamp(top_.get(), name);
  return !stamp.empty() && stamp != stamp_before;
}

}  // namespace kymo::tools
