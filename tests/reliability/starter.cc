// starter FOLDER NAME [ARGUMENT ...]: runs the program NAME of FOLDER in each
// way that libc has, one after the other, and prints for each
//
//   WAY<tab>STATUS    the program's exit status, or 1000 + the errno for which
//                     it could not be run
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

extern char** environ;

namespace {

struct Program {
  std::string folder;
  std::string name;
  std::string path;
  std::vector<char*> words;

  const char* word(size_t i) const {
    return i + 1 < words.size() ? words[i] : nullptr;
  }
};

using Exec = void (*)(const Program&);
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                      const posix_spawnattr_t*, char* const*, char* const*);

constexpr std::pair<const char*, Exec> kExecs[] = {
    {"execve",
     [](const Program& p) { execve(p.path.c_str(), p.words.data(), environ); }},
    {"execv", [](const Program& p) { execv(p.path.c_str(), p.words.data()); }},
    {"execvp",
     [](const Program& p) { execvp(p.name.c_str(), p.words.data()); }},
    {"execvpe",
     [](const Program& p) {
       execvpe(p.name.c_str(), p.words.data(), environ);
     }},
    {"execl",
     [](const Program& p) {
       execl(p.path.c_str(), p.word(0), p.word(1), p.word(2), nullptr);
     }},
    {"execlp",
     [](const Program& p) {
       execlp(p.name.c_str(), p.word(0), p.word(1), p.word(2), nullptr);
     }},
    {"execle",
     [](const Program& p) {
       // Without arguments the first null ends the words, and the environment
       // must follow directly.
       if (p.word(1) == nullptr) {
         execle(p.path.c_str(), p.word(0), nullptr, environ);
       } else {
         execle(p.path.c_str(), p.word(0), p.word(1), p.word(2), nullptr,
                environ);
       }
     }},
    {"execveat",
     [](const Program& p) {
       const int folder = open(p.folder.c_str(), O_PATH | O_CLOEXEC);
       execveat(folder, p.name.c_str(), p.words.data(), environ, 0);
     }},
    {"fexecve",
     [](const Program& p) {
       const int fd = open(p.path.c_str(), O_PATH | O_CLOEXEC);
       if (fd >= 0) fexecve(fd, p.words.data(), environ);
     }},
};

constexpr std::pair<const char*, Spawn> kSpawns[] = {
    {"posix_spawn", posix_spawn},
    {"posix_spawnp", posix_spawnp},
};

int Wait(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Not inlined, since a vforked child must not change our frame.
__attribute__((noinline)) int RunVforked(const Program& program, Exec exec) {
  volatile int error = 0;
  const pid_t pid = vfork();
  if (pid == 0) {
    exec(program);
    error = errno;
    _exit(0);
  }
  const int status = Wait(pid);
  return error != 0 ? 1000 + error : status;
}

int RunSpawned(const Program& program, Spawn spawn) {
  const bool searches = spawn == posix_spawnp;
  pid_t pid = 0;
  const int error =
      spawn(&pid, searches ? program.name.c_str() : program.path.c_str(),
            nullptr, nullptr, program.words.data(), environ);
  return error != 0 ? 1000 + error : Wait(pid);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) return 2;
  Program program = {
      argv[1], argv[2], std::string(argv[1]) + "/" + argv[2], {}};
  setenv("PATH", argv[1], 1);
  for (char** word = argv + 2; *word != nullptr; ++word) {
    program.words.push_back(*word);
  }
  program.words.push_back(nullptr);
  for (const auto& [name, exec] : kExecs) {
    printf("%s\t%d\n", name, RunVforked(program, exec));
  }
  for (const auto& [name, spawn] : kSpawns) {
    printf("%s\t%d\n", name, RunSpawned(program, spawn));
  }
  return 0;
}
