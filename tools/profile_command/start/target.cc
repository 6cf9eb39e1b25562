#include "tools/profile_command/start/target.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/base/status_macros.h"
#include "tools/command_line/user_folder.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string CurrentDirectory() {
  std::error_code error;
  return fs::current_path(error).string();
}

bool IsLabel(const std::string& word) {
  return word.starts_with("//") || word.starts_with("@") ||
         (word.starts_with(":") && word.size() > 1);
}

// Runs a command in `directory` and returns its standard output. Its standard
// error is ours.
absl::StatusOr<std::string> Output(const std::vector<std::string>& words,
                                   const std::string& directory) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    dup2(fds[1], STDOUT_FILENO);
    if (chdir(directory.c_str()) != 0) _exit(127);
    std::vector<char*> argv;
    for (const std::string& word : words) {
      argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(fds[1]);
  std::string text;
  char buffer[4096];
  ssize_t size;
  while ((size = TEMP_FAILURE_RETRY(read(fds[0], buffer, sizeof(buffer)))) >
         0) {
    text.append(buffer, static_cast<size_t>(size));
  }
  close(fds[0]);
  int status = 0;
  TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", words[0], " ", words[1], "' ended with an error"));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The folder with the WORKSPACE file that the user is in.
absl::StatusOr<std::string> WorkspaceRoot(const std::string& from) {
  if (const std::string root = Variable("BUILD_WORKSPACE_DIRECTORY");
      !root.empty()) {
    return root;
  }
  for (fs::path folder = from; !folder.empty(); folder = folder.parent_path()) {
    std::error_code error;
    for (const char* name : {"WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel"}) {
      if (fs::exists(folder / name, error)) return folder.string();
    }
    if (folder == folder.root_path()) break;
  }
  return absl::NotFoundError(
      absl::StrCat("could not find a Bazel workspace in or above ", from,
                   ", which a label needs; try it inside your workspace"));
}

// The cquery expression that prints the path of a target's executable, if it
// has one.
constexpr char kExecutableExpression[] =
    "--starlark:expr=target.files_to_run.executable.path "
    "if target.files_to_run.executable else ''";

// Builds the label and asks Bazel for its executable.
absl::StatusOr<std::string> BuildLabel(const std::string& label) {
  const std::string from = UserPath(".");
  KYMO_ASSIGN_OR_RETURN(const std::string root, WorkspaceRoot(from));
  const std::string wrapper = root + "/bazelw";
  const std::string bazel =
      access(wrapper.c_str(), X_OK) == 0 ? wrapper : "bazel";
  const absl::StatusOr<std::string> built =
      Output({bazel, "build", "--noshow_progress", "--show_result=0",
              "--ui_event_filters=-info,-stdout", label},
             from);
  if (!built.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("could not build ", label));
  }
  KYMO_ASSIGN_OR_RETURN(
      const std::string executable,
      Output({bazel, "cquery", "--noshow_progress",
              "--ui_event_filters=-info,-stderr", "--output=starlark",
              kExecutableExpression, label},
             from));
  const std::vector<std::string> lines = absl::StrSplit(executable, '\n');
  if (lines.size() != 1 || lines[0].empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("could not run ", label,
                     ": it is not exactly one executable; try the label of a "
                     "binary"));
  }
  KYMO_ASSIGN_OR_RETURN(
      const std::string execution_root,
      Output({bazel, "info", "--noshow_progress",
              "--ui_event_filters=-info,-stderr", "execution_root"},
             from));
  return execution_root + "/" + lines[0];
}

absl::StatusOr<std::string> FindOnPath(const std::string& word) {
  std::string denied;
  const std::string path_variable =
      getenv("PATH") == nullptr ? "/bin:/usr/bin" : Variable("PATH");
  for (const absl::string_view folder : absl::StrSplit(path_variable, ':')) {
    const std::string path = absl::StrCat(
        folder.empty() ? absl::string_view(".") : folder, "/", word);
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (access(path.c_str(), X_OK) == 0) return path;
    denied = path;
  }
  if (!denied.empty()) return denied;
  return absl::NotFoundError(absl::StrCat(word, ": command not found"));
}

}  // namespace

std::string MissingPart(const std::string& path) {
  std::string first_line;
  std::getline(std::ifstream(path), first_line);
  if (!first_line.starts_with("#!")) {
    return "the program is there, but not the loader that it names; `readelf "
           "-l` shows its name, and a package for the program's architecture "
           "has it";
  }
  if (first_line.ends_with('\r')) {
    return absl::StrCat("its first line ends with a carriage return, as on ",
                        "Windows; `sed -i 's/\\r$//' ", path,
                        "` removes those of all lines");
  }
  const size_t begin = first_line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return "its first line names no interpreter";
  const size_t end = first_line.find_first_of(" \t", begin);
  return absl::StrCat("there is no '", first_line.substr(begin, end - begin),
                      "', which its first line names as its interpreter");
}

absl::StatusOr<Target> FindTarget(const std::string& word) {
  Target target;
  target.word = word;
  if (IsLabel(word)) {
    KYMO_ASSIGN_OR_RETURN(target.path, BuildLabel(word));
    target.word = target.path;
  } else if (word.find('/') == std::string::npos) {
    KYMO_ASSIGN_OR_RETURN(target.path, FindOnPath(word));
  } else if (word.starts_with("/")) {
    target.path = word;
  } else {
    target.path = CurrentDirectory() + "/" + word;
  }
  struct stat status;
  if (stat(target.path.c_str(), &status) != 0) {
    return absl::NotFoundError(absl::StrCat(word, ": ", strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::PermissionDeniedError(
        absl::StrCat(word, ": is not a regular file"));
  }
  if (access(target.path.c_str(), X_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(word, ": ", strerror(errno)));
  }
  target.name = fs::path(target.path).filename().string();
  return target;
}

}  // namespace kymo::tools
