// A server that profiles itself when somebody asks it to.
//
//   bazel run //examples/profile_endpoint -- 6060 &
//   go tool pprof -top 'http://localhost:6060/debug/pprof/profile?seconds=5'
//   go tool pprof -top 'http://localhost:6060/debug/pprof/heap?seconds=5'
//   curl -o trace.json 'http://localhost:6060/debug/kymo/trace?seconds=1'
//
// Nothing is recorded before somebody asks. Requests are answered one at a
// time, since a process has one session of all threads at a time.
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "examples/profile_endpoint/http.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"

namespace {

namespace fs = std::filesystem;

// --- What the server is for: it sorts words, in two threads. ---

std::atomic<size_t> sorted_words = 0;

void SortWords(unsigned seed) {
  KYMO_RECORD_FUNCTION("sort_words");
  std::vector<std::string> words(5'000);
  for (std::string& word : words) {
    seed = seed * 1'664'525 + 1'013'904'223;
    word = "a word that has its own block of memory " + std::to_string(seed);
  }
  std::ranges::sort(words);
  sorted_words += words.size();
}

[[noreturn]] void Work(unsigned seed) {
  for (;; ++seed) {
    SortWords(seed);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// --- The endpoint ---

http::Answer Error(const std::string& why) {
  return {.status = 500, .body = why + "\n"};
}

// The file that the exporter writes of some seconds of this process.
http::Answer Record(const http::Request& request, kymo::ProfileOptions options,
                    const std::string& exporter, const std::string& file,
                    const std::string& type) {
  const auto given = request.query.find("seconds");
  const int seconds =
      given == request.query.end() ? 5 : atoi(given->second.c_str());
  if (seconds < 1 || seconds > 600) {
    return {.status = 400, .body = "seconds is from 1 to 600\n"};
  }
  options.experimental_config.profile_all_threads = true;
  kymo::Profile profile(std::move(options));
  absl::Status status = profile.Start();
  if (!status.ok()) return Error(status.ToString());
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  status = profile.Stop();
  if (!status.ok()) return Error(status.ToString());

  std::string folder = fs::temp_directory_path() / "profile_endpoint_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return Error("no folder " + folder);
  http::Answer answer = {.type = type};
  const auto written = profile.Export(exporter, folder);
  std::ifstream in(folder + "/" + file, std::ios::binary);
  if (!written.ok()) {
    answer = Error(written.status().ToString());
  } else if (!in) {
    answer = Error("nothing was recorded");
  } else {
    answer.body.assign(std::istreambuf_iterator<char>(in), {});
  }
  fs::remove_all(folder);
  return answer;
}

http::Answer Handle(const http::Request& request) {
  constexpr char kPprof[] = "application/octet-stream";
  if (request.path == "/debug/pprof/profile") {
    return Record(request, {.activities = {"sampling"}}, "stacks",
                  "stacks.pb.gz", kPprof);
  }
  if (request.path == "/debug/pprof/heap") {
    return Record(
        request,
        {.activities = {"cpu"}, .profile_memory = true, .with_stack = true},
        "stacks", "stacks.memory.pb.gz", kPprof);
  }
  if (request.path == "/debug/kymo/trace") {
    return Record(request, {.activities = {"cpu", "sampling"}}, "chrome",
                  "trace.json", "application/json");
  }
  if (request.path == "/") {
    return {.body = "sorted " + std::to_string(sorted_words) +
                    " words; see /debug/pprof/profile?seconds=5, "
                    "/debug/pprof/heap?seconds=5 and "
                    "/debug/kymo/trace?seconds=1\n"};
  }
  return {.status = 404, .body = "there is no " + request.path + "\n"};
}

}  // namespace

int main(int argc, char** argv) {
  int port = argc > 1 ? atoi(argv[1]) : 6060;
  const int listener = http::Listen(port);
  if (listener < 0) {
    std::cerr << "profile_endpoint: cannot listen on port " << port << "\n";
    return 1;
  }
  std::thread(Work, 1).detach();
  std::thread(Work, 2).detach();
  std::cout << "http://localhost:" << port << "/" << std::endl;
  for (;;) http::ServeOne(listener, Handle);
}
