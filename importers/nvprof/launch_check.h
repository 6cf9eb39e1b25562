// launch_check.h - checks what PyTorch demands of a database of nvprof.
//
//   LaunchCheck check(findings);
//   check.AddMarkerStart(1, 100);
//   check.AddMarkerEnd(1, 500);
//   check.AddCall({.row = 10, .cbid = 211, .start_ns = 150, .end_ns = 200,
//                  .correlation = 77});
//   check.AddKernel(77);
//   absl::Status first = check.Run();   // the first error; findings have all
//
// A kernel belongs to the ranges that strictly enclose its call, on whatever
// thread. PyTorch demands that the call is a launch and launched nothing else,
// and that no marker has the id of another one.
#ifndef KYMO_IMPORTERS_NVPROF_LAUNCH_CHECK_H_
#define KYMO_IMPORTERS_NVPROF_LAUNCH_CHECK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "importers/sqlite/findings.h"
#include "profiler/base/time.h"

namespace kymo::nvprof {

struct RuntimeCall {
  int64_t row = 0;  // its _id_
  int64_t cbid = 0;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  int64_t correlation = 0;
};

class LaunchCheck {
 public:
  explicit LaunchCheck(sqlite::Findings& findings) : findings_(findings) {}

  // Call them in the order of the tables. False if the marker's id is taken.
  bool AddMarkerStart(int64_t id, TimeNs time_ns);
  bool AddMarkerEnd(int64_t id, TimeNs time_ns);
  void AddCall(const RuntimeCall& call);
  void AddKernel(int64_t correlation) { kernels_.push_back(correlation); }

  // The first error that PyTorch would report, or OK.
  absl::Status Run();

 private:
  struct Marker {
    int64_t id = 0;
    std::optional<TimeNs> start_ns;
    std::optional<TimeNs> end_ns;
  };

  Marker& MarkerOf(int64_t id);
  // The first marker in the table whose range encloses the call.
  const Marker* FirstAround(const RuntimeCall& call) const;
  void Refuse(const char* rule, const absl::Status& status);

  sqlite::Findings& findings_;
  std::vector<Marker> markers_;
  absl::flat_hash_map<int64_t, size_t> marker_of_id_;
  std::vector<RuntimeCall> calls_;
  absl::flat_hash_map<int64_t, size_t> call_of_correlation_;
  std::vector<int64_t> kernels_;
  absl::Status first_;
};

}  // namespace kymo::nvprof

#endif  // KYMO_IMPORTERS_NVPROF_LAUNCH_CHECK_H_
