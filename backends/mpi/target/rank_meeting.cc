#include "backends/mpi/target/rank_meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"
#include "profiler/record/tool_variables.h"

namespace kymo::mpi {
namespace {

constexpr int kLooksPerSecond = 100;
constexpr int kFilesWait = 5 * kLooksPerSecond;
constexpr int kAnswerWait = 15 * kLooksPerSecond;
constexpr char kAll[] = "all";
constexpr char kSome[] = "some";

class Folder {
 public:
  explicit Folder(const char* path) noexcept : path_(path) {}

  bool Has(const char* name) const noexcept {
    char path[4096];
    return Path(name, path) && access(path, F_OK) == 0;
  }
  bool HasRank(int rank) const noexcept {
    char name[32];
    snprintf(name, sizeof(name), "rank-%d", rank);
    return Has(name);
  }

  // The answer is what `answer` links to. Whoever makes it first decides.
  void Decide(const char* answer, int rank) const noexcept {
    char name[64];
    char own[4096];
    char shared[4096];
    snprintf(name, sizeof(name), "answer-of-%d", rank);
    if (!Path(name, own) || !Path("answer", shared)) return;
    const int file = AboveStandardStreams(
        open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file < 0) return;
    const ssize_t size = strlen(answer);
    const bool is_written = write(file, answer, size) == size;
    close(file);
    if (is_written && link(own, shared) != 0) {
      // Somebody else decided, or the folder takes no links: then nobody can.
    }
    unlink(own);
  }

  // 1: all, 0: some, -1: there is no answer yet.
  int Answer() const noexcept {
    char path[4096];
    char text[8] = "";
    if (!Path("answer", path)) return 0;
    const int file = AboveStandardStreams(open(path, O_RDONLY | O_CLOEXEC));
    if (file < 0) return -1;
    const ssize_t size = read(file, text, sizeof(text) - 1);
    close(file);
    return size > 0 && strcmp(text, kAll) == 0;
  }

 private:
  bool Path(const char* name, char (&path)[4096]) const noexcept {
    const int size = snprintf(path, sizeof(path), "%s/%s", path_, name);
    return size > 0 && size < int{sizeof(path)};
  }

  const char* const path_;
};

void Pause() noexcept {
  const timespec pause = {.tv_nsec = 1'000'000'000 / kLooksPerSecond};
  nanosleep(&pause, nullptr);
}

bool AllRanksAreThere(const Folder& folder, int size) noexcept {
  int rank = 0;
  for (int look = 0; look < kFilesWait; ++look) {
    while (rank < size && folder.HasRank(rank)) ++rank;
    if (rank == size) return true;
    Pause();
  }
  return false;
}

}  // namespace

bool AllRanksMeet(int rank, int size) noexcept {
  const char* const path = getenv(record::kMpiMeetingVariable);
  if (path == nullptr || path[0] == '\0') return false;
  const int error = errno;
  const Folder folder(path);
  if (rank == 0) {
    folder.Decide(AllRanksAreThere(folder, size) ? kAll : kSome, rank);
  }
  int answer = folder.Answer();
  for (int look = 0; answer < 0 && look < kAnswerWait; ++look) {
    Pause();
    answer = folder.Answer();
  }
  if (answer < 0) {
    folder.Decide(kSome, rank);
    answer = folder.Answer();
  }
  errno = error;
  return answer == 1;
}

}  // namespace kymo::mpi
