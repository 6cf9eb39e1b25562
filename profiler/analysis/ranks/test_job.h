// test_job.h - a job of ranks by hand, for tests.
//
//   Job job;
//   job.AddRank(0, 2);
//   job.Call("MPI_Barrier", 100, 200, {{"comm", 0}});
//   const model::Trace trace = job.Build();
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_TEST_JOB_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_TEST_JOB_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/support/test_trace.h"

namespace kymo::analysis {

// A job of ranks, each a process with one thread.
class Job {
 public:
  model::TrackIndex AddRank(int64_t rank, int64_t size) {
    track_ = t_.AddThread(100 + rank, 100 + rank, "main");
    t_.AddInstant(track_, "MPI ranks", 10);
    Describe({{"rank", rank}, {"size", size}});
    return track_;
  }
  // A further thread of a rank, for calls.
  void Thread(int64_t rank, int64_t number) {
    track_ = t_.AddThread(100 + rank, 1'000 + number, "thread");
  }
  // The thread was made so long before this time.
  void Made(TimeNs time, int64_t age_ns) {
    t_.AddInstant(track_, "MPI thread", time);
    Describe({{"age_ns", age_ns}});
  }
  // A further track of a rank's thread.
  void Lane(int64_t rank) {
    track_ = t_.AddThread(100 + rank, 100 + rank, "main (lane 2)");
  }
  void Call(const std::string& name, TimeNs begin, TimeNs end,
            std::initializer_list<std::pair<const char*, int64_t>> args = {},
            uint8_t flags = 0) {
    t_.AddRange(track_, name, begin, end, model::ActivityType::kCpuOp, flags);
    Describe(args);
  }
  // The rank makes a communicator, or names it.
  void Comm(int64_t comm, const std::string& name) {
    t_.AddInstant(track_, "MPI_Comm", 15);
    Describe({{"comm", comm}});
    auto& data = t_.data();
    data.args.push_back(model::Arg::String(t_.Intern("name"), t_.Intern(name)));
    ++data.details.back().args_end;
  }
  // A rank of which the command says so: without MPI, or beside it.
  void JobRank(int64_t rank, int64_t pid, TimeNs begin, TimeNs end,
               int64_t bound_ns) {
    track_ = t_.AddThread(pid, pid, "main");
    for (const TimeNs time : {begin, end}) {
      t_.AddInstant(track_, "job rank", time);
      Describe({{"rank", rank}, {"size", 2}});
      t_.AddInstant(track_, "job clock", time);
      Describe({{"bound_ns", bound_ns}});
    }
  }
  // The command says how the program of the rank ended.
  void End(int64_t rank, TimeNs time, int64_t signal, int64_t status = 0) {
    t_.AddInstant(track_, "rank end", time);
    Describe({{"rank", rank}, {"signal", signal}, {"status", status}});
  }
  // The stream of a device, for kernels.
  void Kernels(int64_t pid, int64_t stream) {
    track_ = t_.AddStream(0, stream, pid);
  }
  void Kernel(
      const std::string& name, TimeNs begin, TimeNs end,
      std::initializer_list<std::pair<const char*, int64_t>> args = {}) {
    t_.AddRange(track_, name, begin, end,
                model::ActivityType::kConcurrentKernel);
    Describe(args);
  }
  void Clock(int64_t bound_ns) {
    t_.AddInstant(track_, "MPI clock", 20);
    Describe({{"bound_ns", bound_ns}});
  }
  model::Trace Build(TimeNs end = 1'000) {
    t_.SetWindow(0, end);
    return std::move(t_).Build();
  }

 private:
  void Describe(std::initializer_list<std::pair<const char*, int64_t>> args) {
    auto& data = t_.data();
    const auto begin = static_cast<uint32_t>(data.args.size());
    for (const auto& [key, value] : args) {
      data.args.push_back(model::Arg::Int(t_.Intern(key), value));
    }
    data.detail.back() = static_cast<uint32_t>(data.details.size());
    data.details.push_back(
        {.args_begin = begin,
         .args_end = static_cast<uint32_t>(data.args.size())});
  }

  TestTrace t_;
  model::TrackIndex track_ = 0;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_TEST_JOB_H_
