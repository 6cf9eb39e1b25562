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
constexpr int kTokenWait = 1 * kLooksPerSecond;
constexpr int kRanksWait = 5 * kLooksPerSecond;
constexpr int kAnswerWait = 15 * kLooksPerSecond;
// Another number for other messages of clock_sync.h: ranks of such versions of
// Kymo do not meet.
constexpr char kEntered[] = "in2-";
constexpr char kAll[] = "all";
constexpr char kSome[] = "some";

constexpr size_t kTokenSize = record::kMeetingTokenSize;

class Folder {
 public:
  explicit Folder(const char* path) noexcept : path_(path) {}

  // The job's token. Later files have it in their names. False: there is none.
  bool ReadToken() noexcept {
    char path[4096];
    if (!Path("token", path)) return false;
    return Read(path, token_, sizeof(token_)) == kTokenSize;
  }

  bool Has(int rank) const noexcept {
    char path[4096];
    return Named(kEntered, rank, path) && access(path, F_OK) == 0;
  }
  void Enter(int rank) const noexcept {
    char path[4096];
    if (Named(kEntered, rank, path)) Write(path, "");
  }

  // The answer is what `answer` links to. Whoever makes it first decides.
  void Decide(const char* answer, int rank) const noexcept {
    char own[4096];
    char shared[4096];
    if (!Named("answer-of-", rank, own) || !Named("answer", -1, shared)) return;
    if (Write(own, answer) && link(own, shared) != 0) {
      // Somebody else decided, or the folder takes no links: then nobody can.
    }
    unlink(own);
  }

  // 1: all, 0: some, -1: there is no answer yet.
  int Answer() const noexcept {
    char path[4096];
    char text[8] = "";
    if (!Named("answer", -1, path)) return 0;
    const ssize_t size = Read(path, text, sizeof(text));
    if (size < 0) return -1;
    return strcmp(text, kAll) == 0;
  }

 private:
  // Up to size - 1 bytes, and a 0 behind them. -1: there is no such file.
  static ssize_t Read(const char* path, char* text, size_t size) noexcept {
    const int file = AboveStandardStreams(open(path, O_RDONLY | O_CLOEXEC));
    if (file < 0) return -1;
    const ssize_t count = read(file, text, size - 1);
    close(file);
    text[count < 0 ? 0 : count] = '\0';
    return count;
  }
  static bool Write(const char* path, const char* text) noexcept {
    const int file = AboveStandardStreams(
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file < 0) return false;
    const ssize_t size = strlen(text);
    const bool is_written = write(file, text, size) == size;
    close(file);
    return is_written;
  }

  bool Path(const char* name, char (&path)[4096]) const noexcept {
    const int size = snprintf(path, sizeof(path), "%s/%s", path_, name);
    return size > 0 && size < int{sizeof(path)};
  }
  // "in2-3.TOKEN"; without the number if it is -1.
  bool Named(const char* what, int number, char (&path)[4096]) const noexcept {
    char name[64];
    if (number < 0) {
      snprintf(name, sizeof(name), "%s.%s", what, token_);
    } else {
      snprintf(name, sizeof(name), "%s%d.%s", what, number, token_);
    }
    return Path(name, path);
  }

  const char* const path_;
  char token_[kTokenSize + 1] = "";
};

void Pause() noexcept {
  const timespec pause = {.tv_nsec = 1'000'000'000 / kLooksPerSecond};
  nanosleep(&pause, nullptr);
}

bool TokenIsThere(Folder& folder) noexcept {
  for (int look = 0; look < kTokenWait; ++look) {
    if (folder.ReadToken()) return true;
    Pause();
  }
  return false;
}

bool AllRanksAreThere(const Folder& folder, int size) noexcept {
  int rank = 0;
  for (int look = 0; look < kRanksWait; ++look) {
    while (rank < size && folder.Has(rank)) ++rank;
    if (rank == size) return true;
    Pause();
  }
  return false;
}

bool Meet(Folder& folder, int rank, int size) noexcept {
  if (!TokenIsThere(folder)) return false;
  folder.Enter(rank);
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
  return answer == 1;
}

}  // namespace

bool AllRanksMeet(int rank, int size) noexcept {
  const char* const path = getenv(record::kMpiMeetingVariable);
  if (path == nullptr || path[0] == '\0') return false;
  const int error = errno;
  Folder folder(path);
  const bool all_meet = Meet(folder, rank, size);
  errno = error;
  return all_meet;
}

}  // namespace kymo::mpi
